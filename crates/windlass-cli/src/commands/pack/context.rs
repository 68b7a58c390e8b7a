//! What a pack command works with: calls with a yes that was really given, a driver while
//! something durable is written, and a moving line when it takes long.

use std::{cell::RefCell, collections::BTreeSet};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use windlass_types::{EffectClass, Problem};

use super::{
    PackOptions,
    show::{PlanView, View, changes_text, texts, warning},
    wire,
};
pub(super) use crate::commands::parse;
use crate::{
    OpenOptions,
    flow::{Call, Channel, Consent, ConsentView, Question, can_ask},
    output::{Printer, Tone, counted},
    session::{Report, Session},
};

/// What a write touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touches {
    /// The configuration repository or pack's own state: done at once.
    Repository,
    /// Directories of the tools: a durable run, which a process must drive.
    Targets,
}

/// What the moving line says while nothing is written.
const COMPARING: &str = "comparing the repository with the targets";

/// The sign of something that was done.
pub(super) const DONE: (Tone, &str) = (Tone::Good, "✓");

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
        self.call(operation, self.options.input(own)?, COMPARING)
            .await
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

    /// Calls an operation that writes, and says in one line what it did.
    pub(super) async fn write_and_say<T: DeserializeOwned>(
        &self,
        operation: &str,
        own: Value,
        (tone, sign): (Tone, &str),
        message: impl FnOnce(&T) -> String,
    ) -> Result<Report, Problem> {
        let data = self.write(operation, own, Touches::Repository).await?;
        let message = message(&parse(&data)?);
        self.say(&self.view.line(tone, sign, &message));
        self.warn(&data);
        Ok(Report::new(message, data))
    }

    /// Shows what an operation would do, asks, and does it. Without a terminal the yes of the
    /// command line is passed on as it is, and the operation decides. `command` is the id that
    /// refusals name; `consent` makes the consent screen of a preview, none where there is
    /// nothing to do.
    pub(super) async fn confirmed(
        &self,
        operation: &str,
        own: Value,
        touches: Touches,
        command: &'static str,
        consent: impl FnOnce(&Value) -> Result<Option<ConsentView>, Problem>,
    ) -> Result<Confirmed, Problem> {
        let (yes, dry_run) = (self.options.yes, self.options.dry_run);
        if yes || dry_run || !can_ask(self.printer()) {
            let data = self.send(operation, own, touches, yes, dry_run).await?;
            return Ok(Confirmed { data, seen: false });
        }
        let preview = self
            .send(operation, own.clone(), touches, false, true)
            .await?;
        let view = consent(&preview)?;
        if let Some(view) = &view {
            view.show(self.session, Channel::Notice);
            self.warn(&preview);
            agreed(command, view.ask_only(self.session).await?)?;
        }
        let data = self.send(operation, own, touches, true, false).await?;
        Ok(Confirmed {
            data,
            seen: view.is_some(),
        })
    }

    /// The consent screen of a plan: its changes, and a question about them.
    pub(super) fn plan_consent(
        &self,
        operation: &str,
        plan: &PlanView,
        question: String,
    ) -> ConsentView {
        let effect = if plan.summary.delete > 0 {
            EffectClass::Destructive
        } else {
            EffectClass::Write
        };
        let target = plan.targets.join(", ");
        ConsentView {
            lines: lines(&changes_text(plan, &self.view)),
            summary: plan.summed_up(),
            ..ConsentView::new(operation, &target, effect, Question::Yes(question))
        }
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
        let waiting = match touches {
            Touches::Targets if !dry_run => "writing to the targets",
            _ => COMPARING,
        };
        self.call(operation, self.options.input(own)?, waiting)
            .await
    }

    async fn call(&self, operation: &str, input: Value, waiting: &str) -> Result<Value, Problem> {
        let call = Call {
            operation,
            input,
            waiting,
            interrupted: "interrupted; the next command finishes or undoes what was started",
        };
        Ok(call.answer(self.session).await?.output)
    }

    /// The report on an answer with changes, where only programs read it: nothing of it has to
    /// be put into words.
    pub(super) fn for_programs(&self, data: Value) -> Result<Report, Value> {
        if self.printer().is_human() {
            return Err(data);
        }
        let changes = data.get("changes").and_then(Value::as_array);
        let message = counted(changes.map_or(0, Vec::len), "change");
        Ok(Report::new(message, data))
    }

    /// Words about what would be done, or what was done.
    pub(super) fn either(&self, planned: &'static str, done: &'static str) -> &'static str {
        if self.options.dry_run { planned } else { done }
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

/// The lines of a text, for a consent screen.
pub(super) fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// Refuses a write that was not agreed to.
pub(super) fn agreed(command: &str, consent: Consent) -> Result<(), Problem> {
    match consent {
        Consent::Given => Ok(()),
        _ => Err(wire::not_confirmed(command, consent)),
    }
}
