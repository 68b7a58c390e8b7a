//! Driving from the command line: where no other process executes the runs of this home, the
//! command does so itself, for as long as it lasts.

use std::{pin::pin, time::Duration};

use serde_json::Value;
use windlass_engine::{Driver, Engine, operation::Answer};
use windlass_ports::DeliveryFilter;
use windlass_types::{Problem, RunId, code};

use super::follow::Drive;
use crate::{Interrupt, output::Progress, session::Session};

/// How often a process that could drive looks whether the one that does is gone.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// A call that lasts longer gets a moving line.
const BEFORE_PROGRESS: Duration = Duration::from_millis(400);

/// How long a command that is otherwise done waits for webhooks that are due.
const LONGEST_LINGER: Duration = Duration::from_secs(10);

/// The right to drive, once it can be had.
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

    /// Drives, unless another process does.
    pub(crate) async fn ensure(&mut self) -> Result<(), Problem> {
        // A driver that was fenced off has ended by itself; another may be started.
        if self.driver.as_ref().is_none_or(Driver::is_stopping) {
            self.driver = None;
            self.driver = Driver::start(self.engine).await?;
        }
        Ok(())
    }

    /// Whether this process drives.
    pub(crate) const fn is_driver(&self) -> bool {
        self.driver.is_some()
    }

    /// Gives webhooks that are due now the time for one attempt, if this process drives.
    pub(crate) async fn linger(&self, run_id: Option<&RunId>) -> Result<(), Problem> {
        if !self.is_driver() {
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
            }
        }
    }

    /// Stops driving: effects under way are recorded, the rest waits for the next driver.
    pub(crate) async fn stop(self) {
        if let Some(driver) = self.driver {
            driver.stop().await;
        }
    }
}

/// A call that may take long.
pub(crate) struct Call<'a> {
    pub(crate) operation: &'a str,
    pub(crate) input: Value,
    /// Whether it waits for a run, which this process drives where no other does.
    pub(crate) drive: Drive,
    /// What the moving line says while it lasts.
    pub(crate) waiting: &'a str,
    /// What is told when the command is interrupted.
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
        let engine = session.engine();
        let mut called = pin!(session.call(self.operation, self.input));
        let mut progress = None;
        loop {
            if self.drive == Drive::Here {
                // The process that drives may have died meanwhile.
                driving.ensure().await?;
            }
            let pause = if progress.is_none() {
                BEFORE_PROGRESS
            } else {
                LOOK_AGAIN
            };
            tokio::select! {
                biased;
                answer = &mut called => {
                    let answer = answer?;
                    driving.linger(answer.run_id.as_ref()).await?;
                    return Ok(answer);
                }
                () = session.interrupt.wait() => {
                    return Err(Problem::new(&code::INTERRUPTED, self.interrupted));
                }
                () = engine.clock.sleep_until(engine.now().after(pause)) => {}
            }
            progress.get_or_insert_with(|| {
                let progress = Progress::new(&session.printer);
                progress.message(self.waiting);
                progress
            });
        }
    }
}

/// Drives until told to stop; takes over whenever no other process drives.
pub(crate) async fn keep_driving(engine: &Engine, stop: &Interrupt) {
    let mut driving = Driving::new(engine);
    loop {
        if let Err(problem) = driving.ensure().await {
            // Serving continues: reading works, and the store may come back.
            tracing::error!(%problem, "runs cannot be driven");
        }
        tokio::select! {
            () = stop.wait() => break,
            () = engine.clock.sleep_until(engine.now().after(LOOK_AGAIN)) => {}
        }
    }
    driving.stop().await;
}
