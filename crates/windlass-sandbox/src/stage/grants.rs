//! What Landlock lets a program do with files, as a list of grants.
//!
//! In namespaces the mounts decide, and Landlock repeats them as a second wall. Alone it can only
//! grant, never take back below a grant: so a root with something forbidden in it is granted entry by
//! entry, around what is forbidden, and nothing new can be created next to it.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

use windlass_ports::sandbox::Backend;

use crate::spec::Spec;

/// What is granted. A folder stands for everything below it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// Reading files, and starting programs.
    pub read: BTreeSet<PathBuf>,
    /// Seeing names.
    pub list: BTreeSet<PathBuf>,
    /// Everything.
    pub write: BTreeSet<PathBuf>,
    /// Reading and writing what exists: devices.
    pub devices: BTreeSet<PathBuf>,
}

/// More entries than a program's rules can sensibly have.
const MOST: usize = 20_000;
/// Devices that do nothing to the machine.
const DEVICES: [&str; 6] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
];

/// The grants of a confinement; `temporary` is the private directory where there is no namespace.
pub fn of(spec: &Spec, temporary: Option<&Path>) -> io::Result<Grants> {
    let mut grants = Grants::default();
    if spec.backend != Backend::Landlock {
        grants.read.insert("/".into());
        grants.write.extend(spec.write.iter().cloned());
        let own = ["/tmp", "/var/tmp", "/dev/shm", "/dev/pts"];
        grants.write.extend(own.iter().map(PathBuf::from));
        grants.devices.extend(DEVICES.map(PathBuf::from));
        grants.devices.insert("/dev/ptmx".into());
        return Ok(grants);
    }
    let denied: Vec<&Path> = spec.deny_read.iter().map(PathBuf::as_path).collect();
    let mut left = MOST;
    let system = ["/proc"].iter().map(PathBuf::from);
    for root in spec.read.iter().cloned().chain(system) {
        around(
            &root,
            &denied,
            &mut left,
            &mut grants.read,
            &mut grants.list,
        )?;
    }
    let protected = spec.protected.iter().map(|entry| entry.path.as_path());
    let closed: Vec<&Path> = protected.chain(denied.iter().copied()).collect();
    let mut between = BTreeSet::new();
    for root in &spec.write {
        around(root, &closed, &mut left, &mut grants.write, &mut between)?;
        around(root, &denied, &mut left, &mut grants.read, &mut grants.list)?;
    }
    grants.devices.extend(DEVICES.map(PathBuf::from));
    grants.write.extend(temporary.map(Path::to_path_buf));
    Ok(grants)
}

/// Adds a root without what is closed below it; `passed` are the folders that were taken apart.
fn around(
    root: &Path,
    closed: &[&Path],
    left: &mut usize,
    granted: &mut BTreeSet<PathBuf>,
    passed: &mut BTreeSet<PathBuf>,
) -> io::Result<()> {
    if closed.iter().any(|path| root.starts_with(path)) {
        return Ok(());
    }
    *left = left
        .checked_sub(1)
        .ok_or_else(|| io::Error::other("too many files lie beside what is protected or denied"))?;
    if !closed.iter().any(|path| path.starts_with(root)) {
        granted.insert(root.to_owned());
        return Ok(());
    }
    passed.insert(root.to_owned());
    let entries = match fs_err::read_dir(root) {
        Ok(entries) => entries,
        // What this user cannot list cannot be granted in parts.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        // A link is granted where it leads, if that is a root.
        if !entry.file_type()?.is_symlink() {
            around(&entry.path(), closed, left, granted, passed)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_granted_around_what_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for path in ["src/deep", ".git/hooks", ".git/objects", ".windlass"] {
            fs_err::create_dir_all(root.join(path)).unwrap();
        }
        fs_err::write(root.join(".git/config"), "").unwrap();
        std::os::unix::fs::symlink("/etc", root.join("out")).unwrap();
        let closed = [".git/hooks", ".git/config", ".windlass"].map(|name| root.join(name));
        let closed: Vec<&Path> = closed.iter().map(PathBuf::as_path).collect();
        let (mut granted, mut passed) = (BTreeSet::new(), BTreeSet::new());
        around(root, &closed, &mut 100, &mut granted, &mut passed).unwrap();
        let shown = |paths: BTreeSet<PathBuf>| {
            let paths = paths.into_iter();
            let names = paths.map(|path| path.strip_prefix(root).unwrap().display().to_string());
            names.collect::<Vec<_>>()
        };
        assert_eq!(shown(granted), [".git/objects", "src"]);
        assert_eq!(shown(passed), ["", ".git"]);
        let mut few = 2;
        let mut rest = BTreeSet::new();
        assert!(around(root, &closed, &mut few, &mut rest, &mut BTreeSet::new()).is_err());
    }
}
