//! `sleep`: a timer that a restart does not begin again.

use std::time::Duration;

use windlass_types::journal::{TimerFired, TimerStarted};

use super::super::{journal_context::JournalContext, lock};
use crate::run::RunError;

pub(in super::super) async fn sleep(
    context: &JournalContext,
    name: &str,
    duration: Duration,
) -> Result<(), RunError> {
    let mut working = context.activity.work();
    let key = context.key(name);
    let memo = lock(&context.memo).timers.get(&key).cloned();
    let fire_at = match memo {
        Some(memo) if memo.fired => return Ok(()),
        Some(memo) => {
            context.guard()?;
            memo.fire_at
        }
        None => {
            context.guard()?;
            let fire_at = context.engine.steady().after(duration);
            let started = TimerStarted {
                key: key.clone(),
                fire_at,
            };
            context
                .journal(vec![started.into()], context.own_span())
                .await?;
            fire_at
        }
    };
    {
        let _waiting = working.pause();
        tokio::select! {
            () = context.engine.until(fire_at) => {}
            () = context.live.cancelled() => return Err(RunError::Cancelled),
            () = context.stopped() => return Err(RunError::Suspended),
        }
    }
    context
        .journal(vec![TimerFired { key }.into()], context.own_span())
        .await
        .map(drop)
}
