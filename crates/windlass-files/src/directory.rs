//! A directory that is open, and what may be done below it.

use std::{
    ffi::{OsStr, OsString},
    fs::{DirBuilder, File},
    io::{self, Read as _, Write as _},
    os::{
        fd::{AsFd as _, BorrowedFd, OwnedFd},
        unix::fs::{DirBuilderExt as _, MetadataExt as _},
    },
    path::{Component, Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::{
    fs::{
        AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, Timespec, Timestamps, UTIME_NOW, fchmod,
        fstat, fsync, mkdirat, open, openat, renameat, renameat_with, statat, symlinkat, unlinkat,
        utimensat,
    },
    io::Errno,
};

use crate::{
    FileError,
    walk::{Missing, kind_of, link, names, open_below},
};

/// Who may do what with a file or directory that is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// What the umask allows. A file that is replaced keeps its mode.
    Usual,
    /// The same, and a new file may be executed.
    Executable,
    /// The owner alone: 0600, directories 0700.
    Private,
}

impl Access {
    const fn file_bits(self) -> u32 {
        match self {
            Self::Usual => 0o666,
            Self::Executable => 0o777,
            Self::Private => 0o600,
        }
    }

    const fn directory_bits(self) -> u32 {
        match self {
            Self::Usual | Self::Executable => 0o777,
            Self::Private => 0o700,
        }
    }
}

/// Which directory it is, whatever its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The device.
    pub device: u64,
    /// The number on the device.
    pub inode: u64,
}

/// An open directory.
#[derive(Debug)]
pub struct Directory {
    fd: OwnedFd,
    path: PathBuf,
}

/// Where something is: the open directory that has it, its name there, and its path for messages.
struct Place {
    parent: OwnedFd,
    name: OsString,
    path: PathBuf,
}

