//! Answers: a whole body, or the events of a stream, become a reply in one way for every wire
//! format.
//!
//! Lenient where servers differ, strict in one point: a stream that did not say it ended is no
//! answer, and what was half said is no call.

use std::collections::HashSet;

use serde_json::Value;
use windlass_ports::{ModelError, ModelReply, Usage, WireFormat};

use crate::{
    draft::{Draft, Ear, End},
    failure::{self, Scrub},
    wire,
};

/// What a wire format makes of an answer.
pub(crate) trait Accumulator: Send {
    /// Takes an event of a stream.
    fn event(&mut self, event: Value, draft: &mut Draft, ear: Ear<'_>) -> Result<(), Fault>;

    /// Takes a whole body.
    fn whole(&mut self, body: Value, draft: &mut Draft, ear: Ear<'_>) -> Result<(), Fault>;

    /// Takes the mark that some servers put at the end of a stream.
    fn done(&mut self) {}

    /// Whether nothing more can follow.
    fn is_over(&self) -> bool;

    /// How the message ended, where the server has said so.
    fn end(&self, draft: &mut Draft) -> Option<End>;

    /// What it cost, where the server has said so.
    fn usage(&self) -> Option<Usage>;
}

/// Why an event or a body cannot be taken.
pub(crate) enum Fault {
    /// It is not what the protocol says; in words.
    Malformed(String),
    /// The server reports this error.
    Reported(Value),
    /// Anything else.
    Other(ModelError),
}

impl From<ModelError> for Fault {
    fn from(error: ModelError) -> Self {
        Self::Other(error)
    }
}

/// Collects an answer.
pub struct ReplyBuilder {
    scrub: Scrub,
    draft: Draft,
    wire: Box<dyn Accumulator>,
}

impl ReplyBuilder {
    /// A builder for an answer of the model with this name.
    pub fn new(wire: WireFormat, model: &str) -> Self {
        Self::among(wire, model, HashSet::new(), Scrub::default())
    }

    /// The same within a conversation whose calls have these ids.
    pub(crate) fn among(
        wire: WireFormat,
        model: &str,
        taken: HashSet<String>,
        scrub: Scrub,
    ) -> Self {
        Self {
            scrub,
            draft: Draft::new(model, taken),
            wire: wire::accumulator(wire),
        }
    }

    /// Takes the data of one event of a stream.
    pub fn event(&mut self, data: &str, ear: Ear<'_>) -> Result<(), ModelError> {
        let data = data.trim();
        if data.is_empty() || self.is_over() {
            return Ok(());
        }
        if data == "[DONE]" {
            self.wire.done();
            return Ok(());
        }
        let event: Value = serde_json::from_str(data)
            .map_err(|error| self.malformed(&format!("an event ({error})"), data))?;
        let taken = match reported(&event) {
            Some(error) => Err(Fault::Reported(error)),
            None => self.wire.event(event, &mut self.draft, ear),
        };
        taken.map_err(|fault| self.explain(fault, "an event", data))
    }

    /// Takes the event that was open when a stream ended. One that cannot be read was cut and is
    /// dropped: then the answer has no end, which `finish` reports.
    pub fn last_event(&mut self, data: &str, ear: Ear<'_>) -> Result<(), ModelError> {
        match self.event(data, ear) {
            Err(ModelError::Malformed(_)) => Ok(()),
            other => other,
        }
    }

    /// Whether the server has said everything.
    pub fn is_over(&self) -> bool {
        self.wire.is_over()
    }

    /// The words so far.
    pub fn text(&self) -> String {
        self.draft.text()
    }

    /// The reply of a stream that has ended.
    pub fn finish(mut self) -> Result<ModelReply, ModelError> {
        let Some(end) = self.wire.end(&mut self.draft) else {
            return Err(ModelError::Cut {
                cause: "the stream ended before the answer did".to_owned(),
                so_far: self.text(),
            });
        };
        let so_far = self.text();
        match self.draft.finish(end, self.wire.usage()) {
            Err(ModelError::Cut { cause, .. }) => Err(ModelError::Cut { cause, so_far }),
            other => other,
        }
    }

    /// The reply in a whole body.
    pub fn whole(mut self, body: &[u8], ear: Ear<'_>) -> Result<ModelReply, ModelError> {
        let shown = || String::from_utf8_lossy(body);
        let json: Value = serde_json::from_slice(body).map_err(|error| {
            let what = format!("a body that cannot be read ({error})");
            self.malformed(&what, &shown())
        })?;
        let taken = match reported(&json) {
            Some(error) => Err(Fault::Reported(error)),
            None => self.wire.whole(json, &mut self.draft, ear),
        };
        taken.map_err(|fault| self.explain(fault, "a body", &shown()))?;
        match self.wire.end(&mut self.draft) {
            Some(end) => self.draft.finish(end, self.wire.usage()),
            None => Err(self.malformed("a body without an end", &shown())),
        }
    }

    fn explain(&self, fault: Fault, what: &str, found: &str) -> ModelError {
        match fault {
            Fault::Malformed(why) => self.malformed(&format!("{what} {why}"), found),
            Fault::Reported(error) => failure::within_answer(&error, &self.scrub),
            Fault::Other(error) => error,
        }
    }

    fn malformed(&self, what: &str, found: &str) -> ModelError {
        ModelError::Malformed(match self.scrub.clean(found) {
            nothing if nothing.is_empty() => "nothing".to_owned(),
            found => format!("{what}: {found}"),
        })
    }
}

/// The error that an answer of status 200 reports; gateways wrap it in a list.
fn reported(json: &Value) -> Option<Value> {
    let inner = match json {
        Value::Array(list) => list.first()?,
        other => other,
    };
    let error = inner.get("error").filter(|error| !error.is_null())?;
    Some(error.clone())
}

/// A count somewhere in an answer.
pub(crate) fn count(json: &Value, path: &str) -> Option<u64> {
    json.pointer(path).and_then(Value::as_u64)
}

/// A text somewhere in an answer; empty where it is missing.
pub(crate) fn text<'a>(json: &'a Value, path: &str) -> &'a str {
    json.pointer(path)
        .and_then(Value::as_str)
        .unwrap_or_default()
}
