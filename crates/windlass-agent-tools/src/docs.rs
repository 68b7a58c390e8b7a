//! `search_docs`: passages of documentation, found by what the session gives.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_agent_model::{Source, SourceKind};
use windlass_policy::ToolClass;
use windlass_ports::{BoxFuture, ToolSpec};

use crate::{
    Code, Context, DocQuery, Failure, Look, Outcome, Places, Ran, Tool,
    arguments::read,
    schema::{number, spec},
};

const LIMIT: u64 = 5;
/// As much of a passage as is told.
const MOST_PASSAGE: usize = 8 * 1024;

pub(crate) struct SearchDocs(ToolSpec);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    keywords: Words,
    exclude_keywords: Option<Words>,
    limit: Option<u64>,
}

/// One text, or a list.
#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    One(String),
    Many(Vec<String>),
}

impl Words {
    fn list(self) -> Vec<String> {
        let texts = match self {
            Self::One(text) => vec![text],
            Self::Many(texts) => texts,
        };
        let words = texts.iter().map(|text| text.trim().to_owned());
        words.filter(|word| !word.is_empty()).collect()
    }
}

impl Default for SearchDocs {
    fn default() -> Self {
        let words = |description: &str| {
            json!({
                "anyOf": [
                    { "type": "string", "minLength": 1 },
                    { "type": "array", "items": { "type": "string", "minLength": 1 }, "minItems": 1 },
                ],
                "description": description,
            })
        };
        Self(spec(
            "search_docs",
            "Search documentation for passages about some keywords.",
            &[
                ("keywords!", words("What to look for.")),
                ("exclude_keywords", words("What must not be in an answer.")),
                ("limit", number(1, LIMIT, "The most passages, at most 5.")),
            ],
        ))
    }
}

impl Tool for SearchDocs {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn look(&self, input: &Value, _: &Places) -> Result<Look, Failure> {
        read::<Input>(input)?;
        Ok(Look::new(ToolClass::Read))
    }

    fn run<'a>(&'a self, input: Value, context: &'a Context) -> BoxFuture<'a, Ran> {
        Box::pin(async move { Ran::Done(search(&input, context).await.into()) })
    }
}

async fn search(input: &Value, context: &Context) -> Result<Outcome, Failure> {
    let input: Input = read(input)?;
    let failed = |why: String| Failure::new(Code::SearchDocsError, why);
    let docs = context
        .docs
        .as_ref()
        .ok_or_else(|| failed("This session has no documentation.".to_owned()))?;
    let limit = usize::try_from(input.limit.unwrap_or(LIMIT)).unwrap_or(1);
    let query = DocQuery {
        keywords: input.keywords.list(),
        exclude: input.exclude_keywords.map(Words::list).unwrap_or_default(),
        limit,
    };
    if query.keywords.is_empty() {
        return Err(Failure::new(Code::InvalidArguments, "keywords is empty."));
    }
    let hits = docs.search(query).await.map_err(failed)?;
    let told: Vec<String> = hits
        .iter()
        .take(limit)
        .map(|hit| {
            let cut = hit.text.floor_char_boundary(MOST_PASSAGE);
            let text = hit.text.get(..cut).unwrap_or_default();
            format!("## {}\n{}\n\n{text}\n", hit.title, hit.address)
        })
        .collect();
    let outcome = match told.is_empty() {
        true => Outcome::text("Nothing was found."),
        false => Outcome::text(told.join("\n")),
    };
    Ok(outcome.told_by(Source {
        kind: SourceKind::Tool,
        name: "documentation".to_owned(),
    }))
}
