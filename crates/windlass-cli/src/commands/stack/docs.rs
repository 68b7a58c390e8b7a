//! `windlass docs`: questions to the documentation, answered with the places the answer is from.

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use windlass_types::Problem;

use super::{
    arguments::{Input, Request},
    call,
    command::{StackCall, Work},
    show::{Screen, list, text},
};
use crate::{
    dispatch::Failure,
    output::{Tone, counted},
    session::{Report, Session},
};

const OPERATION: &str = "stack.docs";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// An answer, with citations.
    Answer,
    /// Pages, one line each.
    Reference,
    /// Configuration to copy.
    Snippet,
}

impl Mode {
    const fn name(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Reference => "reference",
            Self::Snippet => "snippet",
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct DocsArgs {
    /// The question.
    #[arg(value_name = "QUESTION", required = true)]
    question: Vec<String>,
    /// What to answer with. Default: answer.
    #[arg(long, value_enum, value_name = "MODE", hide_possible_values = true)]
    mode: Option<Mode>,
    /// Only pages about this resource type, e.g. function.
    #[arg(long, alias = "resourceType", value_name = "TYPE")]
    resource_type: Option<String>,
    /// How many passages to answer from. Default: 3.
    #[arg(long, alias = "maxItems", value_name = "COUNT")]
    max_items: Option<u64>,
}

impl StackCall for DocsArgs {
    fn request(&self) -> Result<Request, Problem> {
        Ok(Input::default()
            .value("query", Some(json!(self.question.join(" "))))
            .text("mode", self.mode.map(Mode::name))
            .text("resourceType", self.resource_type.as_deref())
            .number("maxItems", self.max_items)
            .request(OPERATION))
    }

    fn run<'a>(&'a self, session: &'a Session) -> Work<'a> {
        Box::pin(async move {
            let output = call::call(session, self.request()?).await?;
            show(&Screen::data(&session.printer), &output);
            let next = list(&output, "nextQueries").iter();
            for question in next.filter_map(Value::as_str) {
                session.printer.hint(&format!("windlass docs {question:?}"));
            }
            let message = match list(&output, "references").len() {
                0 => "nothing in the documentation matches".to_owned(),
                count => format!("answered from {}", counted(count, "page")),
            };
            Ok(Report::new(message, output))
        })
    }
}

impl DocsArgs {
    pub(crate) async fn answer(self, session: &Session) -> Result<Report, Failure> {
        self.run(session).await.map_err(|problem| Failure {
            problem,
            contract: session.contract(OPERATION),
            operation: OPERATION.to_owned(),
            request_id: String::new(),
            input: Value::Null,
        })
    }
}

pub(super) fn show(screen: &Screen<'_>, output: &Value) {
    screen.block(text(output, "answer"));
    for snippet in list(output, "snippets") {
        screen.line("");
        screen.toned(Tone::Dim, &format!("```{}", text(snippet, "language")));
        screen.block(text(snippet, "code"));
        screen.toned(Tone::Dim, "```");
    }
    let references = list(output, "references");
    if !references.is_empty() {
        screen.line("");
    }
    for reference in references {
        screen.toned(
            Tone::Dim,
            &format!(
                "{}  docs/{} ({})",
                text(reference, "title"),
                text(reference, "path"),
                text(reference, "docType")
            ),
        );
    }
}
