//! A step under way, as its work sees it over the journal.
//!
//! One per try. What is to be on record waits here for the step's outcome; what the work cannot
//! go on without (a lost lease, a held run) ends the try from outside.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Mutex,
};

use serde_json::Value;
use tokio::sync::watch;
use windlass_ports::BoxFuture;
use windlass_types::{
    ArtifactRef, Body, NewArtifact, Passing, Problem,
    journal::{ArtifactStored, DomainEvent, WaitCompleted},
};

use super::{
    journal_context::JournalContext,
    lock,
    ops::{artifact, paid},
};
use crate::run::{PaidFn, PaidRequest, RunError, Signal, StepCalls, StepMode};

/// More than this is a stream, not what a step leaves behind: one commit has to hold it.
const MOST_KEPT: usize = 1_000;

/// Shorter pieces of text wait for more, so that a model that says a word at a time does not wake
/// every watcher for each.
const SHORTEST_TEXT: usize = 80;

/// One try of a step.
pub(super) struct JournalStep<'a> {
    pub(super) context: &'a JournalContext,
    pub(super) key: String,
    pub(super) mode: StepMode,
    /// How often each name was used in this try.
    names: Mutex<HashMap<String, u32>>,
    kept: Mutex<Vec<Body>>,
    /// The end of each stream of text, which may be in the middle of a secret.
    texts: Mutex<BTreeMap<Option<String>, String>>,
    /// The signals that this try has taken, by their places.
    taken: Mutex<BTreeSet<u64>>,
    /// Paid work under way.
    paying: watch::Sender<usize>,
    /// Why the try ends from outside.
    aborted: watch::Sender<Option<RunError>>,
}

impl<'a> JournalStep<'a> {
    pub(super) fn new(context: &'a JournalContext, key: &str, mode: StepMode) -> Self {
        Self {
            context,
            key: key.to_owned(),
            mode,
            names: Mutex::default(),
            kept: Mutex::default(),
            texts: Mutex::default(),
            taken: Mutex::default(),
            paying: watch::Sender::new(0),
            aborted: watch::Sender::new(None),
        }
    }

    /// A key inside the step; counted per try, so that every try uses the same ones.
    pub(super) fn inner_key(&self, name: &str) -> String {
        let mut names = lock(&self.names);
        let count = names.entry(name.to_owned()).or_insert(0);
        *count += 1;
        match *count {
            1 => format!("{}/{name}", self.key),
            count => format!("{}/{name}#{count}", self.key),
        }
    }

    /// What goes on record with the step's outcome.
    pub(super) fn take_kept(&self) -> Vec<Body> {
        std::mem::take(&mut *lock(&self.kept))
    }

    fn keep(&self, body: Body) -> Result<(), Problem> {
        let mut kept = lock(&self.kept);
        if kept.len() >= MOST_KEPT {
            let reason = format!("a step keeps at most {MOST_KEPT} events and artifacts");
            return Err(Problem::internal("step", reason));
        }
        kept.push(body);
        Ok(())
    }

    /// Ends the try: the work is not polled again.
    pub(super) async fn abort<T>(&self, error: RunError) -> T {
        self.aborted.send_replace(Some(error));
        std::future::pending().await
    }

    /// Resolves with the reason when the try ends from outside.
    pub(super) async fn aborted(&self) -> RunError {
        let mut aborted = self.aborted.subscribe();
        match aborted.wait_for(Option::is_some).await {
            Ok(error) => error.clone().unwrap_or(RunError::Suspended),
            Err(_) => RunError::Suspended,
        }
    }

    /// Paid work is under way while the value lives.
    pub(super) fn paying(&self) -> Paying<'_> {
        self.paying.send_modify(|count| *count += 1);
        Paying(&self.paying)
    }

    /// Resolves when the driver stops and no paid work would be lost by that.
    pub(super) async fn stopped(&self) {
        self.context.stopped().await;
        let mut paying = self.paying.subscribe();
        // The sender lives in self.
        let _ = paying.wait_for(|count| *count == 0).await;
    }

    /// Says what was held back.
    pub(super) fn flush_text(&self) {
        for (stream, text) in std::mem::take(&mut *lock(&self.texts)) {
            if !text.is_empty() {
                self.send(Passing::Text { text, stream });
            }
        }
    }

    fn send(&self, what: Passing) {
        let context = self.context;
        context.engine.pass(&context.run_id, &self.key, what);
    }
}

