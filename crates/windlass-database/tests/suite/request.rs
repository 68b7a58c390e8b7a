//! Requests as tests make them.

use std::path::PathBuf;
use std::time::Duration;

use windlass_database::Databases;
use windlass_ports::database::{
    Access, DatabaseAddress, DatabaseFailure, DatabasePort as _, Listening, RedisAsk, RedisReply,
    RedisRequest, Rows, SqlEngine, SqlRequest, Tls,
};

pub const MEGABYTE: usize = 1 << 20;

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
        row_limit: 100,
        byte_limit: MEGABYTE,
        statement_timeout: Duration::from_secs(20),
        connect_timeout: Duration::from_secs(20),
    }
}

pub async fn run(request: &SqlRequest) -> Result<Rows, DatabaseFailure> {
    Databases.query(request).await
}

pub async fn command(
    address: &DatabaseAddress,
    access: Access,
    words: Vec<Vec<u8>>,
) -> Result<RedisReply, DatabaseFailure> {
    let request = RedisRequest {
        address: address.clone(),
        access,
        ask: RedisAsk::Command(words),
        byte_limit: MEGABYTE,
        timeout: Duration::from_secs(20),
    };
    Databases.redis(&request).await
}
