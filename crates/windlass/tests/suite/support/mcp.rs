//! `windlass mcp serve` on standard input and output, with a client at the other end.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use serde_json::{Value, json};

use super::binary::{Killed, windlass};

/// Long enough for a loaded machine, short enough to notice a hang.
const WAIT_LIMIT: Duration = Duration::from_secs(60);

/// A server process and both ends of it.
pub(crate) struct McpProcess {
    pub(crate) process: Killed,
    input: Option<ChildStdin>,
    output: Receiver<String>,
}

impl McpProcess {
    pub(crate) fn start(home: &Path) -> Self {
        let mut command = windlass(home);
        // Every tool, with those that are offered on request.
        command.args(["mcp", "serve", "--toolset", "all"]);
        command.stderr(Stdio::null());
        Self::spawn(command)
    }

    /// The same through a command that ends up as such a server.
    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (send, output) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Self {
            process: Killed(child),
            input,
            output,
        }
    }

    /// Starts a server and opens a session of an era with `initialize`.
    pub(crate) fn initialized(home: &Path, version: &str) -> Self {
        let mut server = Self::start(home);
        server.send(initialize("init", version).to_string().as_bytes());
        let answer = server.receive().expect("the server is up");
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        server
    }

    /// Sends a line.
    pub(crate) fn send(&mut self, line: &[u8]) {
        let input = self.input.as_mut().expect("input is open");
        // A server that ended is noticed when it is asked.
        let _ = input.write_all(line).and_then(|()| input.write_all(b"\n"));
    }

    /// The next message; `None` once the server has ended. Whatever is no JSON fails the test.
    pub(crate) fn receive(&mut self) -> Option<Value> {
        match self.output.recv_timeout(WAIT_LIMIT) {
            Ok(line) => Some(
                serde_json::from_str(&line)
                    .unwrap_or_else(|error| panic!("not JSON on standard output: {error}: {line}")),
            ),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => None,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("the server does not answer"),
        }
    }

    /// Everything the server says until it has answered a request sent now, and at least so
    /// many messages besides: answers need not come in the order of their requests.
    pub(crate) fn until_up(&mut self, id: &str, method: &str, besides: usize) -> Vec<Value> {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method });
        self.send(request.to_string().as_bytes());
        let mut said = Vec::new();
        let mut up = false;
        while !up || said.len() < besides {
            let message = self.receive().expect("the server stays up");
            if message["id"] == id {
                assert!(message.get("result").is_some(), "{message}");
                up = true;
            } else {
                said.push(message);
            }
        }
        said
    }

    /// Closes the input and does not wait.
    pub(crate) fn end_input(&mut self) {
        self.input = None;
    }

    /// Closes the input and waits for the end; the exit code.
    pub(crate) fn close(mut self) -> Option<i32> {
        self.end_input();
        assert_eq!(self.receive(), None, "nothing more is said");
        self.process.0.wait().unwrap().code()
    }
}

/// A session at a server process of its own.
pub(crate) struct Session {
    pub(crate) server: McpProcess,
    pub(crate) greeting: Value,
    next: u64,
}

impl Session {
    /// Starts a server and opens a session.
    pub(crate) fn of(command: Command) -> Self {
        let mut server = McpProcess::spawn(command);
        server.send(initialize("init", "2025-06-18").to_string().as_bytes());
        let greeting = server.receive().expect("the server is up");
        let opened = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        server.send(opened.to_string().as_bytes());
        Self {
            server,
            greeting,
            next: 0,
        }
    }

    /// Sends a request and does not wait; its id.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        let request =
            json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.server.send(request.to_string().as_bytes());
        self.next
    }

    /// Sends a call of a tool and does not wait.
    pub(crate) fn ask_tool(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.ask(
            "tools/call",
            &json!({ "name": tool, "arguments": arguments }),
        )
    }

    /// The next answer, for any request. Notifications are left out.
    pub(crate) fn answer(&mut self) -> Value {
        loop {
            let message = self.server.receive().expect("the server stays up");
            assert_eq!(message["jsonrpc"], "2.0", "{message}");
            if message.get("id").is_some() {
                return message;
            }
        }
    }

    /// A request and its answer.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.answer();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }
}

/// An `initialize` request.
pub(crate) fn initialize(id: &str, version: &str) -> Value {
    json!({
        "jsonrpc": "2.0", "id": id, "method": "initialize",
        "params": {
            "protocolVersion": version, "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        },
    })
}

/// What a request of the modern era carries.
pub(crate) fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}
