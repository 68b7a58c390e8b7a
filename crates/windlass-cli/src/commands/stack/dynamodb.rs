//! `windlass stack dynamodb`: items and keys of a table.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use super::{
    arguments::{Deployed, Request, filled, json_flag},
    command::StackCall,
    show::{self, Screen, is, list},
};
use crate::output::Tone;

#[derive(Args, Debug)]
pub(crate) struct DynamodbArgs {
    /// The table of the config.
    #[arg(value_name = "RESOURCE")]
    resource: Option<String>,
    /// What to ask: sample, schema, get, query or scan. Default: sample.
    #[arg(value_name = "OPERATION")]
    verb: Option<String>,
    #[command(flatten)]
    stack: Deployed,
    /// The table, by flag.
    #[arg(long, alias = "resourceName", value_name = "NAME")]
    resource_name: Option<String>,
    /// What to ask, by flag.
    #[arg(long, value_name = "OPERATION")]
    operation: Option<String>,
    /// The partition key.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pk: Option<String>,
    /// The sort key.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    sk: Option<String>,
    /// The whole key: a JSON object.
    #[arg(long, value_name = "JSON")]
    key: Option<String>,
    /// The index.
    #[arg(long, value_name = "NAME")]
    index: Option<String>,
    /// How many items at most. Default: 100.
    #[arg(long, value_name = "COUNT")]
    limit: Option<u64>,
}

impl StackCall for DynamodbArgs {
    fn request(&self) -> Result<Request, Problem> {
        let [resource, verb] = filled(
            [self.resource_name.as_deref(), self.operation.as_deref()],
            &[&self.resource, &self.verb],
        )?;
        Ok(self
            .stack
            .input()
            .text("resourceName", resource.as_deref())
            .text("operation", verb.as_deref())
            .text("pk", self.pk.as_deref())
            .text("sk", self.sk.as_deref())
            .value("key", json_flag("--key", self.key.as_deref())?)
            .text("index", self.index.as_deref())
            .number("limit", self.limit)
            .request("stack.dynamodb"))
    }

    fn show(&self, screen: &Screen<'_>, output: &Value) {
        show(screen, output);
    }
}

pub(super) fn show(screen: &Screen<'_>, output: &Value) {
    if output.get("items").is_some() {
        let items = list(output, "items");
        if items.is_empty() {
            screen.line("no items");
        }
        show::rows::rows(screen, &[], items);
        if is(output, "truncated") {
            screen.toned(Tone::Dim, "there are more items");
        }
        return;
    }
    match output.get("item") {
        Some(Value::Null) => screen.line("no such item"),
        Some(item) => screen.json(item),
        None => screen.json(&super::data_of(output)),
    }
}
