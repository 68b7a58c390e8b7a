//! A port of this machine that leads through the bastion, for as long as it is kept.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::select;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;
use windlass_types::{Problem, code};

use crate::session::bastion::Bastion;
use crate::session::forward::{Place, forward};

/// How many connections at once; each is a session, of which an account has a limited number.
const CONNECTIONS: usize = 32;
/// How many faults are kept.
const FAULTS: usize = 20;
/// Between two tries to accept a connection when the machine has run out of something.
const PAUSE: Duration = Duration::from_millis(200);
/// So long closing waits for sessions to be ended.
const CLOSING: Duration = Duration::from_secs(10);

type Faults = Arc<Mutex<Vec<Problem>>>;

/// A tunnel. Only programs of this machine get in. Closed or dropped, it listens no more and its
/// sessions are ended.
pub struct Tunnel {
    address: SocketAddr,
    stop: CancellationToken,
    faults: Faults,
    work: Option<JoinHandle<()>>,
}

impl Tunnel {
    /// Listens on a port of this machine, a free one unless one is asked for. Sessions are opened
    /// as connections come.
    pub async fn open(
        bastion: &Bastion,
        host: &str,
        port: u16,
        local_port: Option<u16>,
    ) -> Result<Self, Problem> {
        let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, local_port.unwrap_or(0)));
        let bound = TcpListener::bind(wanted).await;
        let bound = bound.and_then(|listener| Ok((listener.local_addr()?, listener)));
        let (address, listener) = bound.map_err(|error| taken(wanted, &error))?;
        let work = Work {
            bastion: bastion.clone(),
            place: Place {
                host: host.to_owned(),
                port,
                local_port: address.port(),
            },
            stop: CancellationToken::new(),
            faults: Faults::default(),
        };
        Ok(Self {
            address,
            stop: work.stop.clone(),
            faults: Arc::clone(&work.faults),
            work: Some(tokio::spawn(work.serve(listener))),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What went wrong with its connections so far.
    pub fn faults(&self) -> Vec<Problem> {
        let faults = self.faults.lock();
        faults.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stops listening, ends its connections and sessions. Gives what went wrong with them.
    pub async fn close(mut self) -> Vec<Problem> {
        self.stop.cancel();
        if let Some(work) = self.work.take() {
            // What takes longer continues by itself.
            let _ = tokio::time::timeout(CLOSING, work).await;
        }
        self.faults()
    }
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

struct Work {
    bastion: Bastion,
    place: Place,
    stop: CancellationToken,
    faults: Faults,
}

impl Work {
    async fn serve(self, listener: TcpListener) {
        let work = Arc::new(self);
        let mut connections = JoinSet::new();
        loop {
            let has_room = connections.len() < CONNECTIONS;
            select! {
                () = work.stop.cancelled() => break,
                accepted = listener.accept(), if has_room => match accepted {
                    Ok((connection, _)) => {
                        let work = Arc::clone(&work);
                        connections.spawn(async move {
                            // Small requests that are answered at once are not held back.
                            let _ = connection.set_nodelay(true);
                            let carried =
                                forward(&work.bastion, &work.place, connection, &work.stop).await;
                            if let Err(problem) = carried {
                                work.note(problem);
                            }
                        });
                    }
                    Err(_) => {
                        let clock = &work.bastion.reach.access.clock;
                        clock.sleep_until(clock.now().after(PAUSE)).await;
                    }
                },
                Some(_) = connections.join_next() => {}
            }
        }
        drop(listener);
        while connections.join_next().await.is_some() {}
    }

    fn note(&self, problem: Problem) {
        let faults = self.faults.lock();
        let mut faults = faults.unwrap_or_else(PoisonError::into_inner);
        if faults.len() < FAULTS {
            faults.push(problem);
        }
    }
}

fn taken(address: SocketAddr, error: &std::io::Error) -> Problem {
    let problem = Problem::new(
        &code::INVALID_INPUT,
        format!("{address} of this machine cannot be listened on: {error}"),
    )
    .with("reason", "port_unavailable")
    .with("port", address.port());
    problem.next("name another port, or none for a free one")
}
