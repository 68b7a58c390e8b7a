//! One TCP connection through the bastion: a session of its own, bytes both ways.

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::select;
use tokio_util::sync::CancellationToken;
use windlass_types::{Problem, Timestamp, code};

use crate::session::bastion::Bastion;
use crate::session::channel::{Channel, Event, PIECE, flag, until};
use crate::session::failure::{UNREACHABLE, broken};
use crate::session::frame::{Command, Frame, Frames, HEADER, STREAM};
use crate::session::opened::Opened;

const DOCUMENT: &str = "AWS-StartPortForwardingSessionToRemoteHost";
/// How many bytes wait for a local program that does not read; then the channel waits as well.
const ROOM: usize = 1 << 20;
/// So long the other side has to close after this one did.
const CLOSE_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(5);

/// Where a tunnel leads.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) host: String,
    pub(crate) port: u16,
    /// The port on this machine.
    pub(crate) local_port: u16,
}

/// Carries a connection until one side closes or `stop` is called.
pub(crate) async fn forward(
    bastion: &Bastion,
    place: &Place,
    local: TcpStream,
    stop: &CancellationToken,
) -> Result<(), Problem> {
    let parameters = json!({
        "host": [place.host],
        "portNumber": [place.port.to_string()],
        "localPortNumber": [place.local_port.to_string()],
    });
    let opened = Opened::start(bastion, DOCUMENT, parameters).await?;
    let carried = select! {
        carried = connected(bastion, place, local, &opened) => carried,
        () = stop.cancelled() => Ok(()),
    };
    opened.close().await;
    carried.map_err(|problem| {
        let to = format!("{}:{}", place.host, place.port);
        problem.with("bastion", bastion.name()).with("to", to)
    })
}

async fn connected(
    bastion: &Bastion,
    place: &Place,
    local: TcpStream,
    opened: &Opened,
) -> Result<(), Problem> {
    let access = &bastion.reach.access;
    let (clock, entropy) = (access.clock.as_ref(), access.entropy.as_ref());
    let sockets = bastion.reach.sockets.as_ref();
    let channel = Channel::open(sockets, clock, entropy, &opened.session).await?;
    let carried = carry(bastion, place, local, channel).await;
    carried.map_err(|problem| match problem.details().get("reason") {
        // The channel was there and broke off.
        Some(reason) if reason == UNREACHABLE => cut(bastion, place, problem.message()),
        _ => problem,
    })
}

async fn carry(
    bastion: &Bastion,
    place: &Place,
    local: TcpStream,
    channel: Channel<'_>,
) -> Result<(), Problem> {
    let clock = bastion.reach.access.clock.as_ref();
    let (mut reader, mut writer) = local.into_split();
    // A frame and its header are one message.
    let mut buffer = [0; PIECE - HEADER];
    let mut line = Line {
        bastion,
        place,
        channel,
        frames: Frames::default(),
        inward: Vec::new(),
        is_ready: false,
        is_closed_here: false,
        is_closed_there: false,
        give_up_at: None,
    };
    while !(line.is_closed_there && line.inward.is_empty()) {
        let due = line.channel.due();
        let takes_local = line.is_ready && !line.is_closed_here && line.channel.has_room();
        let takes_remote = line.inward.len() < ROOM && !line.is_closed_there;
        select! {
            received = line.channel.receive(), if takes_remote => match received? {
                Some(received) => {
                    for event in line.channel.take(received).await? {
                        line.use_event(event).await?;
                    }
                }
                None if line.is_closed_here => return Ok(()),
                None => return Err(cut(bastion, place, "")),
            },
            read = reader.read(&mut buffer), if takes_local => match read {
                Ok(count) if count > 0 => {
                    let data = buffer[..count].to_vec();
                    let frame = Frame { command: Command::Data, stream: STREAM, data };
                    line.channel.write(&frame.write()).await?;
                }
                Ok(_) | Err(_) => line.close_here(clock.now()).await?,
            },
            written = writer.write(&line.inward), if !line.inward.is_empty() => match written {
                Ok(count) if count > 0 => drop(line.inward.drain(..count)),
                // Nobody reads any more.
                Ok(_) | Err(_) => {
                    line.inward.clear();
                    line.close_here(clock.now()).await?;
                }
            },
            () = until(clock, due) => line.channel.send_again().await?,
            () = until(clock, line.give_up_at) => return Ok(()),
        }
    }
    // The session is ended by AWS's call too; a channel that is gone needs no close.
    let _ = line.channel.raise(flag::TERMINATE).await;
    Ok(())
}

