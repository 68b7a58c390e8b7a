//! Listens to a session whose command says by itself when it is done.

use tokio::select;
use windlass_ports::{Clock, Entropy, MessageSockets};
use windlass_types::{Problem, Timestamp};

use crate::session::channel::{Channel, Event, Session, until};
use crate::session::message::Payload;

/// How much output is taken before the session is ended.
const BYTES: usize = 1 << 20;

/// What was heard.
#[derive(Debug, Default)]
pub struct Heard {
    /// The output.
    pub output: Vec<u8>,
    /// There was more output than is taken.
    pub is_cut: bool,
    /// The time was up first.
    pub is_late: bool,
}

impl Heard {
    fn add(&mut self, bytes: &[u8]) {
        let room = BYTES.saturating_sub(self.output.len());
        self.is_cut |= bytes.len() > room;
        self.output
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

/// Listens until `enough` says so, the session ends or the time is up.
pub async fn listen(
    sockets: &dyn MessageSockets,
    clock: &dyn Clock,
    entropy: &dyn Entropy,
    session: &Session,
    enough: &mut (dyn FnMut(&[u8]) -> bool + Send),
    deadline: Timestamp,
) -> Result<Heard, Problem> {
    let mut channel = Channel::open(sockets, clock, entropy, session).await?;
    let mut heard = Heard::default();
    loop {
        let due = channel.due();
        let received = select! {
            received = channel.receive() => received?,
            () = until(clock, due) => {
                channel.send_again().await?;
                continue;
            }
            () = clock.sleep_until(deadline) => {
                heard.is_late = true;
                return Ok(heard);
            }
        };
        let Some(received) = received else {
            return Ok(heard);
        };
        for event in channel.take(received).await? {
            match event {
                Event::Ready => size(&mut channel).await?,
                Event::Output(bytes) => heard.add(&bytes),
                Event::Flag(_) => {}
                Event::Ended(_) => return Ok(heard),
            }
        }
        if heard.is_cut || enough(&heard.output) {
            return Ok(heard);
        }
    }
}

/// Says how large the terminal is that is not there: wide, so that programs wrap little.
pub(crate) async fn size(channel: &mut Channel<'_>) -> Result<(), Problem> {
    let size = serde_json::json!({ "cols": 200, "rows": 50 }).to_string();
    channel.say(Payload::Size, size.into_bytes()).await
}

#[cfg(test)]
#[path = "listen_tests.rs"]
mod tests;
