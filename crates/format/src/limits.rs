//! Limits of templates and of their texts.
//!
//! They are far above what document numbers need, and low enough that a hostile template is cheap.

/// The longest template, in bytes.
pub const TEMPLATE_BYTES_MAX: usize = 4096;

/// The most parts of a template, including the text between them.
pub const PARTS_MAX: usize = 64;

/// The most arguments of a part.
pub const ARGS_MAX: usize = 16;

/// The highest `maxlen`, in characters.
pub const TEXT_CHARS_MAX: usize = 256;

/// The longest text of a template, in bytes: four for each character.
pub const TEXT_BYTES_MAX: usize = 4 * TEXT_CHARS_MAX;

/// The default of `maxlen`, in characters. It fits usual database columns.
pub const MAXLEN_DEFAULT: usize = 128;

/// The longest value of a `ctx` without `len` and `max`, in characters.
pub const VALUE_CHARS_DEFAULT: usize = 32;

/// The longest `len` or `max` of a `ctx`, in characters.
pub const VALUE_CHARS_MAX: usize = 128;

/// The highest `w` and `wmax`, in digits. The highest number has 63 binary digits.
pub const WIDTH_MAX: usize = 64;

/// The longest `re`, in bytes.
pub const RE_BYTES_MAX: usize = 256;

/// The memory limit of a compiled `re`, in bytes. It refuses nested repetitions.
pub const RE_COMPILED_BYTES_MAX: usize = 256 * 1024;

/// The greatest total weight of all `re` of a template. The weight is the number of character ranges, times their repetitions:
/// `[0-9]{3}` weighs 3, `\w` about 800.
pub const RE_WEIGHT_MAX: usize = 8192;

/// The nesting limit of groups in a `re`.
pub const RE_NEST_MAX: u32 = 16;

/// The most entries of a `map`.
pub const MAP_ENTRIES_MAX: usize = 256;

/// The highest number: the maximum of a signed 64-bit integer.
pub const NUMBER_MAX: u64 = i64::MAX as u64;

/// The fewest texts that FF1 may permute: the minimum of NIST SP 800-38G Revision 1.
pub const OBFUSCATED_DOMAIN_MIN: u64 = 1_000_000;
