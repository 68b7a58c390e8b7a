//! Local databases: a server of the session's own, on loopback, with a password of this run.

mod postgres;
mod redis;

use std::collections::BTreeMap;

use windlass_ports::database::{DatabaseAddress, Listening, Tls};
use windlass_types::Secret;

pub(crate) use postgres::{PostgresServer, wipe};
pub(crate) use redis::redis_launch;

/// The protocol of a local database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Postgres,
    MySql,
    Redis,
}

/// A local database and how it is reached.
#[derive(Clone)]
pub(crate) struct LocalDatabase {
    pub dialect: Dialect,
    pub port: u16,
    pub user: String,
    pub password: Secret<String>,
    pub database: String,
}

impl LocalDatabase {
    pub fn address(&self) -> DatabaseAddress {
        DatabaseAddress {
            listening: Listening::Tcp {
                host: "127.0.0.1".to_owned(),
                port: self.port,
            },
            tls: Tls::Off,
            user: self.user.clone(),
            password: Some(self.password.clone()),
            database: self.database.clone(),
        }
    }

    /// Parameters by the names that a config refers to them.
    pub fn params(&self) -> BTreeMap<String, String> {
        let password = self.password.expose_secret();
        let (user, database, port) = (&self.user, &self.database, self.port);
        let mut params = BTreeMap::from([
            ("host".to_owned(), "127.0.0.1".to_owned()),
            ("port".to_owned(), port.to_string()),
        ]);
        let mut put = |name: &str, value: String| {
            params.insert(name.to_owned(), value);
        };
        match self.dialect {
            Dialect::Redis => {
                put(
                    "connectionString",
                    format!("redis://:{password}@127.0.0.1:{port}"),
                );
                put("sharding", "disabled".to_owned());
                put("readerHost", "127.0.0.1".to_owned());
                put("readerPort", port.to_string());
                put(
                    "readerConnectionString",
                    format!("redis://:{password}@127.0.0.1:{port}"),
                );
            }
            Dialect::Postgres | Dialect::MySql => {
                let (scheme, jdbc) = match self.dialect {
                    Dialect::Postgres => ("postgresql", "postgresql"),
                    _ => ("mysql", "mysql"),
                };
                let plain = format!("{scheme}://{user}:{password}@127.0.0.1:{port}/{database}");
                let java = format!(
                    "jdbc:{jdbc}://127.0.0.1:{port}/{database}?user={user}&password={password}"
                );
                put("dbName", database.clone());
                for prefix in ["", "reader"] {
                    put(&named(prefix, "connectionString"), plain.clone());
                    put(&named(prefix, "jdbcConnectionString"), java.clone());
                }
                put("readerHost", "127.0.0.1".to_owned());
                put("readerPort", port.to_string());
            }
        }
        params
    }
}

/// `connectionString`, or `readerConnectionString` with a prefix.
fn named(prefix: &str, name: &str) -> String {
    let mut characters = name.chars();
    match (prefix, characters.next()) {
        ("", _) | (_, None) => name.to_owned(),
        (prefix, Some(first)) => format!(
            "{prefix}{}{}",
            first.to_ascii_uppercase(),
            characters.as_str()
        ),
    }
}
