//! Builds the files of a namespace of our own and moves into them.
//!
//! Everything is addressed by descriptor: sources are opened before anything is mounted, targets are
//! opened beneath the new root without following a link, so that no path means something else by the
//! time it is used.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, Mode, OFlags, ResolveFlags, mkdirat, open, openat, openat2, symlinkat},
    io::Errno,
    mount::{
        FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags,
        OpenTreeFlags, UnmountFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string,
        fsmount, fsopen, mount_change, move_mount, open_tree, unmount,
    },
    process::{chdir, fchdir, pivot_root},
};

use super::{Doing as _, StageError};
use crate::{layout::Mount, spec::Spec, sys};

const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;
const PLAIN: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
/// Devices that do nothing to the machine.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
/// What the new root is mounted on while it is built; it must only exist.
const PLACE: &str = "/proc";

/// Replaces the file system of this process by the one that is described.
pub fn build(spec: &Spec) -> Result<(), StageError> {
    let private = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
    mount_change("/", private).doing("separating mounts")?;
    // The kernel lets a new one be mounted only while an old one can be seen.
    let processes = processes().doing("mounting /proc")?;
    let terminals = terminals().doing("mounting /dev/pts")?;
    let mut sources = Vec::new();
    for step in &spec.mounts {
        sources.push(match step {
            Mount::Same { path, writable } => {
                Some(copy(path, *writable).doing(format!("taking {}", path.display()))?)
            }
            _ => None,
        });
    }
    let devices = DEVICES.map(|name| (name, copy(&Path::new("/dev").join(name), true)));
    let base = memory("0755", None).doing("mounting the root")?;
    let whole =
        matches!(spec.mounts.first(), Some(Mount::Same { path, .. }) if path == Path::new("/"));
    let base = match sources.first_mut() {
        Some(first) if whole => first.take().unwrap_or(base),
        _ => base,
    };
    attach(&base, CWD, PLACE).doing("attaching the root")?;
    let root = open(
        PLACE,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )
    .doing("opening the root")?;
    let root = Root { top: root };
    for (step, source) in spec.mounts.iter().zip(sources).skip(usize::from(whole)) {
        let path = path_of(step);
        root.take_step(step, source, (&processes, &terminals), &devices)
            .doing(format!("mounting {}", path.display()))?;
    }
    if !whole {
        sys::set_mount_attributes(&root.top, READ_ONLY, false).doing("closing the root")?;
    }
    fchdir(&root.top).doing("entering the root")?;
    pivot_root(".", ".").doing("changing the root")?;
    unmount(".", UnmountFlags::DETACH).doing("leaving the old root")?;
    chdir("/").doing("entering the new root")
}

fn path_of(step: &Mount) -> PathBuf {
    match step {
        Mount::Same { path, .. }
        | Mount::Memory { path, .. }
        | Mount::Link { path, .. }
        | Mount::HiddenFolder(path)
        | Mount::HiddenFile(path) => path.clone(),
        Mount::Processes => "/proc".into(),
        Mount::Devices => "/dev".into(),
    }
}

/// A copy of what is mounted at a path, not attached yet.
fn copy(path: &Path, writable: bool) -> io::Result<OwnedFd> {
    let how = ResolveFlags::NO_SYMLINKS;
    let found = openat2(
        CWD,
        path,
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
        how,
    )?;
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    let tree = open_tree(found, "", flags)?;
    let is_device = path.starts_with("/dev") && path != Path::new("/dev");
    let base = if is_device {
        libc::MOUNT_ATTR_NOSUID
    } else {
        PLAIN
    };
    let closed = if writable { 0 } else { READ_ONLY };
    sys::set_mount_attributes(&tree, base | closed, true)?;
    Ok(tree)
}

fn file_system(name: &str, options: &[(&str, &str)], flags: MountAttrFlags) -> io::Result<OwnedFd> {
    let context = fsopen(name, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in options {
        match *value {
            "" => fsconfig_set_flag(&context, *key)?,
            value => fsconfig_set_string(&context, *key, value)?,
        }
    }
    fsconfig_create(&context)?;
    Ok(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, flags)?)
}

fn memory(mode: &str, size: Option<u64>) -> io::Result<OwnedFd> {
    let size = size.map(|size| size.to_string());
    let mut options = vec![("mode", mode)];
    options.extend(size.as_deref().map(|size| ("size", size)));
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    file_system("tmpfs", &options, flags)
}

/// The processes of this namespace. Read-only: the settings of the kernel are files there, and root
/// may write them without any capability.
fn processes() -> io::Result<OwnedFd> {
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC
        | MountAttrFlags::MOUNT_ATTR_RDONLY;
    file_system("proc", &[], flags)
}

fn terminals() -> io::Result<OwnedFd> {
    let options = [("ptmxmode", "0666"), ("mode", "0620")];
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    file_system("devpts", &options, flags)
}

fn attach(tree: &OwnedFd, at: BorrowedFd<'_>, path: &str) -> io::Result<()> {
    let mut flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    if path.is_empty() {
        flags |= MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    }
    Ok(move_mount(tree.as_fd(), "", at, path, flags)?)
}

