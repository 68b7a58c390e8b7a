//! `windlass pack import`.

use std::path::PathBuf;

use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_types::{EffectClass, Problem};

use super::{
    context::{Confirmed, Context, Touches, parse},
    show::View,
};
use crate::{
    flow::{Channel, ConsentView, Question, table_lines},
    output::{Table, Tone, counted},
    session::Report,
};

#[derive(Args, Debug)]
pub(crate) struct ImportArgs {
    /// Copy the files into the repository and add them to the manifest.
    #[arg(long)]
    pub(super) apply: bool,
    /// Look for the user's files here instead of in the home directory.
    #[arg(long, value_name = "DIR")]
    home_root: Option<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Imported {
    applied: bool,
    plan: Vec<Item>,
    summary: Summary,
    conflicts: Vec<Conflict>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Item {
    op: String,
    module_id: String,
    scope: String,
    source_path: String,
    skip_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Summary {
    create: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Conflict {
    kind: String,
    count: u64,
    module_id: Option<String>,
    sample_paths: Vec<String>,
    hint: String,
}

impl ImportArgs {
    pub(super) async fn run(self, context: &Context<'_>) -> Result<Report, Problem> {
        let own = json!({ "apply": self.apply, "home_root": self.home_root });
        let confirmed = if self.apply {
            let consent = |preview: &Value| {
                let imported: Imported = parse(preview)?;
                let modules = counted(imported.summary.create as usize, "module");
                let question = Question::Yes(format!("Import {modules}?"));
                let table = table(&imported, &context.view);
                let view = || ConsentView {
                    lines: table_lines(context.session, Channel::Notice, &table),
                    summary: modules,
                    ..ConsentView::new("pack.import", "", EffectClass::Write, question)
                };
                Ok((imported.summary.create > 0).then(view))
            };
            context
                .confirmed(
                    "pack.import",
                    own,
                    Touches::Repository,
                    "import --apply",
                    consent,
                )
                .await?
        } else {
            let data = context.read("pack.import", own).await?;
            Confirmed { data, seen: false }
        };
        shown(context, confirmed)
    }
}

fn shown(context: &Context<'_>, confirmed: Confirmed) -> Result<Report, Problem> {
    let data = confirmed.data;
    let imported: Imported = parse(&data)?;
    if !confirmed.seen && !imported.plan.is_empty() {
        context.printer().table(&table(&imported, &context.view));
    }
    for conflict in &imported.conflicts {
        context
            .printer()
            .notice(conflict_text(conflict, &context.view).trim_end());
    }
    context.warn(&data);
    let modules = counted(imported.summary.create as usize, "module");
    let message = match (imported.applied, imported.summary.create) {
        (true, _) => format!("{modules} imported"),
        (false, 0) => "nothing to import".to_owned(),
        (false, _) => format!("{modules} to import"),
    };
    context.say(&message);
    if !imported.applied && imported.summary.create > 0 {
        context.hint("import --apply");
    } else {
        context.next(&data);
    }
    Ok(Report::new(message, data))
}

fn table(imported: &Imported, view: &View) -> Table {
    let mut table = Table::new(&["", "MODULE", "SCOPE", "SOURCE", "NOTE"]);
    for item in &imported.plan {
        let (tone, sign) = match item.op.as_str() {
            "create" => (Tone::Good, "+"),
            "skip_existing_module" => (Tone::Dim, "="),
            _ => (Tone::Warn, "!"),
        };
        let note = item.skip_reason.clone().unwrap_or_default();
        table.toned_row([
            (tone, sign.to_owned()),
            (Tone::Plain, item.module_id.clone()),
            (Tone::Dim, item.scope.clone()),
            (Tone::Plain, view.places.short(&item.source_path)),
            (Tone::Dim, note.replace('_', " ")),
        ]);
    }
    table
}

fn conflict_text(conflict: &Conflict, view: &View) -> String {
    let what = conflict.kind.replace('_', " ");
    let module = conflict.module_id.as_deref().unwrap_or_default();
    let head = format!("{what}: {} {module}", conflict.count);
    let mut text = view.line(Tone::Warn, "!", head.trim_end());
    for path in &conflict.sample_paths {
        text.push_str(&format!("    {}\n", view.path(path)));
    }
    if !conflict.hint.is_empty() {
        text.push_str(&format!("    {}\n", conflict.hint));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{super::show::plain, *};

    #[test]
    fn what_is_taken_and_what_is_not() {
        let imported: Imported = serde_json::from_value(json!({
            "plan": [
                { "op": "create", "module_id": "prompt:draft", "scope": "user", "source_path": "/home/ada/.codex/prompts/draft.md" },
                { "op": "skip_existing_module", "module_id": "skill:x", "scope": "user", "source_path": "/home/ada/.codex/skills/x",
                  "skip_reason": "module_id_already_exists" },
            ],
            "conflicts": [{ "kind": "dest_path_exists", "count": 1, "sample_paths": ["/home/ada/.agentpack/repo/modules/a"], "hint": "move it" }],
        }))
        .unwrap();
        let view = plain();
        let mut text = table(&imported, &view).render(view.paint, None);
        text.push_str(&conflict_text(&imported.conflicts[0], &view));
        insta::assert_snapshot!(text, @r"
           MODULE        SCOPE  SOURCE                     NOTE
        +  prompt:draft  user   ~/.codex/prompts/draft.md
        =  skill:x       user   ~/.codex/skills/x          module id already exists
        ! dest path exists: 1
            ~/.agentpack/repo/modules/a
            move it
        ");
    }
}
