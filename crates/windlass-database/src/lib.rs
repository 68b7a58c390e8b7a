//! Databases behind the database port: PostgreSQL, MySQL and MariaDB, Redis.
//!
//! One connection per request, opened, used and closed. Reading is enforced here by the server
//! itself: SQL runs in a read-only transaction that is verified before and rolled back after, and
//! only if the functions it names are, in the server's catalogue, those that may be called; a
//! Redis command is sent only if the server lists it as harmless. Not here: which statements are
//! worth sending at all (`guard` of windlass-stack-diagnose), where a stack's databases are
//! (windlass-stack).

mod connect;
mod functions;
mod mysql;
mod postgres;
mod redis;
mod rows;

use std::time::Duration;

use tokio::time::timeout;
use windlass_ports::BoxFuture;
use windlass_ports::database::{
    Access, DatabaseAddress, DatabaseFailure, DatabasePort, RedisReply, RedisRequest, Rows,
    SqlEngine, SqlRequest, Tls,
};

/// How much longer than its own timeout a statement is waited for: the server should end it and
/// say so; only a server that does not is left behind.
const GRACE: Duration = Duration::from_secs(5);

/// The databases.
#[derive(Clone, Copy, Debug, Default)]
pub struct Databases;

impl DatabasePort for Databases {
    fn query<'a>(
        &'a self,
        request: &'a SqlRequest,
    ) -> BoxFuture<'a, Result<Rows, DatabaseFailure>> {
        Box::pin(async move {
            check_access(request.access, &request.address)?;
            match request.engine {
                SqlEngine::Postgres => {
                    let mut session = connected(request, postgres::Session::open(request)).await?;
                    let key = session.cancel_key();
                    match answered(request, session.run(request)).await {
                        Ok(rows) => rows,
                        Err(()) => {
                            if let Some(key) = key {
                                key.cancel(&request.address).await;
                            }
                            Err(too_slow(request))
                        }
                    }
                }
                SqlEngine::MySql => {
                    let mut session = connected(request, mysql::Session::open(request)).await?;
                    answered(request, session.run(request))
                        .await
                        .unwrap_or_else(|()| Err(too_slow(request)))
                }
            }
        })
    }

    fn redis<'a>(
        &'a self,
        request: &'a RedisRequest,
    ) -> BoxFuture<'a, Result<RedisReply, DatabaseFailure>> {
        Box::pin(async move {
            check_access(request.access, &request.address)?;
            timeout(request.timeout, redis::ask(request))
                .await
                .unwrap_or_else(|_| {
                    Err(DatabaseFailure::Timeout {
                        message: format!(
                            "{} did not answer within {} ms",
                            connect::shown(&request.address.listening),
                            request.timeout.as_millis()
                        ),
                    })
                })
        })
    }
}

/// Only a local development database, which has no TLS, may be changed.
fn check_access(access: Access, address: &DatabaseAddress) -> Result<(), DatabaseFailure> {
    // Without TLS no other machine is reached: `connect::open` sees to that.
    if access == Access::LocalUnrestricted && address.tls != Tls::Off {
        return Err(DatabaseFailure::Unprotected {
            message: format!(
                "{} is not a local development database, so it may only be read",
                connect::shown(&address.listening)
            ),
        });
    }
    Ok(())
}

async fn connected<T>(
    request: &SqlRequest,
    opening: impl Future<Output = Result<T, DatabaseFailure>>,
) -> Result<T, DatabaseFailure> {
    timeout(request.connect_timeout, opening)
        .await
        .unwrap_or_else(|_| {
            Err(DatabaseFailure::Unreachable {
                message: format!(
                    "{} did not answer within {} ms",
                    connect::shown(&request.address.listening),
                    request.connect_timeout.as_millis()
                ),
            })
        })
}

async fn answered<T>(request: &SqlRequest, running: impl Future<Output = T>) -> Result<T, ()> {
    timeout(request.statement_timeout + GRACE, running)
        .await
        .map_err(|_| ())
}

fn too_slow(request: &SqlRequest) -> DatabaseFailure {
    DatabaseFailure::Timeout {
        message: format!(
            "the statement was given up after {} ms",
            (request.statement_timeout + GRACE).as_millis()
        ),
    }
}
