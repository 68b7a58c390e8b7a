//! Reading the events of a run from a place on.

use windlass_engine::run::EventView;
use windlass_types::{Event, Problem, RunId};

use crate::session::Session;

const PAGE: usize = 500;

/// Reads every event after a place, in order, and moves the place on.
pub(super) async fn read_events(
    session: &Session,
    run_id: &RunId,
    read_to: &mut u64,
    mut take: impl FnMut(Event),
) -> Result<(), Problem> {
    loop {
        let events = session
            .engine()
            .store
            .events(run_id, *read_to, PAGE)
            .await?;
        let Some(last) = events.last() else {
            return Ok(());
        };
        *read_to = last.seq;
        events.into_iter().for_each(&mut take);
    }
}

/// Every event after a place, as it may leave the process.
pub(crate) async fn shown_events(
    session: &Session,
    run_id: &RunId,
    mut after: u64,
) -> Result<Vec<EventView>, Problem> {
    let redactor = &session.engine().redactor;
    let mut events = Vec::new();
    read_events(session, run_id, &mut after, |event| {
        let mut view = EventView::from(event);
        view.payload = redactor.redact_value(view.payload.value()).into();
        events.push(view);
    })
    .await?;
    Ok(events)
}
