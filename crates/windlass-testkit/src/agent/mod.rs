//! A bastion's agent of Systems Manager, with the service before it: sessions are started by its
//! answers to AWS's calls, their data channels are sockets in memory.
//!
//! Written from the published protocol and not from the code under test. It forwards to real
//! servers of this machine and runs real commands, and has manners that real ones have at times:
//! messages out of order, repeated, ignored at first, a connection that is cut.

mod serve;
mod wire;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::sync::mpsc;
use windlass_ports::aws::AwsFailure;
use windlass_ports::{BoxFuture, MessageSocket, MessageSockets, SocketFailure, SocketMessage};
use windlass_types::Secret;

/// How an agent behaves.
#[derive(Clone, Debug, Default)]
pub struct Manner {
    /// Of what it sends at once, the last comes first.
    pub is_shuffled: bool,
    /// Everything comes twice.
    pub repeats: bool,
    /// How many messages it refuses at first, as one that is not ready yet.
    pub ignores: usize,
    /// The channel is cut after this many bytes of a connection or command.
    pub cut_after: Option<usize>,
    /// It ends every session at once, saying so.
    pub says_no: Option<String>,
    /// It requires this in the handshake, in addition to the type of the session.
    pub wants: Option<String>,
    /// It sends signs of life and gives up a client that does not answer them.
    pub keeps_alive: bool,
    /// Commands get a terminal (`script` of util-linux).
    pub has_terminal: bool,
    /// What its machine is doing.
    pub machine: Machine,
}

/// A machine as its group sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Machine {
    /// It runs.
    #[default]
    InService,
    /// It is being started.
    Pending,
    /// It runs and has not contacted Systems Manager.
    Disconnected,
    /// There is none.
    Missing,
}

/// What a host and port mean to the agent.
#[derive(Clone, Debug)]
pub enum Place {
    /// A port of this machine.
    Tcp(SocketAddr),
    /// A socket file.
    Socket(PathBuf),
}

/// The agent. Clones are the same agent.
#[derive(Clone, Default)]
pub struct SessionAgent(Arc<State>);

#[derive(Default)]
struct State {
    manner: Manner,
    places: Mutex<BTreeMap<(String, u16), Place>>,
    started: Mutex<Vec<Value>>,
    terminated: Mutex<Vec<String>>,
    /// Bytes of connections and commands, of all sessions.
    carried: Mutex<usize>,
}

impl SessionAgent {
    /// One of this manner.
    pub fn new(manner: Manner) -> Self {
        Self(Arc::new(State {
            manner,
            ..State::default()
        }))
    }

    /// Lets it know where a host and port are.
    pub fn knows(&self, host: &str, port: u16, place: Place) -> &Self {
        let mut places = self.0.places.lock().unwrap();
        places.insert((host.to_owned(), port), place);
        self
    }

    /// What sessions were started with, in order.
    pub fn started(&self) -> Vec<Value> {
        self.0.started.lock().unwrap().clone()
    }

    /// Sessions that were ended by a call, in order.
    pub fn terminated(&self) -> Vec<String> {
        self.0.terminated.lock().unwrap().clone()
    }

    /// The answer to a call of AWS, for those it has to do with.
    pub fn answer(&self, permission: &str, input: &Value) -> Option<Result<Value, AwsFailure>> {
        let machine = self.0.manner.machine;
        match permission {
            "autoscaling:DescribeAutoScalingGroups" => {
                let state = match machine {
                    Machine::Pending => "Pending",
                    _ => "InService",
                };
                let instance = json!({
                    "InstanceId": "i-0123456789", "LifecycleState": state, "HealthStatus": "Healthy",
                });
                let instances = match machine {
                    Machine::Missing => Vec::new(),
                    _ => vec![instance],
                };
                let name = input["AutoScalingGroupNames"][0].clone();
                Some(Ok(json!({ "AutoScalingGroups": [{
                    "AutoScalingGroupName": name, "Instances": instances,
                }] })))
            }
            "ssm:StartSession" if machine == Machine::Disconnected => {
                Some(Err(AwsFailure::answered(
                    permission,
                    "TargetNotConnected",
                    "i-0123456789 is not connected.",
                    400,
                )))
            }
            "ssm:StartSession" => {
                let mut started = self.0.started.lock().unwrap();
                let id = started.len();
                started.push(input.clone());
                Some(Ok(json!({
                    "SessionId": format!("session-{id}"),
                    "StreamUrl": format!("wss://agent.invalid/{id}"),
                    "TokenValue": format!("token-of-session-{id}"),
                })))
            }
            "ssm:TerminateSession" => {
                let id = input["SessionId"].as_str().unwrap().to_owned();
                self.0.terminated.lock().unwrap().push(id.clone());
                Some(Ok(json!({ "SessionId": id })))
            }
            _ => None,
        }
    }
}

impl MessageSockets for SessionAgent {
    fn open<'a>(
        &'a self,
        url: &'a Secret<String>,
    ) -> BoxFuture<'a, Result<Box<dyn MessageSocket>, SocketFailure>> {
        let number = url.expose_secret().rsplit('/').next().unwrap().parse();
        let number: usize = number.unwrap();
        let input = self.0.started.lock().unwrap()[number].clone();
        let (to_agent, from_client) = mpsc::unbounded_channel();
        let (to_client, from_agent) = mpsc::unbounded_channel();
        let token = format!("token-of-session-{number}");
        tokio::spawn(serve::serve(
            Arc::clone(&self.0),
            token,
            input,
            from_client,
            to_client,
        ));
        let socket = InMemory {
            to_agent,
            from_agent,
        };
        Box::pin(async move { Ok(Box::new(socket) as Box<dyn MessageSocket>) })
    }
}

struct InMemory {
    to_agent: mpsc::UnboundedSender<SocketMessage>,
    from_agent: mpsc::UnboundedReceiver<SocketMessage>,
}

impl MessageSocket for InMemory {
    fn send(&mut self, message: SocketMessage) -> BoxFuture<'_, Result<(), SocketFailure>> {
        let sent = self.to_agent.send(message).map_err(|_| SocketFailure {
            message: "agent.invalid: closed".to_owned(),
        });
        Box::pin(async move { sent })
    }

    fn receive(&mut self) -> BoxFuture<'_, Result<Option<SocketMessage>, SocketFailure>> {
        Box::pin(async move { Ok(self.from_agent.recv().await) })
    }
}
