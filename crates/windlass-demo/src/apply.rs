//! The run: every file kept, changed and undoable, then the extras the plan asks for.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Duration;
use windlass_engine::run::{
    ChildRequest, RunContext, RunError, RunKind, SIGNAL_APPROVAL, Step, WaitRequest, WebhookRequest,
};
use windlass_ports::BoxFuture;
use windlass_types::{Digest, EffectClass, NewArtifact, Problem, code};

use crate::{
    note,
    plan::{DemoPlan, FileChange, KIND},
    scratch::Scratch,
};

pub(crate) struct ApplyDemo;

impl RunKind for ApplyDemo {
    fn name(&self) -> &str {
        KIND
    }

    fn run<'a>(
        &'a self,
        context: &'a dyn RunContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Value, RunError>> {
        Box::pin(async move {
            let plan: DemoPlan = serde_json::from_value(input)
                .map_err(|error| Problem::internal("demo plan", error))?;
            apply(context, plan).await
        })
    }
}

async fn apply(context: &dyn RunContext, plan: DemoPlan) -> Result<Value, RunError> {
    let total = plan.files.len();
    for (index, file) in plan.files.iter().enumerate() {
        if plan.approval && index == total / 2 {
            ask(context, index, total).await?;
        }
        change_file(context, &plan.dir, file).await?;
        let percent = (index + 1) * 100 / total;
        let message = format!(
            "{} {}",
            if file.after.is_some() {
                "wrote"
            } else {
                "deleted"
            },
            file.path
        );
        context
            .emit(
                "progress",
                json!({ "phase": "applying", "message": message, "pct": percent }),
            )
            .await?;
        if plan.pause_ms > 0 {
            context
                .sleep("pause", Duration::from_millis(plan.pause_ms))
                .await?;
        }
    }
    let paths: Vec<&str> = plan.files.iter().map(|file| file.path.as_str()).collect();
    if plan.note && total > 0 {
        let request = ChildRequest {
            name: "note".to_owned(),
            operation: "demo.note".to_owned(),
            targets: vec![plan.dir.clone()],
            effect: EffectClass::Write,
            kind: note::KIND.to_owned(),
            input: json!({ "dir": plan.dir, "text": format!("{total} files changed by {}\n", context.run_id()) }),
            title: format!("note in {}", plan.dir),
        };
        context.child(request).await?;
    }
    let report = json!({ "dir": plan.dir, "changed": paths });
    context
        .put_artifact(NewArtifact::text(
            "report.json",
            "application/json",
            format!("{report:#}\n"),
        ))
        .await?;
    if let Some(url) = plan.webhook_url {
        let body =
            json!({ "event": "demo.completed", "run_id": context.run_id(), "changed": paths });
        let request = WebhookRequest {
            name: "completed".to_owned(),
            url,
            event: "demo.completed".to_owned(),
            body,
            secret_name: plan.webhook_secret,
        };
        context.notify(request).await?;
    }
    Ok(report)
}

async fn ask(context: &dyn RunContext, done: usize, total: usize) -> Result<(), RunError> {
    let request = WaitRequest {
        prompt: Some(format!("{done} of {total} files are changed. Continue?")),
        ..WaitRequest::new("half-way", SIGNAL_APPROVAL)
    };
    match context.wait_for(request).await? {
        Some(answer) => Ok(answer.require_approval()?),
        None => Err(Problem::new(&code::TIMEOUT, "no answer arrived in time").into()),
    }
}

/// A file as it was before the change.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// The content, in base64; absent when there was no file.
    content: Option<String>,
    /// Parent directories that did not exist.
    missing_parents: Vec<String>,
}

impl Kept {
    fn bytes(&self) -> Result<Option<Vec<u8>>, Problem> {
        self.content
            .as_ref()
            .map(|text| {
                STANDARD
                    .decode(text)
                    .map_err(|error| Problem::internal("kept content", error))
            })
            .transpose()
    }
}

/// Keeps what is there, then changes it. Two steps, because once the change may have happened
/// it is no longer known what was there before.
pub(crate) async fn change_file(
    context: &dyn RunContext,
    dir: &str,
    file: &FileChange,
) -> Result<(), RunError> {
    let kept: Kept = Step::pure(format!("keep {}", file.path))
        .input(file)
        .run(context, async |_| {
            let known = (dir.to_owned(), file.clone());
            blocking(known, |(dir, file)| keep(&dir, &file)).await
        })
        .await?;
    let undo = (dir.to_owned(), file.clone(), kept);
    Step::effect(format!("change {}", file.path), file.path.clone())
        .input(file)
        .undo(move |_: Value| {
            blocking(undo.clone(), |(dir, file, kept)| {
                take_back(&dir, &file, &kept)
            })
        })
        .run(context, async |step| {
            let key = step.idempotency_key().to_owned();
            let known = (dir.to_owned(), file.clone(), key);
            blocking(known, |(dir, file, key)| change(&dir, &file, &key)).await
        })
        .await
}

async fn blocking<I, T, F>(input: I, work: F) -> Result<T, Problem>
where
    I: Send + 'static,
    T: Send + 'static,
    F: FnOnce(I) -> Result<T, Problem> + Send + 'static,
{
    tokio::task::spawn_blocking(move || work(input))
        .await
        .map_err(|error| Problem::internal("file work", error))?
}

fn keep(dir: &str, file: &FileChange) -> Result<Kept, Problem> {
    let scratch = Scratch::open_planned(dir)?;
    let content = scratch.read(&file.path)?;
    if content.as_deref().map(Digest::of) != file.before {
        return Err(Problem::new(
            &code::ILLEGAL_STATE,
            format!("{:?} changed since it was planned", file.path),
        )
        .with("path", file.path.as_str())
        .next("plan again"));
    }
    Ok(Kept {
        content: content.map(|bytes| STANDARD.encode(bytes)),
        missing_parents: scratch.missing_parents(&file.path)?,
    })
}

fn change(dir: &str, file: &FileChange, key: &str) -> Result<(), Problem> {
    let scratch = Scratch::open_planned(dir)?;
    match &file.after {
        Some(content) => scratch.write(&file.path, content.as_bytes(), key),
        None => scratch.remove(&file.path),
    }
}

/// Restores the file, unless it was changed since.
fn take_back(dir: &str, file: &FileChange, kept: &Kept) -> Result<(), Problem> {
    let scratch = Scratch::open_planned(dir)?;
    let now = scratch.read(&file.path)?;
    let before = kept.bytes()?;
    if now == before {
        scratch.remove_empty(&kept.missing_parents);
        return Ok(());
    }
    if now.as_deref() != file.after.as_deref().map(str::as_bytes) {
        return Err(Problem::new(
            &code::UNDO_CONFLICT,
            format!("{:?} was changed after the run", file.path),
        )
        .with("path", file.path.as_str()));
    }
    match before {
        Some(content) => scratch.write(
            &file.path,
            &content,
            &Digest::of(file.path.as_bytes()).to_string(),
        ),
        None => {
            scratch.remove(&file.path)?;
            scratch.remove_empty(&kept.missing_parents);
            Ok(())
        }
    }
}
