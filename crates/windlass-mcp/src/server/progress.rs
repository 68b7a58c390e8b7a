//! A run's events, and what its steps say in passing, as progress and log notifications to the
//! client that waits for it.
//!
//! Only for as long as its request is open; after that the client polls or subscribes.

use std::{future::Future, pin::pin, time::Duration};

use rmcp::{
    RoleServer,
    model::{
        LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
    },
    service::{Peer, RequestContext},
};
use serde_json::{Value, json};
use windlass_engine::Engine;
use windlass_types::{Body, Event, LogLevel, Passing, PassingNotice, RunId};

use crate::negotiate::Era;

/// Events read at once.
const PAGE: usize = 100;
/// How long one look for events lasts; the next begins right after it.
const LOOK: Duration = Duration::from_secs(30);

/// Where progress of one request goes.
#[derive(Clone)]
pub struct Reporter {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    /// The least level of log messages wanted; none when absent.
    level: Option<LoggingLevel>,
}

impl Reporter {
    /// The wishes of a request; `session_level` is what a legacy session has set.
    pub fn new(context: &RequestContext<RoleServer>, session_level: Option<LoggingLevel>) -> Self {
        let level = match Era::of(context) {
            Era::Legacy => session_level,
            Era::Modern => context.meta.log_level(),
        };
        Self {
            peer: context.peer.clone(),
            token: context.meta.get_progress_token(),
            level,
        }
    }

    fn is_wanted(&self) -> bool {
        self.token.is_some() || self.level.is_some()
    }

    /// Waits for the answer of a call and reports what happens in its run meanwhile, from the
    /// event after `seen` on.
    pub async fn during<T>(
        &self,
        engine: &Engine,
        run_id: &RunId,
        mut seen: u64,
        answer: impl Future<Output = T>,
    ) -> T {
        let mut answer = pin!(answer);
        if !self.is_wanted() {
            return answer.await;
        }
        let mut notices = engine.notices_of(run_id);
        let mut passed = Passed::default();
        let answer = loop {
            // Only the look is given up when the answer is there: an event is told wholly or not
            // yet.
            tokio::select! {
                answer = &mut answer => break answer,
                events = look(engine, run_id, seen, LOOK) => {
                    self.report_all(engine, &events, &mut seen).await;
                }
                notice = notices.next() => self.pass(&notice, passed.after(seen)).await,
            }
        };
        // What happened between the last look and the answer.
        let events = look(engine, run_id, seen, Duration::ZERO).await;
        self.report_all(engine, &events, &mut seen).await;
        answer
    }

    async fn report_all(&self, engine: &Engine, events: &[Event], seen: &mut u64) {
        for event in events {
            *seen = event.seq;
            self.report(engine, event).await;
        }
    }

    /// Tells what passes; redacted where it was said.
    async fn pass(&self, notice: &PassingNotice, progress: f64) {
        let (level, message) = match &notice.what {
            Passing::Progress {
                done,
                total,
                message,
            } => match total {
                Some(total) => (None, format!("{message} ({done} of {total})")),
                None => (None, message.clone()),
            },
            Passing::Text { text, .. } => (None, text.clone()),
            Passing::Again { message } => (Some(logged(LogLevel::Warning)), message.clone()),
            Passing::Log { level, message } => (Some(logged(*level)), message.clone()),
        };
        self.progress(progress, None, Some(&message)).await;
        if let Some(level) = level {
            let data = json!({
                "run_id": notice.run_id,
                "step": notice.step,
                "passing": true,
                "message": message,
            });
            self.log(level, Some("runs"), data).await;
        }
    }

    /// Tells how far it is, to a client that wants to know.
    pub async fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        let Some(token) = &self.token else { return };
        let mut note = ProgressNotificationParam::new(token.clone(), done);
        note.total = total;
        note.message = message.map(str::to_owned);
        let _ = self.peer.notify_progress(note).await;
    }

    /// Sends a log message to a client that wants messages of that level.
    pub async fn log(&self, level: LoggingLevel, logger: Option<&str>, data: Value) {
        if self.level.is_some_and(|wanted| rank(level) >= rank(wanted)) {
            let mut note = LoggingMessageNotificationParam::new(level, data);
            note.logger = logger.map(str::to_owned);
            let _ = self.peer.notify_logging_message(note).await;
        }
    }

    async fn report(&self, engine: &Engine, event: &Event) {
        let Some((level, message)) = describe(event) else {
            return;
        };
        let message = engine.redactor.redact(&message).into_owned();
        // The place in the journal grows with every event, as progress must.
        #[expect(clippy::cast_precision_loss, reason = "no journal has 2^52 events")]
        let place = event.seq as f64;
        self.progress(place, None, Some(&message)).await;
        let data = json!({ "run_id": event.run_id, "seq": event.seq, "message": message });
        self.log(level, Some("runs"), data).await;
    }
}

