//! Redis: one command, or keys by `SCAN`, over a connection of its own.
//!
//! When only reading is allowed, the server is asked first what kind of command it is; only one
//! that it calls `readonly`, and nothing else that matters, is sent.

mod reply;
mod resp;

use std::collections::BTreeSet;

use serde_json::Value;
use windlass_ports::database::{
    Access, DatabaseAddress, DatabaseFailure, Listening, RedisAsk, RedisReply, RedisRequest,
};

use crate::connect;
use reply::{failure, shown_bytes, to_json};
use resp::{Connection, Resp};

/// A cluster says where a key is; more hops than this are a mistake of the cluster.
const HOPS: usize = 3;

/// What the server may say of a command that is sent. Anything else, known or not, means that it
/// does more than read: `write`, `may_replicate`, `blocking`, `admin`, …
const HARMLESS: &[&str] = &[
    "allow_busy",
    "fast",
    "loading",
    "module",
    "movablekeys",
    "no_async_loading",
    "no_mandatory_keys",
    "random",
    "readonly",
    "skip_monitor",
    "skip_slowlog",
    "sort_for_script",
    "stale",
];

/// Commands that tell something of the server; it does not call them `readonly`, since they read
/// no keys, and some servers count them as administration.
const TELLING: &[(&str, &[&str])] = &[
    ("cluster", &["info", "nodes"]),
    ("info", &[]),
    ("ping", &[]),
    ("slowlog", &["get", "len"]),
    ("time", &[]),
];

/// Asks.
pub async fn ask(request: &RedisRequest) -> Result<RedisReply, DatabaseFailure> {
    let mut address = request.address.clone();
    for _ in 0..HOPS {
        let mut connection = login(&address, request.byte_limit).await?;
        match &request.ask {
            RedisAsk::Keys { pattern, limit } => {
                return keys(&mut connection, pattern, *limit).await;
            }
            RedisAsk::Command(words) => {
                let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
                if request.access == Access::ReadOnly {
                    check_kind(&mut connection, &words).await?;
                }
                let reply = connection.call(&words).await?;
                match moved(&reply, &address.listening) {
                    Some(listening) => address.listening = listening,
                    None => return answer(reply).map(|reply| RedisReply::Value(to_json(&reply))),
                }
            }
        }
    }
    Err(connect::unexpected(
        "the cluster sent the command from node to node",
    ))
}

async fn login(
    address: &DatabaseAddress,
    byte_limit: usize,
) -> Result<Connection, DatabaseFailure> {
    let wire = connect::secure(connect::open(address).await?, address).await?;
    let mut connection = Connection::new(wire, address.listening.clone(), byte_limit);
    if let Some(password) = &address.password {
        let password = password.expose_secret().as_bytes();
        let login: Vec<&[u8]> = if address.user.is_empty() {
            vec![b"AUTH", password]
        } else {
            vec![b"AUTH", address.user.as_bytes(), password]
        };
        let reply = connection.call(&login).await?;
        answer(reply).map_err(|failure| match failure {
            DatabaseFailure::Statement { code, message, .. } => {
                DatabaseFailure::Auth { code, message }
            }
            other => other,
        })?;
    }
    if !matches!(address.database.as_str(), "" | "0") {
        let reply = connection
            .call(&[b"SELECT", address.database.as_bytes()])
            .await?;
        answer(reply)?;
    }
    Ok(connection)
}

fn answer(reply: Resp) -> Result<Resp, DatabaseFailure> {
    match reply {
        Resp::Error(message) => Err(failure(&message)),
        other => Ok(other),
    }
}

