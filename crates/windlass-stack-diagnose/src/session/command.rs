//! A script on the bastion: sent over the data channel, its lines as they come, its exit code.
//!
//! What AWS sees (and keeps in its trails) is only a shell that waits for a script; the script
//! itself, with the secrets among its variables, goes over the channel and stands in no list of
//! processes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use tokio::select;
use windlass_types::{Problem, Secret, Timestamp};

use crate::session::bastion::Bastion;
use crate::session::channel::{Channel, Event, until};
use crate::session::lines::Lines;
use crate::session::listen::size;
use crate::session::marker::Marker;
use crate::session::opened::Opened;

const DOCUMENT: &str = "AWS-StartInteractiveCommand";
/// Terminals take lines of less than four thousand bytes.
const LINE: usize = 1_000;

/// How a script ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With this code.
    Code(i64),
    /// Its time was up; its terminal was taken away.
    Late,
    /// The session ended first, with what was said to it.
    Interrupted(String),
}

impl Bastion {
    /// Runs a script of `/bin/sh` on the bastion. `lines` hears what it prints.
    pub async fn run(
        &self,
        script: &Secret<String>,
        lines: &mut (dyn FnMut(&str) + Send),
        deadline: Timestamp,
    ) -> Result<Ending, Problem> {
        let entropy = self.reach.access.entropy.as_ref();
        let (ready, done) = (Marker::random(entropy), Marker::random(entropy));
        let parameters = json!({ "command": [done.wrap(&waiting_shell(&ready))] });
        let opened = Opened::start(self, DOCUMENT, parameters).await?;
        let mut talk = Talk {
            ready,
            done,
            script,
            is_sent: false,
            blank: 0,
            lines,
        };
        let ending = self.follow(&opened, &mut talk, deadline).await;
        opened.close().await;
        ending
    }

    async fn follow(
        &self,
        opened: &Opened,
        talk: &mut Talk<'_>,
        deadline: Timestamp,
    ) -> Result<Ending, Problem> {
        let (access, sockets) = (&self.reach.access, self.reach.sockets.as_ref());
        let clock = access.clock.as_ref();
        let entropy = access.entropy.as_ref();
        let mut channel = Channel::open(sockets, clock, entropy, &opened.session).await?;
        let mut output = Lines::default();
        loop {
            let due = channel.due();
            let received = select! {
                received = channel.receive() => received?,
                () = until(clock, due) => {
                    channel.send_again().await?;
                    continue;
                }
                () = clock.sleep_until(deadline) => return Ok(Ending::Late),
            };
            let events = match received {
                Some(received) => channel.take(received).await?,
                None => vec![Event::Ended(String::new())],
            };
            for event in events {
                match event {
                    Event::Ready => size(&mut channel).await?,
                    Event::Output(bytes) => {
                        for line in output.feed(&bytes) {
                            if let Some(code) = talk.hear(&line, &mut channel).await? {
                                return Ok(Ending::Code(code));
                            }
                        }
                    }
                    Event::Flag(_) => {}
                    Event::Ended(said) => {
                        if let Some(line) = output.rest() {
                            talk.hear(&line, &mut channel).await?;
                        }
                        return Ok(Ending::Interrupted(said));
                    }
                }
            }
        }
    }
}

struct Talk<'a> {
    ready: Marker,
    done: Marker,
    script: &'a Secret<String>,
    is_sent: bool,
    /// Empty lines that may belong to the marker.
    blank: usize,
    lines: &'a mut (dyn FnMut(&str) + Send),
}

impl Talk<'_> {
    /// Takes a line; returns the exit code once it is known.
    async fn hear(
        &mut self,
        line: &str,
        channel: &mut Channel<'_>,
    ) -> Result<Option<i64>, Problem> {
        if !self.is_sent && self.ready.is(line) {
            self.is_sent = true;
            channel.write(&spelled(self.script)).await?;
            return Ok(None);
        }
        let code = self.done.exit_code(line);
        if code.is_none() && line.is_empty() {
            self.blank += 1;
            return Ok(None);
        }
        // The line break before the marker is the marker's.
        let blank = self.blank.saturating_sub(usize::from(code.is_some()));
        self.blank = 0;
        for _ in 0..blank {
            (self.lines)("");
        }
        if code.is_none() {
            (self.lines)(line);
        }
        Ok(code)
    }
}

/// Commands that wait for a script on the terminal, unseen, and do it.
fn waiting_shell(ready: &Marker) -> String {
    let (head, tail) = ready.halves();
    format!(
        "stty -echo -onlcr 2>/dev/null; printf '%s%s\\n' {head} {tail}; text=; \
         while IFS= read -r line && [ \"$line\" != . ]; do text=\"$text$line\"; done; \
         eval \"$(printf %s \"$text\" | base64 -d)\" </dev/null"
    )
}

/// A script in letters no terminal makes anything of, in lines, with a dot at the end.
fn spelled(script: &Secret<String>) -> Vec<u8> {
    let letters = STANDARD.encode(script.expose_secret());
    let mut spelled = Vec::with_capacity(letters.len() + letters.len() / LINE + 3);
    for line in letters.as_bytes().chunks(LINE) {
        spelled.extend_from_slice(line);
        spelled.push(b'\n');
    }
    spelled.extend_from_slice(b".\n");
    spelled
}
