//! Databases as a port: one statement of SQL or one command of Redis, as plain data.
//!
//! Every request says in [`Access`] whether it may change anything, so that a reader of the
//! call sees it. Not here: which statements are refused before they are sent
//! (the domain that asks) and how a database is called (windlass-database). A
//! request holds a password and cannot be stored; a reply can.

mod functions;

use std::{path::PathBuf, time::Duration};

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use windlass_types::Secret;

pub use functions::{AllowedFunction, FunctionCall, FunctionCheck, Notation};

/// The databases.
pub trait DatabasePort: Send + Sync {
    /// Runs one statement on a connection of its own and closes it.
    fn query<'a>(&'a self, request: &'a SqlRequest)
    -> BoxFuture<'a, Result<Rows, DatabaseFailure>>;

    /// Sends one command, or lists keys, on a connection of its own and closes it.
    fn redis<'a>(
        &'a self,
        request: &'a RedisRequest,
    ) -> BoxFuture<'a, Result<RedisReply, DatabaseFailure>>;
}

/// The supported dialects of SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SqlEngine {
    /// PostgreSQL and Aurora PostgreSQL.
    Postgres,
    /// MySQL, MariaDB and Aurora MySQL.
    MySql,
}

impl SqlEngine {
    /// The name as it is shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::MySql => "mysql",
        }
    }
}

/// What a request may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing is changed: SQL runs in a read-only transaction that is rolled back, a Redis
    /// command must be one that the server itself calls harmless.
    ReadOnly,
    /// Anything goes. Refused for every address but an unencrypted one on this machine, which
    /// is what a local development database has.
    LocalUnrestricted,
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listening {
    /// A host and a port.
    Tcp {
        /// Name or address.
        host: String,
        /// Port.
        port: u16,
    },
    /// A socket file on this machine.
    Socket(PathBuf),
}

/// How the connection is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tls {
    /// Not at all; only for a server on this machine.
    Off,
    /// Encrypted, with the server's certificate verified.
    Verified {
        /// The name in the certificate; none for the host that is connected to. A forwarded
        /// port is reached as `127.0.0.1` and verified under the database's own name.
        server_name: Option<String>,
        /// A PEM file with the roots to trust; none for those of the operating system.
        roots: Option<PathBuf>,
    },
}

/// A server and who asks it.
#[derive(Clone, Debug)]
pub struct DatabaseAddress {
    /// Where it listens.
    pub listening: Listening,
    /// How the connection is protected.
    pub tls: Tls,
    /// The user; empty for Redis without users.
    pub user: String,
    /// The password; none where the server asks for none.
    pub password: Option<Secret<String>>,
    /// The database; for Redis its number.
    pub database: String,
}

/// One statement of SQL.
#[derive(Clone, Debug)]
pub struct SqlRequest {
    /// The dialect.
    pub engine: SqlEngine,
    /// The server.
    pub address: DatabaseAddress,
    /// What the statement may do.
    pub access: Access,
    /// The statement.
    pub statement: String,
    /// The functions it calls, to look up on the server before it runs; none for a statement that
    /// may do anything.
    pub functions: Option<FunctionCheck>,
    /// How many rows are wanted at most.
    pub row_limit: usize,
    /// How many bytes of values are wanted at most.
    pub byte_limit: usize,
    /// How long the statement may take.
    pub statement_timeout: Duration,
    /// How long connecting may take.
    pub connect_timeout: Duration,
}

/// One command of Redis.
#[derive(Clone, Debug)]
pub struct RedisRequest {
    /// The server.
    pub address: DatabaseAddress,
    /// What the command may do.
    pub access: Access,
    /// What is asked.
    pub ask: RedisAsk,
    /// How many bytes the answer may have.
    pub byte_limit: usize,
    /// How long it may take, connecting included.
    pub timeout: Duration,
}

/// What is asked of Redis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedisAsk {
    /// A command and its arguments.
    Command(Vec<Vec<u8>>),
    /// Keys that match a pattern, by `SCAN`, which never blocks the server.
    Keys {
        /// A pattern as `SCAN … MATCH` takes it.
        pattern: String,
        /// How many keys are wanted at most.
        limit: usize,
    },
}

/// What a statement returned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    /// The columns, in order; a name that stands twice gets a number: `id`, `id_2`.
    pub fields: Vec<Field>,
    /// The rows: column → value. Integers beyond 2^53 and decimals are text, so that no reader
    /// rounds them; bytes are base64; times are ISO 8601.
    pub rows: Vec<Map<String, Value>>,
    /// Whether there are more rows than these.
    pub truncated: bool,
    /// How many rows the statement changed, where it says so.
    pub affected: Option<u64>,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The type, as the engine calls it; a number where it has no well-known name.
    #[serde(rename = "type")]
    pub kind: String,
}

/// What Redis answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RedisReply {
    /// The answer of a command; bytes that are not UTF-8 are `{"base64": "…"}`.
    Value(Value),
    /// Keys.
    Keys {
        /// The keys, sorted.
        keys: Vec<String>,
        /// Whether there are more.
        truncated: bool,
    },
}

/// Why a database gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DatabaseFailure {
    /// It would have changed something.
    #[error("refused, because only reading is allowed: {message}")]
    ReadOnly {
        /// The engine's own code.
        code: String,
        /// Its message.
        message: String,
    },
    /// It took too long and was ended.
    #[error("took too long: {message}")]
    Timeout {
        /// What took too long.
        message: String,
    },
    /// The login or a right is missing.
    #[error("the database refused the login or the permission: {message}")]
    Auth {
        /// The engine's own code.
        code: String,
        /// Its message.
        message: String,
    },
    /// No connection.
    #[error("the database cannot be reached: {message}")]
    Unreachable {
        /// Address and cause.
        message: String,
    },
    /// The request asks for less protection than its address needs.
    #[error("not sent: {message}")]
    Unprotected {
        /// What is missing and what to do.
        message: String,
    },
    /// The engine refused the statement.
    #[error("{message}")]
    Statement {
        /// The engine's own code.
        code: String,
        /// Its message.
        message: String,
        /// The character in the statement, from 1.
        position: Option<usize>,
    },
    /// The server did not keep to its protocol, or said more than was asked for.
    #[error("the database's answer cannot be used: {message}")]
    Answer {
        /// What is wrong with it.
        message: String,
    },
}
