//! Connections through the bastion to an echoing server.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use windlass_stack_diagnose::session::Tunnel;
use windlass_testkit::agent::{Machine, Manner, Place, SessionAgent};

use super::world::{HOST, PORT, bastion, echoed, echoing};

fn long() -> Vec<u8> {
    (0..200_000_u32).map(|it| (it % 253) as u8).collect()
}

#[tokio::test]
async fn bytes_go_both_ways_whatever_the_agent_is_like() {
    for manner in [
        Manner::default(),
        Manner {
            is_shuffled: true,
            ..Manner::default()
        },
        Manner {
            repeats: true,
            is_shuffled: true,
            ..Manner::default()
        },
        // As one that has not connected yet: nothing is taken, so it must come again.
        Manner {
            ignores: 3,
            ..Manner::default()
        },
        Manner {
            keeps_alive: true,
            ..Manner::default()
        },
    ] {
        let (agent, bastion) = echoing(manner.clone()).await;
        let tunnel = Tunnel::open(&bastion, HOST, PORT, None).await.unwrap();
        let sent = long();
        let heard = echoed(tunnel.address(), &sent).await.unwrap();
        assert!(heard == sent, "{manner:?}");
        assert!(tunnel.faults().is_empty(), "{manner:?}");
        let local_port = tunnel.address().port().to_string();
        tunnel.close().await;
        let started = agent.started();
        assert_eq!(started.len(), 1);
        assert_eq!(started[0]["Target"], "i-0123456789");
        assert_eq!(
            started[0]["Parameters"],
            serde_json::json!({
                "host": [HOST], "portNumber": ["5432"], "localPortNumber": [local_port],
            })
        );
        assert_eq!(agent.terminated(), ["session-0"]);
    }
}

#[tokio::test]
async fn every_connection_has_its_own_session() {
    let (agent, bastion) = echoing(Manner::default()).await;
    let tunnel = Tunnel::open(&bastion, HOST, PORT, None).await.unwrap();
    let address = tunnel.address();
    let mut first = TcpStream::connect(address).await.unwrap();
    let mut second = TcpStream::connect(address).await.unwrap();
    let mut heard = [0; 3];
    for (connection, word) in [(&mut first, b"one"), (&mut second, b"two")] {
        connection.write_all(word).await.unwrap();
        connection.read_exact(&mut heard).await.unwrap();
        assert_eq!(&heard, word);
    }
    // The server closes the first; the second continues.
    first.write_all(b"bye").await.unwrap();
    assert_eq!(first.read(&mut heard).await.unwrap(), 0);
    second.write_all(b"two").await.unwrap();
    second.read_exact(&mut heard).await.unwrap();
    drop(second);
    assert!(tunnel.faults().is_empty());
    tunnel.close().await;
    assert_eq!(agent.started().len(), 2);
    let mut terminated = agent.terminated();
    terminated.sort();
    assert_eq!(terminated, ["session-0", "session-1"]);
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn a_tunnel_that_is_dropped_ends_its_sessions() {
    let (agent, bastion) = echoing(Manner::default()).await;
    let tunnel = Tunnel::open(&bastion, HOST, PORT, None).await.unwrap();
    let mut open = TcpStream::connect(tunnel.address()).await.unwrap();
    open.write_all(b"hi").await.unwrap();
    open.read_exact(&mut [0; 2]).await.unwrap();
    drop(tunnel);
    assert_eq!(open.read(&mut [0; 2]).await.unwrap_or(0), 0);
    while agent.terminated().is_empty() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn failures_are_reported_and_the_connection_closed() {
    let cases = [
        (
            "nowhere.internal",
            Manner::default(),
            "bastion_cannot_reach",
            "the bastion jump could not reach nowhere.internal:5432",
        ),
        (
            HOST,
            Manner {
                says_no: Some("Unable to connect to specified port".to_owned()),
                ..Manner::default()
            },
            "session_cut",
            "the session with the bastion jump to db.internal:5432 was cut: Unable to connect to specified port",
        ),
        (
            HOST,
            Manner {
                cut_after: Some(50_000),
                ..Manner::default()
            },
            "session_cut",
            "the session with the bastion jump to db.internal:5432 was cut",
        ),
        (
            HOST,
            Manner {
                wants: Some("KMSEncryption".to_owned()),
                ..Manner::default()
            },
            "kms_session_encryption",
            "the session requires encryption with a KMS key on top of TLS, which is not supported",
        ),
    ];
    for (host, manner, reason, message) in cases {
        let (agent, bastion) = echoing(manner).await;
        let tunnel = Tunnel::open(&bastion, host, PORT, None).await.unwrap();
        assert!(echoed(tunnel.address(), &long()).await.is_err());
        let faults = tunnel.close().await;
        let fault = &faults[0];
        assert_eq!(fault.details()["reason"], reason);
        // A cut may be noticed when sending first, and then says more.
        assert!(fault.message().starts_with(message), "{}", fault.message());
        assert_eq!(fault.details()["to"], format!("{host}:5432"));
        assert_eq!(agent.terminated(), ["session-0"]);
    }
}

#[tokio::test]
async fn a_bastion_without_a_machine_and_a_port_in_use_are_reported() {
    for (machine, reason) in [
        (Machine::Missing, "bastion_not_running"),
        (Machine::Pending, "bastion_not_running"),
    ] {
        let agent = SessionAgent::new(Manner {
            machine,
            ..Manner::default()
        });
        let Err(problem) = bastion(&agent).await else {
            panic!("{machine:?} has no machine");
        };
        assert_eq!(problem.code().name, "NOT_FOUND");
        assert_eq!(problem.details()["reason"], reason);
    }
    let (_, bastion) = echoing(Manner {
        machine: Machine::Disconnected,
        ..Manner::default()
    })
    .await;
    let tunnel = Tunnel::open(&bastion, HOST, PORT, None).await.unwrap();
    assert!(echoed(tunnel.address(), b"x").await.is_err());
    assert_eq!(
        tunnel.close().await[0].details()["reason"],
        "bastion_not_connected"
    );
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = taken.local_addr().unwrap().port();
    let Err(problem) = Tunnel::open(&bastion, HOST, PORT, Some(port)).await else {
        panic!("{port} is taken");
    };
    assert_eq!(problem.details()["reason"], "port_unavailable");
}

#[tokio::test]
async fn a_program_that_does_not_read_blocks_no_other() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let agent = SessionAgent::new(Manner::default());
    agent.knows(HOST, PORT, Place::Tcp(listener.local_addr().unwrap()));
    let bastion = bastion(&agent).await.unwrap();
    let tunnel = Tunnel::open(&bastion, HOST, PORT, None).await.unwrap();
    let connection = TcpStream::connect(tunnel.address()).await.unwrap();
    let (mut reader, mut writer) = connection.into_split();
    let (mut server, _) = listener.accept().await.unwrap();
    // More than all buffers on the way hold; the program keeps sending and is heard.
    let flood = vec![7; 8 << 20];
    let size = flood.len();
    let (mut server_reader, mut server_writer) = server.split();
    let flooding = async {
        server_writer.write_all(&flood).await.unwrap();
    };
    let talking = async {
        writer.write_all(b"still here").await.unwrap();
        let mut heard = [0; 10];
        server_reader.read_exact(&mut heard).await.unwrap();
        assert_eq!(&heard, b"still here");
        let mut all = vec![0; size];
        reader.read_exact(&mut all).await.unwrap();
        assert!(all == flood);
    };
    tokio::join!(flooding, talking);
    tunnel.close().await;
}
