//! moto, an independent implementation of AWS's services: in memory, on a port of its own.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use super::programs;

/// The server program itself.
const VARIABLE: &str = "WINDLASS_TEST_MOTO";

/// A running server; it is ended when this is dropped.
pub struct Moto {
    child: Child,
    url: String,
}

impl Moto {
    /// Starts one; nothing, loudly, where no moto is known.
    pub fn start() -> Option<Self> {
        let program = programs(VARIABLE, "moto")?;
        let mut child = Command::new(program)
            .args(["-H", "127.0.0.1", "-p", "0"])
            .env("PYTHONUNBUFFERED", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let url = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| Some(line[line.find("http://127.0.0.1:")?..].trim().to_owned()));
        // Its log must be read on, or it stands still once the pipe is full.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        let url = url.expect("moto says where it listens");
        Some(Self { child, url })
    }

    /// Where it listens.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
