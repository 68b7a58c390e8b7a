//! What a pack command works with: calls with a yes that was really given, a driver while
//! something durable is written, and a moving line when it takes long.

use std::{cell::RefCell, collections::BTreeSet, pin::pin, time::Duration};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use windlass_engine::operation::Answer;
use windlass_types::{Problem, code};

use super::{
    PackOptions,
    show::{View, texts, warning},
    wire,
};
use crate::{
    OpenOptions,
    flow::{Driving, confirm},
    output::{Printer, Progress},
    session::{Report, Session},
};

/// A call that lasts longer gets a moving line.
const PATIENCE: Duration = Duration::from_millis(400);
/// How often a long call looks whether the process that drives is gone.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// What a write touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touches {
    /// The configuration repository or pack's own state: done at once.
    Repository,
    /// Directories of the tools: a durable run, which somebody must drive.
    Targets,
}

/// How a person is asked.
pub(super) struct Question<'a> {
    /// The id of the command, as refusals name it.
    pub(super) command: &'static str,
    /// The preview, as text.
    pub(super) show: &'a dyn Fn(&Value) -> Result<String, Problem>,
    /// What is asked about it; `None` when there is nothing to do.
    pub(super) ask: &'a dyn Fn(&Value) -> Result<Option<String>, Problem>,
}

/// An answer, and whether a person has seen its preview.
pub(super) struct Confirmed {
    pub(super) data: Value,
    pub(super) seen: bool,
}

/// One pack command at work.
pub(super) struct Context<'a> {
    pub(super) session: &'a Session,
    pub(super) open: &'a OpenOptions,
    pub(super) options: PackOptions,
    pub(super) view: View,
    /// Warnings that were shown; a preview and its outcome have many in common.
    pub(super) warned: RefCell<BTreeSet<String>>,
}

