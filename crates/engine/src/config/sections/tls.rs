//! `[tls]`: encryption of the listeners, and which clients are accepted by certificate.

use std::path::{Path, PathBuf};

use crate::config::{
    CertNames,
    reading::{
        Reader, Section, section,
        setting::{Setting, choice, text, texts},
    },
};

/// What listeners speak: the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsMode {
    /// Plaintext alone.
    Off,
    /// TLS and plaintext on the same port, told apart by the first byte.
    Allow,
    /// TLS alone.
    Require,
}

/// Whether clients present a certificate: the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClientAuth {
    /// None is asked for.
    Off,
    /// A client may present one, which is then verified.
    Optional,
    /// No client is served without one.
    Required,
}

section! {
    /// [TLS](../operating/tls.md) of all listeners. A running server applies changes, and changes of the files, but for those
    /// that make it weaker: [reload](../operating/install.md#reload). Paths are relative to the data directory.
    pub struct TlsSection(section) {
        /// What listeners speak: plaintext, TLS, or (`allow`) both on one port, while clients are moved to TLS.
        mode: TlsMode = choice("mode", &[("off", TlsMode::Off), ("allow", TlsMode::Allow), ("require", TlsMode::Require)]),

        /// The server's certificate and its intermediates, as PEM.
        cert_file: Option<PathBuf> = file("cert_file", mode),

        /// The key of the certificate, as PEM.
        key_file: Option<PathBuf> = file("key_file", mode),

        /// Whether clients present a certificate.
        client_auth: ClientAuth = choice("client_auth", &[
            ("off", ClientAuth::Off), ("optional", ClientAuth::Optional), ("required", ClientAuth::Required),
        ]).only_if(mode != TlsMode::Off, WITHOUT_TLS),

        /// The authorities that sign clients' certificates, as PEM.
        client_ca_file: Option<PathBuf> = text("client_ca_file").then(|path| Ok(path.into())).optional()
            .only_if(client_auth != ClientAuth::Off, WITHOUT_CLIENTS),

        /// Patterns of the names in clients' certificates (URI and DNS names, `spiffe://prod/ns/shop/*`), one of
        /// which must match. `*` stands for any characters. A pattern with a colon is for URI names, any other for DNS
        /// names.
        allowed_names: Vec<String> = texts("allowed_names").allowed("patterns").or(Vec::new())
            .only_if(client_auth != ClientAuth::Off, WITHOUT_CLIENTS),
    }
}

/// Why a key has no use without TLS.
const WITHOUT_TLS: &str = "tls.mode = \"off\" has no use for it: \"allow\" or \"require\" is needed";

/// Why a key has no use if clients present no certificate.
const WITHOUT_CLIENTS: &str =
    "tls.client_auth = \"off\" has no use for it: \"optional\" or \"required\" is needed";

fn file(key: &'static str, mode: TlsMode) -> Setting<Option<PathBuf>> {
    text(key).then(|path| Ok(path.into())).optional().only_if(mode != TlsMode::Off, WITHOUT_TLS)
}

impl TlsSection {
    pub(crate) fn checked(reader: &mut Reader<'_>, data: &Path) -> Self {
        let mut section = reader.section("tls");
        let before = section.faults();
        let mut tls = Self::read(&mut section);
        // A key with a fault is there: it must not be reported as missing too.
        if section.faults() == before {
            tls.check(&mut section);
        }
        section.finish();
        let files = [&mut tls.cert_file, &mut tls.key_file, &mut tls.client_ca_file];
        files.into_iter().flatten().for_each(|path| *path = data.join(&*path));
        tls
    }

    /// Demands the keys that others need.
    fn check(&self, section: &mut Section<'_, '_>) {
        let (encrypts, verifies) = (self.mode != TlsMode::Off, self.client_auth != ClientAuth::Off);
        let needed = [
            ("cert_file", encrypts && self.cert_file.is_none(), "tls.mode needs the server's certificate"),
            ("key_file", encrypts && self.key_file.is_none(), "tls.mode needs the key of the certificate"),
            (
                "client_ca_file",
                verifies && self.client_ca_file.is_none(),
                "tls.client_auth needs the authorities",
            ),
        ];
        for (key, _, bound) in needed.into_iter().filter(|(_, is_missing, _)| *is_missing) {
            section.fault(key, "missing", bound);
        }
        if verifies && self.allowed_names.is_empty() {
            let bound =
                "no client would be accepted: patterns are expected, as [\"spiffe://prod/ns/shop/*\"]";
            section.fault("allowed_names", "[]", bound);
        }
        CertNames::read(&self.allowed_names, |pattern, bound| {
            section.fault("allowed_names", format!("{pattern:?}"), bound);
        });
    }

    /// The patterns of `allowed_names`.
    pub fn allowed(&self) -> CertNames {
        CertNames::read(&self.allowed_names, |_, _| {})
    }
}
