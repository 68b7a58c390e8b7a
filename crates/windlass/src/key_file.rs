//! Key files: 32 random bytes, made at first use, readable by nobody else.

use std::{
    io::{ErrorKind, Write as _},
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::Path,
};

use fs_err::os::unix::fs::OpenOptionsExt as _;
use windlass_ports::{Entropy, entropy::random};
use windlass_types::{Problem, Secret, code};

const LENGTH: usize = 32;

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
    if key.expose_secret().len() < LENGTH {
        return Err(
            unusable(path, "it is too short; tokens sealed with it would be weak")
                .next(format!("remove {} to have a new key made", path.display())),
        );
    }
    Ok(Some(key))
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
