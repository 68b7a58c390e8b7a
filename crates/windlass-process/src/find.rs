//! Finds a program on a `PATH`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The first executable file of this name. Relative entries are skipped: they would let a
/// directory that is worked on bring its own.
pub fn find(name: &str, path: &OsStr) -> Option<PathBuf> {
    path.as_bytes()
        .split(|byte| *byte == b':')
        .map(|entry| Path::new(OsStr::from_bytes(entry)))
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(name))
        .find(|program| {
            fs_err::metadata(program).is_ok_and(|metadata| {
                metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
            })
        })
}

/// The absolute entries of a `PATH`, for programs that look for others in it themselves.
pub fn absolute_entries(path: &OsStr) -> OsString {
    let entries = path.as_bytes().split(|byte| *byte == b':');
    let absolute: Vec<&[u8]> = entries.filter(|entry| entry.starts_with(b"/")).collect();
    OsStr::from_bytes(&absolute.join(&b':')).to_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::OpenOptionsExt as _;

    use super::*;

    #[test]
    fn the_first_executable_file_of_an_absolute_entry() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        for (directory, mode) in [("plain", 0o644), ("first", 0o755), ("second", 0o755)] {
            fs_err::create_dir(place(directory)).unwrap();
            let mut options = fs_err::OpenOptions::new();
            options.write(true).create(true);
            options.options_mut().mode(mode);
            options.open(place(directory).join("tool")).unwrap();
        }
        fs_err::create_dir_all(place("folder/tool")).unwrap();
        let path = |entries: &[&str]| {
            let entries = entries.iter().map(|entry| match entry.strip_prefix('=') {
                Some(as_is) => PathBuf::from(as_is),
                None => place(entry),
            });
            std::env::join_paths(entries).unwrap()
        };
        for (entries, expected) in [
            (vec!["plain", "folder", "first", "second"], Some("first")),
            (vec!["second", "first"], Some("second")),
            (vec!["missing", "plain", "=.", "="], None),
            (vec![], None),
        ] {
            assert_eq!(
                find("tool", &path(&entries)),
                expected.map(|directory| place(directory).join("tool")),
                "{entries:?}"
            );
        }
    }

    #[test]
    fn relative_entries_are_left_out() {
        for (path, expected) in [
            ("/usr/bin:/bin", "/usr/bin:/bin"),
            ("./node_modules/.bin:/bin", "/bin"),
            ("/bin::/usr/bin:", "/bin:/usr/bin"),
            (".:bin", ""),
            ("", ""),
        ] {
            assert_eq!(absolute_entries(OsStr::new(path)), expected, "{path}");
        }
    }
}