impl Context<'_> {
    pub(super) fn printer(&self) -> &Printer {
        &self.session.printer
    }

    /// Calls an operation that changes nothing.
    pub(super) async fn read(&self, operation: &str, own: Value) -> Result<Value, Problem> {
        self.call(operation, self.options.input(own)?, false).await
    }

    /// Calls an operation that writes and of which people are not asked first; the early refusal
    /// has seen to it that a program said yes.
    pub(super) async fn write(
        &self,
        operation: &str,
        own: Value,
        touches: Touches,
    ) -> Result<Value, Problem> {
        let yes = self.options.yes || self.printer().is_human();
        self.send(operation, own, touches, yes, self.options.dry_run)
            .await
    }

    /// Shows what an operation would do, asks, and does it. Without a terminal the yes of the
    /// command line is passed on as it is, and the operation decides.
    pub(super) async fn confirmed(
        &self,
        operation: &str,
        own: Value,
        touches: Touches,
        question: Question<'_>,
    ) -> Result<Confirmed, Problem> {
        let (yes, dry_run) = (self.options.yes, self.options.dry_run);
        if yes || dry_run || !may_ask(self.printer()) {
            let data = self.send(operation, own, touches, yes, dry_run).await?;
            return Ok(Confirmed { data, seen: false });
        }
        let preview = self
            .send(operation, own.clone(), touches, false, true)
            .await?;
        let Some(ask) = (question.ask)(&preview)? else {
            let data = self.send(operation, own, touches, true, false).await?;
            return Ok(Confirmed { data, seen: false });
        };
        self.printer().notice((question.show)(&preview)?.trim_end());
        self.warn(&preview);
        if !self.agrees(&ask).await? {
            return Err(wire::declined(question.command));
        }
        let data = self.send(operation, own, touches, true, false).await?;
        Ok(Confirmed { data, seen: true })
    }

    /// Asks a person; no without one.
    pub(super) async fn agrees(&self, question: &str) -> Result<bool, Problem> {
        Ok(confirm(self.session, question).await? == Some(true))
    }

    /// Calls a writing operation with exactly this yes.
    pub(super) async fn send(
        &self,
        operation: &str,
        mut own: Value,
        touches: Touches,
        yes: bool,
        dry_run: bool,
    ) -> Result<Value, Problem> {
        if let Value::Object(own) = &mut own {
            own.insert("yes".to_owned(), json!(yes));
            own.insert("dry_run".to_owned(), json!(dry_run));
        }
        let drive = touches == Touches::Targets && !dry_run;
        self.call(operation, self.options.input(own)?, drive).await
    }

    async fn call(&self, operation: &str, input: Value, drive: bool) -> Result<Value, Problem> {
        let mut driving = Driving::new(self.session.engine());
        let outcome = async {
            let answer = self.answer(operation, input, drive, &mut driving).await?;
            driving.linger(self.session, answer.run_id.as_ref()).await?;
            Ok(answer.output)
        }
        .await;
        driving.stop().await;
        outcome
    }

    async fn answer(
        &self,
        operation: &str,
        input: Value,
        drive: bool,
        driving: &mut Driving<'_>,
    ) -> Result<Answer, Problem> {
        let engine = self.session.engine();
        let call = self.session.call(operation, input);
        let mut call = pin!(driving.call(self.session, call));
        let mut progress = None;
        loop {
            let pause = if progress.is_none() {
                PATIENCE
            } else {
                LOOK_AGAIN
            };
            tokio::select! {
                biased;
                () = self.session.interrupt.wait() => return Err(interrupted()),
                answer = &mut call => return answer,
                () = engine.clock.sleep_until(engine.now().after(pause)) => {}
            }
            progress.get_or_insert_with(|| {
                let progress = Progress::new(self.printer());
                progress.message(if drive {
                    "writing to the targets"
                } else {
                    "comparing the repository with the targets"
                });
                progress
            });
        }
    }

    /// The report on an answer with changes, where only programs read it: nothing of it has to
    /// be put into words.
    pub(super) fn for_programs(&self, data: Value) -> Result<Report, Value> {
        if self.printer().is_human() {
            return Err(data);
        }
        let changes = data.get("changes").and_then(Value::as_array);
        let message = match changes.map_or(0, Vec::len) {
            1 => "1 change".to_owned(),
            many => format!("{many} changes"),
        };
        Ok(report(message, data))
    }

    /// Text for people, on standard output.
    pub(super) fn say(&self, text: &str) {
        if !text.is_empty() {
            self.printer().data(text.trim_end_matches('\n'));
        }
    }

    /// The warnings of an answer, for people.
    pub(super) fn warn(&self, data: &Value) {
        for text in texts(data.get("warnings")) {
            if self.warned.borrow_mut().insert(text.to_owned()) {
                warning(self.printer(), text);
            }
        }
    }

    /// A command to type next.
    pub(super) fn hint(&self, words: &str) {
        self.printer().hint(&self.command(words));
    }

    /// The commands an answer suggests.
    pub(super) fn next(&self, data: &Value) {
        for command in texts(data.get("next_actions")) {
            // Flags for programs are no help to a person.
            let command = command.replace(" --yes", "").replace(" --json", "");
            self.printer().hint(&command);
        }
    }

    /// The command line of a sub-command, with the same repository, profile, target and machine.
    pub(super) fn command(&self, words: &str) -> String {
        self.options.command(&self.view.program, words)
    }
}

/// Whether there is a person to ask.
pub(super) fn may_ask(printer: &Printer) -> bool {
    use std::io::IsTerminal as _;
    printer.sees_questions() && std::io::stdin().is_terminal()
}

fn interrupted() -> Problem {
    Problem::new(
        &code::INTERRUPTED,
        "interrupted; the next command finishes or undoes what was begun",
    )
}

/// An answer as a type.
pub(super) fn parse<T: DeserializeOwned>(data: &Value) -> Result<T, Problem> {
    T::deserialize(data).map_err(|error| Problem::internal("operation answer", error))
}

/// A report with the data programs get.
pub(super) fn report(message: impl Into<String>, data: Value) -> Report {
    Report::new(message, data)
}
