//! Ports on loopback: the one that was used last, else the one that is preferred, else a free
//! one, so that addresses stay the same from session to session.
//!
//! A port for a process that binds it later is claimed by a locked file until the session ends:
//! of two sessions that start at once, only one takes the preferred port.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;

use windlass_types::Problem;

/// The ports of a session.
pub(crate) struct Ports {
    file: PathBuf,
    remembered: BTreeMap<String, u16>,
    taken: BTreeMap<String, u16>,
    claims: Vec<File>,
}

impl Ports {
    pub fn new(file: PathBuf) -> Self {
        let remembered = fs_err::read(&file)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        Self {
            file,
            remembered,
            taken: BTreeMap::new(),
            claims: Vec::new(),
        }
    }

    /// What keeps other sessions from the ports of processes that bind them later; for as long as
    /// it lives.
    pub fn claims(self) -> Vec<File> {
        self.claims
    }

    /// A listener that keeps its port.
    pub fn listener(&mut self, name: &str, preferred: Option<u16>) -> Result<TcpListener, Problem> {
        let candidates = [self.remembered.get(name).copied(), preferred, Some(0)];
        let bound = candidates
            .into_iter()
            .flatten()
            .filter(|port| *port == 0 || !self.taken.values().any(|taken| taken == port))
            .find_map(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok())
            .ok_or_else(|| Problem::internal("dev ports", format!("no free port for {name}")))?;
        let port = bound
            .local_addr()
            .map_err(|error| Problem::internal("dev ports", error))?
            .port();
        self.taken.insert(name.to_owned(), port);
        bound
            .set_nonblocking(true)
            .map_err(|error| Problem::internal("dev ports", error))?;
        Ok(bound)
    }

    /// A port for a process that binds it itself.
    pub fn number(&mut self, name: &str, preferred: Option<u16>) -> Result<u16, Problem> {
        let mut candidate = preferred;
        for _ in 0..TRIES {
            let bound = self.listener(name, candidate)?;
            let port = bound
                .local_addr()
                .map_err(|error| Problem::internal("dev ports", error))?
                .port();
            if let Some(claim) = claim(port)? {
                self.claims.push(claim);
                return Ok(port);
            }
            // Another session has it and has not bound it yet.
            self.remembered.remove(name);
            candidate = None;
        }
        Err(Problem::internal(
            "dev ports",
            format!("no free port for {name}"),
        ))
    }

    /// Remembers them for the next session.
    pub fn save(&self) -> Result<(), Problem> {
        crate::session::write_private(&self.file, &self.taken)
    }
}

/// How often another port is tried.
const TRIES: u32 = 20;

/// A port claimed for this session; none where another session of this machine has it.
fn claim(port: u16) -> Result<Option<File>, Problem> {
    let file = std::env::temp_dir().join(format!("windlass-dev-port-{port}.lock"));
    let opened = fs_err::OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&file);
    // A file of another user stands for a session of theirs.
    let Ok(opened) = opened else {
        return Ok(None);
    };
    let opened = opened.into_file();
    match opened.try_lock() {
        Ok(()) => Ok(Some(opened)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(Problem::internal("dev ports", error)),
    }
}
