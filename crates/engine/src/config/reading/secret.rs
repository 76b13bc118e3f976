//! URLs that may hold a secret, in a form that may be printed.

const HIDDEN: &str = "***";

/// A URL that may be printed: without its password, and without the part after `?` or `#`. A text without the form of
/// a URL with a login is hidden whole, since any part of it may be the secret.
pub(super) fn masked(url: &str) -> String {
    if is_variable(url) {
        return url.to_owned();
    }
    let shown = || {
        let (scheme, rest) = url.split_once("://")?;
        let (login, place) = rest.rsplit_once('@')?;
        let place = place.split(['?', '#']).next().filter(|place| place.contains('/'))?;
        let (user, password) = match login.split_once(':') {
            None => (login, String::new()),
            // The name of a variable is no secret, and shows where the password comes from.
            Some((user, password)) if is_variable(password) => (user, format!(":{password}")),
            Some((user, _)) => (user, format!(":{HIDDEN}")),
        };
        let plain = |c: char| c.is_alphanumeric() || "_.-%${}".contains(c);
        user.chars().all(plain).then(|| format!("{scheme}://{user}{password}@{place}"))
    };
    shown().unwrap_or_else(|| HIDDEN.to_owned())
}

/// Whether a URL holds a password. One without a login holds none, although it is printed hidden.
pub(super) fn hides(url: &str) -> bool {
    url.contains('@') && masked(url).contains(HIDDEN)
}

/// Whether the text is one `${NAME}` and nothing else.
fn is_variable(text: &str) -> bool {
    let name = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    name.is_some_and(|name| !name.contains(['{', '}']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_login_is_shown_without_its_password() {
        for (text, expected) in [
            ("mysql://u:geheim@h:3306/d", "mysql://u:***@h:3306/d"),
            ("mysql://u:ge@heim@h/d", "mysql://u:***@h/d"),
            ("mysql://u@h/d?password=geheim", "mysql://u@h/d"),
            ("mysql://u:${PW}@h/d", "mysql://u:${PW}@h/d"),
            ("mysql://u:${A}geheim${B}@h/d", "mysql://u:***@h/d"),
            ("postgres://u@[::1]:7/d", "postgres://u@[::1]:7/d"),
            ("${DB_URL}", "${DB_URL}"),
        ] {
            assert_eq!(masked(text), expected);
        }
    }

    #[test]
    fn a_url_without_a_password_holds_no_secret() {
        for text in
            ["memcached://127.0.0.1:11211", "redis://h:6379/0", "mysql://u@h/d", "mysql://u:${PW}@h/d"]
        {
            assert!(!hides(text), "{text}");
        }
        assert!(hides("mysql://u:geheim@h/d") && hides("memcached://u:geheim@h:1"));
    }

    #[test]
    fn what_has_no_such_form_is_hidden_whole() {
        for text in [
            "geheim",
            "u:geheim@h/d",
            "mysql:/u:geheim@h/d",
            "mysql://u:geheimh/d",
            "mysql://u@h:1/d?password=a@geheim",
            "${A}geheim${B}",
        ] {
            assert_eq!(masked(text), "***", "{text}");
        }
    }
}
