//! A server that may open few files, and more clients than it can hold.

use std::{
    io::Write as _,
    net::TcpStream,
    process::Command,
    time::{Duration, Instant},
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

use super::support::{
    binary::{Daemon, free_address},
    home::Place,
    http::Ask,
    mcp::Session,
};

/// Idle connections, half of them with half a request: health answers, a run ends well, and a new
/// one can be started.
#[test]
fn idle_clients_do_not_stop_health_or_running_work() {
    idle_clients(1_024, 1_100);
}

#[test]
fn idle_clients_do_not_stop_a_server_with_few_descriptors() {
    for limit in [128, 256] {
        idle_clients(limit, 300);
    }
}

#[test]
fn a_server_with_too_few_descriptors_does_not_start() {
    let place = Place::new();
    let binary = env!("CARGO_BIN_EXE_windlass");
    let refused = Command::new("sh")
        .args([
            "-c",
            "ulimit -n 100; exec \"$0\" serve --listen 127.0.0.1:0",
            binary,
        ])
        .env("WINDLASS_HOME", place.home())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(7), "{said}");
    assert!(said.contains("this process may open 100 files"), "{said}");
    assert!(said.contains("hint: ulimit -n 1024"), "{said}");
}

/// A server on standard input and output drives runs, too.
#[cfg(target_os = "linux")]
#[test]
fn a_server_on_standard_input_may_open_what_the_system_allows() {
    let place = Place::new();
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            "ulimit -Sn 128; exec \"$0\" mcp serve",
            env!("CARGO_BIN_EXE_windlass"),
        ])
        .env("WINDLASS_HOME", place.home())
        .stderr(std::process::Stdio::null());
    let session = Session::of(command);
    let limits = format!("/proc/{}/limits", session.server.process.0.id());
    let limits = fs_err::read_to_string(limits).unwrap();
    let files = limits
        .lines()
        .find(|line| line.starts_with("Max open files"));
    let soft: u64 = files
        .and_then(|line| line.split_whitespace().nth(3)?.parse().ok())
        .unwrap_or_else(|| panic!("{limits}"));
    let allowed = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
    assert_eq!(soft, allowed.min(65_536), "{limits}");
}

fn idle_clients(limit: u32, clients: usize) {
    // This process has the other end of every connection.
    let own = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: own.maximum,
        maximum: own.maximum,
    };
    setrlimit(Resource::Nofile, raised).unwrap();
    let place = Place::with_policy(
        "version = 1\n[[rule]]\noperation = \"demo.apply\"\ndecision = \"allow\"\nreason = \"test\"\n",
    );
    let binary = env!("CARGO_BIN_EXE_windlass");
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            &format!("ulimit -n {limit}; exec \"$0\" \"$@\""),
            binary,
        ])
        .env("WINDLASS_HOME", place.home());
    let mut daemon = Daemon::spawn_with(command, free_address(), &["--no-auth"]);
    daemon.wait_until_ready();
    let files: serde_json::Map<_, _> = (0..10)
        .map(|number| (format!("file-{number}.txt"), json!("text\n")))
        .collect();
    let input = json!({ "dir": place.scratch(), "files": files, "pause_ms": 300 });
    let (_, plan) = daemon.call("demo.plan", &input);
    let mut input = input;
    input["confirm_token"] = plan["confirm_token"].clone();
    input["yes"] = json!(true);
    let started = Instant::now();
    let mut connected = Vec::new();
    let address = daemon.address;
    let run = std::thread::spawn(move || {
        let reply = Ask::post("/v1/operations/demo.apply", input.to_string())
            .send(address)
            .unwrap();
        (reply.status, reply.json())
    });
    // A connection whose call was not read yet may give way to newer ones; this is about work that runs.
    let first = place.scratch().join("file-0.txt");
    while !first.exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "no run began");
        std::thread::sleep(Duration::from_millis(20));
    }
    for number in 0..clients {
        let mut stream = TcpStream::connect(daemon.address).unwrap();
        if number % 2 == 0 {
            let _ = stream.write_all(b"GET /v1/health HTTP/1.1\r\nHost: local");
        }
        connected.push(stream);
        if number % 100 == 99 {
            let asked = Instant::now();
            let reply = Ask::get("/v1/health").send(daemon.address).unwrap();
            assert_eq!(reply.status, 200);
            assert!(
                asked.elapsed() < Duration::from_secs(5),
                "{:?}",
                asked.elapsed()
            );
        }
    }
    let (status, answer) = run.join().unwrap();
    assert!(status < 300, "{answer:#}");
    let done = || (0..10).all(|number| place.scratch().join(format!("file-{number}.txt")).exists());
    while !done() {
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "the run did not continue: {answer:#}"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    let ready = Ask::get("/v1/ready").send(daemon.address).unwrap();
    assert_eq!(ready.status, 200, "{}", ready.text());
    println!(
        "{clients} idle clients at {limit} descriptors: the run ended after {:?}",
        started.elapsed()
    );
    drop(connected);
}
