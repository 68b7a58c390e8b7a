//! Says when a module's upstream is no longer what an overlay was made from.
//!
//! Only warns: an overlay applies whatever its baseline says. Bringing it up to date is the work
//! of `overlay rebase`.

use std::{collections::BTreeMap, path::Path};

use windlass_pack_model::{Baseline, FileRecord, RelPath, lockfile::module_hash};
use windlass_types::{Digest, Problem};

use crate::render::{compose::Overlay, read, source::SourceTree};

pub(crate) fn compare(
    overlay: &Overlay<'_>,
    metadata: &Path,
    upstream: &SourceTree,
    touched: &[&RelPath],
    warnings: &mut Vec<String>,
) -> Result<(), Problem> {
    let path = metadata.join("baseline.json");
    let Some(text) = read::text_if_present(&path)? else {
        return Ok(());
    };
    let (scope, id) = (overlay.layer, &overlay.module.id);
    match Baseline::parse(&text, &path) {
        Ok(baseline) => warnings.extend(
            differences(&baseline, &upstream.records(), touched)
                .into_iter()
                .map(|difference| format!("overlay drift ({scope}) module {id}: {difference}")),
        ),
        Err(problem) => warnings.push(format!(
            "overlay baseline ({scope}) module {id}: {}; changes of its upstream go unnoticed until overlay edit writes it again",
            problem.message()
        )),
    }
    Ok(())
}

/// The files the overlay touches that changed upstream; failing those, that something did.
fn differences(baseline: &Baseline, current: &[FileRecord], touched: &[&RelPath]) -> Vec<String> {
    let now = module_hash(current);
    if now == baseline.upstream_sha256 {
        return Vec::new();
    }
    let digests = |records: &[FileRecord]| -> BTreeMap<RelPath, Digest> {
        records
            .iter()
            .map(|record| (record.path.clone(), record.sha256))
            .collect()
    };
    let (before, after) = (digests(&baseline.file_manifest), digests(current));
    let mut found: Vec<String> = touched
        .iter()
        .filter_map(|path| {
            let old = before.get(*path)?;
            match after.get(*path) {
                Some(new) if new == old => None,
                Some(new) => Some(format!("upstream changed for {path} ({old} -> {new})")),
                None => Some(format!("upstream removed {path} (baseline {old})")),
            }
        })
        .collect();
    if found.is_empty() {
        found.push(format!(
            "upstream changed ({} -> {now})",
            baseline.upstream_sha256
        ));
    }
    found
}
