//! Databases of connectTo behind ports of this machine, for as long as a script runs.
//!
//! The parameters of such a resource (hosts, ports, connection strings) are replaced, so that the
//! script's variables lead into the tunnels, however it gets them.

use std::collections::BTreeMap;

use windlass_stack_compile::parameter;
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::script::Script;
use windlass_stack_config::referenceable_params;
use windlass_stack_diagnose::session::{Bastion, Tunnel};
use windlass_types::Problem;

use crate::lines::Level;
use crate::script::bastion::bastion;
use crate::script::failure::refused;
use crate::script::program::Listener;
use crate::script::run::{ScriptCall, Surroundings};
use crate::script::values::{Lack, Resolved, Values};

const HERE: &str = "127.0.0.1";

/// The tunnels of a script.
pub(crate) struct Tunnels(Vec<(String, Tunnel)>);

/// What was at a host and port and is at a port of this machine now.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Moved {
    host: String,
    port: u16,
    local: u16,
}

impl Tunnels {
    /// Opens a tunnel to every address of the databases the script connects to.
    pub(crate) async fn open(
        call: &ScriptCall<'_>,
        script: &Script,
        around: &Surroundings<'_>,
        values: &mut Values<'_>,
        lines: &Listener<'_>,
    ) -> Result<Self, Problem> {
        let mut tunnels = Self(Vec::new());
        let targets = script.connect_to().iter();
        let targets: Vec<&String> = targets.filter(|target| is_database(call, target)).collect();
        if targets.is_empty() {
            let message = format!(
                "the script \"{}\" connects to no database, so nothing goes through the bastion",
                call.script
            );
            lines(Level::Warn, &message);
            return Ok(tunnels);
        }
        let bastion = bastion(call, script, around, values).await?;
        for target in targets {
            let known = params(call, target, values).await?;
            let moved = tunnels.lead(&bastion, target, &known, lines).await?;
            for (param, value) in &known {
                let text = value.text.expose_secret();
                if let Some(text) = replaced(param, text, &known, &moved) {
                    values.replace(target, param, text, value.is_secret);
                }
            }
        }
        Ok(tunnels)
    }

    async fn lead(
        &mut self,
        bastion: &Bastion,
        target: &str,
        known: &Known,
        lines: &Listener<'_>,
    ) -> Result<Vec<Moved>, Problem> {
        let mut moved: Vec<Moved> = Vec::new();
        for (host, port) in addresses(target, known)? {
            if moved.iter().any(|it| it.host == host && it.port == port) {
                continue;
            }
            let tunnel = Tunnel::open(bastion, &host, port, None).await?;
            let address = tunnel.address();
            let name = bastion.name();
            let message =
                format!("{host}:{port} is reached through the bastion {name} at {address}");
            lines(Level::Info, &message);
            moved.push(Moved {
                host,
                port,
                local: address.port(),
            });
            self.0.push((target.to_owned(), tunnel));
        }
        Ok(moved)
    }

    /// Closes them, and returns what went wrong with their connections.
    pub(crate) async fn close(self, lines: &Listener<'_>) {
        for (target, tunnel) in self.0 {
            for fault in tunnel.close().await {
                lines(Level::Warn, &format!("{target}: {}", fault.message()));
            }
        }
    }
}

fn is_database(call: &ScriptCall<'_>, target: &str) -> bool {
    let kind = call.config.resources.get(target).map(|it| &it.kind);
    matches!(
        kind,
        Some(ResourceKind::RelationalDatabase(_) | ResourceKind::RedisCluster(_))
    )
}

type Known = BTreeMap<&'static str, Resolved>;

/// The parameters of a database; those that nobody needs may be missing.
async fn params(
    call: &ScriptCall<'_>,
    target: &str,
    values: &mut Values<'_>,
) -> Result<Known, Problem> {
    let kind = call.config.resources.get(target).map(|it| &it.kind);
    let params = kind.and_then(referenceable_params).into_iter().flatten();
    let mut known = Known::new();
    for param in params {
        if parameter(call.config, call.facts, target, param).is_none() {
            continue;
        }
        match values.param(target, param).await {
            Ok((value, _)) => drop(known.insert(param, value)),
            Err(Lack::Failed(problem)) => return Err(problem.with("script", call.script)),
            Err(lack) if ["host", "port"].contains(&param) => {
                let what = format!(
                    "the tunnel of the script \"{}\" to \"{target}\"",
                    call.script
                );
                return Err(values.lacking(&what, lack));
            }
            Err(_) => {}
        }
    }
    Ok(known)
}

fn text<'a>(known: &'a Known, param: &str) -> Option<&'a str> {
    known.get(param).map(|it| it.text.expose_secret().as_str())
}

/// Every host and port of a database.
fn addresses(target: &str, known: &Known) -> Result<Vec<(String, u16)>, Problem> {
    let port = |param: &str| text(known, param).and_then(|it| it.trim().parse::<u16>().ok());
    let (Some(host), Some(main)) = (text(known, "host"), port("port")) else {
        let message = format!("\"{target}\" has no host and port to open a tunnel to");
        return Err(refused("no_endpoint", message).with("resource", target));
    };
    let mut all = vec![(host.to_owned(), main)];
    if let Some(reader) = text(known, "readerHost") {
        all.push((reader.to_owned(), port("readerPort").unwrap_or(main)));
    }
    let replicas = text(known, "readReplicaHosts").unwrap_or_default();
    let replicas = replicas.split(',').filter(|host| !host.is_empty());
    all.extend(replicas.map(|host| (host.to_owned(), main)));
    Ok(all)
}