/// What a target is made as where it does not exist.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Folder,
    File,
}

/// The root that is being built.
struct Root {
    top: OwnedFd,
}

impl Root {
    fn take_step(
        &self,
        step: &Mount,
        source: Option<OwnedFd>,
        (processes, terminals): (&OwnedFd, &OwnedFd),
        devices: &[(&str, io::Result<OwnedFd>)],
    ) -> io::Result<()> {
        match step {
            Mount::Same { path, .. } => {
                let source = source.ok_or_else(|| io::Error::other("it was not taken"))?;
                let is_folder = rustix::fs::fstat(&source)
                    .is_ok_and(|found| rustix::fs::FileType::from_raw_mode(found.st_mode).is_dir());
                let kind = if is_folder { Kind::Folder } else { Kind::File };
                self.mount(&source, path, kind)
            }
            Mount::Memory { path, size } => {
                // Where the whole system is shown and has no such folder, nothing can be made.
                match self.mount(&memory("1777", *size)?, path, Kind::Folder) {
                    Err(error) if error.raw_os_error() == Some(Errno::ROFS.raw_os_error()) => {
                        Ok(())
                    }
                    done => done,
                }
            }
            Mount::Link { path, target } => {
                let above = path.parent().unwrap_or(Path::new("/"));
                let name = path.file_name().unwrap_or_default();
                let above = self.target(above, Kind::Folder)?;
                match symlinkat(target, above, name) {
                    Ok(()) | Err(Errno::EXIST) => Ok(()),
                    Err(error) => Err(error.into()),
                }
            }
            Mount::Processes => self.mount(processes, Path::new("/proc"), Kind::Folder),
            Mount::Devices => self.devices(terminals, devices),
            Mount::HiddenFolder(path) => {
                let empty = memory("0000", None)?;
                sys::set_mount_attributes(&empty, READ_ONLY, false)?;
                self.mount(&empty, path, Kind::Folder)
            }
            Mount::HiddenFile(path) => {
                // One file for all, where only this stage can still create any.
                let devices = self.target(Path::new("/dev"), Kind::Folder)?;
                let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
                match openat(&devices, ".hidden", flags, Mode::empty()) {
                    // It may not be opened either once it exists.
                    Ok(_) | Err(Errno::ACCESS) => {}
                    Err(error) => return Err(error.into()),
                }
                let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
                let file = open_tree(&devices, ".hidden", flags)?;
                sys::set_mount_attributes(&file, READ_ONLY, false)?;
                self.mount(&file, path, Kind::File)
            }
        }
    }

    fn mount(&self, tree: &OwnedFd, path: &Path, kind: Kind) -> io::Result<()> {
        attach(tree, self.target(path, kind)?.as_fd(), "")
    }

    fn devices(
        &self,
        terminals: &OwnedFd,
        devices: &[(&str, io::Result<OwnedFd>)],
    ) -> io::Result<()> {
        let folder = Path::new("/dev");
        self.mount(&memory("0755", None)?, folder, Kind::Folder)?;
        for (name, device) in devices {
            // A container may have no terminal.
            if let Ok(device) = device {
                self.mount(device, &folder.join(name), Kind::File)?;
            }
        }
        self.mount(terminals, &folder.join("pts"), Kind::Folder)?;
        self.mount(&memory("1777", None)?, &folder.join("shm"), Kind::Folder)?;
        let place = self.target(folder, Kind::Folder)?;
        for (name, target) in [
            ("fd", "/proc/self/fd"),
            ("stdin", "/proc/self/fd/0"),
            ("stdout", "/proc/self/fd/1"),
            ("stderr", "/proc/self/fd/2"),
            ("ptmx", "pts/ptmx"),
        ] {
            symlinkat(target, &place, name)?;
        }
        Ok(())
    }

    /// Opens a path beneath the root, making what is missing. Follows no link.
    fn target(&self, path: &Path, kind: Kind) -> io::Result<OwnedFd> {
        let relative = path.strip_prefix("/").unwrap_or(path);
        let how = ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
        let look = |part: &Path| {
            let part = if part.as_os_str().is_empty() {
                Path::new(".")
            } else {
                part
            };
            openat2(
                &self.top,
                part,
                OFlags::PATH | OFlags::CLOEXEC,
                Mode::empty(),
                how,
            )
        };
        match look(relative) {
            Err(Errno::NOENT) => {}
            found => return Ok(found?),
        }
        let above = relative.parent().unwrap_or(Path::new(""));
        let name = relative.file_name().unwrap_or_default();
        let parent = self.target(&Path::new("/").join(above), Kind::Folder)?;
        // A path descriptor cannot create; one for reading can.
        let parent = openat(
            &parent,
            ".",
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        match kind {
            Kind::Folder => mkdirat(&parent, name, Mode::from_raw_mode(0o755))?,
            Kind::File => {
                let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
                openat(&parent, name, flags, Mode::from_raw_mode(0o444)).map(drop)?;
            }
        }
        Ok(look(relative)?)
    }
}
