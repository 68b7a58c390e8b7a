//! The child run: writes a note about its parent's work, undone when the parent is.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_engine::run::{RunContext, RunError, RunKind, Step};
use windlass_ports::BoxFuture;
use windlass_types::{Digest, Problem};

use crate::{apply::change_file, plan::FileChange, scratch::Scratch};

pub(crate) const KIND: &str = "demo.note";
pub(crate) const NOTE_FILE: &str = "WINDLASS-NOTE.txt";

#[derive(Deserialize)]
struct NoteInput {
    dir: String,
    text: String,
}

pub(crate) struct WriteNote;

impl RunKind for WriteNote {
    fn name(&self) -> &str {
        KIND
    }

    fn run<'a>(
        &'a self,
        context: &'a dyn RunContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Value, RunError>> {
        Box::pin(async move {
            let input: NoteInput = serde_json::from_value(input)
                .map_err(|error| Problem::internal("note input", error))?;
            // What is there is part of the journal, so that a repetition sees the same.
            let before: Option<Digest> = Step::pure("look")
                .run(context, async |_| {
                    let dir = input.dir.clone();
                    tokio::task::spawn_blocking(move || {
                        Scratch::open_planned(&dir)?.read(NOTE_FILE)
                    })
                    .await
                    .map_err(|error| Problem::internal("file work", error))?
                    .map(|content| content.as_deref().map(Digest::of))
                })
                .await?;
            let file = FileChange {
                path: NOTE_FILE.to_owned(),
                before,
                after: Some(input.text),
            };
            change_file(context, &input.dir, &file).await?;
            Ok(json!({ "note": NOTE_FILE }))
        })
    }
}
