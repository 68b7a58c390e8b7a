//! Reads whole small files; failures name the path and keep the system's error number.

use std::{fs::File, io::Read, path::Path};

use windlass_pack_model::fault;
use windlass_types::Problem;

/// All bytes of a file.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|mut file| file.read_to_end(&mut bytes))
        .map_err(|error| fault::io("read", path, &error))?;
    Ok(bytes)
}

/// The text of a file; nothing when there is no such file.
pub(crate) fn text_if_present(path: &Path) -> Result<Option<String>, Problem> {
    match File::open(path).and_then(std::io::read_to_string) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(fault::io("read", path, &error)),
    }
}
