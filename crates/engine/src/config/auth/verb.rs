//! Verbs: what a principal may be allowed to do.

use std::str::FromStr;

use sequent_core::word_enum;

word_enum! {
    /// What a request does. Each route and method of each API needs one.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Verb {
        /// Takes numbers for immediate use.
        Next = "next",
        /// Leases numbers.
        Lease = "lease",
        /// Reports the highest number that the caller was given (`above`).
        Tell = "tell",
        /// Lists sequences.
        List = "list",
        /// Shows a definition.
        Show = "show",
        /// Renders the text of a number without issuing it.
        Preview = "preview",
        /// Parses a text.
        Parse = "parse",
        /// Previews a given number, and parses texts, of a sequence whose numbers a key hides.
        Reveal = "reveal",
        /// Defines a sequence.
        Define = "define",
        /// Reads the status of a server.
        Status = "status",
        /// Reads the metrics of a server.
        Metrics = "metrics",
        /// Gives slot commands.
        Operate = "operate",
    }
}

impl Verb {
    /// Whether it concerns the server, and no sequence.
    pub const fn is_of_server(self) -> bool {
        matches!(self, Self::Status | Self::Metrics | Self::Operate)
    }
}

impl FromStr for Verb {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::from_word(text).ok_or_else(|| {
            let words = Self::ALL.map(Self::as_str);
            format!("{text:?} is no verb: {} are known", words.join(", "))
        })
    }
}