struct Line<'a> {
    bastion: &'a Bastion,
    place: &'a Place,
    channel: Channel<'a>,
    frames: Frames,
    /// Bytes for the local program.
    inward: Vec<u8>,
    is_ready: bool,
    is_closed_here: bool,
    is_closed_there: bool,
    give_up_at: Option<Timestamp>,
}

impl Line<'_> {
    async fn use_event(&mut self, event: Event) -> Result<(), Problem> {
        match event {
            Event::Ready if self.is_ready => Ok(()),
            Event::Ready => {
                self.is_ready = true;
                self.say(Frame::bare(Command::Open, STREAM)).await
            }
            Event::Output(bytes) => {
                let Some(frames) = self.frames.feed(&bytes) else {
                    return Err(broken("the bastion's agent does not multiplex connections")
                        .next("update the agent of Systems Manager on the bastion"));
                };
                for frame in frames {
                    self.use_frame(frame).await?;
                }
                Ok(())
            }
            Event::Flag(flag::CONNECT_FAILED) => Err(self.unreachable()),
            Event::Flag(_) => Ok(()),
            Event::Ended(_) if self.is_closed_here || self.is_closed_there => {
                self.is_closed_there = true;
                Ok(())
            }
            Event::Ended(said) => Err(cut(self.bastion, self.place, &said)),
        }
    }

    async fn use_frame(&mut self, frame: Frame) -> Result<(), Problem> {
        match frame.command {
            Command::Idle => self.say(Frame::bare(Command::Idle, frame.stream)).await,
            Command::Data if frame.stream == STREAM => {
                self.inward.extend(frame.data);
                Ok(())
            }
            Command::Close if frame.stream == STREAM => {
                self.is_closed_there = true;
                Ok(())
            }
            Command::Open | Command::Data | Command::Close => Ok(()),
        }
    }

    /// The local program has closed. What is in progress still arrives, both ways.
    async fn close_here(&mut self, now: Timestamp) -> Result<(), Problem> {
        if self.is_closed_here {
            return Ok(());
        }
        self.is_closed_here = true;
        self.give_up_at = Some(now.after(CLOSE_TIMEOUT));
        self.say(Frame::bare(Command::Close, STREAM)).await
    }

    async fn say(&mut self, frame: Frame) -> Result<(), Problem> {
        self.channel.write(&frame.write()).await
    }

    fn unreachable(&self) -> Problem {
        let Place { host, port, .. } = self.place;
        let name = self.bastion.name();
        Problem::new(
            &code::UPSTREAM_ERROR,
            format!("the bastion {name} could not reach {host}:{port}"),
        )
        .with("reason", "bastion_cannot_reach")
        .next("check that the target runs, and that its security group lets the bastion in")
    }
}

fn cut(bastion: &Bastion, place: &Place, said: &str) -> Problem {
    let Place { host, port, .. } = place;
    let name = bastion.name();
    let said = match said {
        "" => String::new(),
        said => format!(": {said}"),
    };
    Problem::new(
        &code::UPSTREAM_ERROR,
        format!("the session with the bastion {name} to {host}:{port} was cut{said}"),
    )
    .with("reason", "session_cut")
    .next("repeat")
}
