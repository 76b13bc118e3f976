//! The options of TLS to servers, by gRPC and at their admin listeners.

use std::path::PathBuf;

use clap::Args;
use sequent_client::TlsOptions;

/// Options of TLS, for servers with `https://`.
#[derive(Debug, Clone, Args)]
#[allow(clippy::struct_field_names, reason = "the names are those of the flags")]
pub(crate) struct TlsFlags {
    /// Authorities that sign the certificates of servers with https:// [default: those of the system]
    #[arg(long, global = true, value_name = "FILE", env = "SEQUENT_TLS_CA", hide_env_values = true)]
    tls_ca: Option<PathBuf>,
    /// The certificate to present to them, with --tls-key
    #[arg(long, global = true, value_name = "FILE", env = "SEQUENT_TLS_CERT", hide_env_values = true)]
    tls_cert: Option<PathBuf>,
    /// The key of that certificate
    #[arg(long, global = true, value_name = "FILE", env = "SEQUENT_TLS_KEY", hide_env_values = true)]
    tls_key: Option<PathBuf>,
    /// The name that their certificates have [default: the host of the address]
    #[arg(long, global = true, value_name = "NAME", env = "SEQUENT_TLS_NAME", hide_env_values = true)]
    tls_name: Option<String>,
}

impl TlsFlags {
    /// The options. An empty variable counts as absent.
    pub(crate) fn options(&self) -> TlsOptions {
        let file = |path: Option<&PathBuf>| path.filter(|path| !path.as_os_str().is_empty()).cloned();
        TlsOptions {
            ca_file: file(self.tls_ca.as_ref()),
            cert_file: file(self.tls_cert.as_ref()),
            key_file: file(self.tls_key.as_ref()),
            server_name: self.tls_name.clone().filter(|name| !name.is_empty()),
        }
    }
}
