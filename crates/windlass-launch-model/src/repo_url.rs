//! Addresses of repositories and services: which forms are taken, and which host they name.
//!
//! Written out by hand because git's forms are no URLs, and because what is refused here
//! (transports that run programs, options in the place of an address, secrets in the text) is
//! what a general parser lets through. A reason never repeats the address: it may hold a secret.

/// Where a repository is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepoUrl {
    /// `https://host/path`.
    Https {
        /// The host, in lower case.
        host: String,
    },
    /// `ssh://user@host/path` or `user@host:path`.
    Ssh {
        /// The host, in lower case.
        host: String,
    },
    /// A path of this machine, or `file://`.
    Local {
        /// The path, with percent escapes resolved.
        path: String,
    },
}

impl RepoUrl {
    /// Reads an address, or says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Err("the address is empty");
        }
        if text.starts_with('-') {
            return Err("the address starts with '-' and would be read as an option");
        }
        if text.chars().any(char::is_control) {
            return Err("the address contains a control character");
        }
        if names_transport_helper(text) {
            return Err("addresses of the form 'helper::address' run programs and are not taken");
        }
        if let Some((scheme, rest)) = text.split_once("://") {
            return match scheme.to_ascii_lowercase().as_str() {
                "https" => https(rest),
                "ssh" => ssh(rest),
                "file" => file(rest),
                _ => Err("use https://, ssh://, user@host:path, file:// or a local path"),
            };
        }
        match text.split_once(':') {
            Some((before, path)) if !before.contains('/') && !is_drive(before) => scp(before, path),
            _ => Ok(Self::Local {
                path: text.to_owned(),
            }),
        }
    }

    /// The host that is called; none for a local path.
    pub fn host(&self) -> Option<&str> {
        match self {
            Self::Https { host } | Self::Ssh { host } => Some(host),
            Self::Local { .. } => None,
        }
    }

    /// The path on this machine.
    pub fn local_path(&self) -> Option<&str> {
        match self {
            Self::Local { path } => Some(path),
            Self::Https { .. } | Self::Ssh { .. } => None,
        }
    }
}

fn names_transport_helper(text: &str) -> bool {
    text.split_once("::").is_some_and(|(helper, _)| {
        !helper.is_empty()
            && helper
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'+'))
    })
}

fn is_drive(text: &str) -> bool {
    cfg!(windows) && text.len() == 1 && text.bytes().all(|byte| byte.is_ascii_alphabetic())
}

fn https(rest: &str) -> Result<RepoUrl, &'static str> {
    let (authority, path) = split_authority(rest)?;
    if authority.contains('@') {
        return Err(
            "the address holds a user or password; credentials belong in the environment or a credential helper",
        );
    }
    if path.is_empty() {
        return Err("the address names a host and no repository");
    }
    Ok(RepoUrl::Https {
        host: host_of(authority)?,
    })
}

fn ssh(rest: &str) -> Result<RepoUrl, &'static str> {
    let (authority, path) = split_authority(rest)?;
    if path.is_empty() {
        return Err("the address names a host and no repository");
    }
    Ok(RepoUrl::Ssh {
        host: host_of(without_user(authority)?)?,
    })
}

fn scp(before: &str, path: &str) -> Result<RepoUrl, &'static str> {
    if path.is_empty() {
        return Err("the address names a host and no repository");
    }
    if path.starts_with('-') || path.contains(char::is_whitespace) {
        return Err("the path of the repository starts with '-' or contains a space");
    }
    let host = without_user(before)?;
    if !is_host(host) {
        return Err("the host's name is not valid");
    }
    Ok(RepoUrl::Ssh {
        host: host.to_ascii_lowercase(),
    })
}

fn without_user(authority: &str) -> Result<&str, &'static str> {
    match authority.rsplit_once('@') {
        None => Ok(authority),
        Some((user, _)) if user.contains(':') => {
            Err("the address holds a password; use a key and an agent")
        }
        Some((user, host))
            if !user.starts_with('-')
                && user.bytes().all(|byte| {
                    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'+')
                }) =>
        {
            Ok(host)
        }
        Some(_) => Err("the user's name is not valid"),
    }
}

