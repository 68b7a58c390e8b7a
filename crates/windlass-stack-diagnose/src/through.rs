//! The way to a database: straight, or through a bastion of the stack for as long as a question
//! takes.

use std::sync::Arc;
use std::time::Duration;

use windlass_ports::MessageSockets;
use windlass_ports::aws::{Stack, StackResource};
use windlass_ports::database::Listening;
use windlass_types::{Problem, code};

use crate::access::Access;
use crate::arguments::{Arguments, invalid};
use crate::call::Call;
use crate::names;
use crate::session::{Bastion, GROUP_TYPE, Reach, Tunnel};

/// How much longer connecting takes when a session has to be opened first.
const OPENING: Duration = Duration::from_secs(20);

/// What the arguments say of the way.
pub(crate) struct Through {
    bastion: Option<String>,
    port: Option<u16>,
}

impl Through {
    pub(crate) fn read(arguments: &Arguments) -> Result<Self, Problem> {
        let bastion = arguments.text("bastionResource")?.map(str::to_owned);
        let port = match arguments.value("port") {
            None => None,
            Some(_) if bastion.is_none() => {
                return Err(invalid(
                    "port",
                    "port is the local port of a connection through a bastion; it goes with bastionResource",
                )
                .next("repeat with bastionResource, or without port"));
            }
            Some(_) => {
                let port = arguments.number("port", 1, 1..=u64::from(u16::MAX))?;
                u16::try_from(port).ok()
            }
        };
        Ok(Self { bastion, port })
    }

    /// How much longer connecting may take.
    pub(crate) fn opening(&self) -> Duration {
        match self.bastion {
            Some(_) => OPENING,
            None => Duration::ZERO,
        }
    }

    /// Opens the way to a host and port.
    pub(crate) async fn open(
        &self,
        call: &Call<'_>,
        stack: &Stack,
        resources: &[StackResource],
        (host, port): (&str, u16),
    ) -> Result<Way, Problem> {
        let tunnel = match &self.bastion {
            None => None,
            Some(name) => {
                let group = names::find(resources, &stack.stack_name, name, &[GROUP_TYPE])
                    .map_err(|problem| problem.with("field", "bastionResource"))?;
                let reach = Reach {
                    access: Access {
                        cloud: Arc::clone(&call.outside.cloud),
                        clock: Arc::clone(&call.outside.clock),
                        entropy: Arc::clone(&call.outside.entropy),
                        target: call.target.clone(),
                    },
                    sockets: sockets(call, "connections through a bastion need")?,
                    redactor: call.outside.redactor.clone(),
                };
                let bastion = Bastion::of_group(&reach, name, &group.physical_id).await?;
                Some(Tunnel::open(&bastion, host, port, self.port).await?)
            }
        };
        Ok(Way {
            host: host.to_owned(),
            port,
            tunnel,
        })
    }
}

/// An open way.
pub(crate) struct Way {
    host: String,
    port: u16,
    tunnel: Option<Tunnel>,
}

impl Way {
    /// Where to connect to.
    pub(crate) fn listening(&self) -> Listening {
        match &self.tunnel {
            Some(tunnel) => Listening::Tcp {
                host: tunnel.address().ip().to_string(),
                port: tunnel.address().port(),
            },
            None => Listening::Tcp {
                host: self.host.clone(),
                port: self.port,
            },
        }
    }

    /// The name in the server's certificate, where it is not the one that is connected to.
    pub(crate) fn server_name(&self) -> Option<String> {
        self.tunnel.as_ref().map(|_| self.host.clone())
    }

    /// Closes the tunnel. Of a failure, what went wrong in the tunnel is reported before what the
    /// database made of it.
    pub(crate) async fn leave<T>(self, outcome: Result<T, Problem>) -> Result<T, Problem> {
        let Some(tunnel) = self.tunnel else {
            return outcome;
        };
        let faults = tunnel.close().await;
        outcome.map_err(|problem| {
            let is_of_way = [&code::UPSTREAM_ERROR, &code::TIMEOUT].contains(&problem.code());
            let fault = faults.into_iter().find(|_| is_of_way);
            fault.unwrap_or(problem)
        })
    }
}

/// The sockets that sessions need.
pub(crate) fn sockets(call: &Call<'_>, who: &str) -> Result<Arc<dyn MessageSockets>, Problem> {
    call.outside.sockets.clone().ok_or_else(|| {
        Problem::new(
            &code::INVALID_INPUT,
            format!("this Windlass is built without message sockets, which {who}"),
        )
        .with("reason", "no_message_sockets")
    })
}
