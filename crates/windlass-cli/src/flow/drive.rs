//! Driving from the command line: a command executes its own runs, for as long as it lasts, and a
//! server every run that no other process does.

use std::{future::Future, pin::pin, time::Duration};

use serde_json::Value;
use windlass_engine::{Driver, Engine, operation::Answer};
use windlass_ports::DeliveryFilter;
use windlass_types::{Problem, RunId, code};

use crate::{Interrupt, output::Progress, session::Session};

/// How long a server that could not begin to drive waits before it tries again.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// A call that lasts longer gets a moving line.
const BEFORE_PROGRESS: Duration = Duration::from_millis(400);

/// How long a command that is otherwise done waits for webhooks that are due.
const LONGEST_LINGER: Duration = Duration::from_secs(10);

/// Drives the runs of this command, once there are any.
pub(crate) struct Driving<'a> {
    engine: &'a Engine,
    driver: Option<Driver>,
}

impl<'a> Driving<'a> {
    /// Not driving yet.
    pub(crate) const fn new(engine: &'a Engine) -> Self {
        Self {
            engine,
            driver: None,
        }
    }

    /// Drives the runs this command starts or signals, unless another process does.
    pub(crate) async fn ensure(&mut self) -> Result<(), Problem> {
        if self.driver.as_ref().is_none_or(Driver::is_stopping) {
            self.driver = None;
            self.driver = Some(Driver::start_own(self.engine).await?);
        }
        Ok(())
    }

    /// Also drives a run that this command was asked to resume.
    pub(crate) async fn take_up(&mut self, run_id: &RunId) -> Result<(), Problem> {
        self.engine.own_runs().note(run_id);
        self.ensure().await
    }

    /// Makes a call that may wait for runs of its own. Driving begins once there is one; being
    /// asked to stop ends the wait at once.
    pub(crate) async fn call<T>(
        &mut self,
        session: &Session,
        call: impl Future<Output = Result<T, Problem>>,
    ) -> Result<T, Problem> {
        let mut call = pin!(call);
        let mut own_runs = self.engine.own_runs().changes();
        loop {
            tokio::select! {
                outcome = &mut call => return outcome,
                _ = own_runs.changed() => self.ensure().await?,
                () = session.interrupt.wait() => return Err(interrupted()),
            }
        }
    }

    /// Gives webhooks that are due now the time for one attempt, unless a server sends them.
    pub(crate) async fn linger(
        &self,
        session: &Session,
        run_id: Option<&RunId>,
    ) -> Result<(), Problem> {
        if self.driver.is_none() || self.engine.lease.holder().is_some() {
            return Ok(());
        }
        let deadline = self.engine.now().after(LONGEST_LINGER);
        let mut changes = self.engine.store.turns();
        loop {
            changes.mark_unchanged();
            let now = self.engine.now();
            let due = DeliveryFilter {
                run_id: run_id.cloned(),
                due_by: Some(now),
                limit: 1,
                ..DeliveryFilter::default()
            };
            if now >= deadline || self.engine.deliveries(due).await?.is_empty() {
                return Ok(());
            }
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return Ok(()) },
                () = self.engine.clock.sleep_until(deadline) => {}
                () = session.interrupt.wait() => return Ok(()),
            }
        }
    }

    /// Stops driving: effects in progress are recorded, the rest waits for the next driver.
    pub(crate) async fn stop(self) {
        if let Some(driver) = self.driver {
            driver.stop().await;
        }
    }
}

/// A call that may take long, because it waits for runs of its own.
pub(crate) struct Call<'a> {
    pub(crate) operation: &'a str,
    pub(crate) input: Value,
    /// What the moving line says while it lasts.
    pub(crate) waiting: &'a str,
    /// What is printed when the command is interrupted.
    pub(crate) interrupted: &'a str,
}

impl Call<'_> {
    /// Calls the operation and waits for its answer.
    pub(crate) async fn answer(self, session: &Session) -> Result<Answer, Problem> {
        let mut driving = Driving::new(session.engine());
        let outcome = self.answer_with(session, &mut driving).await;
        driving.stop().await;
        outcome
    }

    async fn answer_with(
        self,
        session: &Session,
        driving: &mut Driving<'_>,
    ) -> Result<Answer, Problem> {
        let answer = self.called(session, driving).await?;
        driving.linger(session, answer.run_id.as_ref()).await?;
        Ok(answer)
    }

    async fn called(self, session: &Session, driving: &mut Driving<'_>) -> Result<Answer, Problem> {
        let engine = session.engine();
        let shows_progress_at = engine.now().after(BEFORE_PROGRESS);
        let call = session.call(self.operation, self.input);
        let mut called = pin!(driving.call(session, call));
        let mut progress = None;
        loop {
            tokio::select! {
                biased;
                answer = &mut called => return answer.map_err(|problem| {
                    if problem.code() == &code::INTERRUPTED {
                        return Problem::new(&code::INTERRUPTED, self.interrupted);
                    }
                    problem
                }),
                () = engine.clock.sleep_until(shows_progress_at), if progress.is_none() => {
                    let moving = Progress::new(&session.printer);
                    moving.message(self.waiting);
                    progress = Some(moving);
                }
            }
        }
    }
}

fn interrupted() -> Problem {
    Problem::new(&code::INTERRUPTED, "interrupted").next("windlass runs list")
}

/// Drives every run that no other process drives, until asked to stop.
pub(crate) async fn keep_driving(engine: &Engine, stop: &Interrupt) {
    let driver = loop {
        match Driver::start_all(engine).await {
            Ok(driver) => break driver,
            // Serving continues: reading works, and the store may come back.
            Err(problem) => tracing::error!(%problem, "runs cannot be driven; trying again"),
        }
        tokio::select! {
            () = stop.wait() => return,
            () = engine.clock.sleep_until(engine.now().after(LOOK_AGAIN)) => {}
        }
    };
    stop.wait().await;
    driver.stop().await;
}
