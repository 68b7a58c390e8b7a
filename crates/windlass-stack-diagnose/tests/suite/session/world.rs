//! A bastion, and servers behind it.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use windlass_ports::aws::Target;
use windlass_secrets::Redactor;
use windlass_stack_diagnose::access::Access;
use windlass_stack_diagnose::session::{Bastion, Reach};
use windlass_system::SystemClock;
use windlass_testkit::SeededEntropy;
use windlass_testkit::agent::{Manner, Place, SessionAgent};
use windlass_types::Problem;

use super::cloud::BastionCloud;

pub const HOST: &str = "db.internal";
pub const PORT: u16 = 5432;

pub fn reach(agent: &SessionAgent) -> Reach {
    Reach {
        access: Access {
            cloud: Arc::new(BastionCloud(agent.clone())),
            clock: Arc::new(SystemClock),
            entropy: Arc::new(SeededEntropy::new(7)),
            target: Target::default(),
        },
        sockets: Arc::new(agent.clone()),
        redactor: Redactor::new(),
    }
}

pub async fn bastion(agent: &SessionAgent) -> Result<Bastion, Problem> {
    Bastion::of_group(&reach(agent), "jump", "shop-dev-jump-group").await
}

/// An agent of this manner that knows an echoing server, and its bastion.
pub async fn echoing(manner: Manner) -> (SessionAgent, Bastion) {
    let agent = SessionAgent::new(manner);
    agent.knows(HOST, PORT, Place::Tcp(echo().await));
    let bastion = bastion(&agent).await.unwrap();
    (agent, bastion)
}

/// A server that gives back what it gets, and closes when it gets `bye`.
pub async fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut buffer = vec![0; 4096];
                while let Ok(count) = connection.read(&mut buffer).await {
                    if count == 0 || buffer.starts_with(b"bye") {
                        break;
                    }
                    connection.write_all(&buffer[..count]).await.unwrap();
                }
            });
        }
    });
    address
}

/// What comes back of what is sent.
pub async fn echoed(address: SocketAddr, sent: &[u8]) -> std::io::Result<Vec<u8>> {
    let connection = TcpStream::connect(address).await?;
    let (mut reader, mut writer) = connection.into_split();
    let mut heard = vec![0; sent.len()];
    let (written, read) = tokio::join!(writer.write_all(sent), reader.read_exact(&mut heard));
    written?;
    read?;
    Ok(heard)
}
