//! Scripts on the bastion, run by a real shell.

use std::time::Duration;

use windlass_ports::Clock as _;
use windlass_stack_diagnose::session::Ending;
use windlass_system::SystemClock;
use windlass_testkit::agent::{Machine, Manner, SessionAgent};
use windlass_types::{Problem, Secret};

use super::world::bastion;

async fn run(
    agent: &SessionAgent,
    script: &str,
    time: Duration,
) -> (Result<Ending, Problem>, Vec<String>) {
    let bastion = bastion(agent).await.unwrap();
    let mut lines = Vec::new();
    let deadline = SystemClock.now().after(time);
    let ending = bastion
        .run(
            &Secret::new(script.to_owned()),
            &mut |line| lines.push(line.to_owned()),
            deadline,
        )
        .await;
    (ending, lines)
}

const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_script_runs_and_its_lines_and_exit_code_are_returned() {
    let secret = "export PASSWORD='it'\"'\"'s a secret'\n";
    let cases: [(&str, &[&str], i64); 7] = [
        ("echo one; echo two >&2", &["one", "two"], 0),
        ("echo \"$PASSWORD\"; exit 3", &["it's a secret"], 3),
        (
            "echo a; echo; echo; echo b; echo",
            &["a", "", "", "b", ""],
            0,
        ),
        ("printf 'no break'", &["no break"], 0),
        ("cat; false", &[], 1),
        ("cd /nowhere-at-all 2>/dev/null || exit 9", &[], 9),
        ("echo é ünï", &["é ünï"], 0),
    ];
    for has_terminal in [false, true] {
        for (script, expected, code) in cases {
            for manner in [
                Manner::default(),
                Manner {
                    is_shuffled: true,
                    repeats: true,
                    ignores: 2,
                    ..Manner::default()
                },
            ] {
                let agent = SessionAgent::new(Manner {
                    has_terminal,
                    ..manner
                });
                let (ending, lines) = run(&agent, &format!("{secret}{script}"), LONG).await;
                assert_eq!(ending.unwrap(), Ending::Code(code), "{script}");
                assert_eq!(lines, expected, "{script} (terminal: {has_terminal})");
                assert_eq!(agent.terminated(), ["session-0"]);
                // AWS keeps what sessions were started with.
                let started = agent.started()[0].to_string();
                assert!(!started.contains("secret"), "{started}");
                assert!(started.contains("AWS-StartInteractiveCommand"));
            }
        }
    }
}

#[tokio::test]
async fn a_script_may_be_longer_than_a_terminal_takes_lines() {
    for has_terminal in [false, true] {
        let agent = SessionAgent::new(Manner {
            has_terminal,
            ..Manner::default()
        });
        let text = "0123456789".repeat(2_000);
        let script = format!("text='{text}'\nprintf %s \"$text\" | wc -c | tr -d ' '");
        let (ending, lines) = run(&agent, &script, LONG).await;
        assert_eq!(
            (ending.unwrap(), lines),
            (Ending::Code(0), vec!["20000".to_owned()])
        );
    }
}

#[tokio::test]
async fn a_timeout_a_cut_and_a_refusal_are_distinguished() {
    let agent = SessionAgent::default();
    let (ending, lines) = run(&agent, "echo begun; sleep 600", Duration::from_secs(1)).await;
    assert_eq!(ending.unwrap(), Ending::Late);
    assert_eq!(lines, ["begun"]);
    assert_eq!(agent.terminated(), ["session-0"]);

    let agent = SessionAgent::new(Manner {
        cut_after: Some(2_000),
        ..Manner::default()
    });
    let script = "while true; do echo again and again; done";
    let (ending, _) = run(&agent, script, LONG).await;
    assert_eq!(ending.unwrap(), Ending::Interrupted(String::new()));

    let agent = SessionAgent::new(Manner {
        says_no: Some("Plugin is not available".to_owned()),
        ..Manner::default()
    });
    let (ending, _) = run(&agent, "true", LONG).await;
    assert_eq!(
        ending.unwrap(),
        Ending::Interrupted("Plugin is not available".to_owned())
    );

    let agent = SessionAgent::new(Manner {
        machine: Machine::Disconnected,
        ..Manner::default()
    });
    let (ending, _) = run(&agent, "true", LONG).await;
    assert_eq!(
        ending.unwrap_err().details()["reason"],
        "bastion_not_connected"
    );
}

#[tokio::test]
async fn a_script_nobody_waits_for_ends_with_its_session() {
    let agent = SessionAgent::default();
    let given_up = tokio::time::timeout(Duration::from_millis(200), run(&agent, "sleep 600", LONG));
    assert!(given_up.await.is_err());
    while agent.terminated().is_empty() {
        tokio::task::yield_now().await;
    }
}
