//! What may be called, decided from the text of an address alone.

use std::net::IpAddr;

use reqwest::Url;
use windlass_ports::OutboundError;

use crate::address::{AddressClass, classify};

/// What may be called. The default is public https.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutboundPolicy {
    /// Whether this machine and private networks may be called. Metadata services,
    /// link-local and reserved addresses stay out of reach.
    pub allow_private: bool,
    /// Whether plain http may be called.
    pub allow_http: bool,
    /// The only hosts that may be called, as `host` or `*.domain`; absent means any.
    pub allowed_hosts: Option<Vec<String>>,
}

/// Longer than any address that works elsewhere.
const MAX_LENGTH: usize = 2_048;

impl OutboundPolicy {
    /// Understands and judges an address. Names are judged again once they are resolved.
    pub(crate) fn check(&self, text: &str) -> Result<Url, OutboundError> {
        if text.len() > MAX_LENGTH {
            return Err(OutboundError::InvalidUrl(format!(
                "longer than {MAX_LENGTH} bytes"
            )));
        }
        // Parsing also turns `0x7f.1`, `2130706433` and `017700000001` into the address they mean.
        let mut url =
            Url::parse(text).map_err(|error| OutboundError::InvalidUrl(error.to_string()))?;
        // For readers, never for servers.
        url.set_fragment(None);
        let host = url
            .host_str()
            .ok_or_else(|| OutboundError::InvalidUrl("it names no host".to_owned()))?;
        self.check_scheme(url.scheme())?;
        if !url.username().is_empty() || url.password().is_some() {
            return refuse("user names and passwords do not belong in an address; use a header");
        }
        let port = url.port_or_known_default().unwrap_or(0);
        if port == 0 {
            return refuse("port 0 cannot be called");
        }
        self.check_host(host)?;
        Ok(url)
    }

    fn check_scheme(&self, scheme: &str) -> Result<(), OutboundError> {
        match scheme {
            "https" => Ok(()),
            "http" if self.allow_http => Ok(()),
            "http" => refuse("plain http is not allowed; use https, or allow http in the settings"),
            other => refuse(format!("`{other}` is not a web address; use https")),
        }
    }

    fn check_host(&self, host: &str) -> Result<(), OutboundError> {
        let name = host.trim_end_matches('.');
        if let Some(allowed) = &self.allowed_hosts
            && !allowed.iter().any(|pattern| host_fits(pattern, name))
        {
            return refuse(format!("{name} is not one of the allowed hosts"));
        }
        let literal = name.trim_start_matches('[').trim_end_matches(']');
        if let Ok(address) = literal.parse() {
            return self.check_address(address);
        }
        let local = ["localhost", "local", "internal", "home.arpa"];
        let is_local = local.iter().any(|suffix| {
            name.strip_suffix(suffix)
                .is_some_and(|front| front.is_empty() || front.ends_with('.'))
        });
        if is_local && !self.allow_private {
            return refuse(format!(
                "{name} is a name of this machine or a private network"
            ));
        }
        Ok(())
    }

    /// Judges an address a name was resolved to, or that was written as such.
    pub(crate) fn check_address(&self, address: IpAddr) -> Result<(), OutboundError> {
        match classify(address) {
            AddressClass::Public => Ok(()),
            AddressClass::Private if self.allow_private => Ok(()),
            AddressClass::Private => refuse(format!("{address} is not a public address")),
            AddressClass::Forbidden => refuse(format!(
                "{address} is reserved, link-local or a metadata service"
            )),
        }
    }
}

fn host_fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_prefix("*.") {
        Some(domain) => name.len().checked_sub(domain.len() + 1).is_some_and(|dot| {
            dot > 0 && name.as_bytes()[dot] == b'.' && name[dot + 1..].eq_ignore_ascii_case(domain)
        }),
        None => pattern.eq_ignore_ascii_case(name),
    }
}

