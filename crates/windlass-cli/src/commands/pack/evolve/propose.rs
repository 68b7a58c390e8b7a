//! `windlass pack evolve propose`.

use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_types::{EffectClass, Problem};

use crate::{
    commands::pack::{
        context::{Context, Touches, lines, parse},
        overlay_scopes,
        show::View,
    },
    flow::{ConsentView, Question},
    output::{Tone, counted, one_line},
    session::Report,
};

#[derive(Args, Debug)]
pub(crate) struct ProposeArgs {
    /// Only this module.
    #[arg(long, value_name = "ID")]
    module_id: Option<String>,
    /// The layer the edits go into.
    #[arg(long, value_name = "SCOPE", default_value = "global", value_parser = overlay_scopes())]
    scope: String,
    /// The branch to create. Default: one named after scope, module and time.
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Proposed {
    created: bool,
    reason: String,
    branch: String,
    files: Vec<String>,
    committed: Option<bool>,
    candidates: Vec<Candidate>,
    skipped: Vec<Skipped>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Candidate {
    module_id: String,
    target: String,
    path: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Skipped {
    module_id: Option<String>,
    module_ids: Vec<String>,
    path: String,
    reason: String,
    reason_message: Option<String>,
}

impl ProposeArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let own = json!({
            "module_id": self.module_id,
            "scope": self.scope,
            "branch": self.branch,
        });
        let consent = |preview: &Value| {
            let proposed: Proposed = parse(preview)?;
            let edits = counted(proposed.candidates.len(), "edit");
            let question = format!("Put {edits} on a new branch of the repository?");
            let view = || ConsentView {
                lines: lines(&text(&proposed, &context.view)),
                summary: edits,
                ..ConsentView::new(
                    "pack.evolve.propose",
                    "a new branch",
                    EffectClass::Write,
                    Question::Yes(question),
                )
            };
            Ok((!proposed.candidates.is_empty()).then(view))
        };
        let confirmed = context
            .confirmed(
                "pack.evolve.propose",
                own,
                Touches::Repository,
                "evolve propose",
                consent,
            )
            .await?;
        let proposed: Proposed = parse(&confirmed.data)?;
        if !confirmed.seen {
            context.say(&text(&proposed, &context.view));
        }
        let message = proposed.message();
        context.say(&message);
        context.warn(&confirmed.data);
        if proposed.created {
            context.printer().hint(&format!(
                "review it in the repository: git diff HEAD...{}",
                one_line(&proposed.branch)
            ));
        }
        Ok(Report::new(message, confirmed.data))
    }
}

impl Proposed {
    fn message(&self) -> String {
        if self.created {
            let files = counted(self.files.len(), "file");
            let verb = if self.committed == Some(false) {
                "written, not committed,"
            } else {
                "committed"
            };
            return format!("{files} {verb} on branch {}", self.branch);
        }
        match self.reason.as_str() {
            "no_drift" => "no drift".to_owned(),
            "no_proposeable_drift" => "no drift that can be proposed".to_owned(),
            _ => "nothing was written".to_owned(),
        }
    }
}

fn text(proposed: &Proposed, view: &View) -> String {
    let mut text = String::new();
    for item in &proposed.candidates {
        let line = format!(
            "{}  {} {}",
            item.module_id,
            item.target,
            view.path(&item.path)
        );
        text.push_str(&view.line(Tone::Good, "+", &line));
    }
    for item in &proposed.skipped {
        let modules = match &item.module_id {
            Some(id) => id.clone(),
            None => item.module_ids.join(", "),
        };
        let reason = item
            .reason_message
            .clone()
            .unwrap_or_else(|| item.reason.replace('_', " "));
        let line = format!("{}  {modules}: {reason}", view.path(&item.path));
        text.push_str(&view.line(Tone::Warn, "!", &line));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::pack::show::plain;

    #[test]
    fn what_is_kept_and_what_is_not() {
        let proposed: Proposed = serde_json::from_value(json!({
            "created": false, "reason": "dry_run",
            "candidates": [{ "module_id": "prompt:a", "target": "codex", "path": "/home/ada/.codex/prompts/a.md" }],
            "skipped": [{ "path": "/home/ada/.codex/AGENTS.md", "module_ids": ["instructions:a", "instructions:b"],
                "reason": "multi_module_output", "reason_message": "several modules share the file" }],
        }))
        .unwrap();
        insta::assert_snapshot!(text(&proposed, &plain()) + &proposed.message(), @r"
        + prompt:a  codex ~/.codex/prompts/a.md
        ! ~/.codex/AGENTS.md  instructions:a, instructions:b: several modules share the file
        nothing was written
        ");
    }

    #[test]
    fn outcomes_have_a_sentence() {
        for (data, expected) in [
            (
                json!({ "created": true, "branch": "evolve/x", "files": ["a", "b"], "committed": true }),
                "2 files committed on branch evolve/x",
            ),
            (
                json!({ "created": true, "branch": "evolve/x", "files": ["a"], "committed": false }),
                "1 file written, not committed, on branch evolve/x",
            ),
            (
                json!({ "created": false, "reason": "no_drift" }),
                "no drift",
            ),
        ] {
            let proposed: Proposed = serde_json::from_value(data).unwrap();
            assert_eq!(proposed.message(), expected);
        }
    }
}
