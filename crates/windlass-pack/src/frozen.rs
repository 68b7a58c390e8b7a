//! A transaction as data, so that a run can carry it out after a crash or in another process.
//!
//! Contents that were made (an aggregate, a manifest) are part of it; contents that are files of
//! the repository are named by path and digest, and compared again when they are read.

use std::{path::PathBuf, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use windlass_pack_deploy::{
    LinkRule,
    state::{After, FileAction, HeldRoot, KnownRoot, ManifestWrite, Transaction},
};
use windlass_pack_model::{Body, Snapshot, SnapshotOp, Target};
use windlass_types::{Digest, Problem};

/// A transaction, version 1.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FrozenTransactionV1 {
    actions: Vec<FrozenAction>,
    manifests: Vec<FrozenManifest>,
    /// The snapshot's own text.
    snapshot: Option<String>,
    write_through: Vec<PathBuf>,
    #[serde(default)]
    links: LinkRule,
    #[serde(default)]
    held: Vec<HeldRoot>,
    remember_roots: Vec<KnownRoot>,
    forget_roots: Vec<KnownRoot>,
    fsync: bool,
    /// The directories to lock.
    roots: Vec<PathBuf>,
}

#[derive(Debug, Serialize, Deserialize)]
struct FrozenAction {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    target: Option<Target>,
    path: PathBuf,
    before: Option<Digest>,
    after: Option<FrozenAfter>,
    op: SnapshotOp,
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    adopted: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct FrozenAfter {
    digest: Digest,
    body: FrozenBody,
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    executable: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FrozenBody {
    Bytes(String),
    File(PathBuf),
}

#[derive(Debug, Serialize, Deserialize)]
struct FrozenManifest {
    target: Target,
    path: PathBuf,
    before: Option<Digest>,
    after: Option<String>,
    op: SnapshotOp,
}

impl FrozenTransactionV1 {
    /// Freezes a transaction that writes in these directories.
    pub(crate) fn new(transaction: &Transaction, roots: &[PathBuf]) -> Result<Self, Problem> {
        let actions = transaction.actions.iter().map(|action| FrozenAction {
            target: action.target,
            path: action.path.clone(),
            before: action.before,
            after: action.after.as_ref().map(|after| FrozenAfter {
                digest: after.digest,
                body: match &after.body {
                    Body::Memory(bytes) => FrozenBody::Bytes(STANDARD.encode(bytes)),
                    Body::File(path) => FrozenBody::File(path.clone()),
                },
                executable: after.executable,
            }),
            op: action.snapshot_op,
            adopted: action.adopted,
        });
        let manifests = transaction.manifests.iter().map(|write| FrozenManifest {
            target: write.target,
            path: write.path.clone(),
            before: write.before,
            after: write.after.as_ref().map(|bytes| STANDARD.encode(bytes)),
            op: write.snapshot_op,
        });
        Ok(Self {
            actions: actions.collect(),
            manifests: manifests.collect(),
            snapshot: transaction
                .snapshot
                .as_ref()
                .map(Snapshot::render)
                .transpose()?,
            write_through: transaction.write_through.clone(),
            links: transaction.links.clone(),
            held: transaction.held.clone(),
            remember_roots: transaction.remember_roots.clone(),
            forget_roots: transaction.forget_roots.clone(),
            fsync: transaction.fsync,
            roots: roots.to_vec(),
        })
    }

    /// The transaction again, and its directories. Which run it belongs to is for the run to say.
    pub(crate) fn thaw(self) -> Result<(Transaction, Vec<PathBuf>), Problem> {
        let mut transaction = Transaction::new("");
        for action in self.actions {
            transaction.actions.push(FileAction {
                target: action.target,
                path: action.path,
                before: action.before,
                after: action.after.map(FrozenAfter::thaw).transpose()?,
                snapshot_op: action.op,
                adopted: action.adopted,
            });
        }
        for write in self.manifests {
            transaction.manifests.push(ManifestWrite {
                target: write.target,
                path: write.path,
                before: write.before,
                after: write.after.map(|text| decode(&text)).transpose()?,
                snapshot_op: write.op,
            });
        }
        transaction.snapshot = self
            .snapshot
            .map(|text| {
                Snapshot::parse(&text).map_err(|error| Problem::internal("frozen snapshot", error))
            })
            .transpose()?;
        transaction.write_through = self.write_through;
        transaction.links = self.links;
        transaction.held = self.held;
        transaction.remember_roots = self.remember_roots;
        transaction.forget_roots = self.forget_roots;
        transaction.fsync = self.fsync;
        Ok((transaction, self.roots))
    }
}

impl FrozenAfter {
    fn thaw(self) -> Result<After, Problem> {
        Ok(After {
            digest: self.digest,
            body: match self.body {
                FrozenBody::Bytes(text) => Body::Memory(decode(&text)?),
                FrozenBody::File(path) => Body::File(path),
            },
            executable: self.executable,
        })
    }
}

fn decode(text: &str) -> Result<Arc<[u8]>, Problem> {
    STANDARD
        .decode(text)
        .map(Arc::from)
        .map_err(|error| Problem::internal("frozen content", error))
}

#[cfg(test)]
#[path = "frozen_tests.rs"]
mod tests;
