//! `record` and `score`: how modules do.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use windlass_engine::operation::Operation;
use windlass_pack_author::{read_manifest, record as append, score as rate};
use windlass_types::Problem;

use super::{Shop, value, with_warnings};
use crate::{
    arguments::{Common, require_yes},
    workspace::{Moment, Pack},
};

pub(super) fn operations(shop: &Shop) -> Vec<Arc<dyn Operation>> {
    vec![
        shop.change(
            "record",
            "Record an event",
            "Appends one event about a module to the log.",
            record,
        ),
        shop.query(
            "score",
            "Score modules",
            "Rates modules by their recorded failures, worst first.",
            score,
        ),
    ]
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct RecordInput {
    #[serde(flatten)]
    common: Common,
    /// The event: any JSON value, or its text.
    event: Value,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    yes: bool,
}

fn record(pack: &Pack, moment: &Moment, input: RecordInput) -> Result<Value, Problem> {
    require_yes(input.yes || input.dry_run, "record")?;
    let text = match &input.event {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let machine = pack.machine_id(&input.common);
    value(&append(
        pack.state().home(),
        &machine,
        &text,
        moment.now,
        input.dry_run,
    )?)
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct ScoreInput {
    #[serde(flatten)]
    common: Common,
}

fn score(pack: &Pack, moment: &Moment, input: ScoreInput) -> Result<Value, Problem> {
    let file = read_manifest(&pack.repo(&input.common, moment))?;
    let known = file
        .manifest
        .modules
        .iter()
        .map(|module| module.id.as_str());
    let scored = rate(pack.state().home(), known)?;
    Ok(with_warnings(value(&scored.data)?, scored.warnings))
}
