//! Verbs: what a principal may be allowed to do.

use std::{fmt, str::FromStr};

/// What a request does. Each route and method of each API needs one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Takes numbers for immediate use.
    Next,
    /// Leases numbers.
    Lease,
    /// Reports the highest number that the caller was given (`above`).
    Tell,
    /// Lists sequences.
    List,
    /// Shows a definition.
    Show,
    /// Renders the text of a number without issuing it.
    Preview,
    /// Parses a text.
    Parse,
    /// Previews a given number, and parses texts, of a sequence whose numbers a key hides.
    Reveal,
    /// Defines a sequence.
    Define,
    /// Reads the status of a server.
    Status,
    /// Reads the metrics of a server.
    Metrics,
    /// Gives slot commands.
    Operate,
}

impl Verb {
    /// All verbs.
    pub const ALL: [Self; 12] = [
        Self::Next,
        Self::Lease,
        Self::Tell,
        Self::List,
        Self::Show,
        Self::Preview,
        Self::Parse,
        Self::Reveal,
        Self::Define,
        Self::Status,
        Self::Metrics,
        Self::Operate,
    ];

    /// The word in the configuration and in errors.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Next => "next",
            Self::Lease => "lease",
            Self::Tell => "tell",
            Self::List => "list",
            Self::Show => "show",
            Self::Preview => "preview",
            Self::Parse => "parse",
            Self::Reveal => "reveal",
            Self::Define => "define",
            Self::Status => "status",
            Self::Metrics => "metrics",
            Self::Operate => "operate",
        }
    }

    /// Whether it concerns the server, and no sequence.
    pub const fn is_of_server(self) -> bool {
        matches!(self, Self::Status | Self::Metrics | Self::Operate)
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Verb {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|verb| verb.as_str() == text);
        known.ok_or_else(|| {
            let words = Self::ALL.map(Self::as_str);
            format!("{text:?} is no verb: {} are known", words.join(", "))
        })
    }
}
