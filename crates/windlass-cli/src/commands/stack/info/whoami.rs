//! `windlass stack info whoami`.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::{Map, Value};
use windlass_types::Problem;

use crate::commands::stack::{
    arguments::{Input, Request, Target},
    command::StackCall,
    show::{Screen, shown},
};

#[derive(Args, Debug)]
pub(crate) struct InfoWhoamiArgs {
    #[command(flatten)]
    target: Target,
}

impl StackCall for InfoWhoamiArgs {
    fn request(&self) -> Result<Request, Problem> {
        Ok(Input::new(&self.target).request("stack.info_whoami"))
    }

    fn show(&self, screen: &Screen<'_>, output: &Value) {
        show(screen, output);
    }
}

pub(in crate::commands::stack) fn show(screen: &Screen<'_>, output: &Value) {
    for (label, key) in [
        ("account", "account"),
        ("identity", "arn"),
        ("user id", "userId"),
        ("region", "region"),
        ("profile", "profile"),
        ("credentials", "credentialSource"),
        ("until", "expiresAt"),
        ("policy", "policy"),
        ("here", "localPrincipal"),
    ] {
        let value = match output.get(key) {
            Some(Value::Object(verdicts)) => by_verdict(verdicts),
            other => shown(other.unwrap_or(&Value::Null)),
        };
        if !value.is_empty() {
            screen.line(&format!("{label:<13}{value}"));
        }
    }
}

/// `allow stack.delete, stack.init; ask stack.deploy`.
fn by_verdict(verdicts: &Map<String, Value>) -> String {
    let mut grouped: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (operation, verdict) in verdicts {
        grouped.entry(shown(verdict)).or_default().push(operation);
    }
    let groups = grouped.iter();
    let groups: Vec<String> = groups
        .map(|(verdict, operations)| format!("{verdict} {}", operations.join(", ")))
        .collect();
    groups.join("; ")
}
