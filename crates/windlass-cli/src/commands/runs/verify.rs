//! `windlass runs verify`.

use clap::Args;
use serde_json::{Value, json};
use windlass_types::{Problem, code};

use crate::{
    flow::find_run,
    output::{Tone, counted},
    session::{Report, Session},
};

/// What journals that are no runs begin with.
const SYSTEM: &str = "sys_";

#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    /// The run: its id, the beginning of its id, `latest`, or a system journal such as `sys_audit`.
    #[arg(value_name = "RUN")]
    run: String,
}

/// Where the run happened, in words.
fn origin(output: &Value) -> Option<String> {
    let origin = output.get("origin")?;
    let text = |key: &str| origin.pointer(key).and_then(Value::as_str);
    Some(match (text("/from")?, text("/signature/key")) {
        ("imported", Some(key)) => format!("imported, signed by {key}"),
        ("imported", None) => "imported, unsigned".to_owned(),
        _ => format!("this home, which signs as {}", text("/key")?),
    })
}

impl VerifyArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let name = if self.run.starts_with(SYSTEM) {
            self.run
        } else {
            find_run(session, &self.run).await?.to_string()
        };
        let answer = session
            .call("runs.verify", json!({ "run_id": name }))
            .await?;
        let output = answer.output;
        let text = |key: &str| {
            output
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let events = output.get("events").and_then(Value::as_u64).unwrap_or(0);
        if output.get("intact") != Some(&Value::Bool(true)) {
            return Err(Problem::new(
                &code::STORE_DAMAGED,
                format!("the journal {name} is damaged: {}", text("finding")),
            )
            .with("report", output)
            .next("windlass store check"));
        }
        let printer = &session.printer;
        let mark = printer.paint().text(Tone::Good, "✓");
        printer.data(&format!(
            "{mark} {name}: {}, the hash chain is intact",
            counted(events, "event")
        ));
        let mut fields = vec![("  head", text("head"))];
        if let Some(origin) = origin(&output) {
            fields.push(("  origin", origin));
        }
        printer.fields(&fields);
        Ok(Report::new(
            format!("{name}: {} verified", counted(events, "event")),
            output,
        ))
    }
}
