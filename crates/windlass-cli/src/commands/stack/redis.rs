//! `windlass stack redis`: keys and values, by reading commands alone.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use super::{
    arguments::{Deployed, Request, joined, usage},
    command::StackCall,
    show::{Screen, is, list, shown},
};
use crate::output::Tone;

#[derive(Args, Debug)]
pub(crate) struct RedisArgs {
    /// The cluster of the config.
    #[arg(value_name = "RESOURCE")]
    resource: Option<String>,
    /// What to ask: info, keys, get, ttl, type or command. Default: info.
    #[arg(value_name = "OPERATION")]
    verb: Option<String>,
    /// The key; of `keys` the pattern, of `info` the section, of `command` the words of it.
    #[arg(value_name = "WORDS")]
    words: Vec<String>,
    #[command(flatten)]
    stack: Deployed,
    /// The cluster, by flag.
    #[arg(long, alias = "resourceName", value_name = "NAME")]
    resource_name: Option<String>,
    /// What to ask, by flag.
    #[arg(long, value_name = "OPERATION")]
    operation: Option<String>,
    /// The key.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Which keys. Default: all.
    #[arg(long, value_name = "PATTERN")]
    pattern: Option<String>,
    /// The field, of a hash.
    #[arg(long, value_name = "FIELD")]
    field: Option<String>,
    /// The section of `info`.
    #[arg(long, value_name = "SECTION")]
    section: Option<String>,
    /// The command, by flag; one that reads.
    #[arg(long, value_name = "COMMAND")]
    command: Option<String>,
    /// How many keys at most. Default: 100.
    #[arg(long, value_name = "COUNT")]
    limit: Option<u64>,
    /// The bastion to go through, of a cluster inside a VPC.
    #[arg(long, alias = "bastionResource", value_name = "NAME")]
    bastion_resource: Option<String>,
}

impl StackCall for RedisArgs {
    fn request(&self) -> Result<Request, Problem> {
        let given = [&self.resource, &self.verb].into_iter().flatten();
        let mut words = given.chain(&self.words).cloned();
        let resource = self.resource_name.clone().or_else(|| words.next());
        let verb = self.operation.clone().or_else(|| words.next());
        let rest: Vec<String> = words.collect();
        let mut more = [
            self.key.clone(),
            self.pattern.clone(),
            self.section.clone(),
            self.command.clone(),
        ];
        let slot = match verb.as_deref() {
            Some("keys") => 1,
            None | Some("info") => 2,
            Some("command") => 3,
            Some(_) => 0,
        };
        let said = if slot == 3 {
            joined(&rest)
        } else {
            if let Some(word) = rest.get(1) {
                return Err(usage(format!("unexpected argument '{word}'")));
            }
            rest.first().cloned()
        };
        if more[slot].is_some() && said.is_some() {
            return Err(usage("the same thing is given by flag and by position"));
        }
        if said.is_some() {
            more[slot] = said;
        }
        let [key, pattern, section, command] = &more;
        Ok(self
            .stack
            .input()
            .text("resourceName", resource.as_deref())
            .text("operation", verb.as_deref())
            .text("key", key.as_deref())
            .text("pattern", pattern.as_deref())
            .text("field", self.field.as_deref())
            .text("section", section.as_deref())
            .text("command", command.as_deref())
            .number("limit", self.limit)
            .text("bastionResource", self.bastion_resource.as_deref())
            .request("stack.redis"))
    }

    fn show(&self, screen: &Screen<'_>, output: &Value) {
        show(screen, output);
    }
}

pub(super) fn show(screen: &Screen<'_>, output: &Value) {
    if output.get("keys").is_some() {
        for key in list(output, "keys") {
            screen.line(&shown(key));
        }
        if is(output, "truncated") {
            screen.toned(Tone::Dim, "there are more keys");
        }
        return;
    }
    let answer = output.get("info").or_else(|| output.get("result"));
    match answer {
        Some(Value::String(text)) => screen.block(text),
        Some(Value::Null) => screen.line("(nil)"),
        Some(Value::Array(items)) => items.iter().for_each(|item| screen.line(&shown(item))),
        Some(other) => screen.json(other),
        None => screen.json(&super::data_of(output)),
    }
}
