//! `windlass stack opensearch`: indices and documents of a search domain.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use super::{
    arguments::{Deployed, Request, filled, json_flag},
    command::StackCall,
    show::{self, Screen, is},
};
use crate::output::Tone;

#[derive(Args, Debug)]
pub(crate) struct OpensearchArgs {
    /// The domain of the config.
    #[arg(value_name = "RESOURCE")]
    resource: Option<String>,
    /// What to ask: indices, mapping, count, search or get. Default: indices.
    #[arg(value_name = "OPERATION")]
    verb: Option<String>,
    /// The index.
    #[arg(value_name = "INDEX")]
    of: Option<String>,
    #[command(flatten)]
    stack: Deployed,
    /// The domain, by flag.
    #[arg(long, alias = "resourceName", value_name = "NAME")]
    resource_name: Option<String>,
    /// What to ask, by flag.
    #[arg(long, value_name = "OPERATION")]
    operation: Option<String>,
    /// The index, by flag.
    #[arg(long, value_name = "INDEX")]
    index: Option<String>,
    /// The document, of `get`.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// The query: JSON, @FILE or -; or the words to look for.
    #[arg(long, value_name = "QUERY")]
    query: Option<String>,
    /// How many documents at most. Default: 10.
    #[arg(long, value_name = "COUNT")]
    limit: Option<u64>,
}

impl StackCall for OpensearchArgs {
    fn request(&self) -> Result<Request, Problem> {
        let [resource, verb, index] = filled(
            [
                self.resource_name.as_deref(),
                self.operation.as_deref(),
                self.index.as_deref(),
            ],
            &[&self.resource, &self.verb, &self.of],
        )?;
        Ok(self
            .stack
            .input()
            .text("resourceName", resource.as_deref())
            .text("operation", verb.as_deref())
            .text("index", index.as_deref())
            .text("id", self.id.as_deref())
            .value("query", query(self.query.as_deref())?)
            .number("limit", self.limit)
            .request("stack.opensearch"))
    }

    fn show(&self, screen: &Screen<'_>, output: &Value) {
        show(screen, output);
    }
}

/// An object where it is one; anything else are words.
fn query(text: Option<&str>) -> Result<Option<Value>, Problem> {
    match text {
        Some(words) if !words.trim_start().starts_with(['{', '@']) && words != "-" => {
            Ok(Some(Value::from(words)))
        }
        other => json_flag("--query", other),
    }
}

pub(super) fn show(screen: &Screen<'_>, output: &Value) {
    let data = super::data_of(output);
    let result = data.get("result").unwrap_or(&data);
    match result {
        Value::Array(rows) if !rows.is_empty() => show::rows::rows(screen, &[], rows),
        other => screen.json(other),
    }
    if is(output, "truncated") {
        screen.toned(Tone::Dim, "there is more");
    }
}
