//! Connects to a target, if it is listed and every address it has may be called.

use std::{
    io,
    net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs as _},
    time::Duration,
};

use windlass_ports::sandbox::{AddressGuard, AddressKind, Host, HostRule};

use super::Target;

/// A server that takes longer is not there.
const CONNECT_TIME: Duration = Duration::from_secs(20);

/// Why there is no connection.
#[derive(Debug)]
pub enum Refused {
    /// The list or the guard says no.
    Forbidden(String),
    /// Nothing answers.
    Unreachable(String),
}

/// Connects to exactly the addresses that were judged.
pub fn connect(
    target: &Target,
    rules: &[HostRule],
    guard: &dyn AddressGuard,
) -> Result<TcpStream, Refused> {
    let addresses = judge(target, rules, guard, &resolve)?;
    let mut last = "it has no address".to_owned();
    for address in addresses {
        match TcpStream::connect_timeout(&address, CONNECT_TIME) {
            Ok(server) => return Ok(server),
            Err(error) => last = error.to_string(),
        }
    }
    Err(Refused::Unreachable(format!("{}: {last}", target.host)))
}

fn resolve(name: &str, port: u16) -> io::Result<Vec<IpAddr>> {
    let found = (name, port).to_socket_addrs()?;
    Ok(found.map(|address| address.ip()).collect())
}

type Resolve = dyn Fn(&str, u16) -> io::Result<Vec<IpAddr>>;

/// The addresses of a target that is allowed.
fn judge(
    target: &Target,
    rules: &[HostRule],
    guard: &dyn AddressGuard,
    resolve: &Resolve,
) -> Result<Vec<SocketAddr>, Refused> {
    let Target { host, port } = target;
    if !rules.iter().any(|rule| rule.fits(host, *port)) {
        return Err(Refused::Forbidden(format!(
            "{host}:{port} is not one of the allowed hosts"
        )));
    }
    let addresses = match host {
        Host::Address(address) => vec![*address],
        Host::Name(name) => resolve(name, *port)
            .map_err(|error| Refused::Unreachable(format!("{host}: {error}")))?,
    };
    for address in &addresses {
        let listed = |address: IpAddr| {
            let host = Host::Address(address);
            rules.iter().any(|rule| rule.fits(&host, *port))
        };
        // This name means this machine wherever it is written.
        let is_own =
            matches!(host, Host::Name(name) if name == "localhost") && address.is_loopback();
        if guard.kind(*address) == AddressKind::Inner && !listed(*address) && !is_own {
            // One such address among others is an attack or a mistake; the name is not to be trusted.
            return Err(Refused::Forbidden(format!(
                "{host} leads to {address}, which is private, link-local or a metadata service and \
                 not listed itself"
            )));
        }
    }
    let sockets = addresses.into_iter();
    Ok(sockets.map(|address| (address, *port).into()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Simple;

    impl AddressGuard for Simple {
        fn kind(&self, address: IpAddr) -> AddressKind {
            let inner = ["127.", "10.", "169.254.", "::1"];
            let text = address.to_string();
            match inner.iter().any(|front| text.starts_with(front)) {
                true => AddressKind::Inner,
                false => AddressKind::Public,
            }
        }
    }

    #[test]
    fn targets_are_judged() {
        let table = |name: &str| -> Vec<&str> {
            match name {
                "good.example" => vec!["93.184.216.34"],
                "rebound.example" => vec!["93.184.216.34", "169.254.169.254"],
                "inner.example" => vec!["10.0.0.5"],
                "localhost" => vec!["127.0.0.1", "::1"],
                _ => vec![],
            }
        };
        let resolve = move |name: &str, _: u16| {
            let found = table(name).into_iter();
            Ok(found.map(|text| text.parse().unwrap()).collect())
        };
        for (rules, host, port, expected) in [
            (
                &["good.example"][..],
                "good.example",
                443,
                "93.184.216.34:443",
            ),
            (&["good.example"], "good.example", 22, "not one of"),
            (&["good.example"], "other.example", 443, "not one of"),
            (&["*.example"], "good.example", 443, "rule"),
            (
                &["rebound.example"],
                "rebound.example",
                443,
                "not listed itself",
            ),
            (
                &["inner.example"],
                "inner.example",
                443,
                "not listed itself",
            ),
            (
                &["inner.example", "10.0.0.5"],
                "inner.example",
                443,
                "10.0.0.5:443",
            ),
            (
                &["169.254.169.254:80"],
                "169.254.169.254",
                80,
                "169.254.169.254:80",
            ),
            (
                &["localhost:8080"],
                "localhost",
                8080,
                "127.0.0.1:8080 [::1]:8080",
            ),
            (&["good.example"], "127.0.0.1", 80, "not one of"),
        ] {
            let rules: Result<Vec<_>, _> = rules.iter().map(|rule| HostRule::parse(rule)).collect();
            let Ok(rules) = rules else {
                assert_eq!(expected, "rule");
                continue;
            };
            let target = Target {
                host: Host::parse(host).unwrap(),
                port,
            };
            let found = match judge(&target, &rules, &Simple, &resolve) {
                Ok(sockets) => {
                    let texts: Vec<String> = sockets.iter().map(ToString::to_string).collect();
                    texts.join(" ")
                }
                Err(Refused::Forbidden(why) | Refused::Unreachable(why)) => why,
            };
            assert!(found.contains(expected), "{host}:{port} {found}");
        }
    }
}
