//! What the programs of a step say, on record while the step is under way: anyone who watches a
//! migration sees it migrate, and what a script said before it failed is not lost with it.

use std::collections::VecDeque;

use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use windlass_stack_lifecycle::lines::Level;
use windlass_types::RunId;
use windlass_types::journal::DomainEvent;

use crate::desk::Desk;
use crate::run::LOG;

/// So many lines of a step are on record as they come; of a longer story the end is.
const FIRST_LINES: usize = 1_000;
const LAST_LINES: usize = 500;
/// So many lines at most are put on record at once.
const AT_ONCE: usize = 200;

/// One line: who says it, how bad it is, what.
type Line = (String, Level, String);

/// Takes lines.
pub(crate) struct Teller(UnboundedSender<Line>);

impl Teller {
    pub fn say(&self, source: &str, level: Level, line: &str) {
        // Only a step that was given up does not listen.
        let _ = self.0.send((source.to_owned(), level, line.to_owned()));
    }
}

/// The teller of a step, and the work of putting on record what it is told; that ends once the
/// teller is gone.
pub(crate) fn telling(
    desk: &Desk,
    run_id: &RunId,
    step: &str,
    attempt: u32,
) -> (Teller, impl Future<Output = ()> + Send + use<>) {
    let (send, heard) = unbounded_channel();
    let record = Record {
        desk: desk.clone(),
        run_id: run_id.clone(),
        key: format!("log:{step}:{attempt}"),
        told: 0,
    };
    (Teller(send), record.keep(heard))
}

struct Record {
    desk: Desk,
    run_id: RunId,
    key: String,
    told: usize,
}

impl Record {
    async fn keep(mut self, mut heard: UnboundedReceiver<Line>) {
        let mut last: VecDeque<Line> = VecDeque::new();
        let mut left_out = 0;
        let mut lines = Vec::new();
        // What is said while some is being put on record goes together.
        while heard.recv_many(&mut lines, AT_ONCE).await > 0 {
            let room = FIRST_LINES.saturating_sub(self.told);
            last.extend(lines.drain(room.min(lines.len())..));
            let surplus = last.len().saturating_sub(LAST_LINES);
            last.drain(..surplus);
            left_out += surplus;
            self.tell(std::mem::take(&mut lines)).await;
        }
        if left_out > 0 {
            let message = format!("{left_out} lines are left out here");
            last.push_front(("windlass".to_owned(), Level::Info, message));
        }
        self.tell(last.into()).await;
    }

    async fn tell(&mut self, lines: Vec<Line>) {
        if lines.is_empty() {
            return;
        }
        let events = lines.into_iter().map(|(source, level, message)| {
            self.told += 1;
            let key = format!("{}:{}", self.key, self.told);
            let data = json!({ "source": source, "level": level.name(), "message": message });
            (LOG.to_owned(), DomainEvent { key, data })
        });
        let events = events.collect();
        // A store that takes no lines takes no result either, which is told.
        if let Err(problem) = self.desk.note(&self.run_id, events).await {
            tracing::warn!(run_id = %self.run_id, %problem, "lines of a program are lost");
        }
    }
}
