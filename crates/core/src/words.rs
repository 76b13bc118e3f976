//! Enums whose variants have a word each, as one table.

/// An enum with a word for each variant, for configurations, ledgers, logs and JSON.
///
/// It gets `ALL`, `as_str`, `from_word`, and a `Display` that writes the word.
///
/// ```
/// sequent_core::word_enum! {
///     /// How it is.
///     #[derive(Debug, Clone, Copy, PartialEq, Eq)]
///     pub enum State {
///         /// It runs.
///         On = "on",
///         /// It does not.
///         Off = "off",
///     }
/// }
/// assert_eq!(State::ALL.map(State::as_str), ["on", "off"]);
/// assert_eq!((State::from_word("off"), State::from_word("")), (Some(State::Off), None));
/// assert_eq!(State::On.to_string(), "on");
/// ```
#[macro_export]
macro_rules! word_enum {
    (
        $(#[$about:meta])*
        pub enum $name:ident {
            $($(#[$doc:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$about])*
        pub enum $name {
            $($(#[$doc])* $variant,)+
        }

        impl $name {
            /// Every variant, in this order.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The variant's word.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The variant with this word, if there is one.
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|variant| variant.as_str() == word)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
