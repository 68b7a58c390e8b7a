//! Asking a real database.

use windlass_database::Databases;
use windlass_ports::database::{
    Access, DatabaseAddress, DatabaseFailure, DatabasePort as _, RedisAsk, RedisReply, Rows,
    SqlRequest,
};
use windlass_testkit::servers::asking;

pub async fn run(request: &SqlRequest) -> Result<Rows, DatabaseFailure> {
    Databases.query(request).await
}

pub async fn command(
    address: &DatabaseAddress,
    access: Access,
    words: Vec<Vec<u8>>,
) -> Result<RedisReply, DatabaseFailure> {
    Databases
        .redis(&asking(address, access, RedisAsk::Command(words)))
        .await
}
