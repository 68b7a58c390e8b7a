//! The main commands as people and scripts see them: exit code, standard output, standard error.
//! Ids, tokens, times and places are replaced by their names.

use super::support::{directory::read_tree, scene::Scene};

#[test]
fn plan() {
    let scene = Scene::new();
    insta::assert_snapshot!(scene.show(&scene.demo("plan", &[])), @"
    exit 0
    ── stdout
    ACTION  TARGET  DETAIL
    + create  new.txt  3 bytes
    ~ update  site/index.html  4 bytes
    - delete  old.txt
    demo.apply on ROOT/scratch: 1 to create, 1 to update, 1 to delete
    policy: ask (built-in: destructive operations ask), your yes counts
    plan digest: DIGEST
    confirm token: DIGEST
    ── stderr
    The token works once, for DURATION.
    hint: windlass demo apply --dir ROOT/scratch --file new.txt=new --file 'site/index.html=<h1>' --delete old.txt --token TOKEN --yes
    ");
}

#[test]
fn plan_of_nothing() {
    let scene = Scene::new();
    let said = scene.say(&[
        "demo",
        "plan",
        "--dir",
        &scene.dir(),
        "--file",
        "old.txt=old\n",
    ]);
    insta::assert_snapshot!(scene.show(&said), @"
    exit 0
    ── stdout
    demo.apply on ROOT/scratch: nothing to do
    ── stderr
    ");
}

#[test]
fn plan_of_a_directory_that_is_not_there() {
    let scene = Scene::new();
    let dir = format!("{}/nowhere", scene.dir());
    let said = scene.say(&["demo", "plan", "--dir", &dir, "--file", "a=b"]);
    insta::assert_snapshot!(scene.show(&said), @r#"
    exit 3
    ── stdout
    ── stderr
    error: the directory "ROOT/scratch/nowhere" cannot be opened: No such file or directory (os error 2)
      code: NOT_FOUND
    hint: mkdir -p ROOT/scratch/nowhere
    "#);
}

#[test]
fn apply() {
    let scene = Scene::new();
    insta::assert_snapshot!(scene.show(&scene.demo("apply", &["--yes"])), @"
    exit 0
    ── stdout
    run RUN-1 completed
    ── stderr
    ACTION  TARGET  DETAIL
    + create  new.txt  3 bytes
    ~ update  site/index.html  4 bytes
    - delete  old.txt
    demo.apply on ROOT/scratch: 1 to create, 1 to update, 1 to delete
    policy: ask (built-in: destructive operations ask), your yes counts
    plan digest: DIGEST
    ▸ demo.apply ROOT/scratch
    · keep new.txt
    ✓ change new.txt  DURATION
    · keep site/index.html
    ✓ change site/index.html  DURATION
    · keep old.txt
    ✓ change old.txt  DURATION
    · kept report.json (SIZE)
    ✓ completed  DURATION
    hint: windlass runs show RUN-1
    hint: windlass runs rollback RUN-1
    ");
    let files: Vec<_> = read_tree(&scene.place.scratch()).into_keys().collect();
    assert_eq!(files, ["new.txt", "site/", "site/index.html"]);
}

#[test]
fn apply_with_a_child_run() {
    let scene = Scene::new();
    let said = scene.demo("apply", &["--yes", "--child"]).worked();
    // The lines of two runs are interleaved; the order differs.
    for line in [
        "▸ note: child run ",
        "  ▸ note in ",
        "  ✓ completed",
        "✓ note",
    ] {
        assert!(
            said.stderr.contains(&format!("\n{line}")),
            "{}",
            said.stderr
        );
    }
    assert!(scene.place.scratch().join("WINDLASS-NOTE.txt").exists());
}

#[test]
fn apply_that_nobody_can_confirm() {
    let scene = Scene::new();
    insta::assert_snapshot!(scene.show(&scene.demo("apply", &[])), @"
    exit 4
    ── stdout
    ── stderr
    ACTION  TARGET  DETAIL
    + create  new.txt  3 bytes
    ~ update  site/index.html  4 bytes
    - delete  old.txt
    demo.apply on ROOT/scratch: 1 to create, 1 to update, 1 to delete
    policy: ask (built-in: destructive operations ask), your yes counts
    plan digest: DIGEST
    error: confirmation required, but stdin is not a terminal; nothing was changed
      code: CONFIRM_REQUIRED
      plan_digest: DIGEST
    hint: repeat the command with --yes
    hint: or plan first, review, and pass --token
    ");
    assert!(
        scene.place.scratch().join("old.txt").exists(),
        "nothing was changed"
    );
}

#[test]
fn apply_with_a_used_token() {
    let scene = Scene::new();
    let planned = scene.demo("plan", &["--json"]).json();
    let token = planned["confirm_token"].as_str().unwrap();
    scene.demo("apply", &["--yes", "--token", token]).worked();
    let again = scene.demo("apply", &["--yes", "--token", token]);
    insta::assert_snapshot!(scene.show(&again), @"
    exit 4
    ── stdout
    ── stderr
    error: the confirm token was already redeemed; it started RUN-1
      code: CONFIRM_TOKEN_USED
      reason_code: token_used
    hint: windlass runs watch RUN-1
    ");
}

#[test]
fn apply_that_waits_for_an_approval() {
    let scene = Scene::new();
    let said = scene.demo("apply", &["--yes", "--approval"]);
    insta::assert_snapshot!(scene.show(&said), @r#"
    exit 4
    ── stdout
    ── stderr
    ACTION  TARGET  DETAIL
    + create  new.txt  3 bytes
    ~ update  site/index.html  4 bytes
    - delete  old.txt
    demo.apply on ROOT/scratch: 1 to create, 1 to update, 1 to delete
    policy: ask (built-in: destructive operations ask), your yes counts
    plan digest: DIGEST
    ▸ demo.apply ROOT/scratch
    · keep new.txt
    ✓ change new.txt  DURATION
    ⏸ half-way: 1 of 3 files are changed. Continue?
    error: run RUN-1 waits for an approval: 1 of 3 files are changed. Continue?
      code: APPROVAL_REQUIRED
      state: waiting
    hint: windlass runs approve RUN-1
    hint: windlass runs reject RUN-1 --reason "…"
    "#);
    let said = scene.say(&["runs", "reject", "latest", "--reason", "not today"]);
    assert_eq!(said.code, Some(0), "to reject was what was wanted");
    assert!(
        said.stderr.contains("refused the approval: not today"),
        "{}",
        said.stderr
    );
    assert!(scene.place.scratch().join("old.txt").exists(), "all undone");
}

#[test]
fn names_that_do_not_exist() {
    let scene = Scene::new();
    insta::assert_snapshot!(scene.show(&scene.say(&["ops", "call", "demo.aply"])), @r#"
    exit 2
    ── stdout
    ── stderr
    error: no operation is called "demo.aply"
      code: UNKNOWN_OPERATION
      did_you_mean: demo.apply
    hint: windlass ops describe demo.apply
    "#);
    insta::assert_snapshot!(scene.show(&scene.say(&["rums", "list"])), @"
    exit 2
    ── stdout
    ── stderr
    error: unrecognized subcommand 'rums'

      tip: some similar subcommands exist: 'trusted', 'rules', 'trust', 'runs'

    Usage: windlass [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(scene.show(&scene.say(&["runs", "show", "run_nope"])), @r#"
    exit 3
    ── stdout
    ── stderr
    error: no run is called "run_nope" or starts with it
      code: RUN_NOT_FOUND
    hint: windlass runs list
    "#);
    insta::assert_snapshot!(scene.show(&scene.say(&["errors", "STORE_FUL"])), @r#"
    exit 3
    ── stdout
    ── stderr
    error: no error code is called "STORE_FUL"
      code: NOT_FOUND
    hint: windlass errors STORE_FULL
    "#);
}

#[test]
fn runs() {
    let scene = Scene::new();
    insta::assert_snapshot!(scene.show(&scene.say(&["runs", "list"])), @"
    exit 0
    ── stdout
    ── stderr
    No runs.
    hint: windlass tour
    ");
    scene.demo("apply", &["--yes"]).worked();
    insta::assert_snapshot!(scene.show(&scene.say(&["runs", "list"])), @"
    exit 0
    ── stdout
    RUN  STATE  STARTED  TITLE
    RUN-1  completed  now  demo.apply ROOT/scratch
    ── stderr
    ");
    insta::assert_snapshot!(scene.show(&scene.say(&["runs", "show", "latest"])), @r#"
    exit 0
    ── stdout
    RUN-1 completed
    title  demo.apply ROOT/scratch
    kind  demo
    by  local:USER through cli
    created  TIME (now)
    updated  TIME (now)
    starts  1
    events  16
    plan digest  DIGEST
    trace  TRACE
    output  {"changed":["new.txt","site/index.html","old.txt"],"dir":"ROOT/scratch"}

    STEP  OUTCOME  TRIES  TOOK  EFFECT
    keep new.txt  done  1
    change new.txt  done  1  DURATION  new.txt
    keep site/index.html  done  1
    change site/index.html  done  1  DURATION  site/index.html
    keep old.txt  done  1
    change old.txt  done  1  DURATION  old.txt

    ARTIFACT  SIZE  TYPE  SHA-256
    report.json  SIZE  application/json  DIGEST
    ── stderr
    hint: windlass runs rollback RUN-1
    "#);
    insta::assert_snapshot!(scene.show(&scene.say(&["runs", "verify", "latest"])), @"
    exit 0
    ── stdout
    ✓ RUN-1: 16 events, the hash chain is intact
      head  DIGEST
      origin  this home, which signs as PUBLIC-KEY
    ── stderr
    ");
    insta::assert_snapshot!(scene.show(&scene.say(&["runs", "artifact", "latest", "report.json"])), @r#"
    exit 0
    ── stdout
    {
      "changed": [
        "new.txt",
        "site/index.html",
        "old.txt"
      ],
      "dir": "ROOT/scratch"
    }
    ── stderr
    "#);
    let said = scene.say(&["runs", "rollback", "latest", "--yes"]).worked();
    insta::assert_snapshot!(scene.name_things(&said.stdout), @"run RUN-1 was rolled back by run RUN-2");
    // The lines of two runs are interleaved; the order differs.
    for file in ["new.txt", "site/index.html", "old.txt"] {
        let undone = format!("undid change {file}\n");
        assert!(said.stderr.contains(&undone), "{}", said.stderr);
    }
    assert_eq!(
        fs_err::read_to_string(scene.place.scratch().join("old.txt")).unwrap(),
        "old\n"
    );
    let said = scene.say(&["store", "check"]).worked();
    // Two runs, the tokens of their plans, and the audit.
    assert!(said.stdout.contains("5 journals"), "{}", said.stdout);
}

#[test]
fn policy_that_denies() {
    let rule = "version = 1\n\n[[rule]]\noperation = \"demo.*\"\neffect = \"destructive\"\ndecision = \"deny\"\nreason = \"nothing is deleted here\"\n";
    let scene = Scene::with_file("policy.toml", rule);
    insta::assert_snapshot!(scene.show(&scene.demo("apply", &["--yes"])), @"
    exit 4
    ── stdout
    ── stderr
    ACTION  TARGET  DETAIL
    + create  new.txt  3 bytes
    ~ update  site/index.html  4 bytes
    - delete  old.txt
    demo.apply on ROOT/scratch: 1 to create, 1 to update, 1 to delete
    policy: deny (policy.toml:3)
    plan digest: DIGEST
    error: policy forbids demo.apply on ROOT/scratch for local:USER
      code: POLICY_DENIED
      reason: nothing is deleted here
      reason_code: policy_denied
      rule: policy.toml:3
    hint: windlass policy check --operation demo.apply --principal local:USER --target ROOT/scratch --effect destructive
    ");
    assert!(scene.place.scratch().join("old.txt").exists());
}

#[test]
fn files_that_are_not_understood() {
    let policy = "version = 1\n\n[[rule]]\ndecision = \"alow\"\n";
    let scene = Scene::with_file("policy.toml", policy);
    insta::assert_snapshot!(scene.show(&scene.say(&["runs", "list"])), @"
    exit 2
    ── stdout
    ── stderr
    error: policy.toml:4:12: unknown variant `alow`, expected one of `allow`, `ask`, `deny`; did you mean `allow`?
      code: CONFIG_INVALID
    hint: windlass errors CONFIG_INVALID
    ");
    let scene = Scene::with_file(
        "config.toml",
        "[server]\nlisten = \"127.0.0.1:80\"\ncores = true\n",
    );
    insta::assert_snapshot!(scene.show(&scene.say(&["runs", "list"])), @"
    exit 2
    ── stdout
    ── stderr
    error: ROOT/home/config.toml:3:1: unknown field `cores`, expected one of `listen`, `allowed_hosts`, `allowed_origins`, `cors`, `public_url`, `deprecations`, `body_limit_bytes`, `request_timeout_seconds`, `roots`, `max_connections`, `max_connections_per_address`, `max_streams`, `max_streams_per_key`, `header_timeout_seconds`, `stall_timeout_seconds`; did you mean `cors`?
      code: CONFIG_INVALID
    hint: windlass errors CONFIG_INVALID
    ");
    let scene = Scene::with_file("config.toml", "[server\n");
    insta::assert_snapshot!(scene.show(&scene.say(&["runs", "list", "--json"])), @r#"
    exit 2
    ── stdout
    {
      "error": {
        "code": "CONFIG_INVALID",
        "details": {
          "column": 8,
          "file": "ROOT/home/config.toml",
          "line": 1
        },
        "message": "ROOT/home/config.toml:1:8: unclosed table, expected `]`",
        "next_actions": [],
        "request_id": "",
        "retryable": false
      },
      "ok": false
    }
    ── stderr
    "#);
}

#[test]
fn input_that_is_not_understood() {
    let scene = Scene::new();
    let call = |input: &str| scene.say(&["ops", "call", "runs.list", "--input", input]);
    insta::assert_snapshot!(scene.show(&call("{\"limit\": 1,}")), @r#"
    exit 2
    ── stdout
    ── stderr
    error: --input is not JSON: trailing comma at line 1 column 13
      code: INVALID_INPUT
      constraint: json
    hint: quote the JSON for your shell: --input '{"key": "value"}'
    "#);
    insta::assert_snapshot!(scene.show(&call("{\"limits\": 1}")), @r#"
    exit 2
    ── stdout
    ── stderr
    error: "limits" is not a field here; did you mean "limit"?
      code: INVALID_INPUT
      constraint: additionalProperties
    hint: windlass ops describe runs.list
    "#);
    insta::assert_snapshot!(scene.show(&call("@no-such-file")), @"
    exit 3
    ── stdout
    ── stderr
    error: the input cannot be read: failed to open file `no-such-file`: No such file or directory (os error 2)
      code: NOT_FOUND
    hint: windlass errors NOT_FOUND
    ");
}

#[test]
fn failures_for_machines() {
    let scene = Scene::new();
    let said = scene.say(&["--json", "runs", "show", "run_nope"]);
    insta::assert_snapshot!(scene.show(&said), @r#"
    exit 3
    ── stdout
    {
      "error": {
        "code": "RUN_NOT_FOUND",
        "details": {
          "run_id": "run_nope"
        },
        "message": "no run is called \"run_nope\" or starts with it",
        "next_actions": [
          "windlass runs list"
        ],
        "request_id": "REQUEST",
        "retryable": false
      },
      "ok": false
    }
    ── stderr
    "#);
    let said = scene.say(&["--agent", "runs", "show", "run_nope"]);
    insta::assert_snapshot!(scene.show(&said), @r#"
    exit 3
    ── stdout
    {"v":"1.0","type":"result","ok":false,"code":"NOT_FOUND","message":"no run is called \"run_nope\" or starts with it","data":{"error":{"code":"RUN_NOT_FOUND","details":{"run_id":"run_nope"},"next_actions":["windlass runs list"],"retryable":false}}}
    ── stderr
    "#);
    let said = scene.say(&["--json", "runs", "frobnicate"]);
    insta::assert_snapshot!(scene.show(&said), @r#"
    exit 2
    ── stdout
    {
      "error": {
        "code": "INVALID_INPUT",
        "details": {
          "constraint": "usage",
          "field": "arguments"
        },
        "message": "unrecognized subcommand 'frobnicate'\n\nUsage: windlass runs [OPTIONS] <COMMAND>\n\nFor more information, try '--help'.",
        "next_actions": [
          "windlass --help"
        ],
        "request_id": "",
        "retryable": false
      },
      "ok": false
    }
    ── stderr
    "#);
}
