//! `windlass pack doctor`.

use clap::Args;
use serde::Deserialize;
use serde_json::json;
use windlass_types::Problem;

use super::{
    context::{Context, Touches, parse},
    show::View,
};
use crate::{
    output::{Table, Tone, counted},
    session::Report,
};

#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    /// Add pack's manifests to the ignore files of their repositories.
    #[arg(long)]
    pub(super) fix: bool,
    /// Fail on unknown keys in the manifest too.
    #[arg(long)]
    strict: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Examined {
    machine_id: String,
    roots: Vec<Root>,
    gitignore_fixes: Vec<Fix>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Root {
    target: String,
    root: String,
    issues: Vec<String>,
    suggestion: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fix {
    gitignore_path: String,
    updated: bool,
}

impl DoctorArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let own = json!({ "strict": self.strict });
        let data = if self.fix {
            context
                .write("pack.doctor_fix", own, Touches::Repository)
                .await?
        } else {
            context.read("pack.doctor", own).await?
        };
        let examined: Examined = parse(&data)?;
        context.say(&format!("machine  {}", examined.machine_id));
        context.printer().table(&table(&examined, &context.view));
        for fix in examined.gitignore_fixes.iter().filter(|fix| fix.updated) {
            let text = format!("updated {}", context.view.path(&fix.gitignore_path));
            context.say(&context.view.line(Tone::Good, "✓", &text));
        }
        context.warn(&data);
        context.next(&data);
        let bad = examined.roots.iter().filter(|root| !root.issues.is_empty());
        let message = match bad.count() {
            0 => format!("{} in order", counted(examined.roots.len(), "root")),
            bad => format!("{bad} of {} need attention", examined.roots.len()),
        };
        Ok(Report::new(message, data))
    }
}

fn table(examined: &Examined, view: &View) -> Table {
    let mut table = Table::new(&["", "TARGET", "DIRECTORY", "STATE", "SUGGESTION"]);
    for root in &examined.roots {
        let (tone, sign, state) = match root.issues.as_slice() {
            [] => (Tone::Good, "✓", "ok".to_owned()),
            issues => (Tone::Warn, "!", issues.join(", ").replace('_', " ")),
        };
        table.toned_row([
            (tone, sign.to_owned()),
            (Tone::Plain, root.target.clone()),
            (Tone::Plain, view.places.short(&root.root)),
            (tone, state),
            (Tone::Dim, root.suggestion.clone().unwrap_or_default()),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{super::show::plain, *};

    #[test]
    fn every_directory_has_a_line() {
        let examined: Examined = serde_json::from_value(json!({
            "machine_id": "laptop",
            "roots": [
                { "target": "codex", "root": "/home/ada/.codex", "exists": true, "writable": true, "issues": [], "suggestion": null },
                { "target": "codex", "root": "/home/ada/.codex/prompts", "exists": false, "issues": ["missing"],
                  "suggestion": "create directory: mkdir -p /home/ada/.codex/prompts" },
            ],
        }))
        .unwrap();
        let view = plain();
        insta::assert_snapshot!(table(&examined, &view).render(view.paint, None), @r"
           TARGET  DIRECTORY         STATE    SUGGESTION
        ✓  codex   ~/.codex          ok
        !  codex   ~/.codex/prompts  missing  create directory: mkdir -p /home/ada/.codex/prompts
        ");
    }
}