fn refuse<T>(reason: impl Into<String>) -> Result<T, OutboundError> {
    Err(OutboundError::Forbidden(reason.into()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn addresses_as_text() {
        let cases = [
            "https://example.org/hook?x=1",
            "https://example.org:8443/",
            "https://example.org:22/",
            "https://example.org:0/",
            "https://example.org:65536/",
            "https://example.org/hook#part",
            "http://example.org/",
            "ftp://example.org/",
            "file:///etc/passwd",
            "gopher://example.org/",
            "example.org/hook",
            "https://",
            "https:///path",
            "https://ada:pw@example.org/",
            "https://ada@example.org/",
            "https://localhost/",
            "https://LOCALHOST./",
            "https://a.localhost:8443/",
            "https://metadata.google.internal/",
            "https://127.0.0.1/",
            "https://127.1/",
            "https://2130706433/",
            "https://0x7f000001/",
            "https://0177.0.0.1/",
            "https://0x7f.1/",
            "https://%31%32%37.0.0.1/",
            "https://①②⑦.⓪.⓪.①/",
            "https://[::1]/",
            "https://[::ffff:127.0.0.1]/",
            "https://[::ffff:7f00:1]/",
            "https://[64:ff9b::a9fe:a9fe]/",
            "https://[fe80::1]/",
            "https://169.254.169.254/latest/meta-data/",
            "https://[fd00:ec2::254]/",
            "https://0/",
            "https://0.0.0.0/",
            "https://10.0.0.1/",
            "https://8.8.8.8/",
            "https://[2606:4700::1111]/",
            "https://256.0.0.1/",
            "https://exa mple.org/",
        ];
        let strict = OutboundPolicy::default();
        let table: String = cases
            .iter()
            .map(|case| match strict.check(case) {
                Ok(url) => format!("{case:<44} {url}\n"),
                Err(error) => format!("{case:<44} {error}\n"),
            })
            .collect();
        insta::assert_snapshot!(table, @"
        https://example.org/hook?x=1                 https://example.org/hook?x=1
        https://example.org:8443/                    https://example.org:8443/
        https://example.org:22/                      https://example.org:22/
        https://example.org:0/                       target refused: port 0 cannot be called
        https://example.org:65536/                   not an address that can be called: invalid port number
        https://example.org/hook#part                https://example.org/hook
        http://example.org/                          target refused: plain http is not allowed; use https, or allow http in the settings
        ftp://example.org/                           target refused: `ftp` is not a web address; use https
        file:///etc/passwd                           not an address that can be called: it names no host
        gopher://example.org/                        target refused: `gopher` is not a web address; use https
        example.org/hook                             not an address that can be called: relative URL without a base
        https://                                     not an address that can be called: empty host
        https:///path                                https://path/
        https://ada:pw@example.org/                  target refused: user names and passwords do not belong in an address; use a header
        https://ada@example.org/                     target refused: user names and passwords do not belong in an address; use a header
        https://localhost/                           target refused: localhost is a name of this machine or a private network
        https://LOCALHOST./                          target refused: localhost is a name of this machine or a private network
        https://a.localhost:8443/                    target refused: a.localhost is a name of this machine or a private network
        https://metadata.google.internal/            target refused: metadata.google.internal is a name of this machine or a private network
        https://127.0.0.1/                           target refused: 127.0.0.1 is not a public address
        https://127.1/                               target refused: 127.0.0.1 is not a public address
        https://2130706433/                          target refused: 127.0.0.1 is not a public address
        https://0x7f000001/                          target refused: 127.0.0.1 is not a public address
        https://0177.0.0.1/                          target refused: 127.0.0.1 is not a public address
        https://0x7f.1/                              target refused: 127.0.0.1 is not a public address
        https://%31%32%37.0.0.1/                     target refused: 127.0.0.1 is not a public address
        https://①②⑦.⓪.⓪.①/                           target refused: 127.0.0.1 is not a public address
        https://[::1]/                               target refused: ::1 is not a public address
        https://[::ffff:127.0.0.1]/                  target refused: ::ffff:127.0.0.1 is reserved, link-local or a metadata service
        https://[::ffff:7f00:1]/                     target refused: ::ffff:127.0.0.1 is reserved, link-local or a metadata service
        https://[64:ff9b::a9fe:a9fe]/                target refused: 64:ff9b::a9fe:a9fe is reserved, link-local or a metadata service
        https://[fe80::1]/                           target refused: fe80::1 is reserved, link-local or a metadata service
        https://169.254.169.254/latest/meta-data/    target refused: 169.254.169.254 is reserved, link-local or a metadata service
        https://[fd00:ec2::254]/                     target refused: fd00:ec2::254 is reserved, link-local or a metadata service
        https://0/                                   target refused: 0.0.0.0 is reserved, link-local or a metadata service
        https://0.0.0.0/                             target refused: 0.0.0.0 is reserved, link-local or a metadata service
        https://10.0.0.1/                            target refused: 10.0.0.1 is not a public address
        https://8.8.8.8/                             https://8.8.8.8/
        https://[2606:4700::1111]/                   https://[2606:4700::1111]/
        https://256.0.0.1/                           not an address that can be called: invalid IPv4 address
        https://exa mple.org/                        not an address that can be called: invalid international domain name
        ");
    }

    #[test]
    fn private_targets_are_a_setting_and_metadata_is_not() {
        let lax = OutboundPolicy {
            allow_private: true,
            allow_http: true,
            allowed_hosts: None,
        };
        for allowed in [
            "http://127.0.0.1:8080/",
            "http://localhost:8080/",
            "http://192.168.1.1/",
            "http://[::1]:9000/",
            "https://nas.local/",
        ] {
            assert!(lax.check(allowed).is_ok(), "{allowed}");
        }
        for refused in [
            "http://169.254.169.254/",
            "http://[fd00:ec2::254]/",
            "http://0.0.0.0:8080/",
            "http://255.255.255.255/",
            "http://[::ffff:127.0.0.1]/",
        ] {
            assert!(
                matches!(lax.check(refused), Err(OutboundError::Forbidden(_))),
                "{refused}"
            );
        }
    }

    #[test]
    fn a_list_of_hosts_is_a_wall() {
        let hosts = vec!["example.org".to_owned(), "*.hooks.example.net".to_owned()];
        let policy = OutboundPolicy {
            allowed_hosts: Some(hosts),
            ..OutboundPolicy::default()
        };
        for (url, expected) in [
            ("https://example.org/", true),
            ("https://EXAMPLE.org./", true),
            ("https://a.example.org/", false),
            ("https://eu.hooks.example.net/", true),
            ("https://hooks.example.net/", false),
            ("https://evilhooks.example.net/", false),
            ("https://.hooks.example.net/", false),
            ("https://example.org.evil.net/", false),
            ("https://8.8.8.8/", false),
        ] {
            assert_eq!(policy.check(url).is_ok(), expected, "{url}");
        }
    }

    proptest! {
        #[test]
        fn no_spelling_of_a_private_address_gets_in(a in prop::sample::select(&[10u8, 127][..]), b: u8, c: u8, d: u8, style in 0..6) {
            let number = u32::from_be_bytes([a, b, c, d]);
            let host = match style {
                0 => format!("{a}.{b}.{c}.{d}"),
                1 => format!("{number}"),
                2 => format!("{number:#x}"),
                3 => format!("0{number:o}"),
                4 => format!("0{a:o}.{b:#x}.{}", u16::from_be_bytes([c, d])),
                _ => format!("[::ffff:{a}.{b}.{c}.{d}]"),
            };
            let result = OutboundPolicy::default().check(&format!("https://{host}/"));
            prop_assert!(matches!(result, Err(OutboundError::Forbidden(_))), "{host}: {result:?}");
        }

        #[test]
        fn any_text_is_answered(text in "\\PC{0,60}") {
            let _ = OutboundPolicy::default().check(&text);
        }
    }
}
