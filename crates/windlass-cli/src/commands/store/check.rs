//! `windlass store check`.

use clap::Args;
use serde_json::json;
use windlass_types::{Problem, code};

use crate::{
    commands::field,
    output::{Tone, counted},
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {}

impl CheckArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let answer = session.call("admin.store_check", json!({})).await?;
        let findings: Vec<String> = field(&answer.output, "findings")?;
        let count = |name: &str| field::<u64>(&answer.output, name);
        let looked_at = format!(
            "{}, {}, {}",
            counted(count("journals")?, "journal"),
            counted(count("events")?, "event"),
            counted(count("blobs")?, "artifact")
        );
        let printer = &session.printer;
        for note in field::<Option<Vec<String>>>(&answer.output, "notes")?.unwrap_or_default() {
            printer.data(&format!("{} {note}", printer.paint().text(Tone::Warn, "!")));
        }
        if findings.is_empty() {
            printer.data(&format!(
                "{} {looked_at}: intact",
                printer.paint().text(Tone::Good, "✓")
            ));
            return Ok(Report::new(format!("{looked_at}: intact"), answer.output));
        }
        for finding in &findings {
            printer.data(&format!(
                "{} {finding}",
                printer.paint().text(Tone::Bad, "✗")
            ));
        }
        Err(Problem::new(
            &code::STORE_DAMAGED,
            format!("{} findings in {looked_at}", findings.len()),
        )
        .with("report", answer.output)
        .next("restore a backup: windlass --home BACKUP store check"))
    }
}
