//! Password, certificate and key files. They are read anew at each connect, so an operator can change them under a
//! running process. A separate thread reads them, because a file system may hang.

use std::{
    fmt::Display,
    io::Read,
    path::{Path, PathBuf},
};

/// Maximum size of a password file, in bytes.
const PASSWORD_BYTES_MAX: u64 = 4096;

/// Maximum size of a file of certificates or of a key, in bytes.
const PEM_BYTES_MAX: u64 = 1 << 20;

/// The first line of a password file. An error names the configuration key, the file and the cause.
pub(crate) async fn password(path: &Path) -> Result<String, String> {
    const KEY: &str = "password_file";
    let bytes = read(KEY, path, PASSWORD_BYTES_MAX).await?;
    let text = String::from_utf8(bytes).map_err(|_| said(KEY, path, &"not text"))?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// The contents of the file of certificates or of a key under a configuration key. An error names the key, the file and
/// the cause.
pub(crate) async fn pem(key: &'static str, path: &Path) -> Result<Vec<u8>, String> {
    read(key, path, PEM_BYTES_MAX).await
}

async fn read(key: &'static str, path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let owned = PathBuf::from(path);
    let load = move || {
        let mut bytes = Vec::new();
        std::fs::File::open(owned)?.take(most + 1).read_to_end(&mut bytes)?;
        std::io::Result::Ok(bytes)
    };
    let loaded = tokio::task::spawn_blocking(load).await.map_err(|error| said(key, path, &error))?;
    let bytes = loaded.map_err(|error| said(key, path, &error))?;
    if bytes.len() as u64 > most {
        return Err(said(key, path, &format_args!("more than {most} bytes")));
    }
    Ok(bytes)
}

fn said(key: &str, path: &Path, cause: &dyn Display) -> String {
    format!("{key} {}: {cause}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_is_the_first_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pw");
        for (content, expected) in [
            ("a word", "a word"),
            ("a word\n", "a word"),
            ("a word\r\nsecond\n", "a word"),
            (" a ", " a "),
            ("", ""),
        ] {
            std::fs::write(&path, content).unwrap();
            assert_eq!(password(&path).await.unwrap(), expected, "{content:?}");
        }
    }

    #[tokio::test]
    async fn what_is_wrong_with_a_file_is_said_with_its_key_and_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pw");
        let says = |error: String, cause: &str| {
            assert!(error.contains(&format!("file {}: {cause}", path.display())), "{error}");
        };
        says(password(&path).await.unwrap_err(), "No such file");
        says(pem("tls_ca_file", &path).await.unwrap_err(), "No such file");
        std::fs::write(&path, [0xff; 3]).unwrap();
        says(password(&path).await.unwrap_err(), "not text");
        std::fs::write(&path, "x".repeat(4097)).unwrap();
        says(password(&path).await.unwrap_err(), "more than 4096 bytes");
        assert_eq!(pem("tls_ca_file", &path).await.unwrap().len(), 4097);
    }
}
