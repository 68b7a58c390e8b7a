//! A real Postgres and a real Redis behind the bastion.

use std::net::SocketAddr;

use windlass_database::Databases;
use windlass_ports::database::{
    Access, DatabaseAddress, DatabasePort as _, Listening, RedisAsk, RedisReply, SqlEngine, Tls,
};
use windlass_stack_diagnose::session::Tunnel;
use windlass_testkit::agent::{Manner, Place, SessionAgent};
use windlass_testkit::servers::{Postgres, Redis, asking, reading};

use super::world::{HOST, PORT, bastion};

fn at(address: SocketAddr, user: &str, database: &str) -> DatabaseAddress {
    DatabaseAddress {
        listening: Listening::Tcp {
            host: address.ip().to_string(),
            port: address.port(),
        },
        tls: Tls::Off,
        user: user.to_owned(),
        password: None,
        database: database.to_owned(),
    }
}

async fn tunnel(place: Place) -> (SessionAgent, Tunnel) {
    let agent = SessionAgent::new(Manner {
        is_shuffled: true,
        ..Manner::default()
    });
    agent.knows(HOST, PORT, place);
    let bastion = bastion(&agent).await.unwrap();
    let tunnel = Tunnel::open(&bastion, HOST, PORT, None).await.unwrap();
    (agent, tunnel)
}

#[tokio::test]
async fn postgres_is_asked_through_the_bastion() {
    let Some(server) = Postgres::start("tunnel") else {
        return;
    };
    let socket = server.socket();
    let file = match socket.is_dir() {
        true => socket.join(".s.PGSQL.5432"),
        false => socket,
    };
    let (agent, tunnel) = tunnel(Place::Socket(file)).await;
    let address = at(tunnel.address(), "postgres", "postgres");
    let statement = "select i, repeat('x', 500) as text from generate_series(1, 400) i";
    let request = reading(SqlEngine::Postgres, &address, statement);
    let (first, second) = tokio::join!(Databases.query(&request), Databases.query(&request));
    for rows in [first.unwrap(), second.unwrap()] {
        assert_eq!(rows.rows[0]["i"], 1);
        assert!(rows.rows.len() > 1);
    }
    tunnel.close().await;
    assert_eq!(agent.terminated().len(), 2);
}

#[tokio::test]
async fn redis_is_asked_through_the_bastion() {
    let Some(server) = Redis::start(&[]) else {
        return;
    };
    let (agent, tunnel) = tunnel(Place::Socket(server.socket())).await;
    let address = at(tunnel.address(), "", "");
    let ask = RedisAsk::Command(vec![b"PING".to_vec()]);
    let reply = Databases
        .redis(&asking(&address, Access::ReadOnly, ask))
        .await
        .unwrap();
    assert_eq!(reply, RedisReply::Value("PONG".into()));
    tunnel.close().await;
    assert_eq!(agent.terminated().len(), agent.started().len());
}
