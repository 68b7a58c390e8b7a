//! `windlass stack info stack`.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use crate::{
    commands::stack::{
        arguments::{Input, Request, Target, filled},
        command::StackCall,
        outputs,
        show::{self, Screen, list, moment, object, status_tone, text},
    },
    output::{Table, Tone},
};

#[derive(Args, Debug)]
pub(crate) struct InfoStackArgs {
    /// The stack's name in CloudFormation, instead of project and stage.
    #[arg(value_name = "STACK")]
    stack: Option<String>,
    /// The same, by flag.
    #[arg(long, alias = "stackName", value_name = "NAME")]
    stack_name: Option<String>,
    #[command(flatten)]
    target: Target,
}

impl StackCall for InfoStackArgs {
    fn request(&self) -> Result<Request, Problem> {
        let [name] = filled([self.stack_name.as_deref()], &[&self.stack])?;
        Ok(Input::new(&self.target)
            .text("stackName", name.as_deref())
            .request("stack.info_stack"))
    }

    fn show(&self, screen: &Screen<'_>, output: &Value) {
        show(screen, output);
    }
}

pub(in crate::commands::stack) fn show(screen: &Screen<'_>, output: &Value) {
    let paint = screen.paint();
    let status = text(output, "status");
    screen.painted(&format!(
        "{}  {}",
        paint.text(Tone::Strong, &show::safe(text(output, "stackName"))),
        paint.text(status_tone(status), &show::safe(status))
    ));
    for (label, value) in [
        ("reason", text(output, "statusReason").to_owned()),
        ("version", text(output, "version").to_owned()),
        ("managed by", text(output, "managedBy").to_owned()),
        ("updated", moment(time(output))),
        ("id", text(output, "stackId").to_owned()),
    ] {
        if !value.is_empty() {
            screen.line(&format!("{label:<12}{value}"));
        }
    }
    stuck(screen, output);
    if let Some(values) = object(output, "outputs") {
        outputs(screen, values);
    }
    resources(screen, output);
    drift(screen, output);
}

fn time(output: &Value) -> &Value {
    let updated = output.get("lastUpdateTime").filter(|time| !time.is_null());
    updated
        .or_else(|| output.get("creationTime"))
        .unwrap_or(&Value::Null)
}

fn stuck(screen: &Screen<'_>, output: &Value) {
    let Some(stuck) = output.get("stuck").filter(|stuck| stuck.is_object()) else {
        return;
    };
    screen.toned(Tone::Bad, &format!("stuck: {}", text(stuck, "meaning")));
    for blocker in list(stuck, "blockers") {
        screen.line(&format!(
            "  {} {}",
            text(blocker, "logicalId"),
            text(blocker, "reason")
        ));
    }
    for remedy in list(stuck, "remedies") {
        let said = match remedy {
            Value::String(said) => said.as_str(),
            other => text(other, "text"),
        };
        screen.line(&format!("  what helps: {said}"));
    }
}

fn resources(screen: &Screen<'_>, output: &Value) {
    let resources = list(output, "resources");
    if resources.is_empty() {
        return;
    }
    let mut table = Table::new(&["LOGICAL ID", "TYPE", "STATUS", "PHYSICAL ID"]);
    for resource in resources {
        let status = text(resource, "status");
        table.toned_row([
            (Tone::Plain, text(resource, "logicalId").to_owned()),
            (Tone::Dim, text(resource, "type").to_owned()),
            (status_tone(status), status.to_owned()),
            (Tone::Plain, text(resource, "physicalId").to_owned()),
        ]);
    }
    screen.line("");
    screen.table(&table);
}

fn drift(screen: &Screen<'_>, output: &Value) {
    let Some(drift) = output.get("drift") else {
        return;
    };
    let status = text(drift, "status");
    if status.is_empty() || status == "NOT_CHECKED" {
        return;
    }
    screen.line(&format!("drift: {status}"));
    for resource in list(drift, "resources") {
        let properties: Vec<String> = list(resource, "properties")
            .iter()
            .map(show::shown)
            .collect();
        screen.line(&format!(
            "  {} {} {}",
            text(resource, "logicalId"),
            text(resource, "status"),
            properties.join(", ")
        ));
    }
}
