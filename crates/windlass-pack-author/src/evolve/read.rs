//! Reads whole files; failures name the path and keep the system's error number.

use std::{fs::File, io::Read, path::Path};

use windlass_pack_model::{
    Body, Content,
    fault::{self, is_absent},
};
use windlass_types::{Digest, Problem};

/// All bytes of a file.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, Problem> {
    read(path).map_err(|error| fault::io("read", path, &error))
}

/// All bytes of a file; nothing when there is none.
pub(crate) fn bytes_if_present(path: &Path) -> Result<Option<Vec<u8>>, Problem> {
    match read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(fault::io("read", path, &error)),
    }
}

/// The text of a metadata file; nothing when there is none.
pub(crate) fn text_if_present(path: &Path) -> Result<Option<String>, Problem> {
    let Some(bytes) = bytes_if_present(path)? else {
        return Ok(None);
    };
    String::from_utf8(bytes).map(Some).map_err(|_| {
        fault::at(
            fault::config_invalid(format!(
                "{} is not UTF-8 text; restore it or delete it",
                path.display()
            )),
            path,
        )
    })
}

/// The bytes of a module's file, compared with the digest it was found with.
pub(crate) fn content(content: &Content) -> Result<Vec<u8>, Problem> {
    let path = match &content.body {
        Body::Memory(bytes) => return Ok(bytes.to_vec()),
        Body::File(path) => path,
    };
    let bytes = bytes(path)?;
    if Digest::of(&bytes) == content.digest {
        return Ok(bytes);
    }
    Err(fault::at(
        fault::unexpected(
            "io_error",
            &["retry_command"],
            format!(
                "{} changed while it was being used; try again",
                path.display()
            ),
        ),
        path,
    ))
}

/// The owner's execute bit of a file; false when it cannot be looked at.
#[cfg(unix)]
pub(crate) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o100 != 0)
}

/// Elsewhere there is no such bit.
#[cfg(not(unix))]
pub(crate) fn is_executable(_: &Path) -> bool {
    false
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}
