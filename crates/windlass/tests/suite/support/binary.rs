//! The real binary: commands that end by themselves, and a daemon that is killed.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    net::{SocketAddr, TcpListener},
    path::Path,
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use super::http::Ask;

/// How long a daemon may take to be ready on a loaded machine.
pub(crate) const READY: Duration = Duration::from_secs(30);

/// A command of the binary on a home, with nothing inherited from the environment.
pub(crate) fn windlass(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
    command.env_clear().env("WINDLASS_HOME", home);
    command
}

/// What a command said.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}\n{}", self.stdout, self.stderr))
    }

    /// The same, of a command that must have worked.
    pub(crate) fn worked(self) -> Self {
        assert_eq!(self.code, Some(0), "{}\n{}", self.stdout, self.stderr);
        self
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Runs a command to its end, with nothing on standard input.
pub(crate) fn say(home: &Path, arguments: &[&str]) -> Said {
    let output = windlass(home)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    output.into()
}

/// A loopback address that nobody uses.
pub(crate) fn free_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

/// A process that is killed, at the latest when the test ends.
pub(crate) struct Killed(pub(crate) Child);

impl Killed {
    /// SIGKILL, and wait until it is gone.
    pub(crate) fn kill(&mut self) {
        // Gone already is what was wanted.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        self.kill();
    }
}

/// `windlass serve` on a home.
pub(crate) struct Daemon {
    pub(crate) process: Killed,
    pub(crate) address: SocketAddr,
}

impl Daemon {
    /// Starts it without waiting for anything.
    pub(crate) fn spawn(home: &Path, address: SocketAddr, arguments: &[&str]) -> Self {
        Self::spawn_with(windlass(home), address, arguments)
    }

    /// The same through a command that ends up as the binary.
    pub(crate) fn spawn_with(
        mut command: Command,
        address: SocketAddr,
        arguments: &[&str],
    ) -> Self {
        let child = command
            .args(["serve", "--listen", &address.to_string()])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            process: Killed(child),
            address,
        }
    }

    /// Starts it on a free port, open to this machine, and waits until it is ready.
    pub(crate) fn open(home: &Path) -> Self {
        let mut daemon = Self::spawn(home, free_address(), &["--no-auth"]);
        daemon.wait_until_ready();
        daemon
    }

    /// Waits for the line that names the address, then for readiness. Panics with what it said
    /// if it ended instead.
    pub(crate) fn wait_until_ready(&mut self) {
        let mut stderr = BufReader::new(self.process.0.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("listening on") {
            if stderr.read_line(&mut said).unwrap() == 0 {
                panic!("the daemon ended: {:?}\n{said}", self.process.0.wait());
            }
        }
        // Whatever it says from now on is read and forgotten, so that it never blocks.
        std::thread::spawn(move || {
            let _ = stderr.read_to_end(&mut Vec::new());
        });
        let started = Instant::now();
        loop {
            match Ask::get("/v1/ready").send(self.address) {
                Ok(reply) if reply.status == 200 => return,
                answer => assert!(started.elapsed() < READY, "not ready: {answer:?}"),
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Calls an operation.
    pub(crate) fn call(&self, operation: &str, input: &Value) -> (u16, Value) {
        let path = format!("/v1/operations/{operation}");
        let reply = Ask::post(&path, input.to_string())
            .send(self.address)
            .unwrap();
        (reply.status, reply.json())
    }
}
