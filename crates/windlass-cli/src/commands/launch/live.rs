//! Going along with a run: its events are told as they come, it is driven where nobody else does,
//! and being interrupted leaves it as it is and says how to go on.

use std::{future::Future, time::Duration};

use windlass_engine::run::RunView;
use windlass_types::{Problem, RunId, code};

use super::story::Story;
use crate::{
    flow::{Channel, Driving, Renderer, Weight, is_settled},
    output::Mode,
    session::Session,
};

const PAGE: usize = 500;
/// How long nothing may be heard before the driver is looked for.
const PATIENCE: Duration = Duration::from_secs(1);
/// The columns of a board where the terminal does not say.
const USUAL_COLUMNS: usize = 80;

/// A run somebody goes along with.
pub(super) struct Live<'a> {
    pub(super) session: &'a Session,
    pub(super) run_id: &'a RunId,
    /// Only events after this place are told.
    pub(super) after_seq: u64,
    pub(super) channel: Channel,
}

impl Live<'_> {
    /// Tells what happens until the work is done. The work itself only waits: it may be dropped
    /// at any moment, and the run is none the worse for it.
    pub(super) async fn accompany<T>(
        &self,
        work: impl Future<Output = Result<T, Problem>>,
    ) -> Result<T, Problem> {
        let mut driving = Driving::new(self.session.engine());
        let outcome = self.watch(&mut driving, work).await;
        driving.stop().await;
        outcome
    }

    async fn watch<T>(
        &self,
        driving: &mut Driving<'_>,
        work: impl Future<Output = Result<T, Problem>>,
    ) -> Result<T, Problem> {
        let engine = self.session.engine();
        let mut changes = engine.store.changes();
        let mut teller = Teller::new(self);
        tokio::pin!(work);
        loop {
            driving.take_up(self.run_id).await?;
            changes.mark_unchanged();
            teller.catch_up().await?;
            if !self.session.printer.look_for_reader() {
                let gone = "the reader of the output went away";
                return Err(Problem::new(&code::INTERRUPTED, gone));
            }
            tokio::select! {
                biased;
                () = self.session.interrupt.wait() => {
                    return Err(self.interrupted().await);
                }
                outcome = &mut work => {
                    teller.catch_up().await?;
                    driving.linger(self.session, Some(self.run_id)).await?;
                    return outcome;
                }
                changed = changes.changed() => if changed.is_err() {
                    return Err(Problem::internal("store", "the store was closed"));
                },
                () = engine.clock.sleep_until(engine.now().after(PATIENCE)) => {}
            }
        }
    }

    async fn interrupted(&self) -> Problem {
        let run_id = self.run_id;
        let driver = self.session.engine().driven_by(run_id).await;
        let (what, next) = match driver.ok().flatten() {
            Some(process) => (
                format!("process {process} goes on with it"),
                format!("windlass launch watch {run_id}"),
            ),
            None => (
                "nothing is lost, and it goes on from there".to_owned(),
                format!("windlass launch resume {run_id}"),
            ),
        };
        Problem::new(
            &code::INTERRUPTED,
            format!("interrupted; run {run_id} stays where it is: {what}"),
        )
        .with("run_id", run_id.as_str())
        .next(next)
    }
}

/// Tells events, each once.
struct Teller<'a> {
    live: &'a Live<'a>,
    story: Story,
    renderer: Renderer<'a>,
    /// The last event that was heard.
    heard: u64,
}

impl<'a> Teller<'a> {
    fn new(live: &'a Live<'a>) -> Self {
        Self {
            renderer: Renderer::with_board(live.session, live.channel),
            live,
            story: Story::default(),
            heard: 0,
        }
    }

    /// Hears everything from the beginning, so that the board is whole, and tells what is new.
    async fn catch_up(&mut self) -> Result<(), Problem> {
        let Live {
            session, run_id, ..
        } = self.live;
        let engine = session.engine();
        loop {
            let events = engine.store.events(run_id, self.heard, PAGE).await?;
            let Some(last) = events.last() else { break };
            self.heard = last.seq;
            for event in &events {
                let Some(line) = self.story.tell(event) else {
                    continue;
                };
                // What only lasts a moment is on the board.
                let shown = line.weight != Weight::Passing || session.printer.mode() != Mode::Human;
                if event.seq > self.live.after_seq && shown {
                    self.renderer.show(run_id.as_str(), 0, &line);
                }
            }
        }
        if session.printer.animates() {
            let columns = session.printer.notice_width().unwrap_or(USUAL_COLUMNS);
            // The spinner and a blank stand before the first line.
            let columns = columns.saturating_sub(3);
            let paint = session.printer.notice_paint();
            let board = self.story.board(paint, columns, engine.now());
            self.renderer.board(&session.redact(&board));
        }
        Ok(())
    }
}

/// Waits until the run has ended, is held or waits to be told something.
pub(super) async fn settled(session: &Session, run_id: &RunId) -> Result<RunView, Problem> {
    until(session, run_id, Rest::Told).await
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// The run ends, or waits to be told something.
    Told,
    /// The run ends.
    Ended,
}

/// Waits until the run rests.
pub(super) async fn until(
    session: &Session,
    run_id: &RunId,
    rest: Rest,
) -> Result<RunView, Problem> {
    let engine = session.engine();
    let mut changes = engine.store.changes();
    loop {
        changes.mark_unchanged();
        let run = RunView::from(engine.visible_run(session.principal(), run_id).await?);
        let rests = match rest {
            Rest::Told => is_settled(session, &run).await?,
            Rest::Ended => run.state.is_final(),
        };
        if rests {
            return Ok(run);
        }
        tokio::select! {
            changed = changes.changed() => if changed.is_err() {
                return Err(Problem::internal("store", "the store was closed"));
            },
            () = engine.clock.sleep_until(engine.now().after(PATIENCE)) => {}
        }
    }
}

/// Asks a run to do something and goes along until it rests again; the operation's answer.
pub(super) async fn ask(
    session: &Session,
    operation: &str,
    run_id: &RunId,
) -> Result<serde_json::Value, Problem> {
    let before = session
        .engine()
        .visible_run(session.principal(), run_id)
        .await?;
    let live = Live {
        session,
        run_id,
        after_seq: before.last_seq,
        channel: Channel::Notice,
    };
    live.accompany(async {
        let input = serde_json::json!({ "run_id": run_id });
        let answer = session.call(operation, input).await;
        // A run that fails because of it takes back what it did before it rests.
        settled(session, run_id).await?;
        Ok(answer?.output)
    })
    .await
}
