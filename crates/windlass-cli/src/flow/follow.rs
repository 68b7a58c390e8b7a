//! Following a run: one loop for every command.
//!
//! Reads events by their place in the journal, shows the line of each, shows what steps say in
//! passing as the current line, drives the run where no
//! other process does, and ends with what the command waits for. Interrupting the command leaves
//! the run as it is. Not here: which line an event has (`event_lines`, domains) and how it looks
//! (`render`).

use std::{future::Future, time::Duration};

use windlass_engine::run::RunView;
use windlass_types::{PassingNotice, Problem, RunId, code};

use super::{
    drive::Driving,
    event_lines::{EventLines, RunLines, passing_line},
    journal::read_events,
    render::Renderer,
    settle::{Rest, wait_for_rest},
};
use crate::session::Session;

/// How long nothing may be heard before the driver is looked for.
const WAIT_LIMIT: Duration = Duration::from_secs(1);

/// Where the lines go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    /// The lines are what was asked for.
    Data,
    /// The lines accompany what was asked for.
    Notice,
}

/// What to follow, and how it is shown.
pub(crate) struct Follow<'a> {
    /// The run.
    pub(crate) run_id: &'a RunId,
    /// Only events after this place are shown.
    pub(crate) after_seq: u64,
    /// Another run whose events are shown too, from a place on.
    pub(crate) other_run: Option<(RunId, u64)>,
    pub(crate) channel: Channel,
    /// When the run counts as followed to its end.
    pub(crate) rest: Rest,
    /// Makes lines of its events.
    pub(crate) lines: Box<dyn EventLines + Send>,
    /// The commands that watch and resume such a run.
    pub(crate) program: &'static str,
    /// Whether the run is followed, and so driven, even when the output is no longer read.
    pub(crate) goes_on_unread: bool,
}

impl<'a> Follow<'a> {
    /// From the first event until the run rests, apart from the data.
    pub(crate) fn new(run_id: &'a RunId) -> Self {
        Self {
            run_id,
            after_seq: 0,
            other_run: None,
            channel: Channel::Notice,
            rest: Rest::Settled,
            lines: Box::new(RunLines::default()),
            program: "windlass runs",
            goes_on_unread: false,
        }
    }

    /// Follows until the run rests.
    pub(crate) async fn run(self, session: &Session) -> Result<RunView, Problem> {
        let mut driving = Driving::new(session.engine());
        let outcome = self.run_with(session, &mut driving).await;
        driving.stop().await;
        outcome
    }

    /// The same, with a driver that the caller stops.
    pub(crate) async fn run_with(
        self,
        session: &Session,
        driving: &mut Driving<'_>,
    ) -> Result<RunView, Problem> {
        let rest = wait_for_rest(session, self.run_id, self.rest);
        self.during(session, driving, rest).await
    }

    /// Shows what happens until some work about the run is done. The work only waits: it may be
    /// dropped at any moment, and the run continues without it.
    pub(crate) async fn during<T>(
        self,
        session: &Session,
        driving: &mut Driving<'_>,
        work: impl Future<Output = Result<T, Problem>>,
    ) -> Result<T, Problem> {
        session.printer.ndjson().begin_run();
        let Self {
            run_id,
            program,
            goes_on_unread,
            ..
        } = self;
        let engine = session.engine();
        let mut changes = engine.store.changes();
        let mut notices = engine.notices_of(run_id);
        let mut journals = Journals::new(session, self);
        tokio::pin!(work);
        loop {
            driving.take_up(run_id).await?;
            changes.mark_unchanged();
            journals.show_news().await?;
            if !session.printer.look_for_reader() && !goes_on_unread {
                let gone = "the reader of the output closed it";
                return Err(Problem::new(&code::INTERRUPTED, gone));
            }
            let look_again = engine.now().after(WAIT_LIMIT);
            loop {
                tokio::select! {
                    biased;
                    outcome = &mut work => {
                        journals.show_news().await?;
                        driving.linger(session, Some(run_id)).await?;
                        return outcome;
                    }
                    () = session.interrupt.wait() => {
                        return Err(interrupted(session, run_id, program).await);
                    }
                    changed = changes.changed() => match changed {
                        Ok(()) => break,
                        Err(_) => return Err(Problem::internal("store", "the store was closed")),
                    },
                    () = engine.clock.sleep_until(look_again) => break,
                    // Says nothing about the journal, which need not be looked at.
                    notice = notices.next() => journals.show_passing(&notice),
                }
            }
        }
    }
}

/// The journals that are read: of the run, of the other run, of its children.
struct Journals<'a> {
    session: &'a Session,
    renderer: Renderer<'a>,
    tails: Vec<Tail>,
}

/// One journal, as far as it was read.
struct Tail {
    run_id: RunId,
    read_to: u64,
    shown_after: u64,
    depth: usize,
    lines: Box<dyn EventLines + Send>,
}

impl<'a> Journals<'a> {
    fn new(session: &'a Session, follow: Follow<'_>) -> Self {
        let renderer = Renderer::new(session, follow.channel, follow.lines.has_summary());
        let first = Tail {
            run_id: follow.run_id.clone(),
            read_to: if follow.lines.has_summary() {
                0
            } else {
                follow.after_seq
            },
            shown_after: follow.after_seq,
            depth: 0,
            lines: follow.lines,
        };
        let other_run = follow
            .other_run
            .map(|(run_id, after_seq)| Tail::new(run_id, after_seq, 1));
        Self {
            session,
            renderer,
            tails: [first].into_iter().chain(other_run).collect(),
        }
    }

    /// Shows what a step says in passing.
    fn show_passing(&mut self, notice: &PassingNotice) {
        let source = notice.run_id.as_str();
        self.renderer.show(source, 0, &passing_line(notice));
    }

    /// Shows what has happened since.
    async fn show_news(&mut self) -> Result<(), Problem> {
        let mut index = 0;
        while let Some(tail) = self.tails.get_mut(index) {
            let renderer = &mut self.renderer;
            let Tail {
                run_id,
                read_to,
                shown_after,
                depth,
                lines,
            } = tail;
            read_events(self.session, run_id, read_to, |event| {
                if let Some(line) = lines.line(&event)
                    && event.seq > *shown_after
                {
                    renderer.show(run_id.as_str(), *depth, &line);
                }
            })
            .await?;
            let (children, depth) = (lines.take_children(), *depth + 1);
            self.tails
                .extend(children.into_iter().map(|child| Tail::new(child, 0, depth)));
            index += 1;
        }
        self.renderer.show_summary(&*self.tails[0].lines);
        Ok(())
    }
}

impl Tail {
    fn new(run_id: RunId, after_seq: u64, depth: usize) -> Self {
        Self {
            run_id,
            read_to: after_seq,
            shown_after: after_seq,
            depth,
            lines: Box::new(RunLines::default()),
        }
    }
}

async fn interrupted(session: &Session, run_id: &RunId, program: &str) -> Problem {
    let driver = session.engine().driven_by(run_id).await;
    let (what, next) = match driver.ok().flatten() {
        Some(process) => (
            format!("process {process} continues run {run_id}"),
            format!("{program} watch {run_id}"),
        ),
        None => (
            format!("run {run_id} continues when a driver runs"),
            format!("{program} resume {run_id}"),
        ),
    };
    let problem = Problem::new(&code::INTERRUPTED, format!("interrupted; {what}"))
        .with("run_id", run_id.as_str())
        .next(next);
    match session
        .engine()
        .visible_run(session.principal(), run_id)
        .await
    {
        Ok(run) => problem.with("state", run.state.as_str()),
        Err(_) => problem,
    }
}
