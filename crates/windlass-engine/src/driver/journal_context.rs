//! The run context over a journal: answers from the memo, or does and journals.

use std::{
    collections::{BTreeSet, HashMap},
    future::Future,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::Value;
use tokio::sync::watch;
use windlass_ports::{BoxFuture, CommitError, Committed, Expect, Fence, LeaseUse, StoreError};
use windlass_types::{
    ArtifactRef, Body, DeliveryId, Event, LogLevel, NewArtifact, Passing, PassingNotice, Principal,
    Problem, RunId, RunRecord, Shortage, SpanId, Timestamp, code,
    event::SpanIds,
    journal::{ChangeSubject, RunCreated, UnwindReason},
};

use super::{Shared, activity::Activity, live::LiveRun, lock, memo::Memo, unwind::Undo};
use crate::{
    Engine,
    run::{
        ChildRequest, Entry, RunContext, RunError, Signal, StepRequest, StepWork, WaitRequest,
        WebhookRequest,
    },
    store_retry,
};

pub(super) struct JournalContext {
    pub(super) engine: Engine,
    pub(super) run_id: RunId,
    pub(super) created: RunCreated,
    created_at: Timestamp,
    pub(super) live: Arc<LiveRun>,
    pub(super) memo: Mutex<Memo>,
    pub(super) undos: Mutex<Vec<Undo>>,
    /// Effects that were begun and have no recorded end: they may have happened.
    pub(super) open: Mutex<BTreeSet<String>>,
    names: Mutex<HashMap<String, u32>>,
    /// Why the run must be held, once a call found that code and journal disagree.
    pub(super) held: Mutex<Option<Problem>>,
    pub(super) activity: Activity,
    fence: Fence,
    /// Another driver has the run.
    lost: watch::Sender<bool>,
    /// Changes when this process runs again after it stood still.
    stalls: watch::Receiver<u64>,
    /// Everything in the journal up to here is known.
    known_seq: AtomicU64,
    pub(super) span: SpanId,
    stop: watch::Sender<bool>,
}

impl JournalContext {
    pub(super) fn new(
        shared: &Shared,
        run_id: &RunId,
        memo: Memo,
        live: &Arc<LiveRun>,
        fence: Fence,
        span: SpanId,
        last_seq: u64,
    ) -> Self {
        Self {
            engine: shared.engine.clone(),
            run_id: run_id.clone(),
            created: memo.created.clone(),
            created_at: memo.created_at,
            live: Arc::clone(live),
            open: Mutex::new(memo.dangling()),
            memo: Mutex::new(memo),
            undos: Mutex::default(),
            names: Mutex::default(),
            held: Mutex::default(),
            activity: Activity::default(),
            fence,
            lost: watch::Sender::new(false),
            stalls: shared.stalls.clone(),
            known_seq: AtomicU64::new(last_seq),
            span,
            stop: shared.stop.clone(),
        }
    }

    /// The key of the next call with this name: the name itself, then `name#2`, `name#3`…
    pub(super) fn key(&self, name: &str) -> String {
        let mut names = lock(&self.names);
        let count = names.entry(name.to_owned()).or_insert(0);
        *count += 1;
        if *count == 1 {
            name.to_owned()
        } else {
            format!("{name}#{count}")
        }
    }

    pub(super) fn is_stopping(&self) -> bool {
        *self.stop.borrow() || *self.lost.borrow()
    }

    /// Resolves when the driver stops or has lost the run.
    pub(super) async fn stopped(&self) {
        // The senders live in self, so the waits only end with their values.
        let (mut stop, mut lost) = (self.stop.subscribe(), self.lost.subscribe());
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => {}
            _ = lost.wait_for(|lost| *lost) => {}
        }
    }

    /// Resolves when another driver has the run: found by a commit, or looked for once this
    /// process runs again after it stood still.
    pub(super) async fn taken_over(&self) {
        let mut lost = self.lost.subscribe();
        let mut stalls = self.stalls.clone();
        loop {
            tokio::select! {
                // The sender lives in self.
                _ = lost.wait_for(|lost| *lost) => return,
                Ok(()) = stalls.changed() => {}
            }
            while !self.holds_lease().await {
                if *self.lost.borrow() {
                    return;
                }
                if self.pause().await.is_err() {
                    // The driver stops, which gives effects under way their time.
                    std::future::pending().await
                }
            }
        }
    }

    /// Whether the lease is known to be this driver's.
    async fn holds_lease(&self) -> bool {
        match self.engine.store.lease(self.fence.name.clone()).await {
            Ok(lease) => {
                let holds = lease.is_some_and(|lease| lease.epoch == self.fence.epoch);
                if !holds {
                    self.lost.send_replace(true);
                }
                holds
            }
            Err(error) => {
                tracing::warn!(run_id = %self.run_id, %error, "the lease cannot be read; trying again");
                false
            }
        }
    }

    /// Whether a call that the journal does not answer may do something new.
    pub(super) fn guard(&self) -> Result<(), RunError> {
        if self.is_stopping() || lock(&self.held).is_some() {
            return Err(RunError::Suspended);
        }
        let memo = lock(&self.memo);
        match &memo.unwinding {
            Some(unwinding) => match unwinding.reason {
                UnwindReason::Cancelled => return Err(RunError::Cancelled),
                UnwindReason::Failed => {
                    let problem = unwinding.problem.clone();
                    return Err(problem.map_or(RunError::Cancelled, RunError::Failed));
                }
                UnwindReason::Rollback => {
                    drop(memo);
                    return Err(
                        self.hold("the code asks for something that the completed run did not do")
                    );
                }
            },
            None if memo.completed => {
                drop(memo);
                return Err(
                    self.hold("the code asks for something that the completed run did not do")
                );
            }
            None => {}
        }
        drop(memo);
        if self.live.cancel_requested() {
            Err(RunError::Cancelled)
        } else {
            Ok(())
        }
    }

    /// Notes that code and journal disagree.
    pub(super) fn hold(&self, reason: &str) -> RunError {
        let problem = Problem::new(
            &code::NONDETERMINISTIC,
            format!("run {} is held: {reason}", self.run_id),
        )
        .with("run_id", self.run_id.as_str());
        lock(&self.held).get_or_insert(problem);
        RunError::Suspended
    }

    /// A call of the context that does something.
    async fn working<T>(&self, call: impl Future<Output = T>) -> T {
        let _working = self.activity.work();
        call.await
    }

    pub(super) fn child_span(&self) -> SpanIds {
        SpanIds {
            span_id: self.engine.new_span(),
            parent_span_id: Some(self.span),
        }
    }

    pub(super) fn own_span(&self) -> SpanIds {
        SpanIds {
            span_id: self.span,
            parent_span_id: None,
        }
    }

    /// Journals bodies; returns when they are durable.
    pub(super) async fn journal(
        &self,
        bodies: Vec<Body>,
        spans: SpanIds,
    ) -> Result<Committed, RunError> {
        let append = || {
            self.engine.append(
                &self.run_id,
                Expect::Any,
                bodies.clone(),
                spans,
                Some(LeaseUse::Hold(self.fence.clone())),
            )
        };
        match self.persist(append).await? {
            Ok(committed) => {
                self.note_own(&committed);
                Ok(committed)
            }
            Err(CommitError::Fenced) => {
                self.lost.send_replace(true);
                Err(RunError::Suspended)
            }
            Err(error) => {
                tracing::error!(run_id = %self.run_id, %error, "the journal cannot be written; the run is suspended");
                Err(RunError::Suspended)
            }
        }
    }

    /// Events of our own need not be read to be known, if nothing came in between.
    fn note_own(&self, committed: &Committed) {
        if let (Some(first), Some(last)) = (committed.events.first(), committed.events.last()) {
            let before = first.seq - 1;
            let _ = self.known_seq.compare_exchange(
                before,
                last.seq,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
        }
    }

    /// Gives the run back, if it has heard everything that its journal holds: from here on any
    /// driver that finds it due or signalled takes it up.
    pub(super) async fn park(&self) -> bool {
        let known = self.known_seq.load(Ordering::Relaxed);
        let Ok(events) = self
            .engine
            .store
            .events(&self.run_id, known, usize::MAX)
            .await
        else {
            return false;
        };
        let last_seq = events.last().map_or(known, |event| event.seq);
        let is_unheard = |event: &Event| {
            event.event_type == "signal.received" && !self.live.has_heard(event.seq)
        };
        if events.iter().any(is_unheard) {
            return false;
        }
        self.known_seq.store(last_seq, Ordering::Relaxed);
        let parked = self
            .engine
            .append(
                &self.run_id,
                Expect::At(last_seq),
                Vec::new(),
                SpanIds::default(),
                Some(LeaseUse::Release(self.fence.clone())),
            )
            .await;
        match parked {
            Ok(_) => true,
            Err(CommitError::Fenced) => {
                self.lost.send_replace(true);
                false
            }
            // Kept until it can be given back.
            Err(_) => false,
        }
    }

    /// Commits something; a failing store is asked again until it works or the driver stops.
    /// Nothing can be recorded meanwhile, so those who watch the run are told.
    pub(super) async fn persist<T, F, Fut>(
        &self,
        mut commit: F,
    ) -> Result<Result<T, CommitError>, RunError>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, CommitError>>,
    {
        let mut tries = 0;
        loop {
            match commit().await {
                Err(CommitError::Store(error)) if store_retry::is_passing(&error) => {
                    tries += 1;
                    self.tell_waiting(&error);
                }
                outcome => return Ok(outcome),
            }
            if !store_retry::pause_longer(&self.engine, &self.stop, tries).await {
                return Err(RunError::Suspended);
            }
        }
    }

    fn tell_waiting(&self, error: &StoreError) {
        let problem = Problem::from(error.clone());
        let reason = Shortage::of(&problem).map_or("waiting", Shortage::reason);
        let message = format!("{reason} (the journal cannot be written: {error}); trying again");
        tracing::warn!(run_id = %self.run_id, "{message}");
        self.engine.notices().send(PassingNotice {
            run_id: self.run_id.clone(),
            step: String::new(),
            time: self.engine.now(),
            what: Passing::Log {
                level: LogLevel::Warning,
                message,
            },
        });
    }

    /// Another run's record; a failing store is asked again until it works or the driver stops.
    pub(super) async fn read_run(&self, run_id: &RunId) -> Result<Option<RunRecord>, RunError> {
        loop {
            match self.engine.store.run(run_id).await {
                Ok(record) => return Ok(record),
                Err(error) if store_retry::is_passing(&error) => {
                    tracing::warn!(run_id = %self.run_id, %error, "the store cannot be read; trying again");
                }
                Err(error) => return Err(Problem::from(error).into()),
            }
            self.pause().await?;
        }
    }

    /// Leaves a failing store alone for a moment.
    pub(super) async fn pause(&self) -> Result<(), RunError> {
        if store_retry::pause(&self.engine, &self.stop).await {
            Ok(())
        } else {
            Err(RunError::Suspended)
        }
    }
}

impl RunContext for JournalContext {
    fn run_id(&self) -> &RunId {
        &self.run_id
    }

    fn principal(&self) -> &Principal {
        &self.created.principal
    }

    fn subject(&self) -> Option<&ChangeSubject> {
        self.created.subject.as_ref()
    }

    fn created_at(&self) -> Timestamp {
        self.created_at
    }

    fn perform<'a>(
        &'a self,
        request: StepRequest,
        work: StepWork<'a>,
    ) -> BoxFuture<'a, Result<Value, RunError>> {
        Box::pin(self.working(super::ops::step::perform(self, request, work)))
    }

    fn sleep<'a>(
        &'a self,
        name: &'a str,
        duration: Duration,
    ) -> BoxFuture<'a, Result<(), RunError>> {
        Box::pin(super::ops::timer::sleep(self, name, duration))
    }

    fn wait_for<'a>(
        &'a self,
        request: WaitRequest,
    ) -> BoxFuture<'a, Result<Option<Signal>, RunError>> {
        Box::pin(super::ops::wait::wait_for(self, request))
    }

    fn emit<'a>(&'a self, name: &'a str, data: Value) -> BoxFuture<'a, Result<(), RunError>> {
        Box::pin(self.working(super::ops::emit::emit(self, name, data)))
    }

    fn put_artifact<'a>(
        &'a self,
        artifact: NewArtifact,
    ) -> BoxFuture<'a, Result<ArtifactRef, RunError>> {
        Box::pin(self.working(super::ops::artifact::put(self, artifact)))
    }

    fn record<'a>(&'a self, entries: Vec<Entry>) -> BoxFuture<'a, Result<(), RunError>> {
        Box::pin(self.working(super::ops::record::record(self, entries)))
    }

    fn interrupted<'a>(&'a self) -> BoxFuture<'a, RunError> {
        // The caller waits for something that no event tells of: the run is not parked.
        let working = self.activity.work();
        Box::pin(async move {
            let _working = working;
            tokio::select! {
                () = self.live.cancelled() => RunError::Cancelled,
                () = self.stopped() => RunError::Suspended,
            }
        })
    }

    fn resumptions(&self, call: &str) -> u32 {
        lock(&self.memo).resumptions(call)
    }

    fn child<'a>(&'a self, request: ChildRequest) -> BoxFuture<'a, Result<Value, RunError>> {
        Box::pin(self.working(super::ops::child::run(self, request)))
    }

    fn notify<'a>(
        &'a self,
        request: WebhookRequest,
    ) -> BoxFuture<'a, Result<DeliveryId, RunError>> {
        Box::pin(self.working(super::ops::webhook::enqueue(self, request)))
    }
}