/// Paid work under way.
pub(super) struct Paying<'a>(&'a watch::Sender<usize>);

impl Drop for Paying<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl StepCalls for JournalStep<'_> {
    fn store_artifact(&self, artifact: NewArtifact) -> BoxFuture<'_, Result<ArtifactRef, Problem>> {
        Box::pin(async move {
            let key = self.inner_key(&format!("artifact:{}", artifact.name));
            match artifact::store(self.context, artifact).await {
                Ok(artifact) => {
                    let stored = ArtifactStored {
                        key,
                        artifact: artifact.clone(),
                    };
                    self.keep(stored.into())?;
                    Ok(artifact)
                }
                Err(RunError::Failed(problem)) => Err(problem),
                Err(error) => self.abort(error).await,
            }
        })
    }

    fn emit(&self, name: &str, data: Value) -> Result<(), Problem> {
        let key = self.inner_key(name);
        let data = self.context.engine.redactor.redact_value(data);
        self.keep(Body::Domain(name.to_owned(), DomainEvent { key, data }))
    }

    fn pass(&self, what: Passing) {
        let (text, stream) = match what {
            Passing::Text { text, stream } => (text, stream),
            what => {
                self.flush_text();
                return self.send(what);
            }
        };
        // A secret that comes in two pieces would be recognised in neither, so pieces end
        // between words. A longer word is no secret that anybody registered.
        let whole = {
            let mut texts = lock(&self.texts);
            let held = texts.entry(stream.clone()).or_default();
            held.push_str(&text);
            let is_worth_saying = held.len() >= SHORTEST_TEXT || held.contains('\n');
            let end = match held.rfind(char::is_whitespace) {
                Some(place) if is_worth_saying => held.ceil_char_boundary(place + 1),
                None if held.len() > Passing::LONGEST => held.len(),
                _ => return,
            };
            let rest = held.split_off(end);
            std::mem::replace(held, rest)
        };
        self.send(Passing::Text {
            text: whole,
            stream,
        });
    }

    fn is_interrupted(&self) -> bool {
        self.context.is_stopping() || self.context.live.cancel_requested()
    }

    fn interrupted(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            tokio::select! {
                () = self.context.live.cancelled() => {}
                () = self.context.stopped() => {}
            }
        })
    }

    fn take_signals(&self, name: &str) -> Result<Vec<Signal>, Problem> {
        let waiting = self.context.live.unconsumed(|signal| signal.signal == name);
        let mut taken = Vec::new();
        for (seq, signal) in waiting {
            if !lock(&self.taken).insert(seq) {
                continue;
            }
            self.keep(
                WaitCompleted {
                    key: format!("{}/signal:{seq}", self.key),
                    signal_seq: Some(seq),
                }
                .into(),
            )?;
            taken.push(signal.into());
        }
        Ok(taken)
    }

    fn signalled<'b>(&'b self, name: &'b str) -> BoxFuture<'b, ()> {
        Box::pin(async move {
            let mut arrivals = self.context.live.arrivals();
            loop {
                arrivals.mark_unchanged();
                let waiting = self.context.live.unconsumed(|signal| signal.signal == name);
                let is_new = |seq: &u64| !lock(&self.taken).contains(seq);
                if waiting.iter().any(|(seq, _)| is_new(seq)) {
                    return;
                }
                // The sender lives in the context, so this does not fail.
                let _ = arrivals.changed().await;
            }
        })
    }

    fn pay<'b>(
        &'b self,
        request: PaidRequest,
        work: PaidFn<'b>,
    ) -> BoxFuture<'b, Result<Value, Problem>> {
        Box::pin(paid::pay(self, request, work))
    }
}
