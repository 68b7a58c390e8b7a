//! Asking a real database.

use windlass_database::Databases;
use windlass_ports::database::{
    Access, AllowedFunction, DatabaseAddress, DatabaseFailure, DatabasePort as _, RedisAsk,
    RedisReply, Rows, SqlEngine, SqlRequest,
};
use windlass_stack_diagnose::guard::sql;
use windlass_testkit::servers::{asking, reading};

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

/// Asks as a question does: through the rules, then with the functions looked up on the server.
pub async fn guarded(
    engine: SqlEngine,
    address: &DatabaseAddress,
    statement: &str,
    allowed: &[&str],
) -> Result<Rows, String> {
    let allowed: Vec<AllowedFunction> = allowed
        .iter()
        .map(|entry| AllowedFunction::parse(entry).unwrap())
        .collect();
    let checked = sql::check(engine, statement, &allowed).map_err(|refusal| refusal.to_string())?;
    let mut request = reading(engine, address, statement);
    request.functions = Some(checked.to_look_up(&allowed));
    run(&request).await.map_err(|failure| failure.to_string())
}
