//! The planner: a wished-for directory and the directory as it is, compared.

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_engine::operation::{CallContext, Change, ChangeInfo, Example};
use windlass_types::{ChangeAction, Digest, EffectClass, Plan, Problem, plan};

use crate::scratch::Scratch;

/// The kind of run that applies a plan.
pub(crate) const KIND: &str = "demo";
const MOST_FILES: usize = 1000;

/// What the directory should look like.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DemoInput {
    /// The directory to change; it must exist. Nothing outside it is touched.
    pub dir: String,
    /// Files to create or update: relative path → content.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Files to delete, as relative paths.
    #[serde(default)]
    pub delete: Vec<String>,
    /// A pause after each file, in milliseconds; a durable timer.
    #[serde(default)]
    #[schemars(range(min = 0, max = 86_400_000))]
    pub pause_ms: u64,
    /// Whether to stop halfway and wait for an approval.
    #[serde(default)]
    pub approval: bool,
    /// Whether to let a child run write a note about what was done.
    #[serde(default)]
    pub note: bool,
    /// An address to notify at the end.
    #[serde(default)]
    pub webhook_url: Option<String>,
    /// The name of the secret in the settings that signs the webhook; the installation's own
    /// secret when absent.
    #[serde(default)]
    pub webhook_secret: Option<String>,
}

/// One file of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// The relative path.
    pub path: String,
    /// The digest of the content before; absent when there is no such file.
    pub before: Option<Digest>,
    /// The content after; absent when the file is deleted.
    pub after: Option<String>,
}

/// What the run receives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DemoPlan {
    /// The directory, as an absolute path without symbolic links.
    pub dir: String,
    /// The changes, in order.
    pub files: Vec<FileChange>,
    /// The pause after each file.
    pub pause_ms: u64,
    /// Whether to wait for an approval halfway.
    pub approval: bool,
    /// Whether a child run writes a note.
    pub note: bool,
    /// An address to notify.
    pub webhook_url: Option<String>,
    /// The secret that signs the notification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook_secret: Option<String>,
}

pub(crate) struct PlanDemo;

impl Change for PlanDemo {
    type Input = DemoInput;

    fn info(&self) -> ChangeInfo {
        ChangeInfo {
            toolset: "demo".to_owned(),
            plan_verb: "plan".to_owned(),
            apply_verb: "apply".to_owned(),
            title: "Change a scratch directory".to_owned(),
            description: "Creates, updates and deletes files in one directory, with undo."
                .to_owned(),
            effect: EffectClass::Destructive,
            kind: KIND.to_owned(),
            examples: vec![Example {
                title: "Write one file".to_owned(),
                input: json!({ "dir": "/srv/scratch", "files": { "hello.txt": "hello\n" } }),
                output: None,
            }],
        }
    }

    fn search_words(&self) -> &'static [&'static str] {
        &[
            "write text files to a folder",
            "try it out safely",
            "sandbox",
        ]
    }

    fn plan<'a>(
        &'a self,
        context: &'a CallContext,
        input: DemoInput,
    ) -> BoxFuture<'a, Result<Plan, Problem>> {
        Box::pin(async move {
            let context = context.clone();
            let may_work_in = move |directory: &str| context.require_place(directory.as_ref());
            let read = tokio::task::spawn_blocking(move || read_directory(input, may_work_in));
            let read = read.await;
            let (input, dir, present) =
                read.map_err(|error| Problem::internal("demo planner", error))??;
            Ok(compare(input, dir, &present))
        })
    }
}

type Present = BTreeMap<String, Digest>;

