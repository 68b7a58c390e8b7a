//! Brings what the targets asked for into order, and refuses two contents for one path.

use std::{
    cmp::Ordering,
    collections::{HashMap, hash_map::Entry},
    ffi::OsStr,
    hash::{BuildHasher as _, RandomState},
    os::unix::ffi::OsStrExt as _,
    path::Path,
};

use serde_json::{Value, json};
use windlass_pack_model::{DesiredFile, DesiredKey, Target, TargetRoot, fault};
use windlass_types::{Digest, Problem};

use crate::gather::is_below;

/// Files and keys as they come.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) files: Vec<DesiredFile>,
    pub(crate) keys: Vec<DesiredKey>,
    /// Whether a skill's name has several components, so that one skill can lie in another.
    pub(crate) nested: bool,
}

impl Collected {
    /// The files by (target, path) and the keys by (target, path, pointer). What several
    /// modules want alike appears once.
    pub(crate) fn finish(self) -> Result<(Vec<DesiredFile>, Vec<DesiredKey>), Problem> {
        let nested = self.nested;
        let mut files = self.files;
        // Stable: of two equal ones the module that comes first by id stays first.
        files.sort_by(|left, right| by_path(left.target, &left.path, right.target, &right.path));
        let files = merge(files, same_file, merge_file)?;
        if nested {
            refuse_files_below_files(&files)?;
        }
        let mut keys = self.keys;
        keys.sort_by(|left, right| {
            by_path(left.target, &left.path, right.target, &right.path)
                .then_with(|| left.pointer.cmp(&right.pointer))
                .then_with(|| match left.pointer.ends_with("/-") {
                    true => left.digest.cmp(&right.digest),
                    false => Ordering::Equal,
                })
        });
        let keys = merge(keys, same_key, merge_key)?;
        Ok((files, keys))
    }
}

/// The roots by (target, path), each once.
pub(crate) fn order_roots(mut roots: Vec<TargetRoot>) -> Vec<TargetRoot> {
    roots.sort_by(|left, right| by_path(left.target, &left.path, right.target, &right.path));
    roots.dedup_by(|later, kept| {
        let same = (later.target, &later.path) == (kept.target, &kept.path);
        if same {
            kept.scan_extras |= later.scan_extras;
        }
        same
    });
    roots
}

/// Targets by name, paths by their bytes: the order of every list in the formats.
fn by_path(left: Target, left_path: &Path, right: Target, right_path: &Path) -> Ordering {
    fn bytes(path: &Path) -> &[u8] {
        path.as_os_str().as_encoded_bytes()
    }
    left.cmp(&right)
        .then_with(|| bytes(left_path).cmp(bytes(right_path)))
}

fn merge<T>(
    sorted: Vec<T>,
    same: impl Fn(&T, &T) -> bool,
    join: impl Fn(&mut T, T) -> Result<(), Problem>,
) -> Result<Vec<T>, Problem> {
    let mut merged: Vec<T> = Vec::with_capacity(sorted.len());
    for next in sorted {
        match merged.last_mut() {
            Some(last) if same(last, &next) => join(last, next)?,
            _ => merged.push(next),
        }
    }
    Ok(merged)
}

fn same_file(left: &DesiredFile, right: &DesiredFile) -> bool {
    left.target == right.target && left.path == right.path
}

fn merge_file(kept: &mut DesiredFile, next: DesiredFile) -> Result<(), Problem> {
    if kept.digest != next.digest {
        return Err(conflict(
            kept.target,
            &kept.path,
            (kept.digest, &kept.module_ids),
            (next.digest, &next.module_ids),
        ));
    }
    // One of them needs to run it.
    kept.executable |= next.executable;
    add_ids(&mut kept.module_ids, next.module_ids);
    for origin in next.origins {
        if !kept.origins.contains(&origin) {
            kept.origins.push(origin);
        }
    }
    Ok(())
}

fn same_key(left: &DesiredKey, right: &DesiredKey) -> bool {
    left.target == right.target
        && left.path == right.path
        && left.pointer == right.pointer
        && (!left.pointer.ends_with("/-") || left.digest == right.digest)
}

fn merge_key(kept: &mut DesiredKey, next: DesiredKey) -> Result<(), Problem> {
    if kept.digest != next.digest {
        return Err(conflict(
            kept.target,
            &kept.path,
            (kept.digest, &kept.module_ids),
            (next.digest, &next.module_ids),
        )
        .with("pointer", kept.pointer.as_str()));
    }
    add_ids(&mut kept.module_ids, next.module_ids);
    Ok(())
}

fn add_ids(ids: &mut Vec<String>, more: Vec<String>) {
    ids.extend(more);
    ids.sort();
    ids.dedup();
}

