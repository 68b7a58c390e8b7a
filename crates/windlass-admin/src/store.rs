//! `admin.store_check`, `admin.store_backup` and `admin.store_accept_loss`.

use std::{path::PathBuf, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_engine::{
    Engine,
    operation::{Operation, operation as define},
};
use windlass_types::{Anchor, EffectClass, Problem, Surface, Timestamp, code};

use crate::TOOLSET;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CheckInput {
    /// Anchors that were kept elsewhere, to compare the history with.
    #[serde(default)]
    #[schemars(length(max = 10_000))]
    anchors: Vec<Anchor>,
}

#[derive(Serialize, JsonSchema)]
struct CheckOutput {
    /// Whether all is well.
    intact: bool,
    /// Journals verified.
    journals: u64,
    /// Events verified.
    events: u64,
    /// Artifact contents verified.
    blobs: u64,
    /// What is wrong, one line each.
    findings: Vec<String>,
    /// The anchors that the history was compared with; absent where none were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    anchors: Option<ComparedAnchors>,
    /// Losses that were accepted and places that take no anchors, one line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct ComparedAnchors {
    /// How many.
    compared: usize,
    /// When the newest was taken.
    newest: Timestamp,
    /// The newest event that it covers.
    position: u64,
}

impl ComparedAnchors {
    fn of(anchors: &[Anchor]) -> Option<Self> {
        let newest = anchors.iter().max_by_key(|anchor| anchor.position)?;
        Some(Self {
            compared: anchors.len(),
            newest: newest.time,
            position: newest.position,
        })
    }
}

pub(crate) fn check(engine: &Engine) -> Arc<dyn Operation> {
    let engine = engine.clone();
    define(TOOLSET, "store_check")
        .describe(
            "Check the store",
            "Verifies every journal, every index and every artifact of the store.",
        )
        .example("All of it", json!({}))
        .handle(move |_, CheckInput { anchors }| {
            let engine = engine.clone();
            async move {
                let mut report = engine.maintenance.check().await?;
                let compared = ComparedAnchors::of(&anchors);
                for state in engine.anchor_states().await {
                    if let Some(error) = state.error {
                        report
                            .notes
                            .push(format!("anchors are not kept in {}: {error}", state.place));
                    }
                }
                if !anchors.is_empty() {
                    let unlike = engine.maintenance.compare_anchors(anchors).await?;
                    report.findings.extend(unlike);
                }
                let intact = report.findings.is_empty();
                if intact {
                    // What is known to be right now can be named when it no longer is. A store that
                    // cannot be written can be checked, too.
                    let _ = engine.maintenance.seal_heads().await;
                }
                Ok(CheckOutput {
                    intact,
                    journals: report.journals,
                    events: report.events,
                    blobs: report.blobs,
                    findings: report.findings,
                    anchors: compared,
                    notes: report.notes,
                })
            }
        })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AcceptInput {}

#[derive(Serialize, JsonSchema)]
struct AcceptOutput {
    /// What was acknowledged and is gone; absent where nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    shortfall: Option<String>,
    /// Whether the store now continues without it.
    accepted: bool,
}

pub(crate) fn accept_loss(engine: &Engine) -> Arc<dyn Operation> {
    let engine = engine.clone();
    define(TOOLSET, "store_accept_loss")
        .describe(
            "Continue after a loss",
            "Lets a store that lost acknowledged events continue without them: the loss is recorded, and \
             every confirm token from before is void. Does nothing to a store that lacks nothing.",
        )
        .command(EffectClass::Write)
        // A program that an agent steers does not decide what a home can do without.
        .not_a_tool()
        .example("Whatever is missing", json!({}))
        .handle(move |context, AcceptInput {}| {
            let engine = engine.clone();
            async move {
                if context.surface == Surface::Http {
                    return Err(Problem::new(
                        &code::FORBIDDEN,
                        "a loss is accepted on the machine itself",
                    )
                    .next("windlass store accept-loss"));
                }
                let shortfall = engine.accept_loss(&context.principal).await?;
                let accepted = shortfall.is_some();
                Ok(AcceptOutput { shortfall, accepted })
            }
        })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BackupInput {
    /// A directory that does not exist yet, as an absolute path.
    directory: PathBuf,
}

#[derive(Serialize, JsonSchema)]
struct BackupOutput {
    /// Where the backup is.
    directory: PathBuf,
    /// Its size.
    bytes: u64,
}

pub(crate) fn backup(engine: &Engine) -> Arc<dyn Operation> {
    let engine = engine.clone();
    define(TOOLSET, "store_backup")
        .describe(
            "Back up the store",
            "Copies the whole store to a new directory while it is in use.",
        )
        .command(EffectClass::Write)
        .example(
            "To a mounted disk",
            json!({ "directory": "/mnt/backup/windlass" }),
        )
        .handle(move |context, input: BackupInput| {
            let engine = engine.clone();
            async move {
                // A remote caller must not choose where this machine writes.
                if context.surface == Surface::Http {
                    return Err(Problem::new(
                        &code::FORBIDDEN,
                        "backups are created on the machine itself",
                    )
                    .next("windlass store backup DIR"));
                }
                if !input.directory.is_absolute() {
                    return Err(Problem::invalid(
                        "directory",
                        "absolute",
                        "pass the directory as an absolute path",
                    ));
                }
                let bytes = engine.maintenance.backup(input.directory.clone()).await?;
                Ok(BackupOutput {
                    directory: input.directory,
                    bytes,
                })
            }
        })
}
