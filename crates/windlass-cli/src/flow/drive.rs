//! Driving from the command line: a command executes its own runs, for as long as it lasts, and a
//! server every run that no other process does.

use std::{future::Future, pin::pin, time::Duration};

use windlass_engine::{Driver, Engine};
use windlass_ports::DeliveryFilter;
use windlass_types::{Problem, RunId, code};

use crate::{Interrupt, session::Session};

/// How long a server that could not begin to drive waits before it tries again.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

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

    /// Drives what this command starts or tells something, each run unless another process does.
    pub(crate) async fn ensure(&mut self) -> Result<(), Problem> {
        if self.driver.as_ref().is_none_or(Driver::is_stopping) {
            self.driver = None;
            self.driver = Some(Driver::start_own(self.engine).await?);
        }
        Ok(())
    }

    /// Drives a run as well that this command was told to take up.
    pub(crate) async fn take_up(&mut self, run_id: &RunId) -> Result<(), Problem> {
        self.engine.own_runs().note(run_id);
        self.ensure().await
    }

    /// Makes a call that may wait for runs of its own. Driving begins once there is one; being
    /// told to stop ends the wait at once.
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

    /// Stops driving: effects under way are recorded, the rest waits for the next driver.
    pub(crate) async fn stop(self) {
        if let Some(driver) = self.driver {
            driver.stop().await;
        }
    }
}

fn interrupted() -> Problem {
    Problem::new(&code::INTERRUPTED, "interrupted").next("windlass runs list")
}

/// Drives every run that no other process drives, until told to stop.
pub(crate) async fn keep_driving(engine: &Engine, stop: &Interrupt) {
    let driver = loop {
        match Driver::start_all(engine).await {
            Ok(driver) => break driver,
            // Serving goes on: reading works, and the store may come back.
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