fn file(rest: &str) -> Result<RepoUrl, &'static str> {
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return Err("a file:// address names a path of this machine: file:///path/to/repository");
    }
    let path = percent_decode(path).ok_or("the address has a broken percent escape")?;
    if path.chars().any(char::is_control) {
        return Err("the address contains a control character");
    }
    Ok(RepoUrl::Local { path })
}

fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The part before the path, and the path without its slash.
fn split_authority(rest: &str) -> Result<(&str, &str), &'static str> {
    if rest.contains(['?', '#']) {
        return Err("the address has a query or fragment, which no repository needs");
    }
    if rest.contains(char::is_whitespace) {
        return Err("the address contains a space");
    }
    Ok(rest.split_once('/').unwrap_or((rest, "")))
}

/// The host of `host` or `host:port`.
fn host_of(authority: &str) -> Result<String, &'static str> {
    let after_bracket = authority.rfind(']').map_or(0, |at| at + 1);
    let (host, port) = match authority[after_bracket..].find(':') {
        Some(at) => {
            let at = after_bracket + at;
            (&authority[..at], Some(&authority[at + 1..]))
        }
        None => (authority, None),
    };
    if !is_host(host) {
        return Err("the host's name is not valid");
    }
    match port {
        Some(port) if port.parse::<u16>().is_err() => Err("the port is not a number up to 65535"),
        _ => Ok(host.to_ascii_lowercase()),
    }
}

/// Whether a text is a host: names and numbers with dots, or an IPv6 address in brackets.
pub fn is_host(text: &str) -> bool {
    if let Some(address) = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        return address.parse::<std::net::Ipv6Addr>().is_ok();
    }
    !text.is_empty()
        && text.len() <= 253
        && text.split('.').all(|label| {
            !label.is_empty()
                && label.len() <= 63
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        })
}

/// Whether a web address may be without encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Only `https://`.
    HttpsOnly,
    /// `http://` too, for services on the same machine or network.
    HttpToo,
}