impl Directory {
    /// Opens a directory that the user named: its own path may have links.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let path = if path.as_os_str().is_empty() {
            Path::new(".")
        } else {
            path
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd =
            open(path, flags, Mode::empty()).map_err(|error| FileError::io("open", path, error))?;
        Ok(Self {
            fd,
            path: path.to_owned(),
        })
    }

    /// The same, and makes it with everything above it that is missing.
    pub fn create(path: &Path, access: Access) -> Result<Self, FileError> {
        DirBuilder::new()
            .recursive(true)
            .mode(access.directory_bits())
            .create(path)
            .map_err(|error| FileError::io("create", path, error))?;
        Self::open(path)
    }

    /// Opens an absolute path in which no component is a link.
    pub fn open_exact(path: &Path) -> Result<Self, FileError> {
        let mut parts = path.components();
        if parts.next() != Some(Component::RootDir) {
            return Err(FileError::Leaves {
                path: path.to_owned(),
            });
        }
        #[cfg(target_os = "linux")]
        if let Ok(fd) = crate::walk::open_at_once(path) {
            let path = path.to_owned();
            return Ok(Self { fd, path });
        }
        let top = Self::open(Path::new("/"))?;
        match parts.as_path() {
            rest if rest.as_os_str().is_empty() => Ok(top),
            rest => top.directory(rest),
        }
    }

    /// Its path, as it was named.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which directory it is.
    pub fn identity(&self) -> Result<Identity, FileError> {
        let failed = |error| FileError::io("look at", &self.path, error);
        let same = File::from(self.fd.try_clone().map_err(failed)?);
        let found = same.metadata().map_err(failed)?;
        Ok(Identity {
            device: found.dev(),
            inode: found.ino(),
        })
    }

    /// A directory below this one.
    pub fn directory(&self, below: &Path) -> Result<Self, FileError> {
        self.below(below, Missing::Refuse)
    }

    /// The same, made where it is missing.
    pub fn make_directory(&self, below: &Path, access: Access) -> Result<Self, FileError> {
        self.below(below, Missing::Make(access.directory_bits()))
    }

    /// What is there: none when nothing is. A link is told as one.
    pub fn kind(&self, below: &Path) -> Result<Option<FileType>, FileError> {
        let Some(place) = self.find(below)? else {
            return Ok(None);
        };
        kind_of(place.parent.as_fd(), &place.name)
            .map_err(|error| FileError::io("look at", &place.path, error))
    }

    /// Refuses a path that [`Self::write`] would refuse, before anything is written.
    pub fn check(&self, below: &Path) -> Result<(), FileError> {
        match self.find(below)? {
            Some(place) => place.mode_of_file().map(drop),
            None => Ok(()),
        }
    }

    /// The names in this directory, in no order.
    pub fn names(&self) -> Result<Vec<OsString>, FileError> {
        use std::os::unix::ffi::OsStrExt as _;
        let failed = |error: Errno| FileError::io("list", &self.path, error);
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.fd).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name().to_owned();
            if name.to_bytes() != b"." && name.to_bytes() != b".." {
                names.push(OsStr::from_bytes(name.to_bytes()).to_owned());
            }
        }
        Ok(names)
    }

    /// Opens a regular file for reading; none when nothing is there.
    pub fn open_file(&self, below: &Path) -> Result<Option<File>, FileError> {
        let Some(place) = self.find(below)? else {
            return Ok(None);
        };
        // A pipe without a writer is not waited for.
        place.open(OFlags::RDONLY | OFlags::NONBLOCK, 0)
    }

    /// Reads a regular file of at most `limit` bytes; none when nothing is there.
    pub fn read(&self, below: &Path, limit: u64) -> Result<Option<Vec<u8>>, FileError> {
        let Some(file) = self.open_file(below)? else {
            return Ok(None);
        };
        let mut content = Vec::new();
        let failed = |error| FileError::io("read", &self.path.join(below), error);
        file.take(limit.saturating_add(1))
            .read_to_end(&mut content)
            .map_err(failed)?;
        if content.len() as u64 > limit {
            let message = format!("it has more than {limit} bytes");
            return Err(failed(io::Error::new(io::ErrorKind::FileTooLarge, message)));
        }
        Ok(Some(content))
    }

    /// Replaces or makes a file, and the directories above it: a reader finds the old content or
    /// the new, also after a crash.
    pub fn write(&self, below: &Path, bytes: &[u8], access: Access) -> Result<(), FileError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let temp = format!(".windlass-{}-{number}.tmp", std::process::id());
        self.write_by(below, bytes, access, &temp)
    }

    /// The same with a temporary file of this name, which replaces what an earlier attempt left.
    pub fn write_by(
        &self,
        below: &Path,
        bytes: &[u8],
        access: Access,
        temp: &str,
    ) -> Result<(), FileError> {
        let place = self.place(below, Missing::Make(access.directory_bits()))?;
        let failed = |error: io::Error| FileError::io("write", &place.path, error);
        let kept = place.mode_of_file()?;
        place.stage(bytes, kept, access, temp).map_err(failed)?;
        let moved = renameat(&place.parent, temp, &place.parent, &place.name);
        if let Err(error) = moved {
            // The first failure is the one to report.
            let _ = unlinkat(&place.parent, temp, AtFlags::empty());
            return Err(failed(error.into()));
        }
        place.flush()
    }

    /// Makes a file that must not be there yet, and the directories above it.
    pub fn write_new(&self, below: &Path, bytes: &[u8], access: Access) -> Result<(), FileError> {
        let place = self.place(below, Missing::Make(access.directory_bits()))?;
        let mut file = place.create(access.file_bits())?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        if let Err(error) = written {
            let _ = unlinkat(&place.parent, &place.name, AtFlags::empty());
            return Err(FileError::io("write", &place.path, error));
        }
        place.flush()
    }

    /// Opens a file to be filled from its beginning by this process or one it starts; makes it,
    /// and the directories above it.
    pub fn create_file(&self, below: &Path, access: Access) -> Result<File, FileError> {
        self.open_to_write(below, OFlags::TRUNC, access)
    }

    /// Opens a file to be continued; makes it, and the directories above it.
    pub fn append_file(&self, below: &Path, access: Access) -> Result<File, FileError> {
        self.open_to_write(below, OFlags::APPEND, access)
    }

    /// Makes a file with these permissions, limited by the umask, that must not be there yet. Makes
    /// no directory and flushes nothing.
    pub fn create_new(&self, below: &Path, bits: u32) -> Result<File, FileError> {
        self.place(below, Missing::Refuse)?.create(bits)
    }

    /// Makes a directory that must not be there yet.
    pub fn create_directory(&self, below: &Path) -> Result<(), FileError> {
        let place = self.place(below, Missing::Refuse)?;
        let mode = Mode::from_raw_mode(Access::Usual.directory_bits());
        mkdirat(&place.parent, &place.name, mode)
            .map_err(|error| FileError::io("create", &place.path, error))
    }

    /// Gives a file or directory another name, below this directory or another; what had it is
    /// replaced. A link at either is taken for itself.
    pub fn rename(&self, from: &Path, other: &Self, to: &Path) -> Result<(), FileError> {
        let from = self.place(from, Missing::Refuse)?;
        let to = other.place(to, Missing::Refuse)?;
        renameat(&from.parent, &from.name, &to.parent, &to.name)
            .map_err(|error| FileError::io("write", &to.path, error))
    }

    /// The same for a name that nothing may have yet: looked at and taken in one call.
    pub fn rename_new(&self, from: &Path, other: &Self, to: &Path) -> Result<(), FileError> {
        let from = self.place(from, Missing::Refuse)?;
        let to = other.place(to, Missing::Refuse)?;
        let flags = RenameFlags::NOREPLACE;
        match renameat_with(&from.parent, &from.name, &to.parent, &to.name, flags) {
            // The file system cannot do both in one call.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                match kind_of(to.parent.as_fd(), &to.name) {
                    Ok(None) => renameat(&from.parent, &from.name, &to.parent, &to.name),
                    _ => Err(Errno::EXIST),
                }
            }
            moved => moved,
        }
        .map_err(|error| FileError::io("write", &to.path, error))
    }

    /// Makes a symbolic link with this text.
    pub fn link(&self, text: &Path, below: &Path) -> Result<(), FileError> {
        let place = self.place(below, Missing::Refuse)?;
        symlinkat(text, &place.parent, &place.name)
            .map_err(|error| FileError::io("link", &place.path, error))
    }

    /// Removes a file, or a link itself; one that is gone is fine. Says whether it was there.
    pub fn remove_file(&self, below: &Path) -> Result<bool, FileError> {
        self.unlink(below, AtFlags::empty())
    }

    /// Removes a directory that is empty; one that is gone is fine.
    pub fn remove_directory(&self, below: &Path) -> Result<bool, FileError> {
        self.unlink(below, AtFlags::REMOVEDIR)
    }

    /// Notes that a file was used now: its time of modification says so.
    pub fn touch(&self, below: &Path) -> Result<(), FileError> {
        let place = self.place(below, Missing::Refuse)?;
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_NOW,
        };
        let times = Timestamps {
            last_access: now,
            last_modification: now,
        };
        utimensat(
            &place.parent,
            &place.name,
            &times,
            AtFlags::SYMLINK_NOFOLLOW,
        )
        .map_err(|error| FileError::io("touch", &place.path, error))
    }

    /// Makes renames and removals of this name durable.
    pub fn flush(&self, below: &Path) -> Result<(), FileError> {
        match self.find(below)? {
            Some(place) => place.flush(),
            None => Ok(()),
        }
    }

    fn unlink(&self, below: &Path, flags: AtFlags) -> Result<bool, FileError> {
        let Some(place) = self.find(below)? else {
            return Ok(false);
        };
        match unlinkat(&place.parent, &place.name, flags) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(FileError::io("remove", &place.path, error)),
        }
    }

    fn open_to_write(&self, below: &Path, how: OFlags, access: Access) -> Result<File, FileError> {
        let place = self.place(below, Missing::Make(access.directory_bits()))?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NONBLOCK | how;
        let file = place.open(flags, access.file_bits())?;
        file.ok_or_else(|| FileError::io("open", &place.path, Errno::NOENT))
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    fn below(&self, below: &Path, missing: Missing) -> Result<Self, FileError> {
        let fd = open_below(self.fd(), &self.path, &names(below)?, missing)?;
        let path = self.path.join(below);
        // The descriptor of the way may not be one that lists and flushes.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = match openat(&fd, ".", flags, Mode::empty()) {
            Ok(listing) => listing,
            Err(Errno::ACCESS) => fd,
            Err(error) => return Err(FileError::io("open", &path, error)),
        };
        Ok(Self { fd, path })
    }

    /// The place of a file; none when a directory above it is missing.
    fn find(&self, below: &Path) -> Result<Option<Place>, FileError> {
        match self.place(below, Missing::Refuse) {
            Err(error) if error.io_kind() == Some(io::ErrorKind::NotFound) => Ok(None),
            found => found.map(Some),
        }
    }

    fn place(&self, below: &Path, missing: Missing) -> Result<Place, FileError> {
        let mut names = names(below)?;
        let name = names.pop().ok_or_else(|| FileError::Leaves {
            path: below.to_owned(),
        })?;
        Ok(Place {
            parent: open_below(self.fd(), &self.path, &names, missing)?,
            name: name.to_owned(),
            path: self.path.join(below),
        })
    }
}