/// A path cannot be a file and a directory.
fn refuse_files_below_files(files: &[DesiredFile]) -> Result<(), Problem> {
    let mut by_component: Vec<&DesiredFile> = files.iter().collect();
    by_component.sort_by_key(|file| (file.target, &file.path));
    for pair in by_component.windows(2) {
        let [file, below] = pair else { continue };
        if file.target == below.target && below.path.starts_with(&file.path) {
            return Err(conflict(
                file.target,
                &file.path,
                (file.digest, &file.module_ids),
                (below.digest, &below.module_ids),
            )
            .with("path_below", below.path.display().to_string()));
        }
    }
    Ok(())
}

/// Refuses paths of one root that differ only in case: where case does not count, one would
/// replace the other. Counts for directories too: `Demo/a` and `demo/b` would be in one.
pub(crate) fn refuse_names_alike(
    files: &[DesiredFile],
    roots: &[TargetRoot],
) -> Result<(), Problem> {
    // Only digests of the names are kept: there are as many as files and directories.
    let hasher = RandomState::new();
    let mut seen: HashMap<u64, (&DesiredFile, usize)> = HashMap::with_capacity(files.len());
    let mut last: &[u8] = b"";
    for file in files {
        let bytes = file.path.as_os_str().as_encoded_bytes();
        let root_len = roots
            .iter()
            .filter(|root| root.target == file.target && is_below(&file.path, &root.path))
            .map(|root| root.path.as_os_str().len())
            .max();
        let Some(root_len) = root_len else {
            continue;
        };
        let root = bytes.get(..root_len).unwrap_or_default();
        let below = bytes.get(root_len + 1..).unwrap_or_default();
        let slashes = below.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let directories = slashes.map(|(at, _)| root_len + 1 + at);
        // Sorted by path: the directories above are mostly those of the file before.
        let parent = bytes.iter().rposition(|byte| *byte == b'/');
        let parent = parent.and_then(|end| bytes.get(..end)).unwrap_or_default();
        let known = std::mem::replace(&mut last, parent) == parent;
        let directories = directories.filter(|_| !known);
        for end in directories.chain([bytes.len()]) {
            let name = lower_case(file, root_len, end);
            match seen.entry(hasher.hash_one((root, &*name))) {
                Entry::Vacant(entry) => {
                    entry.insert((file, end));
                }
                Entry::Occupied(entry) => {
                    let (owner, other_end) = *entry.get();
                    let (one, two) = (up_to(owner, other_end), up_to(file, end));
                    // Two names could have one digest.
                    if one.as_os_str() != two.as_os_str()
                        && lower_case(owner, root_len, other_end) == name
                    {
                        return Err(alike((one, owner), (two, file)));
                    }
                }
            }
        }
    }
    Ok(())
}

/// The beginning of a file's path, up to a `/` or its end.
fn up_to(file: &DesiredFile, end: usize) -> &Path {
    let bytes = file.path.as_os_str().as_bytes();
    Path::new(OsStr::from_bytes(bytes.get(..end).unwrap_or(bytes)))
}

/// The same below its root, in lower case.
fn lower_case(file: &DesiredFile, root_len: usize, end: usize) -> String {
    let bytes = file.path.as_os_str().as_bytes();
    String::from_utf8_lossy(bytes.get(root_len..end).unwrap_or_default()).to_lowercase()
}

fn alike(one: (&Path, &DesiredFile), two: (&Path, &DesiredFile)) -> Problem {
    let message = format!(
        "{} (of {}) and {} (of {}) differ only in case: on macOS and Windows they are one file; rename one or exclude one",
        one.0.display(),
        one.1.module_ids.join(", "),
        two.0.display(),
        two.1.module_ids.join(", "),
    );
    described(
        message,
        one.1.target,
        one.0,
        (one.1.digest, &one.1.module_ids),
        (two.1.digest, &two.1.module_ids),
    )
    .with("path_alike", two.0.display().to_string())
}

fn conflict(
    target: Target,
    path: &Path,
    existing: (Digest, &[String]),
    new: (Digest, &[String]),
) -> Problem {
    let message = format!(
        "modules {} and {} want different content at {} of {target}; rename one, exclude one, or limit its targets",
        existing.1.join(", "),
        new.1.join(", "),
        path.display()
    );
    described(message, target, path, existing, new)
}

fn described(
    message: String,
    target: Target,
    path: &Path,
    existing: (Digest, &[String]),
    new: (Digest, &[String]),
) -> Problem {
    let side = |(digest, ids): (Digest, &[String])| -> Value {
        json!({ "sha256": digest.to_string(), "module_ids": ids })
    };
    fault::desired_state_conflict(message)
        .with("target", target.as_str())
        .with("path", path.display().to_string())
        .with("path_posix", fault::posix(path))
        .with("existing", side(existing))
        .with("new", side(new))
}
