//! Bounds of templates and of what they render; each is named here once.
//!
//! They are far above what a document number needs, and low enough that a hostile template costs nothing.

/// The longest template, in bytes.
pub const TEMPLATE_BYTES_MAX: usize = 4096;

/// The most parts of a template, texts between them included.
pub const PARTS_MAX: usize = 64;

/// The most arguments of a part.
pub const ARGS_MAX: usize = 16;

/// The highest `maxlen`, in characters.
pub const TEXT_CHARS_MAX: usize = 256;

/// The longest text that a template may render, in bytes: four for each character.
pub const TEXT_BYTES_MAX: usize = 4 * TEXT_CHARS_MAX;

/// `maxlen` where a definition names none, in characters: what fits the columns that people make for it.
pub const MAXLEN_DEFAULT: usize = 128;

/// The longest value of a `ctx` that names neither `len` nor `max`, in characters.
pub const VALUE_CHARS_DEFAULT: usize = 32;

/// The longest `len` or `max` of a `ctx`, in characters.
pub const VALUE_CHARS_MAX: usize = 128;

/// The widest `w` and `wmax`, in digits: 63 binary digits make the highest number.
pub const WIDTH_MAX: usize = 64;

/// The longest `re`, in bytes.
pub const RE_BYTES_MAX: usize = 256;

/// What a compiled `re` may take, in bytes: repeated repetitions are refused here.
pub const RE_COMPILED_BYTES_MAX: usize = 256 * 1024;

/// What all `re` of a template may weigh together: ranges of characters, each as often as it is repeated. `[0-9]{3}` weighs
/// 3, `\w` some 800.
pub const RE_WEIGHT_MAX: usize = 8192;

/// How deep groups of a `re` may nest.
pub const RE_NEST_MAX: u32 = 16;

/// The most entries of a `map`.
pub const MAP_ENTRIES_MAX: usize = 256;

/// The highest number, that of a signed 64-bit integer.
pub const NUMBER_MAX: u64 = i64::MAX as u64;

/// The fewest texts that FF1 may permute: what the revision of NIST SP 800-38G asks for.
pub const OBFUSCATED_DOMAIN_MIN: u64 = 1_000_000;