impl Place {
    /// Opens a regular file, and nothing else; none when nothing is there.
    fn open(&self, flags: OFlags, mode: u32) -> Result<Option<File>, FileError> {
        let failed = |error: Errno| FileError::io("open", &self.path, error);
        // A link, a directory or a device is refused before it is opened: opening may act.
        if self.mode_of_file()?.is_none() && !flags.contains(OFlags::CREATE) {
            return Ok(None);
        }
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = match openat(&self.parent, &self.name, flags, Mode::from_raw_mode(mode)) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(link(&self.path)),
            Err(error) => return Err(failed(error)),
        };
        let found = fstat(&file).map_err(failed)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
            return Err(FileError::NotAFile {
                path: self.path.clone(),
            });
        }
        Ok(Some(file.into()))
    }

    fn create(&self, bits: u32) -> Result<File, FileError> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(bits);
        openat(&self.parent, &self.name, flags, mode)
            .map(File::from)
            .map_err(|error| FileError::io("create", &self.path, error))
    }

    /// The mode of the regular file that is there; none when nothing is, refused when something
    /// else is.
    fn mode_of_file(&self) -> Result<Option<Mode>, FileError> {
        let found = match statat(&self.parent, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => found,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(FileError::io("look at", &self.path, error)),
        };
        match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => Ok(Some(Mode::from_raw_mode(found.st_mode & 0o777))),
            FileType::Symlink => Err(link(&self.path)),
            _ => Err(FileError::NotAFile {
                path: self.path.clone(),
            }),
        }
    }

    /// Writes and flushes the temporary file.
    fn stage(
        &self,
        bytes: &[u8],
        kept: Option<Mode>,
        access: Access,
        temp: &str,
    ) -> io::Result<()> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let kept = kept.filter(|_| access != Access::Private);
        let bits = match kept {
            // No other user may read it before it has its mode.
            Some(mode) => mode & Mode::RWXU,
            None => Mode::from_raw_mode(access.file_bits()),
        };
        let create = || openat(&self.parent, temp, flags, bits);
        let made = match create() {
            Err(Errno::EXIST) => {
                unlinkat(&self.parent, temp, AtFlags::empty())?;
                create()
            }
            made => made,
        };
        let mut file = File::from(made?);
        let fill = || {
            file.write_all(bytes)?;
            if let Some(mode) = kept {
                fchmod(&file, mode)?;
            }
            file.sync_all()
        };
        let mut fill = fill;
        fill().inspect_err(|_| {
            // The first failure is the one to report.
            let _ = unlinkat(&self.parent, temp, AtFlags::empty());
        })
    }

    fn flush(&self) -> Result<(), FileError> {
        flush(self.parent.as_fd(), &self.path)
    }
}

/// Flushes the entries of a directory. One that may be written and not read cannot be flushed.
fn flush(directory: BorrowedFd<'_>, path: &Path) -> Result<(), FileError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat(directory, ".", flags, Mode::empty()).and_then(fsync) {
        Ok(()) | Err(Errno::ACCESS | Errno::INVAL) => Ok(()),
        Err(error) => Err(FileError::io("flush", path, error)),
    }
}