/// Counts what passes between two events: progress must grow, and stay below the next event's.
#[derive(Default)]
struct Passed {
    seen: u64,
    count: f64,
}

impl Passed {
    fn after(&mut self, seen: u64) -> f64 {
        if seen != self.seen {
            (self.seen, self.count) = (seen, 0.0);
        }
        self.count += 1.0;
        #[expect(clippy::cast_precision_loss, reason = "no journal has 2^52 events")]
        let place = seen as f64;
        place + self.count / (self.count + 1.0)
    }
}

const fn logged(level: LogLevel) -> LoggingLevel {
    match level {
        LogLevel::Info => LoggingLevel::Info,
        LogLevel::Warning => LoggingLevel::Warning,
        LogLevel::Error => LoggingLevel::Error,
    }
}

/// The events after `seen`, waiting for the first; none when the journal cannot be read.
async fn look(engine: &Engine, run_id: &RunId, seen: u64, timeout: Duration) -> Vec<Event> {
    match engine.events_after(run_id, seen, PAGE, timeout).await {
        Ok(events) => events,
        Err(error) => {
            tracing::warn!(%error, %run_id, "cannot follow a run for progress");
            tokio::time::sleep(timeout).await;
            Vec::new()
        }
    }
}

/// What to tell about an event; nothing for those that mean nothing to a reader.
fn describe(event: &Event) -> Option<(LoggingLevel, String)> {
    use LoggingLevel::{Error, Info, Notice, Warning};
    let body = Body::decode(&event.event_type, &event.payload).ok()??;
    Some(match body {
        Body::RunCreated(created) => (Info, format!("created: {}", created.title)),
        Body::RunStarted(started) if started.attempt > 1 => (Notice, "resumed".to_owned()),
        Body::RunStarted(_) => (Info, "started".to_owned()),
        Body::RunUnwinding(_) => (Warning, "undoing what was done".to_owned()),
        Body::RunCompleted(_) => (Notice, "completed".to_owned()),
        Body::RunFailed(failed) => (Error, format!("failed: {}", failed.problem.message())),
        Body::RunCancelled(_) => (Notice, "cancelled".to_owned()),
        Body::RunRolledBack(_) => (Notice, "rolled back".to_owned()),
        Body::RunHeld(held) => (Error, format!("held: {}", held.problem.message())),
        Body::StepStarted(step) => (Info, format!("{}: started", step.key)),
        Body::StepCompleted(step) => (Info, format!("{}: done", step.key)),
        Body::StepFailed(step) => (
            Warning,
            format!("{}: failed: {}", step.key, step.problem.message()),
        ),
        Body::UndoCompleted(undo) => (Info, format!("{}: undone", undo.key)),
        Body::UndoFailed(undo) => (
            Error,
            format!("{}: cannot be undone: {}", undo.key, undo.problem.message()),
        ),
        Body::TimerStarted(timer) => (Info, format!("waiting until {}", timer.fire_at)),
        Body::WaitStarted(wait) => (
            Notice,
            wait.prompt
                .unwrap_or_else(|| format!("waiting for {}", wait.signal)),
        ),
        Body::SignalReceived(signal) => {
            (Notice, format!("{} by {}", signal.signal, signal.principal))
        }
        Body::ArtifactStored(stored) => (Info, format!("stored {}", stored.artifact.name)),
        Body::ChildStarted(child) => (Info, format!("{}: child run {}", child.key, child.run_id)),
        Body::Domain(name, event) => {
            let message = event
                .data
                .get("message")
                .and_then(|message| message.as_str());
            (Info, message.map_or(name, str::to_owned))
        }
        _ => return None,
    })
}

/// Levels in order of weight.
fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}
