//! Output that is never lost, and processes that end.

use std::{
    ffi::OsString,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use serde_json::json;
use windlass_ports::{
    Confinement, Sandbox, SandboxFeatures, SandboxRefusal, SandboxRequest, SandboxedCommand,
    sandbox::{Backend, Feature, Network},
};

use crate::{
    CommandSandbox, Progress,
    test_support::{Session, code, text},
};

fn numbers(to: u32) -> String {
    (1..=to).map(|number| format!("{number}\n")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn short_output_is_complete_every_time() {
    let session = Session::new();
    let command = "seq 1 100; seq 101 200 >&2";
    let expected = format!(
        "{}[stderr]\n{}",
        numbers(100),
        (101..=200)
            .map(|number| format!("{number}\n"))
            .collect::<String>()
    );
    for _ in 0..200 {
        let outcome = session
            .call("run_command", json!({ "command": command }))
            .await;
        assert_eq!(text(&outcome), expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn long_output_is_complete_in_files_every_time() {
    let session = Session::new();
    let expected = numbers(100_000);
    for _ in 0..20 {
        let command = "seq 1 100000 & seq 1 100000 >&2; wait";
        let outcome = session
            .call("run_command", json!({ "command": command }))
            .await;
        assert_eq!(outcome.spilled.len(), 2);
        for spilled in &outcome.spilled {
            assert_eq!(
                (spilled.lines, spilled.bytes),
                (100_000, expected.len() as u64)
            );
            assert!(fs_err::read_to_string(&spilled.path).unwrap() == expected);
        }
        let told = text(&outcome);
        assert!(
            told.starts_with("[100000 lines, 588895 bytes; the last 300 lines follow; all of it: ")
        );
        assert!(told.contains("\n99701\n") && !told.contains("\n99700\n"));
        assert!(told.ends_with("\n100000\n"));
        assert!(told.len() < 10_000);
    }
    let spilled = session
        .call(
            "run_command",
            json!({ "command": "seq 1 200; sleep 0.05; seq 201 400" }),
        )
        .await
        .spilled;
    assert_eq!(
        fs_err::read_to_string(&spilled[0].path).unwrap(),
        numbers(400)
    );
    let view = json!({ "path": spilled[0].path, "view_range": [1, 2] });
    assert!(session.text("view", view).await.contains("     1\t1\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn ends_and_messages() {
    let session = Session::new();
    session.write("sub/here", "");
    for (input, expected, told) in [
        (json!({ "command": "true" }), "", "(no output)"),
        (json!({ "command": "printf x" }), "", "x\n"),
        (
            json!({ "command": "echo a; echo b >&2; exit 3" }),
            "COMMAND_FAILED",
            "COMMAND_FAILED\na\n[stderr]\nb\nCommand exited with code 3",
        ),
        (
            json!({ "command": "kill -9 $$" }),
            "COMMAND_FAILED",
            "COMMAND_FAILED\nCommand was ended by signal 9",
        ),
        (json!({ "command": "cat; echo end" }), "", "end\n"),
        (json!({ "command": "ls", "cwd": "sub" }), "", "here\n"),
        (
            json!({ "command": "echo $A-$TERM", "env": { "A": "b c" } }),
            "",
            "b c-dumb\n",
        ),
        (
            json!({ "command": "echo hunter2" }),
            "",
            "[REDACTED_SECRET:test:aaaaaa]\n",
        ),
        (
            json!({ "command": "printf hun; sleep 0.1; printf ter2" }),
            "",
            "[REDACTED_SECRET:test:aaaaaa]\n",
        ),
    ] {
        let outcome = session.call("run_command", input.clone()).await;
        assert_eq!(
            (code(&outcome), text(&outcome).as_str()),
            (expected, told),
            "{input}"
        );
    }
    std::os::unix::fs::symlink(session.root().join("outside"), session.path("out")).unwrap();
    for (input, expected) in [
        (json!({ "command": "ls", "cwd": ".." }), "INVALID_PATH"),
        (json!({ "command": "ls", "cwd": "out" }), "INVALID_PATH"),
        (
            json!({ "command": "ls", "cwd": "sub/here" }),
            "INVALID_PATH",
        ),
        (
            json!({ "command": "ls", "cwd": "nowhere" }),
            "PATH_NOT_FOUND",
        ),
        (
            json!({ "command": "ls", "env": { "A B": "" } }),
            "INVALID_ARGUMENTS",
        ),
        (
            json!({ "command": "ls", "env": { "WINDLASS_COMMAND": "x" } }),
            "INVALID_ARGUMENTS",
        ),
        (json!({ "command": "a\u{0}b" }), "INVALID_ARGUMENTS"),
    ] {
        let outcome = session.call("run_command", input.clone()).await;
        assert_eq!(code(&outcome), expected, "{input}: {}", text(&outcome));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_in_the_background_is_read_and_then_ended() {
    let session = Session::new();
    let began = Instant::now();
    let command = "(sleep 0.02; echo late; sleep 600) & echo $!";
    let outcome = session
        .call("run_command", json!({ "command": command }))
        .await;
    assert!(began.elapsed() < Duration::from_secs(20));
    let told = text(&outcome);
    let mut lines = told.lines();
    let left = lines.next().unwrap().to_owned();
    assert_eq!(lines.next(), Some("late"));
    assert!(
        lines
            .next()
            .unwrap()
            .starts_with("[A process that the command left")
    );
    assert_gone(&left);
}

#[cfg(target_os = "linux")]
fn is_gone(pid: &str) -> bool {
    let stat = fs_err::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // A zombie has ended, and is not collected yet.
    stat.is_empty()
        || stat
            .rsplit_once(')')
            .is_some_and(|(_, rest)| rest.starts_with(" Z"))
}

/// Within a second.
fn assert_gone(pid: &str) {
    let until = Instant::now() + Duration::from_secs(1);
    while !is_gone(pid) {
        assert!(Instant::now() < until, "{pid} still runs");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A tree of processes that want to stay: each writes its number to a file.
const STUBBORN: &str = r#"
trap '' TERM
(trap '' TERM; sh -c 'echo $$ >> pids; sleep 120') &
setsid sh -c 'trap "" TERM; echo $$ >> pids; sleep 120' &
(setsid sh -c '(trap "" TERM HUP; sh -c "echo \$\$ >> pids; sleep 120" & ) ; exit 0' &)
echo $$ >> pids
echo started
sleep 120
"#;

async fn pids(session: &Session) -> Vec<String> {
    for _ in 0..2_000 {
        let text = fs_err::read_to_string(session.path("pids")).unwrap_or_default();
        if text.lines().count() == 4 {
            return text.lines().map(str::to_owned).collect();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the processes did not start");
}

#[tokio::test(flavor = "multi_thread")]
async fn at_the_end_of_its_time_the_whole_tree_ends() {
    let session = Session::new();
    let input = json!({ "command": STUBBORN, "timeout": 5 });
    let began = Instant::now();
    let outcome = session.call("run_command", input).await;
    // Five seconds, two to clean up, and the silence after.
    assert!(began.elapsed() < Duration::from_secs(20));
    assert_eq!(code(&outcome), "COMMAND_TIMED_OUT");
    assert!(text(&outcome).contains("started\n"), "{}", text(&outcome));
    for pid in pids(&session).await {
        assert_gone(&pid);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_call_ends_the_whole_tree() {
    let session = Session::new();
    let cancel = session.context.cancel.clone();
    let call = session.call("run_command", json!({ "command": STUBBORN }));
    let (outcome, pids) = tokio::join!(call, async {
        let pids = pids(&session).await;
        cancel.cancel();
        pids
    });
    assert_eq!(code(&outcome), "COMMAND_CANCELLED");
    assert!(text(&outcome).contains("started\n"));
    for pid in pids {
        assert_gone(&pid);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_dropped_ends_its_command() {
    let session = Session::new();
    let call = session.call("run_command", json!({ "command": STUBBORN }));
    let pids = tokio::select! {
        _ = call => panic!("it does not end"),
        pids = pids(&session) => pids,
    };
    let until = Instant::now() + Duration::from_secs(30);
    while !pids.iter().all(|pid| is_gone(pid)) {
        assert!(Instant::now() < until);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_gigabyte_takes_little_memory() {
    let highest = || {
        let status = fs_err::read_to_string("/proc/self/status").unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("VmHWM"))
            .unwrap();
        line.split_whitespace()
            .nth(1)
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    let session = Session::new();
    session
        .call("run_command", json!({ "command": "seq 1 100000" }))
        .await;
    let before = highest();
    let command = "head -c 1000000000 /dev/zero | tr '\\0' x; echo; echo end";
    let outcome = session
        .call("run_command", json!({ "command": command, "timeout": 300 }))
        .await;
    let grown = highest() - before;
    println!("grown by {grown} KiB");
    assert_eq!(
        outcome.spilled[0].bytes,
        1_000_000_005,
        "{}",
        text(&outcome).len()
    );
    assert_eq!(
        fs_err::metadata(&outcome.spilled[0].path).unwrap().len(),
        1_000_000_005
    );
    assert!(text(&outcome).ends_with("]\nend\n"));
    assert!(text(&outcome).len() < 70_000);
    assert!(grown < 4 * 1024, "{grown} KiB");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_loses_the_file_and_not_the_end() {
    let session = Session::new();
    fs_err::remove_dir_all(session.root().join("spills")).unwrap();
    let told = session
        .text("run_command", json!({ "command": "seq 1 1000" }))
        .await;
    assert!(told.contains("the rest could not be kept"), "{told}");
    assert!(told.ends_with("\n1000\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn watchers_are_told_what_happens() {
    let mut session = Session::new();
    let told = Arc::new(Mutex::new(Vec::new()));
    let same = told.clone();
    session.context.progress = Some(Arc::new(move |what: Progress<'_>| {
        let what = match what {
            Progress::Output(stream, piece) => {
                format!("{stream:?} {}", String::from_utf8_lossy(piece))
            }
            Progress::Silent => "silent".to_owned(),
        };
        same.lock().unwrap().push(what);
    }));
    let command = "printf hunter2; sleep 7; echo b >&2";
    session
        .call("run_command", json!({ "command": command }))
        .await;
    let expected = ["Out [REDACTED_SECRET:test:aaaaaa]", "silent", "Err b\n"];
    assert_eq!(*told.lock().unwrap(), expected);
}

/// Runs what it is given by another shell, and remembers what was asked.
struct Pretended {
    features: SandboxFeatures,
    asked: Mutex<Vec<String>>,
    refusal: Option<SandboxRefusal>,
}

impl Sandbox for Pretended {
    fn features(&self) -> &SandboxFeatures {
        &self.features
    }

    fn backend(&self, _: &Network) -> Result<Backend, SandboxRefusal> {
        Ok(Backend::Namespaces)
    }

    fn prepare(&self, request: SandboxRequest<'_>) -> Result<SandboxedCommand, SandboxRefusal> {
        if let Some(refusal) = &self.refusal {
            return Err(refusal.clone());
        }
        self.asked.lock().unwrap().push(format!(
            "{:?} {:?} {}",
            request.program,
            request.arguments,
            request.confinement.directory.display()
        ));
        let is_kept = |name: &OsString| {
            let name = name.to_str().unwrap();
            name == "PATH" || request.confinement.variables.iter().any(|one| one == name)
        };
        let environment = request.environment.iter().filter(|(name, _)| is_kept(name));
        Ok(SandboxedCommand {
            program: "/bin/sh".into(),
            arguments: [
                OsString::from("-c"),
                "echo confined; \"$@\"".into(),
                "x".into(),
            ]
            .into_iter()
            .chain([request.program.to_owned()])
            .chain(request.arguments.to_vec())
            .collect(),
            environment: environment.cloned().collect(),
            directory: request.confinement.directory.clone(),
            backend: Backend::Namespaces,
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_sandbox_nothing_runs_without_it() {
    let mut session = Session::new();
    session.write("sub/here", "");
    let pretended = |refusal| {
        Arc::new(Pretended {
            features: SandboxFeatures {
                kernel: String::new(),
                landlock: None,
                seccomp: false,
                namespaces: Ok(()),
                bubblewrap: Err(String::new()),
            },
            asked: Mutex::default(),
            refusal,
        })
    };
    let confinement = Confinement::read_only("/".into(), None);
    let sandbox = pretended(None);
    session.context.sandbox = Some(CommandSandbox {
        sandbox: sandbox.clone(),
        confinement: confinement.clone(),
    });
    let input = json!({ "command": "ls; echo $A", "cwd": "sub", "env": { "A": "b" } });
    assert_eq!(
        session.text("run_command", input.clone()).await,
        "confined\nhere\nb\n"
    );
    assert_eq!(
        sandbox
            .asked
            .lock()
            .unwrap()
            .join("")
            .replace(session.root().to_str().unwrap(), ""),
        r#""/bin/sh" ["-c", "ls; echo $A"] /work/sub"#
    );
    session.context.sandbox = Some(CommandSandbox {
        sandbox: pretended(Some(SandboxRefusal::Missing {
            feature: Feature::Namespaces,
            why: "they are off".to_owned(),
            remedy: "Turn them on.",
        })),
        confinement,
    });
    for tool in ["run_command", "run_command_task"] {
        let outcome = session.call(tool, input.clone()).await;
        assert_eq!(code(&outcome), "COMMAND_ERROR");
        assert!(
            text(&outcome).contains("they are off. Turn them on."),
            "{}",
            text(&outcome)
        );
    }
}
