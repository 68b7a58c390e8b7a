//! An AWS action that reads, from the table of allowed ones, its answer masked and bounded.

use serde_json::{Value, json};
use windlass_types::Problem;

use crate::answer::Answer;
use crate::arguments::Arguments;
use crate::call::Call;
use crate::failure::{aws_problem, refused};
use crate::guard::aws::allow;

/// How long a list of an answer may be.
const ITEMS: usize = 1_000;
/// How long a text of an answer may be: a template or a log line, not a file.
const LETTERS: usize = 100_000;

pub(crate) struct Ask {
    service: String,
    command: String,
    input: Value,
}

impl Ask {
    pub(crate) fn read(arguments: &Arguments) -> Result<Self, Problem> {
        Ok(Self {
            service: arguments.needed("service")?.to_owned(),
            command: arguments.needed("command")?.to_owned(),
            input: Value::Object(arguments.object("input")?.unwrap_or_default()),
        })
    }
}

pub(crate) async fn answer(call: &mut Call<'_>, ask: &Ask) -> Result<Answer, Problem> {
    let allowed = allow(&ask.service, &ask.command).map_err(|refusal| refused(&refusal))?;
    call.place().await?;
    let mut data = call
        .aws(allowed.shape, ask.input.clone())
        .await
        .map_err(|failure| aws_problem(&failure))?;
    allowed.mask(&mut data);
    let truncated = bound(&mut data);
    let shape = allowed.shape;
    Ok(Answer::new(
        format!("{} answered", shape.permission()),
        json!({
            "service": shape.service.name,
            "command": shape.action,
            "data": data,
            "truncated": truncated,
        }),
    ))
}

/// Cuts long lists and texts; says whether anything was cut.
fn bound(value: &mut Value) -> bool {
    let mut cut = false;
    match value {
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(LETTERS) {
                text.truncate(end);
                cut = true;
            }
        }
        Value::Array(items) => {
            cut = items.len() > ITEMS;
            items.truncate(ITEMS);
            for item in items {
                cut |= bound(item);
            }
        }
        Value::Object(members) => {
            for member in members.values_mut() {
                cut |= bound(member);
            }
        }
        _ => {}
    }
    cut
}