/// Asks the server what it thinks of a command; newer servers know sub-commands apart.
async fn check_kind(connection: &mut Connection, words: &[&[u8]]) -> Result<(), DatabaseFailure> {
    let lower = |index: usize| {
        words
            .get(index)
            .map(|word| String::from_utf8_lossy(word).to_ascii_lowercase())
            .unwrap_or_default()
    };
    let (name, second) = (lower(0), lower(1));
    let both = format!("{name}|{second}");
    let reply = connection
        .call(&[b"COMMAND", b"INFO", name.as_bytes(), both.as_bytes()])
        .await?;
    let Resp::Array(entries) = answer(reply)? else {
        return Err(connect::unexpected("COMMAND INFO gave no list"));
    };
    let entry = entries
        .iter()
        .rev()
        .find_map(|entry| match entry {
            Resp::Array(parts) => parts.get(2),
            _ => None,
        })
        .ok_or_else(|| read_only(&name, "the server does not know the command"))?;
    let Resp::Array(flags) = entry else {
        return Err(connect::unexpected("COMMAND INFO gave no flags"));
    };
    let tells = TELLING.iter().any(|(command, seconds)| {
        *command == name && (seconds.is_empty() || seconds.contains(&second.as_str()))
    });
    let flags: Vec<String> = flags.iter().filter_map(Resp::text).collect();
    for flag in &flags {
        let harmless = HARMLESS.contains(&flag.as_str()) || (tells && flag == "admin");
        if !harmless {
            return Err(read_only(&name, &format!("the server lists it as {flag}")));
        }
    }
    if !tells && !flags.iter().any(|flag| flag == "readonly") {
        return Err(read_only(&name, "the server does not list it as readonly"));
    }
    Ok(())
}

fn read_only(name: &str, why: &str) -> DatabaseFailure {
    DatabaseFailure::ReadOnly {
        code: name.to_ascii_uppercase(),
        message: format!("{} is not sent: {why}", name.to_ascii_uppercase()),
    }
}

/// Where a cluster says the key is: `MOVED 3999 10.0.0.1:6381`.
fn moved(reply: &Resp, from: &Listening) -> Option<Listening> {
    let Resp::Error(message) = reply else {
        return None;
    };
    let mut words = message.split(' ');
    if words.next() != Some("MOVED") {
        return None;
    }
    let (host, port) = words.nth(1)?.rsplit_once(':')?;
    let host = match (host, from) {
        // An empty host is the one that answered.
        ("", Listening::Tcp { host, .. }) => host.clone(),
        (host, _) => host.to_owned(),
    };
    Some(Listening::Tcp {
        host,
        port: port.parse().ok()?,
    })
}

async fn keys(
    connection: &mut Connection,
    pattern: &str,
    limit: usize,
) -> Result<RedisReply, DatabaseFailure> {
    let mut found = BTreeSet::new();
    let mut cursor = "0".to_owned();
    loop {
        let reply = connection
            .call(&[
                b"SCAN",
                cursor.as_bytes(),
                b"MATCH",
                pattern.as_bytes(),
                b"COUNT",
                b"1000",
            ])
            .await?;
        let Resp::Array(parts) = answer(reply)? else {
            return Err(connect::unexpected("SCAN gave no list"));
        };
        let [next, Resp::Array(page)] = parts.as_slice() else {
            return Err(connect::unexpected("SCAN gave no cursor"));
        };
        found.extend(page.iter().filter_map(|key| match key {
            Resp::Bulk(Some(bytes)) => Some(match shown_bytes(bytes) {
                Value::String(text) => text,
                other => other.to_string(),
            }),
            _ => None,
        }));
        cursor = next.text().unwrap_or_default();
        if cursor == "0" || cursor.is_empty() || found.len() > limit {
            let truncated = found.len() > limit || !matches!(cursor.as_str(), "0" | "");
            return Ok(RedisReply::Keys {
                keys: found.into_iter().take(limit).collect(),
                truncated,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_redirects() {
        let from = Listening::Tcp {
            host: "first".to_owned(),
            port: 1,
        };
        let to = |message: &str| moved(&Resp::Error(message.to_owned()), &from);
        let place = |host: &str, port| {
            Some(Listening::Tcp {
                host: host.to_owned(),
                port,
            })
        };
        assert_eq!(to("MOVED 3999 10.0.0.1:6381"), place("10.0.0.1", 6381));
        assert_eq!(to("MOVED 3999 :6381"), place("first", 6381));
        assert_eq!(to("MOVED 3999"), None);
        assert_eq!(to("ERR MOVED 1 a:2"), None);
    }
}
