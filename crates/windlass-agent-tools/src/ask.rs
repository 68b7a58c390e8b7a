//! `ask_user`: questions to the user, checked here and answered by a surface.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_policy::ToolClass;
use windlass_ports::{BoxFuture, ToolSpec};

use crate::{
    Code, Context, Failure, Look, Outcome, Places, Ran, Tool,
    arguments::read,
    schema::{filled, flag, object, spec, text},
};

const MOST_QUESTIONS: usize = 10;
const MOST_OPTIONS: usize = 20;

pub(crate) struct AskUser(ToolSpec);

/// What the user is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Questions {
    /// In this order.
    pub questions: Vec<Question>,
}

/// One question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// A short name, which the answer repeats.
    pub label: String,
    /// The question.
    pub question: String,
    /// What can be chosen.
    #[serde(default)]
    pub options: Vec<AskedOption>,
    /// Whether an answer of the user's own is taken.
    #[serde(default = "yes")]
    pub allow_custom: bool,
    /// Whether several options can be chosen.
    #[serde(default)]
    pub multi_select: bool,
}

/// Something that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskedOption {
    /// What the answer says; the label where it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// What the user reads.
    pub label: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it is chosen at first.
    #[serde(default)]
    pub selected: bool,
}

/// The user's answer to one question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The question's label.
    pub question_label: String,
    /// What was chosen or written.
    pub answer: String,
    /// Whether it was written.
    pub is_custom: bool,
    /// All that was chosen, where several could be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_values: Option<Vec<String>>,
}

/// What the model is told.
#[derive(Serialize)]
struct Told<'a> {
    answers: &'a [Answer],
    completed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

const fn yes() -> bool {
    true
}

impl AskedOption {
    /// What the answer says.
    pub fn value(&self) -> &str {
        self.value.as_deref().unwrap_or(&self.label)
    }
}

impl Default for AskUser {
    fn default() -> Self {
        let option = object(&[
            (
                "value",
                filled("What the answer says; otherwise the label."),
            ),
            ("label!", filled("What the user reads.")),
            ("description", text("More about it.")),
            ("selected", flag("Whether it is chosen at first.")),
        ]);
        let question = object(&[
            ("label!", filled("A short name; the answer repeats it.")),
            ("question!", filled("The question.")),
            (
                "options",
                json!({ "type": "array", "items": option, "maxItems": MOST_OPTIONS }),
            ),
            (
                "allow_custom",
                flag("Take an answer of the user's own. True unless set to false."),
            ),
            ("multi_select", flag("Let the user choose several options.")),
        ]);
        let questions = json!({
            "type": "array",
            "items": question,
            "minItems": 1,
            "maxItems": MOST_QUESTIONS,
        });
        Self(spec(
            "ask_user",
            "Ask the user one or more questions and wait for the answers. For decisions that are \
             theirs, not for what can be found out.",
            &[("questions!", questions)],
        ))
    }
}

impl Tool for AskUser {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn look(&self, input: &Value, _: &Places) -> Result<Look, Failure> {
        checked(input)?;
        Ok(Look::new(ToolClass::Meta))
    }

    fn run<'a>(&'a self, input: Value, context: &'a Context) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            match checked(&input) {
                Ok(_) if !context.is_attended => Ran::Done(
                    Failure::new(
                        Code::InteractiveRequired,
                        "There is no user to ask. Decide by yourself, or end with what is needed.",
                    )
                    .into(),
                ),
                Ok(questions) => Ran::Asks(questions),
                Err(failure) => Ran::Done(failure.into()),
            }
        })
    }
}

fn checked(input: &Value) -> Result<Questions, Failure> {
    let questions: Questions = read(input)?;
    let refuse = |why: String| Err(Failure::new(Code::InvalidArguments, why));
    for (index, question) in questions.questions.iter().enumerate() {
        let label = &question.label;
        let earlier = questions.questions.get(..index).unwrap_or_default();
        if earlier.iter().any(|other| other.label == *label) {
            return refuse(format!("Two questions have the label {label:?}."));
        }
        if question.options.is_empty() && !question.allow_custom {
            return refuse(format!(
                "{label:?} has no options and takes no answer of the user's own."
            ));
        }
        for (index, option) in question.options.iter().enumerate() {
            let earlier = question.options.get(..index).unwrap_or_default();
            if earlier.iter().any(|other| other.value() == option.value()) {
                return refuse(format!(
                    "{label:?} has two options with the value {:?}.",
                    option.value()
                ));
            }
        }
        let selected = question.options.iter().filter(|option| option.selected);
        if !question.multi_select && selected.count() > 1 {
            return refuse(format!(
                "{label:?} takes one answer and has several selected."
            ));
        }
    }
    Ok(questions)
}

impl Questions {
    /// The outcome of the call, from what the user answered. `reason` says why some answers are
    /// missing. An answer that the questions do not allow is refused, with why.
    pub fn answered(&self, answers: &[Answer], reason: Option<&str>) -> Result<Outcome, String> {
        for answer in answers {
            let label = &answer.question_label;
            let question = self.questions.iter().find(|one| one.label == *label);
            let question = question.ok_or_else(|| format!("there is no question {label:?}"))?;
            let is_option = |value: &str| {
                question
                    .options
                    .iter()
                    .any(|option| option.value() == value)
            };
            match (&answer.selected_values, answer.is_custom) {
                (_, true) if !question.allow_custom => {
                    return Err(format!("{label:?} takes only its options"));
                }
                (Some(_), _) if !question.multi_select => {
                    return Err(format!("{label:?} takes one answer"));
                }
                (Some(values), false) if !values.iter().all(|value| is_option(value)) => {
                    return Err(format!("{label:?} has no such option"));
                }
                (None, false) if !is_option(&answer.answer) => {
                    return Err(format!("{label:?} has no option {:?}", answer.answer));
                }
                _ => {}
            }
        }
        let is_answered = |question: &Question| {
            let mut labels = answers.iter().map(|answer| &answer.question_label);
            labels.any(|label| *label == question.label)
        };
        let told = Told {
            answers,
            completed: self.questions.iter().all(is_answered),
            reason,
        };
        serde_json::to_string(&told)
            .map(Outcome::text)
            .map_err(|error| error.to_string())
    }
}

#[cfg(test)]
#[path = "ask_tests.rs"]
mod tests;
