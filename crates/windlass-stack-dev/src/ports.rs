//! Ports on loopback: the one that was used last, else the one that is preferred, else a free
//! one, so that addresses stay the same from session to session.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;

use windlass_types::Problem;

/// The ports of a session.
pub(crate) struct Ports {
    file: PathBuf,
    remembered: BTreeMap<String, u16>,
    taken: BTreeMap<String, u16>,
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
        }
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
        self.listener(name, preferred)?;
        self.taken
            .get(name)
            .copied()
            .ok_or_else(|| Problem::internal("dev ports", format!("no port for {name}")))
    }

    /// Remembers them for the next session.
    pub fn save(&self) -> Result<(), Problem> {
        crate::session::write_private(&self.file, &self.taken)
    }
}
