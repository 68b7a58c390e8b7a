//! Drift that is not captured: which, why, and what to do instead.

use std::path::PathBuf;

use serde::{Serialize, Serializer, ser::SerializeStruct};
use windlass_pack_model::{
    Target, fault,
    next_actions::{Caller, shell_quote},
};

use crate::evolve::scope::Scope;

/// Why a file is not proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SkipReason {
    /// It is not there.
    Missing,
    /// It comes from several modules and does not say which part is whose.
    MultiModuleOutput,
    /// Outputs of one module file were edited in ways that contradict each other.
    ConflictingEdits,
    /// It, or the part that was edited, is generated and has no counterpart in the module.
    GeneratedOutput,
    /// The overlay is of patches, and a patch cannot hold the edit.
    NotPatchable,
    /// An overlay of a higher scope changes the same place.
    HiddenByHigherScope,
}

impl SkipReason {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::MultiModuleOutput => "multi_module_output",
            Self::ConflictingEdits => "conflicting_edits",
            Self::GeneratedOutput => "generated_output",
            Self::NotPatchable => "not_patchable",
            Self::HiddenByHigherScope => "hidden_by_higher_scope",
        }
    }

    fn message(self) -> &'static str {
        match self {
            Self::Missing => {
                "the file is wanted but not there; recreate it with evolve restore or deploy"
            }
            Self::MultiModuleOutput => {
                "the file comes from several modules and its markers do not separate the edits"
            }
            Self::ConflictingEdits => {
                "outputs of the same module file were edited differently, and the edits cannot be merged"
            }
            Self::GeneratedOutput => {
                "the edited part is generated from the module and cannot be mapped back to it"
            }
            Self::NotPatchable => {
                "the overlay holds patches, and this edit cannot be a patch of a file below it"
            }
            Self::HiddenByHigherScope => {
                "an overlay of a higher scope changes the same lines, so the edit would not show"
            }
        }
    }
}

/// Something that helps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// What to do.
    pub action: String,
    /// What it is good for.
    pub reason: String,
}

/// One file that is not proposed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedItem {
    /// The target.
    pub target: Target,
    /// The absolute path.
    pub path: PathBuf,
    /// Why.
    pub reason: SkipReason,
    /// The modules it comes from.
    pub module_ids: Vec<String>,
    /// Commands to continue with.
    pub next_actions: Vec<String>,
    /// What else helps.
    pub suggestions: Vec<Suggestion>,
}

impl Serialize for SkippedItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut view = serializer.serialize_struct("SkippedItem", 9)?;
        match self.module_ids.as_slice() {
            [] => {}
            [only] => view.serialize_field("module_id", only)?,
            several => view.serialize_field("module_ids", several)?,
        }
        view.serialize_field("next_actions", &self.next_actions)?;
        view.serialize_field("path", &self.path.display().to_string())?;
        view.serialize_field("path_posix", &fault::posix(&self.path))?;
        view.serialize_field("reason", self.reason.as_str())?;
        view.serialize_field("reason_code", self.reason.as_str())?;
        view.serialize_field("reason_message", self.reason.message())?;
        if !self.suggestions.is_empty() {
            view.serialize_field("suggestions", &self.suggestions)?;
        }
        view.serialize_field("target", &self.target)?;
        view.end()
    }
}

/// Makes skipped items for one caller and scope.
#[derive(Clone, Copy)]
pub(crate) struct Skipping<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) scope: Scope,
}