/// A parameter as it is on this machine; none where it stays.
fn replaced(param: &str, text: &str, known: &Known, moved: &[Moved]) -> Option<String> {
    let local = |host: Option<&str>| {
        let found = moved.iter().find(|it| Some(it.host.as_str()) == host);
        found.map(|it| it.local)
    };
    let host = |param: &str| known.get(param).map(|it| it.text.expose_secret().as_str());
    match param {
        "host" | "readerHost" => Some(HERE.to_owned()),
        "port" => local(host("host")).map(|port| port.to_string()),
        "readerPort" => local(host("readerHost")).map(|port| port.to_string()),
        // Their ports differ here, so each host is named with its port.
        "readReplicaHosts" => {
            let hosts = text.split(',').filter_map(|host| local(Some(host)));
            let hosts: Vec<String> = hosts.map(|port| format!("{HERE}:{port}")).collect();
            Some(hosts.join(","))
        }
        _ => {
            let changed = led(text, moved);
            (changed != text).then_some(changed)
        }
    }
}

/// A text with every address that has moved replaced.
fn led(text: &str, moved: &[Moved]) -> String {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
    let mut out = text.to_owned();
    for it in moved {
        let address = format!("{}:{}", it.host, it.port);
        let mut parts = out.split(address.as_str());
        let mut joined = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            // Part of a longer name or number is another address.
            let is_whole = !joined.ends_with(is_of_name)
                && !part.starts_with(|letter: char| letter.is_ascii_digit());
            match is_whole {
                true => joined.push_str(&format!("{HERE}:{}", it.local)),
                false => joined.push_str(&address),
            }
            joined.push_str(part);
        }
        out = joined;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_types::Secret;

    #[test]
    fn addresses_in_texts_are_replaced_completely() {
        let moved = |host: &str, local| Moved {
            host: host.to_owned(),
            port: 5432,
            local,
        };
        let moved = [moved("db.eu", 40_001), moved("ro.db.eu", 40_002)];
        for (text, expected) in [
            (
                "postgresql://u:p@db.eu:5432/x",
                "postgresql://u:p@127.0.0.1:40001/x",
            ),
            (
                "jdbc:postgresql://ro.db.eu:5432/x",
                "jdbc:postgresql://127.0.0.1:40002/x",
            ),
            (
                "db.eu:5432,ro.db.eu:5432",
                "127.0.0.1:40001,127.0.0.1:40002",
            ),
            ("db.eu:54321", "db.eu:54321"),
            ("other.db.eu:5432", "other.db.eu:5432"),
            ("db.eu", "db.eu"),
            ("", ""),
        ] {
            assert_eq!(led(text, &moved), expected);
        }
    }

    #[test]
    fn every_host_of_a_database_has_an_address() {
        let known = |pairs: &[(&'static str, &str)]| -> Known {
            let value = |text: &str| Resolved {
                text: Secret::new(text.to_owned()),
                is_secret: false,
            };
            pairs
                .iter()
                .map(|(name, text)| (*name, value(text)))
                .collect()
        };
        let aurora = known(&[
            ("host", "c.eu"),
            ("port", "5432"),
            ("readerHost", "ro.eu"),
            ("readerPort", "5433"),
            ("readReplicaHosts", "r0.eu,r1.eu"),
        ]);
        let found = addresses("db", &aurora).unwrap();
        let found: Vec<(&str, u16)> = found
            .iter()
            .map(|(host, port)| (host.as_str(), *port))
            .collect();
        assert_eq!(
            found,
            [
                ("c.eu", 5432),
                ("ro.eu", 5433),
                ("r0.eu", 5432),
                ("r1.eu", 5432)
            ]
        );
        let moved: Vec<Moved> = addresses("db", &aurora)
            .unwrap()
            .into_iter()
            .zip(40_000..)
            .map(|((host, port), local)| Moved { host, port, local })
            .collect();
        for (param, text, expected) in [
            ("host", "c.eu", Some("127.0.0.1")),
            ("port", "5432", Some("40000")),
            ("readerPort", "5433", Some("40001")),
            (
                "readReplicaHosts",
                "r0.eu,r1.eu",
                Some("127.0.0.1:40002,127.0.0.1:40003"),
            ),
            (
                "readerConnectionString",
                "x://ro.eu:5433/",
                Some("x://127.0.0.1:40001/"),
            ),
            ("dbName", "shop", None),
        ] {
            assert_eq!(
                replaced(param, text, &aurora, &moved).as_deref(),
                expected,
                "{param}"
            );
        }
        let problem = addresses("db", &known(&[("host", "c.eu"), ("port", "x")])).unwrap_err();
        assert_eq!(problem.details()["reason"], "no_endpoint");
    }
}
