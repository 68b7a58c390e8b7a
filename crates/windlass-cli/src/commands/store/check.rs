//! `windlass store check`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use windlass_types::{Problem, code};

use crate::{
    commands::field,
    output::{Tone, counted},
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// Compare the history with anchors that were kept elsewhere: a file with one per line. The newest
    /// 10,000 are compared.
    #[arg(long, value_name = "FILE")]
    anchors: Option<PathBuf>,
}

const MAX_ANCHORS: usize = 10_000;

/// The anchors in a file; also in the lines of a system log, where each stands at the end.
fn read_anchors(path: &Path) -> Result<Vec<Value>, Problem> {
    let unusable = |why: String| {
        Problem::invalid(
            "anchors",
            "format",
            format!("{} cannot be used: {why}", path.display()),
        )
    };
    let text = fs_err::read_to_string(path).map_err(|error| unusable(error.to_string()))?;
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    if lines.is_empty() {
        return Err(unusable("it holds no anchors".to_owned()));
    }
    lines[lines.len().saturating_sub(MAX_ANCHORS)..]
        .iter()
        .map(|line| {
            let json = line.find('{').map_or(*line, |at| &line[at..]);
            serde_json::from_str(json).map_err(|error| unusable(format!("{line:?}: {error}")))
        })
        .collect()
}

impl CheckArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let input = match &self.anchors {
            Some(path) => json!({ "anchors": read_anchors(path)? }),
            None => json!({}),
        };
        let answer = session.call("admin.store_check", input).await?;
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
        if let Some(anchors) = answer
            .output
            .get("anchors")
            .filter(|value| !value.is_null())
        {
            let compared: u64 = field(anchors, "compared")?;
            let (newest, position): (String, u64) =
                (field(anchors, "newest")?, field(anchors, "position")?);
            printer.data(&format!(
                "{} compared; the newest is of {newest} and covers events up to {position}",
                counted(compared, "anchor")
            ));
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
