//! Which names this server answers to: the check that stops DNS rebinding.

use std::net::SocketAddr;

use http::{HeaderMap, StatusCode, Uri, header::HOST};
use windlass_types::{Problem, code};

use crate::failure::Failure;

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Whether a host names this machine to itself.
pub(crate) fn is_loopback(host: &str) -> bool {
    LOOPBACK.iter().any(|name| name.eq_ignore_ascii_case(host))
}

/// The names taken.
#[derive(Debug)]
pub(crate) struct Hosts {
    names: Vec<(String, Option<u16>)>,
}

impl Hosts {
    pub(crate) fn new(listen: SocketAddr, allowed: &[String], public_url: Option<&str>) -> Self {
        let mut names: Vec<_> = allowed
            .iter()
            .filter_map(|name| split(name))
            .map(|(name, port)| (name.to_owned(), port))
            .collect();
        // The unspecified address is a name nobody uses in earnest, but some systems route it here.
        if !listen.ip().is_unspecified() {
            let name = match listen {
                SocketAddr::V4(address) => address.ip().to_string(),
                SocketAddr::V6(address) => format!("[{}]", address.ip()),
            };
            names.push((name, None));
        }
        let public: Option<Uri> = public_url.and_then(|url| url.parse().ok());
        if let Some(authority) = public.as_ref().and_then(Uri::authority) {
            names.push((authority.host().to_owned(), authority.port_u16()));
        }
        Self { names }
    }

    fn takes(&self, authority: &str) -> bool {
        let Some((host, port)) = split(authority) else {
            return false;
        };
        is_loopback(host)
            || self.names.iter().any(|(name, wanted)| {
                name.eq_ignore_ascii_case(host)
                    && wanted.is_none_or(|wanted| port.is_none_or(|port| port == wanted))
            })
    }

    /// Refuses a request that names another host, several, or none.
    pub(crate) fn check(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), Failure> {
        let mut named = headers.get_all(HOST).iter();
        let (Some(host), None) = (named.next(), named.next()) else {
            let message = "the request must have exactly one Host header";
            return Err(Failure::request(
                StatusCode::BAD_REQUEST,
                "Host",
                "required",
                message,
            ));
        };
        let host = host.to_str().unwrap_or_default();
        // A request in absolute form names its host twice; neither may be foreign.
        let absolute = uri.authority().map(http::uri::Authority::as_str);
        match [Some(host), absolute]
            .into_iter()
            .flatten()
            .find(|name| !self.takes(name))
        {
            None => Ok(()),
            Some(foreign) => {
                let shown: String = foreign.chars().take(100).collect();
                Err(Problem::new(
                    &code::FORBIDDEN,
                    format!("this server does not answer to the host {shown:?}"),
                )
                .with("host", shown)
                .next("add the name to server.allowed_hosts")
                .into())
            }
        }
    }
}

/// `name`, `name:port`, `[v6]`, `[v6]:port`.
pub(crate) fn split(authority: &str) -> Option<(&str, Option<u16>)> {
    let (host, rest) = match authority.find(']') {
        Some(end) if authority.starts_with('[') => authority.split_at(end + 1),
        Some(_) => return None,
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    if host.is_empty() || host.contains('@') {
        return None;
    }
    match rest.strip_prefix(':') {
        Some(port) => Some((host, Some(port.parse().ok()?))),
        None if rest.is_empty() => Some((host, None)),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_its_own_names_only() {
        let allowed = ["api.example".to_owned(), "exact.example:8443".to_owned()];
        let hosts = Hosts::new(
            "10.1.2.3:80".parse().unwrap(),
            &allowed,
            Some("https://w.example"),
        );
        for (authority, expected) in [
            ("localhost", true),
            ("LOCALHOST:1", true),
            ("127.0.0.1:65535", true),
            ("[::1]:7717", true),
            ("10.1.2.3:80", true),
            ("10.1.2.3", true),
            ("api.example", true),
            ("api.example:9", true),
            ("exact.example:8443", true),
            ("exact.example:8444", false),
            ("w.example", true),
            ("w.example:443", true),
            ("evil.example", false),
            ("localhost.evil.example", false),
            ("localhost.", false),
            ("localhost:port", false),
            ("localhost:99999", false),
            ("user@localhost", false),
            ("0.0.0.0", false),
            ("[::1", false),
            ("::1", false),
            ("", false),
        ] {
            assert_eq!(hosts.takes(authority), expected, "{authority}");
        }
    }

    #[test]
    fn an_unspecified_address_is_no_name() {
        assert!(!Hosts::new("0.0.0.0:80".parse().unwrap(), &[], None).takes("0.0.0.0:80"));
    }
}