/// The host of a web address, or what is wrong with the address.
pub fn web_host(text: &str, scheme: Scheme) -> Result<String, &'static str> {
    let (found, rest) = text
        .split_once("://")
        .ok_or("use a full address: https://host/path")?;
    match (found.to_ascii_lowercase().as_str(), scheme) {
        ("https", _) | ("http", Scheme::HttpToo) => {}
        ("http", Scheme::HttpsOnly) => return Err("use https://"),
        _ => return Err("use https:// or http://"),
    }
    if rest
        .chars()
        .any(|part| part.is_control() || part.is_whitespace())
    {
        return Err("the address contains a space or control character");
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = &rest[..end];
    if authority.contains('@') {
        return Err("the address holds a user or password; name an environment variable instead");
    }
    host_of(authority)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_repositories() {
        let cases = [
            "https://github.com/acme/pdf",
            "https://GitHub.com:443/acme/pdf.git",
            "ssh://git@github.com/acme/pdf.git",
            "ssh://git@[::1]:2222/acme/pdf.git",
            "git@github.com:acme/pdf.git",
            "host:path",
            "/srv/acme",
            "../acme pdf",
            "./a:b",
            "file:///srv/acme%20pdf",
            "file://localhost/srv/acme",
            "",
            "-oProxyCommand=x",
            "--upload-pack=x",
            "ext::sh -c x",
            "fd::17",
            "http://github.com/acme/pdf",
            "git://github.com/acme/pdf",
            "https://user:secret@github.com/acme/pdf",
            "https://ghp_token@github.com/acme/pdf",
            "https://github.com",
            "https://github.com/acme?token=x",
            "https://-x/acme",
            "https://github.com:99999/acme",
            "https:///acme",
            "ssh://git:secret@github.com/acme",
            "ssh://-oProxyCommand=x/acme",
            "git@-oProxyCommand=x:acme",
            "git@host:-x",
            "git@host:",
            "file://other/srv",
            "file:///srv/%zz",
            "file:///srv/%00",
            "https://github.com/a\nb",
        ];
        let shown: Vec<String> = cases
            .iter()
            .map(|case| match RepoUrl::parse(case) {
                Ok(url) => format!("{case:?} → {url:?}"),
                Err(reason) => format!("{case:?} ✗ {reason}"),
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r#"
        "https://github.com/acme/pdf" → Https { host: "github.com" }
        "https://GitHub.com:443/acme/pdf.git" → Https { host: "github.com" }
        "ssh://git@github.com/acme/pdf.git" → Ssh { host: "github.com" }
        "ssh://git@[::1]:2222/acme/pdf.git" → Ssh { host: "[::1]" }
        "git@github.com:acme/pdf.git" → Ssh { host: "github.com" }
        "host:path" → Ssh { host: "host" }
        "/srv/acme" → Local { path: "/srv/acme" }
        "../acme pdf" → Local { path: "../acme pdf" }
        "./a:b" → Local { path: "./a:b" }
        "file:///srv/acme%20pdf" → Local { path: "/srv/acme pdf" }
        "file://localhost/srv/acme" → Local { path: "/srv/acme" }
        "" ✗ the address is empty
        "-oProxyCommand=x" ✗ the address starts with '-' and would be read as an option
        "--upload-pack=x" ✗ the address starts with '-' and would be read as an option
        "ext::sh -c x" ✗ addresses of the form 'helper::address' run programs and are not taken
        "fd::17" ✗ addresses of the form 'helper::address' run programs and are not taken
        "http://github.com/acme/pdf" ✗ use https://, ssh://, user@host:path, file:// or a local path
        "git://github.com/acme/pdf" ✗ use https://, ssh://, user@host:path, file:// or a local path
        "https://user:secret@github.com/acme/pdf" ✗ the address holds a user or password; credentials belong in the environment or a credential helper
        "https://ghp_token@github.com/acme/pdf" ✗ the address holds a user or password; credentials belong in the environment or a credential helper
        "https://github.com" ✗ the address names a host and no repository
        "https://github.com/acme?token=x" ✗ the address has a query or fragment, which no repository needs
        "https://-x/acme" ✗ the host's name is not valid
        "https://github.com:99999/acme" ✗ the port is not a number up to 65535
        "https:///acme" ✗ the host's name is not valid
        "ssh://git:secret@github.com/acme" ✗ the address holds a password; use a key and an agent
        "ssh://-oProxyCommand=x/acme" ✗ the host's name is not valid
        "git@-oProxyCommand=x:acme" ✗ the host's name is not valid
        "git@host:-x" ✗ the path of the repository starts with '-' or contains a space
        "git@host:" ✗ the address names a host and no repository
        "file://other/srv" ✗ a file:// address names a path of this machine: file:///path/to/repository
        "file:///srv/%zz" ✗ the address has a broken percent escape
        "file:///srv/%00" ✗ the address contains a control character
        "https://github.com/a\nb" ✗ the address contains a control character
        "#);
    }

    #[test]
    fn no_reason_repeats_a_secret() {
        for text in [
            "https://user:hunter2@github.com/acme/pdf",
            "https://hunter2@github.com/acme/pdf",
            "ssh://git:hunter2@github.com/acme",
            "https://github.com/acme?token=hunter2",
        ] {
            let reason = RepoUrl::parse(text).unwrap_err();
            assert!(!reason.contains("hunter2"), "{reason}");
        }
    }

    #[test]
    fn hosts_of_web_addresses() {
        for (text, scheme, expected) in [
            (
                "https://api.acme.dev/v1",
                Scheme::HttpsOnly,
                Ok("api.acme.dev"),
            ),
            (
                "https://API.acme.dev?x=1",
                Scheme::HttpsOnly,
                Ok("api.acme.dev"),
            ),
            (
                "http://127.0.0.1:11434/v1",
                Scheme::HttpToo,
                Ok("127.0.0.1"),
            ),
            ("http://[::1]:8080", Scheme::HttpToo, Ok("[::1]")),
            ("http://acme.dev", Scheme::HttpsOnly, Err("use https://")),
            (
                "ftp://acme.dev",
                Scheme::HttpToo,
                Err("use https:// or http://"),
            ),
            (
                "acme.dev",
                Scheme::HttpToo,
                Err("use a full address: https://host/path"),
            ),
            (
                "https://key@acme.dev",
                Scheme::HttpToo,
                Err("the address holds a user or password; name an environment variable instead"),
            ),
        ] {
            let found = web_host(text, scheme);
            assert_eq!(found.as_deref(), expected.as_ref().copied(), "{text}");
        }
    }
}
