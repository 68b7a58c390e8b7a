//! Staged files: the bytes next to their destination, under a name that says what they are.

use std::{
    fs::{File, Permissions},
    io::{self, Write},
    os::unix::fs::PermissionsExt,
    path::Path,
};

use windlass_pack_model::FileMode;

use crate::state::{
    exact::{OpenDirectories, remove_if_there},
    probe::{FaultProbe, Step, Stop, step},
};

/// How every temporary name in a root begins.
const PREFIX: &str = ".agentpack.tmp.";
/// Enough of a run id to distinguish runs, and short enough for any file system.
const RUN_LIMIT: usize = 64;

/// Whether a file name is one of a transaction's temporary names. Such files have no owner:
/// `status` does not report them and no plan touches them.
pub fn is_temp_name(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// The beginning of a run's temporary names.
pub(crate) fn temp_prefix(run_id: &str) -> String {
    format!("{PREFIX}{}-", run_tag(run_id))
}

/// A run id as part of a file name.
pub(crate) fn run_tag(run_id: &str) -> String {
    run_id
        .chars()
        .map(|character| match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => character,
            _ => '_',
        })
        .take(RUN_LIMIT)
        .collect()
}

/// The mode of a staged file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StagedMode {
    /// A new file: the umask applies.
    New(FileMode),
    /// Exactly these bits, whatever the umask.
    Exact(FileMode),
}

/// Writes a staged file.
pub(crate) fn stage(
    path: &Path,
    bytes: &[u8],
    mode: StagedMode,
    fsync: bool,
    directories: &mut OpenDirectories,
    probe: &dyn FaultProbe,
) -> Result<(), Stop> {
    let bits = match mode {
        StagedMode::New(mode) => mode.bits(),
        // No other user may read it before it has its mode.
        StagedMode::Exact(mode) => mode.bits() & 0o700,
    };
    let file = step(probe, Step::CreateTemp, "create", path, || {
        match directories.create_new(path, bits) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // Left by this same run before it was interrupted.
                remove_if_there(path)?;
                directories.create_new(path, bits)
            }
            created => created,
        }
    })?;
    step(probe, Step::WriteTemp, "write", path, || {
        fill(file, bytes, mode, fsync)
    })
}

fn fill(mut file: File, bytes: &[u8], mode: StagedMode, fsync: bool) -> io::Result<()> {
    file.write_all(bytes)?;
    if let StagedMode::Exact(mode) = mode {
        file.set_permissions(Permissions::from_mode(mode.bits()))?;
    }
    if fsync {
        file.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_names_are_recognised() {
        for (run, prefix) in [
            ("run_12ab", ".agentpack.tmp.run_12ab-"),
            ("../x:y", ".agentpack.tmp.___x_y-"),
        ] {
            assert_eq!(temp_prefix(run), prefix);
            assert!(is_temp_name(&format!("{}7", temp_prefix(run))));
        }
        assert!(temp_prefix(&"x".repeat(500)).len() < 100);
        assert!(!is_temp_name(".agentpack.manifest.codex.json"));
    }
}
