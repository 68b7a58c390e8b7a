//! `windlass pack policy audit`.

use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_types::Problem;

use crate::{
    commands::pack::{
        context::{Context, parse},
        show::View,
    },
    output::{Table, Tone, bytes, counted},
    session::Report,
};

#[derive(Args, Debug)]
pub(crate) struct AuditArgs {}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Audit {
    modules: Vec<Module>,
    change_summary: Option<Changes>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Module {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    resolved_source: Source,
    resolved_version: String,
    sha256: String,
    files: u64,
    bytes: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Source {
    git: Option<Git>,
    local_path: Option<Local>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Git {
    url: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Local {
    path: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Changes {
    base_ref: String,
    modules_added: Vec<Value>,
    modules_removed: Vec<Value>,
    modules_changed: Vec<Value>,
}

impl AuditArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let data = context.read("pack.policy.audit", json!({})).await?;
        let audit: Audit = parse(&data)?;
        context.printer().table(&table(&audit));
        if let Some(changes) = &audit.change_summary {
            context.say(&since(changes, &context.view));
        }
        context.warn(&data);
        let message = format!("{} pinned", counted(audit.modules.len(), "module"));
        Ok(Report::new(message, data))
    }
}

fn table(audit: &Audit) -> Table {
    let mut table = Table::new(&[
        "MODULE", "TYPE", "VERSION", "FILES", "SIZE", "SHA256", "SOURCE",
    ]);
    for module in &audit.modules {
        let short = |text: &str| text.chars().take(12).collect::<String>();
        let source = match &module.resolved_source {
            Source { git: Some(git), .. } => git.url.clone(),
            Source {
                local_path: Some(local),
                ..
            } => local.path.clone(),
            Source { .. } => String::new(),
        };
        table.toned_row([
            (Tone::Plain, module.id.clone()),
            (Tone::Dim, module.kind.clone()),
            (Tone::Plain, short(&module.resolved_version)),
            (Tone::Plain, module.files.to_string()),
            (Tone::Plain, bytes(module.bytes)),
            (Tone::Dim, short(&module.sha256)),
            (Tone::Plain, source),
        ]);
    }
    table
}

fn since(changes: &Changes, view: &View) -> String {
    let mut text = String::new();
    for (tone, sign, modules) in [
        (Tone::Good, "+", &changes.modules_added),
        (Tone::Bad, "-", &changes.modules_removed),
        (Tone::Warn, "~", &changes.modules_changed),
    ] {
        for module in modules {
            // A list of ids, or of objects that have one.
            let id = module.as_str().or_else(|| module["id"].as_str());
            text.push_str(&view.line(tone, sign, id.unwrap_or_default()));
        }
    }
    if text.is_empty() {
        return format!("no change since {}\n", changes.base_ref);
    }
    format!("since {}:\n{text}", changes.base_ref)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::pack::show::plain;

    #[test]
    fn sources_versions_and_changes() {
        let audit: Audit = serde_json::from_value(json!({
            "modules": [
                { "id": "skill:x", "type": "skill", "resolved_source": { "git": { "url": "https://example.com/x.git" }, "local_path": null },
                  "resolved_version": "0123456789abcdef0123456789abcdef01234567", "sha256": "feedfacefeedfacefeedface", "files": 3, "bytes": 2048 },
                { "id": "prompt:a", "type": "prompt", "resolved_source": { "git": null, "local_path": { "path": "modules/a.md" } },
                  "resolved_version": "local", "sha256": "00", "files": 1, "bytes": 12 },
            ],
            "change_summary": { "base_ref": "HEAD^", "modules_added": ["skill:x"], "modules_removed": [], "modules_changed": [{ "id": "prompt:a" }] },
        }))
        .unwrap();
        let view = plain();
        let text = table(&audit).render(view.paint, None)
            + &since(audit.change_summary.as_ref().unwrap(), &view);
        insta::assert_snapshot!(text, @r"
        MODULE    TYPE    VERSION       FILES  SIZE     SHA256        SOURCE
        skill:x   skill   0123456789ab  3      2.0 KiB  feedfacefeed  https://example.com/x.git
        prompt:a  prompt  local         1      12 B     00            modules/a.md
        since HEAD^:
        + skill:x
        ~ prompt:a
        ");
    }
}
