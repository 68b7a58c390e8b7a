//! The log of a session: one JSON object per line, numbered without gaps; read by cursor.
//!
//! A cursor is the number of the first line not yet seen. The filter is applied before the page
//! is cut, so a page is full unless the log has no more, and following `nextCursor` shows every
//! matching line once.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use windlass_files::{Access, FileError};
use windlass_secrets::Redactor;
use windlass_types::{Problem, Secret, Timestamp};

use crate::lock::locked;
use crate::plan::in_project;

/// Lines of one page, without a limit given.
pub const DEFAULT_LIMIT: usize = 50;
/// Lines of one page at most.
pub const MAX_LIMIT: usize = 1000;
/// A log beyond this size is put aside when the next session starts.
const KEPT_BYTES: u64 = 16 << 20;
/// A longer line is cut.
const LINE_BYTES: usize = 16 << 10;

/// How serious a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// What happens.
    Info,
    /// What should be looked at.
    Warn,
    /// What failed, and all that a workload writes to its error output.
    Error,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Its number.
    pub seq: u64,
    /// When it was written.
    pub ts: Timestamp,
    /// The workload, or `dev` for the manager itself.
    pub source: String,
    /// How serious it is.
    pub level: Level,
    /// The text.
    pub msg: String,
}

impl Line {
    /// `HH:MM:SS [source] message`.
    pub fn render(&self) -> String {
        let written = self.ts.to_string();
        let time = written.get(11..19).unwrap_or(&written);
        format!("{time} [{}] {}", self.source, self.msg)
    }
}

/// Lines and where to continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The lines, oldest first.
    pub lines: Vec<Line>,
    /// The cursor of the next page.
    pub next_cursor: u64,
}

/// What is wanted of a log.
#[derive(Clone, Debug, Default)]
pub struct LogQuery {
    /// Lines of this workload only.
    pub workload: Option<String>,
    /// From this number on; the newest lines without.
    pub cursor: Option<u64>,
    /// Without a cursor, nothing before this number: an earlier session wrote it.
    pub since: u64,
    /// The maximum number.
    pub limit: Option<usize>,
}

/// Cuts a page out of lines in order.
pub fn page(lines: impl IntoIterator<Item = Line>, query: &LogQuery) -> Page {
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
    let mut found = std::collections::VecDeque::new();
    let first = query.cursor.unwrap_or(query.since);
    let mut next_cursor = first;
    for line in lines {
        if line.seq < first {
            continue;
        }
        if query.cursor.is_some() && found.len() == limit {
            break;
        }
        next_cursor = line.seq + 1;
        if query
            .workload
            .as_ref()
            .is_some_and(|name| *name != line.source)
        {
            continue;
        }
        if found.len() == limit {
            found.pop_front();
        }
        found.push_back(line);
    }
    Page {
        lines: found.into(),
        next_cursor,
    }
}

/// A page of a log file; of none, when there is none yet.
pub fn read_page(file: &Path, query: &LogQuery) -> Result<Page, Problem> {
    let reader = match fs_err::File::open(file) {
        Ok(file) => BufReader::new(file),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(page([], query));
        }
        Err(error) => return Err(Problem::internal("dev log", error)),
    };
    let lines = reader
        .split(b'\n')
        .map_while(Result::ok)
        .filter_map(|line| serde_json::from_slice(&line).ok());
    Ok(page(lines, query))
}

/// The one writer of a log.
pub(crate) struct Log {
    path: PathBuf,
    clock: std::sync::Arc<dyn windlass_ports::Clock>,
    redactor: Redactor,
    first: u64,
    state: Mutex<(std::fs::File, u64)>,
}

impl Log {
    /// Continues where the last session's log ends, so that old cursors stay valid.
    pub fn open(
        path: PathBuf,
        clock: std::sync::Arc<dyn windlass_ports::Clock>,
    ) -> Result<Self, Problem> {
        let fault = |error| Problem::internal("dev log", error);
        let refused = |error: FileError| error.into_problem(fault);
        let (project, below) = in_project(&path).map_err(refused)?;
        let last = read_page(
            &path,
            &LogQuery {
                limit: Some(1),
                ..LogQuery::default()
            },
        )?;
        if fs_err::metadata(&path).is_ok_and(|about| about.len() > KEPT_BYTES) {
            let old = below.with_extension("old.jsonl");
            project.rename(&below, &project, &old).map_err(refused)?;
        }
        let mut file = project
            .append_file(&below, Access::Private)
            .map_err(refused)?;
        // A writer that was killed may have left half a line.
        if !fs_err::read(&path).map_err(fault)?.ends_with(b"\n") {
            file.write_all(b"\n").map_err(fault)?;
        }
        let first = last.next_cursor.max(1);
        Ok(Self {
            path,
            clock,
            redactor: Redactor::new(),
            first,
            state: Mutex::new((file, first)),
        })
    }

    /// The number of this session's first line.
    pub fn first(&self) -> u64 {
        self.first
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A value that no line may hold.
    pub fn hide(&self, secret: &Secret<String>) {
        self.redactor.register(secret);
    }

    /// A variable whose value no line may hold where its name says so: a password that a config
    /// read from a file is one, whatever directive brought it.
    pub fn hide_named(&self, name: &str, value: &Secret<String>) {
        let shown = serde_json::json!({ name: value.expose_secret() });
        if self.redactor.redact_value(shown.clone()) != shown {
            self.hide(value);
        }
    }

    pub fn redact(&self, text: &str) -> String {
        self.redactor.redact(text).into_owned()
    }

    pub fn write(&self, source: &str, level: Level, message: &str) {
        let shown = self.redactor.redact(message.trim_end());
        let mut end = shown.len().min(LINE_BYTES);
        while !shown.is_char_boundary(end) {
            end -= 1;
        }
        let mut state = locked(&self.state);
        let line = Line {
            seq: state.1,
            ts: self.clock.now(),
            source: source.to_owned(),
            level,
            msg: shown[..end].to_owned(),
        };
        let Ok(mut bytes) = serde_json::to_vec(&line) else {
            return;
        };
        bytes.push(b'\n');
        // One write per line: a reader sees whole lines. A full disk loses lines, not the session.
        if state.0.write_all(&bytes).is_ok() {
            state.1 += 1;
        }
    }

    pub fn info(&self, message: &str) {
        self.write("dev", Level::Info, message);
    }

    pub fn warn(&self, message: &str) {
        self.write("dev", Level::Warn, message);
    }

    pub fn error(&self, message: &str) {
        self.write("dev", Level::Error, message);
    }
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
