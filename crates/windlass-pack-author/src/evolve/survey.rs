//! Finds the edits people made to deployed files, and whose they are.
//!
//! Compares what is desired with the disk; a manifest is not needed. What becomes of an edit is
//! decided in `mapping` and `propose`.

use std::path::PathBuf;

use windlass_pack_deploy::{
    Disk, OnDisk,
    render::{split_aggregate, unwrap_cursor_rule, wrap_cursor_rule},
};
use windlass_pack_model::{Body, Desired, DesiredFile, Form, Origin, Target};
use windlass_types::{Digest, Problem};

use crate::evolve::{
    read,
    skip::{SkippedItem, Skipping},
};

/// An edit of one module file, found in one output.
#[derive(Clone, Debug)]
pub(crate) struct Edit<'a> {
    pub(crate) target: Target,
    pub(crate) output: PathBuf,
    pub(crate) origin: &'a Origin,
    /// The module file as the output has it.
    pub(crate) bytes: Vec<u8>,
    /// Whether the form ends every text with a newline, so that the file may have had none.
    pub(crate) newline_added: bool,
    /// Whether it stands between markers in a file of several modules.
    pub(crate) section: bool,
    pub(crate) executable: bool,
}

/// What was found.
#[derive(Default)]
pub(crate) struct Survey<'a> {
    pub(crate) edits: Vec<Edit<'a>>,
    pub(crate) skipped: Vec<SkippedItem>,
    pub(crate) unreadable: u64,
    pub(crate) warnings: Vec<String>,
}

/// Looks at every desired file, or at those of one module.
pub(crate) fn survey<'a>(
    desired: &'a Desired,
    disk: &Disk,
    module_id: Option<&str>,
    skipping: Skipping<'_>,
) -> Result<Survey<'a>, Problem> {
    let mut survey = Survey::default();
    for file in &desired.files {
        if module_id.is_some_and(|only| file.module_ids.iter().all(|id| id != only)) {
            continue;
        }
        let found = match disk.at(&file.path) {
            OnDisk::Absent | OnDisk::Symlink { file: None, .. } => {
                survey.skipped.push(skipping.missing(
                    file.target,
                    file.path.clone(),
                    &file.module_ids,
                ));
                continue;
            }
            OnDisk::File(found)
            | OnDisk::Symlink {
                file: Some(found), ..
            } => *found,
            OnDisk::NotAFile => {
                survey.unreadable(file, "it is not a file");
                continue;
            }
            OnDisk::Unreadable(problem) => {
                survey.unreadable(file, problem.message());
                continue;
            }
        };
        if found.digest == file.digest {
            continue;
        }
        let bytes = match read::bytes(&file.path) {
            Ok(bytes) => bytes,
            Err(problem) => {
                survey.unreadable(file, problem.message());
                continue;
            }
        };
        // The disk may have been looked at through a cache, and a while ago.
        if Digest::of(&bytes) == file.digest {
            continue;
        }
        // 0.9.1 left every file without execute bits: a missing bit says nothing, one that was
        // added does.
        let executable = file.executable || found.mode.is_executable();
        match taken_apart(file, bytes, executable)? {
            Taken::Edits(edits) => survey.edits.extend(
                edits
                    .into_iter()
                    .filter(|edit| module_id.is_none_or(|only| edit.origin.module_id == only)),
            ),
            Taken::Ambiguous => survey.skipped.push(skipping.multi_module(
                file.target,
                file.path.clone(),
                &file.module_ids,
            )),
            Taken::Generated => survey.skipped.push(skipping.generated(
                file.target,
                file.path.clone(),
                &file.module_ids,
            )),
        }
    }
    Ok(survey)
}

impl Survey<'_> {
    fn unreadable(&mut self, file: &DesiredFile, cause: &str) {
        self.unreadable += 1;
        self.warnings.push(format!(
            "evolve.propose: skipped {} {}: {cause}",
            file.target,
            file.path.display()
        ));
    }
}

/// What an edited output comes to.
enum Taken<'a> {
    /// Edits of module files; none when only other modules' parts changed.
    Edits(Vec<Edit<'a>>),
    /// It is unclear which module an edit belongs to.
    Ambiguous,
    /// The edit is of a part that no module has.
    Generated,
}

fn taken_apart(file: &DesiredFile, bytes: Vec<u8>, executable: bool) -> Result<Taken<'_>, Problem> {
    let edit = |origin, bytes| Edit {
        target: file.target,
        output: file.path.clone(),
        origin,
        bytes,
        newline_added: false,
        section: false,
        executable,
    };
    match (file.form, file.origins.as_slice()) {
        (Form::Generated, _) => Ok(Taken::Generated),
        (Form::Aggregate, origins) => {
            let Some(changed) = changed_sections(file, &bytes)? else {
                return Ok(Taken::Ambiguous);
            };
            let edits = changed
                .into_iter()
                .filter_map(|(id, text)| {
                    let origin = origins.iter().find(|origin| origin.module_id == id)?;
                    Some(Edit {
                        newline_added: true,
                        section: true,
                        executable: false,
                        ..edit(origin, text.into_bytes())
                    })
                })
                .collect();
            Ok(Taken::Edits(edits))
        }
        (Form::Verbatim, [origin, ..]) if file.module_ids.len() == 1 => {
            Ok(Taken::Edits(vec![edit(origin, bytes)]))
        }
        (Form::CursorRule, [origin, ..]) if file.module_ids.len() == 1 => {
            match rule_body(&origin.module_id, &bytes) {
                Some(body) => Ok(Taken::Edits(vec![Edit {
                    newline_added: true,
                    executable: false,
                    ..edit(origin, body.into_bytes())
                }])),
                None => Ok(Taken::Generated),
            }
        }
        (Form::Verbatim | Form::CursorRule, _) => Ok(Taken::Ambiguous),
    }
}

/// The sections that differ from what is desired; nothing unless every module's markers are
/// intact and the difference lies between them.
fn changed_sections(
    file: &DesiredFile,
    bytes: &[u8],
) -> Result<Option<Vec<(String, String)>>, Problem> {
    let desired = match &file.body {
        Body::Memory(bytes) => bytes.to_vec(),
        Body::File(path) => read::bytes(path)?,
    };
    let sections = |bytes: &[u8]| split_aggregate(std::str::from_utf8(bytes).ok()?);
    let (Some(desired), Some(found)) = (sections(&desired), sections(bytes)) else {
        return Ok(None);
    };
    let mut changed = Vec::new();
    for (id, wanted) in desired {
        match found.iter().find(|(found, _)| *found == id) {
            Some((_, text)) if *text == wanted => {}
            Some((_, text)) => changed.push((id, text.clone())),
            None => return Ok(None),
        }
    }
    Ok((!changed.is_empty()).then_some(changed))
}

/// The body of a rule whose generated part is as it was written for the module.
fn rule_body(module_id: &str, bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let body = unwrap_cursor_rule(text)?;
    let again = wrap_cursor_rule(module_id, body);
    // An editor may have taken the last newline away; deploying puts it there again.
    let is_intact = again == text || again.strip_suffix('\n') == Some(text);
    is_intact.then(|| match body.ends_with('\n') {
        true => body.to_owned(),
        false => format!("{body}\n"),
    })
}
