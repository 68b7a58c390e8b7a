//! `record`: one more line in the event log.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::Path,
};

use rustix::fs::{FlockOperation, flock};
use serde::Serialize;
use serde_json::Value;
use windlass_pack_model::{PackHome, events::EventRecord, fault};
use windlass_types::{Problem, Timestamp};

use crate::authored::{shown, stamp};

/// The `data` of `record`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecordData {
    /// The log.
    pub path: String,
    /// The same with `/`.
    pub path_posix: String,
    /// When.
    pub recorded_at: String,
    /// On which machine.
    pub machine_id: String,
}

/// Appends an event, given as JSON text, to the log. A dry run only checks it.
pub fn record(
    home: &PackHome,
    machine_id: &str,
    input: &str,
    now: Timestamp,
    dry_run: bool,
) -> Result<RecordData, Problem> {
    let event: Value = serde_json::from_str(input.trim()).map_err(|error| {
        let what = match input.trim().is_empty() {
            true => "there is no event: give one JSON value on the standard input".to_owned(),
            false => format!("the event is not JSON: {error}"),
        };
        fault::unexpected("invalid_arguments", &["retry_command"], what)
            .with("error", error.to_string())
    })?;
    let record = EventRecord::new(stamp(now), machine_id, event);
    let path = home.events();
    if !dry_run {
        append(&path, record.line().as_bytes())
            .map_err(|error| fault::io("append to", &path, &error))?;
    }
    Ok(RecordData {
        path: shown(&path),
        path_posix: fault::posix(&path),
        recorded_at: record.recorded_at,
        machine_id: record.machine_id,
    })
}

/// Appends a line under a lock, in one write. A line that a killed process left unfinished gets
/// its end first, so that it spoils nothing but itself.
fn append(path: &Path, line: &[u8]) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)?;
    }
    let mut file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)?;
    // Given back when the file is closed.
    flock(&file, FlockOperation::LockExclusive)?;
    let mut bytes = Vec::with_capacity(line.len() + 1);
    if is_unfinished(&mut file)? {
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(line);
    file.write_all(&bytes)
}

fn is_unfinished(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}
