//! A file or directory that a user named with a flag, such as `--output FILE` or `--out DIR`.
//!
//! What the user chose is the directory they are in, or the one an absolute path names. A relative
//! path runs through directories that may have come with a clone, so it is followed through no
//! link. A device such as `/dev/stdout` is written as it is.

use std::{
    io::Write as _,
    os::unix::fs::FileTypeExt as _,
    path::{Component, Path, PathBuf},
};

use crate::{Access, Directory, FileError};

/// Writes a file that a user named, seen from the current directory. Its directory must be there.
pub fn write_named(path: &Path, bytes: &[u8], access: Access) -> Result<(), FileError> {
    if let Some(mut device) = device(path)? {
        return device
            .write_all(bytes)
            .map_err(|error| FileError::io("write", path, error));
    }
    let (chosen, below) = split(path, std::env::current_dir().ok());
    let root = Directory::open(&chosen)?;
    match (below.parent(), below.file_name()) {
        (Some(above), Some(name)) if !above.as_os_str().is_empty() => {
            root.directory(above)?.write(Path::new(name), bytes, access)
        }
        _ => root.write(&below, bytes, access),
    }
}

/// Opens a directory that a user named, seen from the current directory, and makes it where it is
/// missing. A relative path may have come with a clone, its last part too.
pub fn create_named(path: &Path, access: Access) -> Result<Directory, FileError> {
    create_from(path, std::env::current_dir().ok(), access)
}

fn create_from(
    path: &Path,
    current: Option<PathBuf>,
    access: Access,
) -> Result<Directory, FileError> {
    let is_elsewhere = path.is_absolute()
        && current
            .as_deref()
            .is_none_or(|current| path.strip_prefix(current).is_err());
    if is_elsewhere {
        return Directory::create(path, access);
    }
    let (chosen, below) = split(path, current);
    let root = Directory::create(&chosen, access)?;
    match below.as_os_str().is_empty() {
        true => Ok(root),
        false => root.make_directory(&below, access),
    }
}

/// Writes a file that a configuration in `base` names, by the same rules; directories that are
/// missing are made.
pub fn write_from(base: &Path, path: &Path, bytes: &[u8], access: Access) -> Result<(), FileError> {
    let (above, below) = split(path.strip_prefix(base).unwrap_or(path), None);
    Directory::create(&base.join(above), Access::Usual)?.write(&below, bytes, access)
}

/// A terminal, pipe or null device below `/dev`.
fn device(path: &Path) -> Result<Option<std::fs::File>, FileError> {
    let is_device = path.starts_with("/dev")
        && path.metadata().is_ok_and(|found| {
            let kind = found.file_type();
            kind.is_char_device() || kind.is_fifo() || kind.is_socket()
        });
    if !is_device {
        return Ok(None);
    }
    std::fs::OpenOptions::new()
        .write(true)
        .open(path)
        .map(Some)
        .map_err(|error| FileError::io("open", path, error))
}

/// The directory that was chosen, and the rest, which must have no links.
fn split(path: &Path, current: Option<PathBuf>) -> (PathBuf, PathBuf) {
    if let Some(current) = current
        && let Ok(below) = path.strip_prefix(&current)
        && path.is_absolute()
        && !below.components().any(|part| part == Component::ParentDir)
    {
        return (current, below.to_owned());
    }
    if path.is_absolute() {
        let above = path.parent().unwrap_or(Path::new("/")).to_owned();
        let name = path.file_name().map(PathBuf::from).unwrap_or_default();
        return (above, name);
    }
    let parts: Vec<Component<'_>> = path.components().collect();
    let plain = parts
        .iter()
        .rev()
        .take_while(|part| matches!(part, Component::Normal(_)))
        .count();
    let (above, below) = parts.split_at(parts.len() - plain);
    let above: PathBuf = above.iter().collect();
    (above, below.iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_chosen_and_what_is_followed() {
        for (path, chosen, below) in [
            ("a.json", "", "a.json"),
            ("./a/b.json", ".", "a/b.json"),
            ("../a/b.json", "..", "a/b.json"),
            ("x/../a/b.json", "x/..", "a/b.json"),
            ("/else/where/b.json", "/else/where", "b.json"),
            ("/here/a/b.json", "/here", "a/b.json"),
            ("/here/../b.json", "/here/..", "b.json"),
        ] {
            let split = split(Path::new(path), Some("/here".into()));
            assert_eq!(split, (chosen.into(), below.into()), "{path}");
        }
    }

    #[test]
    fn a_directory_below_the_current_one_is_reached_through_no_link() {
        let place = tempfile::tempdir().unwrap();
        let here = place.path().join("here");
        for folder in ["here/plain", "else"] {
            std::fs::create_dir_all(place.path().join(folder)).unwrap();
        }
        for name in ["out", "plain/out"] {
            std::os::unix::fs::symlink(place.path().join("else"), here.join(name)).unwrap();
        }
        for (path, may) in [
            (here.join("plain"), true),
            (here.join("plain/new/deep"), true),
            (here.clone(), true),
            (here.join("out"), false),
            (here.join("out/new"), false),
            (here.join("plain/out"), false),
            // Not below the current directory, and named whole.
            (place.path().join("else/new"), true),
        ] {
            let made = create_from(&path, Some(here.clone()), Access::Usual);
            assert_eq!(made.is_ok(), may, "{}", path.display());
        }
        assert!(!place.path().join("else/new/deep").exists());
    }

    #[test]
    fn a_device_is_written_as_it_is() {
        write_named(Path::new("/dev/null"), b"x", Access::Usual).unwrap();
    }
}
