//! Key files: 32 random bytes, made at first use, readable by nobody else.
//!
//! What looks at a home without changing it makes none: see [`Keys`].

use std::{
    io::{ErrorKind, Write as _},
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::Path,
};

use fs_err::os::unix::fs::OpenOptionsExt as _;
use windlass_ports::{Entropy, entropy::random};
use windlass_types::{Problem, Secret, code};

const LENGTH: usize = 32;

/// The file that seals the history. A new one does not fit what the old one sealed.
const SEAL: &str = "store.key";

/// The keys of a home, as a process opens them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// One that is missing is made.
    Make,
    /// One that is missing stays missing; what needs one gets a key that is forgotten again.
    LookOnly,
}

impl Keys {
    /// The key in a file.
    pub(crate) fn load(
        self,
        path: &Path,
        entropy: &dyn Entropy,
    ) -> Result<Secret<Vec<u8>>, Problem> {
        match self {
            Self::Make => load_or_create(path, entropy),
            Self::LookOnly => match load(path)? {
                Some(key) => Ok(key),
                None if path.ends_with(SEAL) => Err(advised(path, unusable(path, "it is missing"))),
                None => Ok(Secret::new(random::<LENGTH>(entropy).to_vec())),
            },
        }
    }
}

/// The key in a file; made if there is none.
pub(crate) fn load_or_create(
    path: &Path,
    entropy: &dyn Entropy,
) -> Result<Secret<Vec<u8>>, Problem> {
    match load(path)? {
        Some(key) => Ok(key),
        None => {
            create(path, entropy)?;
            // Read back: another process may have been first.
            load(path)?.ok_or_else(|| unusable(path, "it disappeared"))
        }
    }
}

fn load(path: &Path) -> Result<Option<Secret<Vec<u8>>>, Problem> {
    check_directory(path)?;
    let key = match fs_err::read(path) {
        Ok(bytes) => Secret::new(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unusable(path, error)),
    };
    let mode = fs_err::metadata(path)
        .map_err(|error| unusable(path, error))?
        .permissions()
        .mode();
    if mode & 0o077 != 0 {
        return Err(
            unusable(path, "others may read it").next(format!("chmod 600 {}", path.display()))
        );
    }
    windlass_config::file::check_writers(path).map_err(|error| unusable(path, error))?;
    let length = key.expose_secret().len();
    if length < LENGTH {
        let why = match length {
            0 => "it is empty".to_owned(),
            length => format!("it has {length} of {LENGTH} bytes"),
        };
        return Err(advised(path, unusable(path, why)));
    }
    Ok(Some(key))
}

/// Who may write to the directory can put a key of their own there.
fn check_directory(path: &Path) -> Result<(), Problem> {
    let Some(directory) = path.parent() else {
        return Ok(());
    };
    let mode = match fs_err::metadata(directory) {
        Ok(metadata) => metadata.permissions().mode(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unusable(directory, error)),
    };
    if mode & 0o077 != 0 {
        let problem = Problem::new(
            &code::STORE_UNAVAILABLE,
            format!(
                "others may open the directory of the keys {}",
                directory.display()
            ),
        );
        return Err(problem.next(format!("chmod 700 {}", directory.display())));
    }
    windlass_config::file::check_writers(directory).map_err(|error| unusable(directory, error))
}

/// The problem of a key that is gone, with what can be done about it.
fn advised(path: &Path, problem: Problem) -> Problem {
    let back = problem.next(format!("put {} back from a backup", path.display()));
    if path.ends_with(SEAL) {
        return back.next(format!(
            "or, without one: rm -f {}, then windlass store accept-loss",
            path.display()
        ));
    }
    let cost = match path.file_name().and_then(|name| name.to_str()) {
        Some("confirm.key") => "calls that wait for an answer in between have to be made again",
        Some("export.key") => "exports are signed with a new key then",
        Some("webhook.key") => "receivers of webhooks need the new secret then",
        Some("webhook-secrets.key") => "secrets that callers stored have to be set again then",
        Some("artifact-url.key") => "links to artifacts stop working",
        _ => "a new one is made then",
    };
    back.next(format!("or, without one: rm {}; {cost}", path.display()))
}

/// Written aside and linked into place, so that no process ever reads half a key and the first
/// of several wins.
fn create(path: &Path, entropy: &dyn Entropy) -> Result<(), Problem> {
    if let Some(parent) = path.parent() {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(parent)
            .map_err(|error| unusable(path, error))?;
    }
    let aside = path.with_extension(format!("{}.new", hex::encode(random::<8>(entropy))));
    let written = fs_err::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&aside)
        .and_then(|mut file| {
            file.write_all(&random::<LENGTH>(entropy))?;
            file.sync_all()
        })
        .and_then(|()| match fs_err::hard_link(&aside, path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            result => result,
        });
    let removed = fs_err::remove_file(&aside);
    written.and(removed).map_err(|error| unusable(path, error))
}

fn unusable(path: &Path, cause: impl std::fmt::Display) -> Problem {
    Problem::new(
        &code::STORE_UNAVAILABLE,
        format!("the key file {} cannot be used: {cause}", path.display()),
    )
}

#[cfg(test)]
mod tests {
    use std::{fs::Permissions, path::PathBuf};

    use windlass_system::OsEntropy;

    use super::*;

    fn home() -> (tempfile::TempDir, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let keys = home.path().join("keys");
        (home, keys)
    }

    #[test]
    fn a_look_makes_no_key() {
        let (_home, keys) = home();
        let (seal, other) = (keys.join("store.key"), keys.join("confirm.key"));
        assert!(Keys::LookOnly.load(&other, &OsEntropy).is_ok());
        let missing = Keys::LookOnly.load(&seal, &OsEntropy).unwrap_err();
        assert!(missing.message().ends_with("it is missing"), "{missing}");
        assert!(!keys.exists());
        let made = Keys::Make.load(&seal, &OsEntropy).unwrap();
        let found = Keys::LookOnly.load(&seal, &OsEntropy).unwrap();
        assert_eq!(made.expose_secret(), found.expose_secret());
    }

    #[test]
    fn broken_keys_are_refused_with_what_to_do() {
        for (name, content, why, what) in [
            ("store.key", &b""[..], "it is empty", "store accept-loss"),
            (
                "confirm.key",
                b"short",
                "it has 5 of 32 bytes",
                "made again",
            ),
            ("webhook.key", b"", "it is empty", "the new secret"),
        ] {
            let (_home, keys) = home();
            let path = keys.join(name);
            load_or_create(&path, &OsEntropy).unwrap();
            fs_err::write(&path, content).unwrap();
            let problem = load_or_create(&path, &OsEntropy).unwrap_err();
            assert!(problem.message().ends_with(why), "{problem}");
            let [first, second] = problem.next_actions() else {
                panic!("{problem:?}");
            };
            assert!(first.ends_with("back from a backup"), "{first}");
            assert!(second.contains(what), "{second}");
        }
    }

    #[test]
    fn a_directory_that_others_may_open_is_refused() {
        for (mode, is_refused) in [(0o700, false), (0o777, true), (0o750, true), (0o722, true)] {
            let (_home, keys) = home();
            let path = keys.join("store.key");
            load_or_create(&path, &OsEntropy).unwrap();
            fs_err::set_permissions(&keys, Permissions::from_mode(mode)).unwrap();
            let loaded = load_or_create(&path, &OsEntropy);
            assert_eq!(loaded.is_err(), is_refused, "{mode:o}");
            if let Err(problem) = loaded {
                assert!(
                    problem.next_actions()[0].starts_with("chmod 700 "),
                    "{problem:?}"
                );
            }
        }
    }
}
