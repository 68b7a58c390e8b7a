//! Care of the store in memory: backup, check and prune.

use std::{collections::HashSet, path::PathBuf, time::Duration};

use windlass_ports::{
    BoxFuture, Commit, CommitError, RunStore as _, StoreError, StoreMaintenance,
    store::{CheckReport, Expiry, KeptFor, PruneReport, Retention},
};
use windlass_types::{
    Digest, RunId, RunRecord, RunState, Timestamp,
    event::{ChainHead, verify_chain},
};

use super::{MemoryStore, disk::Disk};

impl StoreMaintenance for MemoryStore {
    fn backup(&self, directory: PathBuf) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(async move {
            let files = self.read(|disk| Ok(backup_files(disk))).await?;
            let io = |error: std::io::Error| StoreError::Io(error.to_string());
            fs_err::create_dir(&directory).map_err(io)?;
            let mut bytes = 0;
            for (name, content) in files {
                bytes += content.len() as u64;
                fs_err::write(directory.join(name), content).map_err(io)?;
            }
            Ok(bytes)
        })
    }

    fn check(&self) -> BoxFuture<'_, Result<CheckReport, StoreError>> {
        Box::pin(self.read(|disk| Ok(check(disk))))
    }

    fn accept_loss(&self, record: Commit) -> BoxFuture<'_, Result<(), CommitError>> {
        Box::pin(async move { self.commit(record).await.map(drop) })
    }

    fn prune(
        &self,
        keep: Duration,
        now: Timestamp,
        dry_run: bool,
    ) -> BoxFuture<'_, Result<PruneReport, StoreError>> {
        Box::pin(async move {
            let (ended, report) = self
                .read(|disk| Ok(plan_prune(disk, keep, now, &|_| false)))
                .await?;
            if !dry_run {
                prune(&mut self.disk(), &ended, now);
            }
            Ok(report)
        })
    }

    fn expire(
        &self,
        retention: Retention,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Expiry, StoreError>> {
        Box::pin(async move {
            let mut expiry = Expiry::default();
            let own: Vec<&str> = retention.kinds.iter().map(|kept| &*kept.kind).collect();
            let rollback = now.before(retention.rollback);
            let mut remove = async |keep, kind: &(dyn Fn(&str) -> bool + Sync)| {
                let (ended, report) = self
                    .read(|disk| {
                        let stays = |record: &RunRecord| {
                            !kind(&record.kind) || is_wanted(disk, record, rollback)
                        };
                        Ok(plan_prune(disk, keep, now, &stays))
                    })
                    .await?;
                if !ended.is_empty() {
                    prune(&mut self.disk(), &ended, now);
                    expiry.removed.runs += report.runs;
                    expiry.removed.events += report.events;
                    expiry.removed.blobs += report.blobs;
                    expiry.removed.bytes += report.bytes;
                }
                Ok::<_, StoreError>(())
            };
            for KeptFor { kind, keep } in &retention.kinds {
                remove(*keep, &|name| name == kind).await?;
            }
            if let Some(keep) = retention.runs {
                remove(keep, &|name| !own.contains(&name)).await?;
            }
            for KeptFor { kind, keep } in &retention.kinds {
                let oldest = self.read(|disk| Ok(oldest_end(disk, kind))).await?;
                let due = oldest.map(|ended| ended.after(*keep));
                expiry.next = expiry.next.into_iter().chain(due).min();
            }
            Ok(expiry)
        })
    }
}

/// Whether a run that has ended stays: effects of it remain, or it can still be rolled back.
fn is_wanted(disk: &Disk, record: &RunRecord, rollback: Timestamp) -> bool {
    let undoable = || {
        let journal = disk.journals.get(&record.run_id);
        journal.is_some_and(|journal| {
            journal.events.iter().any(|event| {
                event.event_type == "step.completed" && event.payload.value()["undoable"] == true
            })
        })
    };
    let can_roll_back = record.state == RunState::Completed && record.updated_at > rollback;
    !record.residue.is_empty() || (can_roll_back && undoable())
}

/// One file per journal and per content.
fn backup_files(disk: &Disk) -> Vec<(String, Vec<u8>)> {
    let journals = disk.journals.iter().map(|(run_id, journal)| {
        let lines: Vec<String> = journal
            .events
            .iter()
            .map(|event| serde_json::to_string(event).expect("events are JSON"))
            .collect();
        (format!("{run_id}.ndjson"), lines.join("\n").into_bytes())
    });
    let contents = disk
        .contents
        .iter()
        .map(|(digest, bytes)| (digest.to_string(), bytes.clone()));
    journals.chain(contents).collect()
}

pub(super) fn check(disk: &Disk) -> CheckReport {
    let mut report = CheckReport::default();
    for (run_id, journal) in &disk.journals {
        report.journals += 1;
        report.events += journal.events.len() as u64;
        if let Err(error) = verify_chain(ChainHead::default(), &journal.events) {
            report.findings.push(format!("journal {run_id}: {error}"));
            continue;
        }
        match RunRecord::fold(&journal.events) {
            Ok(folded) if folded.as_ref() == disk.index.run(run_id) => {}
            Ok(_) => report.findings.push(format!(
                "run {run_id}: the record is not what the journal says"
            )),
            Err(error) => report.findings.push(format!("run {run_id}: {error}")),
        }
    }
    for (digest, bytes) in &disk.contents {
        report.blobs += 1;
        if Digest::of(bytes) != *digest {
            report
                .findings
                .push(format!("content {digest} was altered"));
        }
    }
    report
}

/// When the run of a kind that ended first did so.
fn oldest_end(disk: &Disk, kind: &str) -> Option<Timestamp> {
    disk.index
        .all_runs()
        .filter(|record| record.kind == kind && record.state.is_final())
        .map(|record| record.updated_at)
        .min()
}

/// The runs that go, and the count of everything that does.
fn plan_prune(
    disk: &Disk,
    keep: Duration,
    now: Timestamp,
    stays: &dyn Fn(&RunRecord) -> bool,
) -> (Vec<RunId>, PruneReport) {
    let oldest = now.before(keep);
    let ended: Vec<RunId> = disk
        .index
        .all_runs()
        .filter(|record| record.state.is_final() && record.updated_at <= oldest)
        .filter(|record| !stays(record))
        .filter(|record| !disk.index.owes_delivery(&record.run_id))
        .map(|record| record.run_id.clone())
        .collect();
    let mut report = PruneReport {
        runs: ended.len() as u64,
        ..PruneReport::default()
    };
    for run_id in &ended {
        report.events += disk
            .journals
            .get(run_id)
            .map_or(0, |journal| journal.events.len() as u64);
    }
    let unwanted = unwanted_contents(disk, &ended, now);
    report.blobs = unwanted.len() as u64;
    report.bytes = unwanted
        .iter()
        .filter_map(|digest| disk.contents.get(digest))
        .map(|bytes| bytes.len() as u64)
        .sum();
    (ended, report)
}

fn unwanted_contents(disk: &Disk, ended: &[RunId], now: Timestamp) -> Vec<Digest> {
    let wanted: HashSet<Digest> = disk.index.wanted_contents(now, ended);
    disk.contents
        .keys()
        .filter(|digest| !wanted.contains(digest))
        .copied()
        .collect()
}

fn prune(disk: &mut Disk, ended: &[RunId], now: Timestamp) {
    for digest in unwanted_contents(disk, ended, now) {
        disk.contents.remove(&digest);
    }
    for run_id in ended {
        disk.journals.remove(run_id);
        disk.index.forget(run_id);
    }
    disk.feed.retain(|_, (run_id, _)| !ended.contains(run_id));
}