impl Skipping<'_> {
    /// A file that is not there.
    pub(crate) fn missing(
        &self,
        target: Target,
        path: PathBuf,
        module_ids: &[String],
    ) -> SkippedItem {
        let restore = match module_ids {
            [only] => format!(
                "evolve restore --module-id {} --yes --json",
                shell_quote(only)
            ),
            _ => "evolve restore --yes --json".to_owned(),
        };
        let program = &self.caller.program;
        SkippedItem {
            next_actions: vec![
                self.caller.command(&restore),
                self.caller.command("deploy --apply --yes --json"),
            ],
            suggestions: vec![
                suggestion(
                    format!("{program} evolve restore"),
                    "writes the missing files again and touches no other",
                ),
                suggestion(
                    format!("{program} deploy --apply"),
                    "writes everything as wanted and brings the manifests up to date",
                ),
            ],
            ..item(target, path, module_ids, SkipReason::Missing)
        }
    }

    /// A file of several modules.
    pub(crate) fn multi_module(
        &self,
        target: Target,
        path: PathBuf,
        module_ids: &[String],
    ) -> SkippedItem {
        SkippedItem {
            suggestions: vec![
                suggestion(
                    "put the module markers back and edit between them".to_owned(),
                    "each edit then belongs to one module",
                ),
                suggestion(
                    "write the modules to files of their own".to_owned(),
                    "a file of one module needs no markers",
                ),
            ],
            ..item(target, path, module_ids, SkipReason::MultiModuleOutput)
        }
    }

    /// A generated part that was edited.
    pub(crate) fn generated(
        &self,
        target: Target,
        path: PathBuf,
        module_ids: &[String],
    ) -> SkippedItem {
        SkippedItem {
            next_actions: vec![self.caller.command("deploy --apply --yes --json")],
            suggestions: vec![suggestion(
                "make the change in the module or in an overlay of it".to_owned(),
                "the file is then generated with the change",
            )],
            ..item(target, path, module_ids, SkipReason::GeneratedOutput)
        }
    }

    /// One of several outputs of a module file whose edits contradict each other. Where they are
    /// of different targets, the edits of one can be proposed alone.
    pub(crate) fn conflicting(
        &self,
        target: Target,
        path: PathBuf,
        module_id: &str,
        targets: &[Target],
    ) -> SkippedItem {
        let alone = |target: &Target| {
            let caller = Caller {
                target: Some(target.as_str().to_owned()),
                ..self.caller.clone()
            };
            caller.command(&self.propose(module_id, self.scope))
        };
        SkippedItem {
            next_actions: if targets.len() > 1 {
                targets.iter().map(alone).collect()
            } else {
                Vec::new()
            },
            suggestions: vec![suggestion(
                "make the outputs agree, then propose again".to_owned(),
                "equal edits, and edits of different places, are taken together",
            )],
            ..item(
                target,
                path,
                &[module_id.to_owned()],
                SkipReason::ConflictingEdits,
            )
        }
    }

    /// An edit that a patch overlay cannot hold.
    pub(crate) fn not_patchable(
        &self,
        target: Target,
        path: PathBuf,
        module_id: &str,
    ) -> SkippedItem {
        SkippedItem {
            suggestions: vec![suggestion(
                format!(
                    "set overlay_kind to dir for the {} overlay of the module",
                    self.scope
                ),
                "a directory overlay holds any file",
            )],
            ..item(
                target,
                path,
                &[module_id.to_owned()],
                SkipReason::NotPatchable,
            )
        }
    }

    /// An edit that would not show.
    pub(crate) fn hidden(
        &self,
        target: Target,
        path: PathBuf,
        module_id: &str,
        by: Scope,
    ) -> SkippedItem {
        SkippedItem {
            next_actions: vec![self.caller.command(&self.propose(module_id, by))],
            suggestions: vec![suggestion(
                format!("propose into scope {by}"),
                "the overlay there has precedence for the file",
            )],
            ..item(
                target,
                path,
                &[module_id.to_owned()],
                SkipReason::HiddenByHigherScope,
            )
        }
    }

    fn propose(&self, module_id: &str, scope: Scope) -> String {
        format!(
            "evolve propose --module-id {} --scope {scope} --yes --json",
            shell_quote(module_id)
        )
    }
}

fn item(target: Target, path: PathBuf, module_ids: &[String], reason: SkipReason) -> SkippedItem {
    SkippedItem {
        target,
        path,
        reason,
        module_ids: module_ids.to_vec(),
        next_actions: Vec::new(),
        suggestions: Vec::new(),
    }
}

fn suggestion(action: String, reason: &str) -> Suggestion {
    Suggestion {
        action,
        reason: reason.to_owned(),
    }
}
