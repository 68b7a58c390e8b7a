//! Following a run to its end (or until it needs a person), driving it where no other process does.

use std::time::Duration;

use windlass_engine::run::{EventView, RunView};
use windlass_types::{Event, Problem, RunId, code};

use super::{
    drive::Driving,
    narrate::{Narrator, Tell},
    render::Renderer,
    settle,
};
use crate::{output::Mode, session::Session};

const PAGE: usize = 500;
/// How long nothing may be heard before the driver is looked for.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where the lines go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    /// The lines are what was asked for.
    Data,
    /// The lines accompany what was asked for.
    Notice,
}

/// What to follow.
pub(crate) struct Follow<'a> {
    /// The run.
    pub(crate) run_id: &'a RunId,
    /// Only events after this place are told.
    pub(crate) after_seq: u64,
    /// Another run whose events are part of the story, from a place on.
    pub(crate) beside: Option<(RunId, u64)>,
    /// Where the lines go.
    pub(crate) channel: Channel,
}

/// A run that settled, and what was told about it.
pub(crate) struct Followed {
    /// The run as it stands.
    pub(crate) run: RunView,
    /// Its events, kept for `--json` only.
    pub(crate) events: Vec<EventView>,
}

/// How a run is told.
pub(crate) struct Telling {
    /// Makes lines of its events.
    pub(crate) teller: Box<dyn Tell + Send>,
    /// Whether the run is followed, and so driven, also when nobody reads the lines any more.
    pub(crate) goes_on_unread: bool,
}

impl Default for Telling {
    fn default() -> Self {
        Self {
            teller: Box::new(Narrator::default()),
            goes_on_unread: false,
        }
    }
}

/// A run whose events are told.
struct Tail {
    run_id: RunId,
    after_seq: u64,
    depth: usize,
    teller: Box<dyn Tell + Send>,
}

impl Follow<'_> {
    /// Follows until the run has ended, is held or asks a person.
    pub(crate) async fn run(self, session: &Session) -> Result<Followed, Problem> {
        let mut driving = Driving::new(session.engine());
        let result = self.run_with(session, &mut driving).await;
        driving.stop().await;
        result
    }

    /// The same, with a driver that somebody else stops.
    pub(crate) async fn run_with(
        self,
        session: &Session,
        driving: &mut Driving<'_>,
    ) -> Result<Followed, Problem> {
        self.told_by(session, driving, Telling::default()).await
    }

    /// The same, told in the words of a domain.
    pub(crate) async fn told_by(
        self,
        session: &Session,
        driving: &mut Driving<'_>,
        telling: Telling,
    ) -> Result<Followed, Problem> {
        session.printer.ndjson().begin_run();
        let engine = session.engine();
        let mut changes = engine.store.changes();
        let mut renderer = Renderer::new(session, self.channel);
        let mut told = Vec::new();
        let mut tails = vec![Tail {
            teller: telling.teller,
            ..Tail::new(self.run_id.clone(), self.after_seq, 0)
        }];
        tails.extend(
            self.beside
                .map(|(run_id, after_seq)| Tail::new(run_id, after_seq, 1)),
        );
        loop {
            driving.take_up(self.run_id).await?;
            changes.mark_unchanged();
            // The record first: whatever it says has its events behind it.
            let record = engine.visible_run(session.principal(), self.run_id).await?;
            let mut index = 0;
            while index < tails.len() {
                let events = tails[index].read(session, &mut renderer).await?;
                let child = tails[index].teller.take_child();
                let depth = tails[index].depth + 1;
                if index == 0 && session.printer.mode() == Mode::Json {
                    told.extend(events.into_iter().map(|event| redacted(session, event)));
                }
                if let Some(child) = child {
                    tails.push(Tail::new(child, 0, depth));
                }
                index += 1;
            }
            let run = RunView::from(record);
            if tails[0].after_seq >= run.last_seq && settle::is_settled(session, &run).await? {
                driving.linger(session, Some(self.run_id)).await?;
                return Ok(Followed { run, events: told });
            }
            if !session.printer.look_for_reader() && !telling.goes_on_unread {
                return Err(Problem::new(
                    &code::INTERRUPTED,
                    "the reader of the output went away",
                ));
            }
            tokio::select! {
                () = session.interrupt.wait() => return Err(interrupted(session, &run).await),
                changed = changes.changed() => if changed.is_err() {
                    return Err(Problem::internal("store", "the store was closed"));
                },
                () = engine.clock.sleep_until(engine.now().after(PATIENCE)) => {}
            }
        }
    }
}

impl Tail {
    fn new(run_id: RunId, after_seq: u64, depth: usize) -> Self {
        Self {
            run_id,
            after_seq,
            depth,
            teller: Box::new(Narrator::default()),
        }
    }

    /// Tells what has happened since.
    async fn read(
        &mut self,
        session: &Session,
        renderer: &mut Renderer<'_>,
    ) -> Result<Vec<Event>, Problem> {
        let mut all = Vec::new();
        loop {
            let events = session
                .engine()
                .store
                .events(&self.run_id, self.after_seq, PAGE)
                .await?;
            let Some(last) = events.last() else {
                return Ok(all);
            };
            self.after_seq = last.seq;
            for event in &events {
                if let Some(line) = self.teller.tell(event) {
                    renderer.show(self.run_id.as_str(), self.depth, &line);
                }
            }
            all.extend(events);
        }
    }
}

fn redacted(session: &Session, event: Event) -> EventView {
    let mut view = EventView::from(event);
    view.payload = session
        .engine()
        .redactor
        .redact_value(view.payload.value())
        .into();
    view
}

async fn interrupted(session: &Session, run: &RunView) -> Problem {
    let run_id = &run.run_id;
    let driver = session.engine().driven_by(run_id).await;
    let (what, next) = match driver.ok().flatten() {
        Some(process) => (
            format!("process {process} goes on with it"),
            format!("windlass runs watch {run_id}"),
        ),
        None => (
            "it goes on when something drives it".to_owned(),
            format!("windlass runs resume {run_id}"),
        ),
    };
    Problem::new(
        &code::INTERRUPTED,
        format!("stopped watching; run {run_id} stays as it is, {what}"),
    )
    .with("run_id", run_id.as_str())
    .with("state", run.state.as_str())
    .next(next)
}
