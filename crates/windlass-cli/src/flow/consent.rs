//! The consent screen: what would be changed, what policy says about it, and the question. The
//! same for every command that changes something; a capability only fills a [`ConsentView`].

use serde::Deserialize;
use windlass_types::{ApprovalTerms, Digest, EffectClass, Problem, code};

use super::{
    ask::{can_ask, confirm, type_exactly},
    follow::Channel,
};
use crate::{
    output::{Table, Tone, one_line},
    session::Session,
};

/// A longer plan is cut where a person is asked about it.
const MOST_LINES: usize = 200;

/// What a person is asked to agree to.
pub(crate) struct ConsentView {
    /// The operation: `demo.apply`.
    pub(crate) operation: String,
    /// What it acts on.
    pub(crate) target: String,
    pub(crate) effect: EffectClass,
    /// The plan, painted for where it is shown.
    pub(crate) lines: Vec<String>,
    /// The plan in a few words: `3 to create`.
    pub(crate) summary: String,
    /// What policy says, where the plan has it.
    pub(crate) policy: Option<PolicyView>,
    /// The digest an approver refers to, where the plan has one.
    pub(crate) digest: Option<Digest>,
    pub(crate) question: Question,
}

/// How a person agrees.
pub(crate) enum Question {
    /// By a yes.
    Yes(String),
    /// By typing a name, because something would be lost.
    Name(String),
}

/// What policy says about a plan.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PolicyView {
    pub(crate) verdict: String,
    rule: String,
    #[serde(flatten)]
    terms: ApprovalTerms,
    pub(crate) caller_may_approve: bool,
}

/// What came of asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consent {
    Given,
    Declined,
    /// There is no terminal to ask on.
    CannotAsk,
}

impl ConsentView {
    /// A screen with a plan of no lines, which the caller fills.
    pub(crate) fn new(
        operation: &str,
        target: &str,
        effect: EffectClass,
        question: Question,
    ) -> Self {
        Self {
            operation: operation.to_owned(),
            target: target.to_owned(),
            effect,
            lines: Vec::new(),
            summary: String::new(),
            policy: None,
            digest: None,
            question,
        }
    }

    /// Shows the plan and asks about it, or takes the yes of the command line.
    pub(crate) async fn ask(&self, session: &Session, yes: bool) -> Result<Consent, Problem> {
        self.show(session, Channel::Notice);
        if yes {
            return Ok(Consent::Given);
        }
        self.ask_only(session).await
    }

    /// Asks about a plan that was shown.
    pub(crate) async fn ask_only(&self, session: &Session) -> Result<Consent, Problem> {
        if !can_ask(&session.printer) {
            return Ok(Consent::CannotAsk);
        }
        let agreed = match &self.question {
            Question::Yes(question) => confirm(session, question).await?,
            Question::Name(name) => {
                let question = format!("Type {} to continue:", one_line(name));
                type_exactly(session, &question, name).await?
            }
        };
        Ok(if agreed {
            Consent::Given
        } else {
            Consent::Declined
        })
    }

    /// Shows the plan: whole where it is what was asked for, cut where it accompanies a question.
    pub(crate) fn show(&self, session: &Session, channel: Channel) {
        let printer = &session.printer;
        let (paint, most) = match channel {
            Channel::Data => (printer.paint(), usize::MAX),
            Channel::Notice => (printer.notice_paint(), MOST_LINES),
        };
        let say = |line: &str| match channel {
            Channel::Data => printer.data(line),
            Channel::Notice => printer.notice(line),
        };
        for line in self.lines.iter().take(most) {
            say(line);
        }
        let hidden = self.lines.len().saturating_sub(most);
        if hidden > 0 {
            say(&paint.text(Tone::Dim, &format!("… and {hidden} more lines")));
        }
        let tone = match self.effect {
            EffectClass::Destructive => Tone::Bad,
            EffectClass::Read | EffectClass::Write => Tone::Plain,
        };
        say(&paint.text(tone, &one_line(&self.headline())));
        if let Some(policy) = &self.policy {
            say(&format!("policy: {}", policy.text()));
        }
        if let Some(digest) = self.digest {
            say(&format!("plan digest: {digest}"));
        }
    }

    /// What is done to what.
    pub(crate) fn headline(&self) -> String {
        let mut text = self.operation.clone();
        if !self.target.is_empty() {
            text.push_str(&format!(" on {}", self.target));
        }
        if !self.summary.is_empty() {
            text.push_str(&format!(": {}", self.summary));
        }
        text
    }
}

impl PolicyView {
    fn text(&self) -> String {
        let approver = match (self.verdict.as_str(), self.caller_may_approve) {
            ("ask", true) => ", your yes counts".to_owned(),
            ("ask", false) => {
                let terms = &self.terms;
                let number = match terms.quorum {
                    1 => "one".to_owned(),
                    number => number.to_string(),
                };
                let except = terms.except.as_ref().map(|own| format!(", not {own},"));
                format!(
                    ", {number} of {}{} must approve",
                    terms.approvers.join(", "),
                    except.unwrap_or_default()
                )
            }
            _ => String::new(),
        };
        format!("{} ({}){approver}", self.verdict, self.rule)
    }
}

/// A table as lines for a person who is asked about it.
pub(crate) fn table_lines(session: &Session, channel: Channel, table: &Table) -> Vec<String> {
    let printer = &session.printer;
    let text = match channel {
        Channel::Data => table.render(printer.paint(), printer.data_width()),
        Channel::Notice => table.render(printer.notice_paint(), printer.notice_width()),
    };
    text.lines().map(str::to_owned).collect()
}

/// The failure of an unconfirmed change.
pub(crate) fn refused(consent: Consent) -> Problem {
    let message = match consent {
        Consent::CannotAsk => {
            "confirmation required, but stdin is not a terminal; nothing was changed"
        }
        Consent::Given | Consent::Declined => "not confirmed; nothing was changed",
    };
    Problem::new(&code::CONFIRM_REQUIRED, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{Captured, Mode};

    fn policy(verdict: &str, caller_may_approve: bool) -> PolicyView {
        PolicyView {
            verdict: verdict.to_owned(),
            rule: "policy.toml:3".to_owned(),
            terms: ApprovalTerms::by(["local:ada", "key:ops"]),
            caller_may_approve,
        }
    }

    #[test]
    fn who_may_approve_is_named() {
        let cases = [
            policy("allow", true),
            policy("ask", true),
            policy("ask", false),
        ];
        let texts: Vec<String> = cases.iter().map(PolicyView::text).collect();
        insta::assert_snapshot!(texts.join("\n"), @r"
        allow (policy.toml:3)
        ask (policy.toml:3), your yes counts
        ask (policy.toml:3), one of local:ada, key:ops must approve
        ");
    }

    #[test]
    fn refusals_say_that_nothing_was_changed() {
        for (consent, message) in [
            (Consent::Declined, "not confirmed; nothing was changed"),
            (
                Consent::CannotAsk,
                "confirmation required, but stdin is not a terminal; nothing was changed",
            ),
        ] {
            let problem = refused(consent);
            assert_eq!(problem.code().name, "CONFIRM_REQUIRED");
            assert_eq!(problem.message(), message);
        }
    }

    #[test]
    fn no_question_is_asked_without_a_terminal() {
        for mode in [Mode::Human, Mode::Json, Mode::Agent] {
            assert!(!can_ask(&Captured::new(mode).printer), "{mode:?}");
        }
    }
}
