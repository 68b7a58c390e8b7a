//! Anchors in a file and in the system log.

use std::{
    io::{self, Write as _},
    os::unix::net::UnixDatagram,
    path::PathBuf,
};

use fs_err::os::unix::fs::OpenOptionsExt as _;
use windlass_ports::{AnchorSink, BoxFuture};

/// Facility `authpriv`, severity `info`.
const PRIORITY: u8 = 10 * 8 + 6;

/// Appends lines to a file and flushes each.
pub struct AnchorFile(pub PathBuf);

impl AnchorSink for AnchorFile {
    fn name(&self) -> String {
        self.0.display().to_string()
    }

    fn keep(&self, line: String) -> BoxFuture<'_, io::Result<()>> {
        let path = self.0.clone();
        Box::pin(off_thread(move || {
            let mut file = fs_err::OpenOptions::new()
                .append(true)
                .create(true)
                .mode(0o600)
                .open(path)?;
            file.write_all(format!("{line}\n").as_bytes())?;
            file.sync_data()
        }))
    }
}

/// Sends lines to the system log, by its local socket.
pub struct AnchorSyslog(pub PathBuf);

impl Default for AnchorSyslog {
    fn default() -> Self {
        Self(PathBuf::from("/dev/log"))
    }
}

impl AnchorSink for AnchorSyslog {
    fn name(&self) -> String {
        format!("syslog at {}", self.0.display())
    }

    fn keep(&self, line: String) -> BoxFuture<'_, io::Result<()>> {
        let path = self.0.clone();
        Box::pin(off_thread(move || {
            let socket = UnixDatagram::unbound()?;
            // A log that does not listen must not hold anybody up.
            socket.set_write_timeout(Some(std::time::Duration::from_secs(2)))?;
            let process = std::process::id();
            let message = format!("<{PRIORITY}>windlass[{process}]: anchor {line}");
            socket.send_to(message.as_bytes(), path).map(drop)
        }))
    }
}

async fn off_thread(work: impl FnOnce() -> io::Result<()> + Send + 'static) -> io::Result<()> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(io::Error::other(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_is_appended_to() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("anchors");
        let sink = AnchorFile(path.clone());
        sink.keep("one".to_owned()).await.unwrap();
        sink.keep("two".to_owned()).await.unwrap();
        assert_eq!(fs_err::read_to_string(path).unwrap(), "one\ntwo\n");
    }

    #[tokio::test]
    async fn the_system_log_gets_one_message_per_line() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let log = UnixDatagram::bind(&path).unwrap();
        AnchorSyslog(path).keep("{}".to_owned()).await.unwrap();
        let mut message = [0; 200];
        let length = log.recv(&mut message).unwrap();
        let message = String::from_utf8_lossy(&message[..length]);
        assert!(message.starts_with("<86>windlass["), "{message}");
        assert!(message.ends_with("]: anchor {}"), "{message}");
    }
}
