//! The hash a confirm token is bound to, and the digest of the whole plan.
//!
//! The hash covers exactly what version 0.9.1 hashed, so equal plans have equal hashes there and
//! here; whatever this program adds to a plan is covered by the digest.

use std::fmt::Write as _;

use serde::Serialize;
use windlass_pack_model::{Target, machine::normalise};
use windlass_types::Digest;

use crate::{
    change::{LocalEdit, PlanChange, PlanSummary, posix},
    links::ProjectLink,
    plan::DeployPlan,
};

/// The arguments a plan was made with; none where they are the defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Binding {
    /// The machine id.
    pub machine: Option<String>,
    /// The profile.
    pub profile: Option<String>,
    /// The configuration repository.
    pub repo: Option<String>,
    /// The target.
    pub target: Option<String>,
}

/// What the arguments are when they are not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BindingDefaults {
    /// The id this machine was found to have.
    pub machine: String,
    /// The repository below the home.
    pub repo: String,
}

impl Binding {
    /// The arguments as given, with those that spell out a default taken for not given.
    pub fn normalised(self, defaults: &BindingDefaults) -> Self {
        let unless = |value: Option<String>, default: &str| {
            value.filter(|value| !value.is_empty() && value != default)
        };
        let machine = self.machine.filter(|value| {
            let id = normalise(value);
            !id.is_empty() && id != defaults.machine
        });
        Self {
            machine,
            profile: unless(self.profile, "default"),
            repo: unless(self.repo, &defaults.repo)
                .filter(|value| value.trim_end_matches('/') != defaults.repo.trim_end_matches('/')),
            target: unless(self.target, "all"),
        }
    }

    /// The digest a token keeps of the arguments.
    pub fn digest(&self) -> Digest {
        Digest::of(serde_json::to_string(self).unwrap_or_default().as_bytes())
    }
}

/// The two digests of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanHash {
    /// `confirm_plan_hash`.
    pub confirm: Digest,
    /// Over everything: modes, keys, local edits, and what would be owned.
    pub full: Digest,
}

impl DeployPlan {
    /// The digests of the plan as shown for a profile and some targets.
    pub fn hash(&self, binding: &Binding, profile: &str, targets: &[Target]) -> PlanHash {
        let confirm = confirm_hash(binding, profile, targets, &self.changes, self.summary);
        PlanHash {
            confirm,
            full: self.full_digest(confirm),
        }
    }

    fn full_digest(&self, confirm: Digest) -> Digest {
        #[derive(Serialize)]
        struct Full<'a> {
            confirm: Digest,
            changes: &'a [PlanChange],
            local_edits: &'a [LocalEdit],
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            links: &'a [ProjectLink],
            roots: Vec<Root<'a>>,
        }
        #[derive(Serialize)]
        struct Root<'a> {
            target: Target,
            path: String,
            active: bool,
            files: Vec<(&'a str, Digest, bool, bool, &'a [String])>,
            keys: Vec<(&'a str, &'a str, Digest)>,
        }
        let roots = self
            .roots
            .iter()
            .enumerate()
            .map(|(index, root)| Root {
                target: root.owned.target,
                path: root.owned.path.to_string_lossy().into_owned(),
                active: root.active,
                files: root
                    .entries
                    .iter()
                    .map(|entry| {
                        (
                            entry.file.path.as_str(),
                            entry.file.digest,
                            entry.file.executable,
                            entry.adopt,
                            entry.file.module_ids.as_slice(),
                        )
                    })
                    .collect(),
                keys: self
                    .shared
                    .iter()
                    .filter(|shared| shared.root == index)
                    .flat_map(|shared| &shared.outcome.owned)
                    .chain(&root.keys_kept)
                    .map(|key| (key.path.as_str(), key.pointer.as_str(), key.digest))
                    .collect(),
            })
            .collect();
        let full = Full {
            confirm,
            changes: &self.changes,
            local_edits: &self.local_edits,
            links: &self.links,
            roots,
        };
        Digest::of(&serde_json::to_vec(&full).unwrap_or_default())
    }
}

/// The v1 hash: compact JSON, keys sorted, nothing but the v1 fields.
pub fn confirm_hash(
    binding: &Binding,
    profile: &str,
    targets: &[Target],
    changes: &[PlanChange],
    summary: PlanSummary,
) -> Digest {
    let mut text = String::with_capacity(256 + changes.len() * 512);
    text.push_str("{\"binding\":");
    // The fields of a binding are declared in the order of their names.
    text.push_str(&serde_json::to_string(binding).unwrap_or_default());
    text.push_str(",\"data\":{\"applied\":false,\"changes\":[");
    for (index, change) in changes.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        write_change(change, &mut text);
    }
    text.push_str("],\"profile\":");
    write_text(profile, &mut text);
    let _ = write!(
        text,
        ",\"summary\":{{\"create\":{},\"delete\":{},\"update\":{}}},\"targets\":[",
        summary.create, summary.delete, summary.update
    );
    for (index, target) in targets.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        write_text(target.as_str(), &mut text);
    }
    text.push_str("]}}");
    Digest::of(text.as_bytes())
}

fn write_change(change: &PlanChange, text: &mut String) {
    let path = change.path.to_string_lossy();
    text.push_str("{\"after_sha256\":");
    write_digest(change.after_sha256, text);
    text.push_str(",\"before_sha256\":");
    write_digest(change.before_sha256, text);
    text.push_str(",\"op\":");
    write_text(change.op.as_str(), text);
    text.push_str(",\"path\":");
    write_text(&path, text);
    text.push_str(",\"path_posix\":");
    write_text(&posix(&path), text);
    text.push_str(",\"reason\":");
    write_text(change.reason.as_str(), text);
    text.push_str(",\"target\":");
    write_text(change.target.as_str(), text);
    if let Some(kind) = change.update_kind {
        text.push_str(",\"update_kind\":");
        write_text(kind.as_str(), text);
    }
    text.push('}');
}

fn write_digest(digest: Option<Digest>, text: &mut String) {
    match digest {
        Some(digest) => {
            let _ = write!(text, "\"{digest}\"");
        }
        None => text.push_str("null"),
    }
}

fn write_text(value: &str, text: &mut String) {
    text.push_str(&serde_json::to_string(value).unwrap_or_default());
}

#[cfg(test)]
#[path = "hash_tests.rs"]
mod tests;
