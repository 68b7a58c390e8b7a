//! `score`: how often each module went wrong, from the event log.

use std::io::{BufRead as _, BufReader};

use fs_err as fs;
use serde::Serialize;
use windlass_pack_model::{
    PackHome,
    events::{EventLog, ModuleScore, ReadStats},
    fault::{self, is_absent},
};
use windlass_types::Problem;

use crate::Authored;

/// The `data` of `score`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoreData {
    /// The modules, worst first; those never seen come last.
    pub modules: Vec<ModuleScore>,
    /// How reading went.
    pub read_stats: ReadStats,
}

/// Reads the log line by line. `known` are the modules to list even if nothing is recorded.
pub fn score<'a>(
    home: &PackHome,
    known: impl IntoIterator<Item = &'a str>,
) -> Result<Authored<ScoreData>, Problem> {
    let path = home.events();
    let mut log = EventLog::default();
    match fs::File::open(&path) {
        Ok(file) => {
            let mut reader = BufReader::new(file);
            let mut line = Vec::new();
            loop {
                line.clear();
                match reader.read_until(b'\n', &mut line) {
                    Ok(0) => break,
                    Ok(_) => log.take(Ok(&line)),
                    Err(error) => {
                        log.take(Err(&error));
                        break;
                    }
                }
            }
        }
        Err(error) if is_absent(&error) => {}
        Err(error) => return Err(fault::io("read", &path, &error)),
    }
    let data = ScoreData {
        modules: log.scores(known),
        read_stats: log.stats,
    };
    Ok(Authored::inside(home.root(), data, Vec::new()).warned(log.warnings))
}