/// Reads the files the input names.
fn read_directory(
    input: DemoInput,
    may_work_in: impl Fn(&str) -> Result<(), Problem>,
) -> Result<(DemoInput, String, Present), Problem> {
    if input.files.len() + input.delete.len() > MOST_FILES {
        return Err(Problem::invalid(
            "files",
            "maxProperties",
            format!("at most {MOST_FILES} files in one plan"),
        ));
    }
    if let Some(both) = input
        .delete
        .iter()
        .find(|path| input.files.contains_key(*path))
    {
        return Err(Problem::invalid(
            "delete",
            "conflict",
            format!("{both:?} is both written and deleted"),
        ));
    }
    // A caller who may not work there is not told either whether it exists.
    let scratch = Scratch::open(&input.dir).or_else(|missing| {
        may_work_in(&input.dir)?;
        Err(missing)
    })?;
    may_work_in(scratch.path())?;
    let mut present = Present::new();
    for path in input.files.keys().chain(&input.delete) {
        if let Some(content) = scratch.read(path)? {
            present.insert(path.clone(), Digest::of(&content));
        }
    }
    let dir = scratch.path().to_owned();
    Ok((input, dir, present))
}

/// The pure part: what is wished for against what is there.
fn compare(input: DemoInput, dir: String, present: &Present) -> Plan {
    let mut changes = Vec::new();
    let mut files = Vec::new();
    for (path, content) in input.files {
        let before = present.get(&path).copied();
        if before == Some(Digest::of(content.as_bytes())) {
            continue;
        }
        let action = if before.is_some() {
            ChangeAction::Update
        } else {
            ChangeAction::Create
        };
        changes.push(plan::Change {
            action,
            target: path.clone(),
            summary: match content.len() {
                1 => "1 byte".to_owned(),
                length => format!("{length} bytes"),
            },
        });
        files.push(FileChange {
            path,
            before,
            after: Some(content),
        });
    }
    for path in input.delete {
        if let Some(before) = present.get(&path).copied() {
            changes.push(plan::Change {
                action: ChangeAction::Delete,
                target: path.clone(),
                summary: String::new(),
            });
            files.push(FileChange {
                path,
                before: Some(before),
                after: None,
            });
        }
    }
    if input.note && !files.is_empty() {
        changes.push(plan::Change {
            action: ChangeAction::Create,
            target: crate::note::NOTE_FILE.to_owned(),
            summary: "by a child run".to_owned(),
        });
    }
    if let Some(url) = &input.webhook_url {
        changes.push(plan::Change {
            action: ChangeAction::Execute,
            target: url.clone(),
            summary: "webhook".to_owned(),
        });
    }
    let effect = if files.iter().any(|file| file.after.is_none()) {
        EffectClass::Destructive
    } else {
        EffectClass::Write
    };
    let payload = DemoPlan {
        dir: dir.clone(),
        files,
        pause_ms: input.pause_ms,
        approval: input.approval,
        note: input.note,
        webhook_url: input.webhook_url,
        webhook_secret: input.webhook_secret,
    };
    Plan {
        operation: "demo.apply".to_owned(),
        effect,
        target: dir,
        changes,
        payload: serde_json::to_value(payload).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(plan: &Plan) -> String {
        let lines = plan
            .changes
            .iter()
            .map(|change| format!("{:?} {} {}", change.action, change.target, change.summary));
        format!(
            "{}\n{}",
            plan.effect.as_str(),
            lines.collect::<Vec<_>>().join("\n")
        )
    }

    #[test]
    fn only_differences_are_planned() {
        let input = DemoInput {
            dir: "d".into(),
            files: BTreeMap::from([
                ("new".into(), "n".into()),
                ("same".into(), "s".into()),
                ("other".into(), "o".into()),
            ]),
            delete: vec!["old".into(), "absent".into()],
            ..DemoInput::default()
        };
        let present = Present::from([
            ("same".into(), Digest::of(b"s")),
            ("other".into(), Digest::of(b"x")),
            ("old".into(), Digest::of(b"y")),
        ]);
        insta::assert_snapshot!(show(&compare(input, "/d".into(), &present)), @"
        destructive
        Create new 1 byte
        Update other 1 byte
        Delete old
        ");
    }

    #[test]
    fn nothing_to_do_is_an_empty_plan() {
        let plan = compare(DemoInput::default(), "/d".into(), &Present::new());
        assert!(plan.is_empty());
    }
}
