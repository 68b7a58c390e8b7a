//! Requests to servers of our own.

use std::path::PathBuf;
use std::time::Duration;

use windlass_ports::database::{
    Access, DatabaseAddress, Listening, RedisAsk, RedisRequest, SqlEngine, SqlRequest, Tls,
};

const MEGABYTE: usize = 1 << 20;
const LONG: Duration = Duration::from_secs(20);

/// A server by its socket, without a password.
pub fn at_socket(socket: PathBuf, user: &str, database: &str) -> DatabaseAddress {
    DatabaseAddress {
        listening: Listening::Socket(socket),
        tls: Tls::Off,
        user: user.to_owned(),
        password: None,
        database: database.to_owned(),
    }
}

/// A statement that may only read.
pub fn reading(engine: SqlEngine, address: &DatabaseAddress, statement: &str) -> SqlRequest {
    SqlRequest {
        engine,
        address: address.clone(),
        access: Access::ReadOnly,
        statement: statement.to_owned(),
        functions: None,
        row_limit: 100,
        byte_limit: MEGABYTE,
        statement_timeout: LONG,
        connect_timeout: LONG,
    }
}

/// A question to Redis.
pub fn asking(address: &DatabaseAddress, access: Access, ask: RedisAsk) -> RedisRequest {
    RedisRequest {
        address: address.clone(),
        access,
        ask,
        byte_limit: MEGABYTE,
        timeout: LONG,
    }
}
