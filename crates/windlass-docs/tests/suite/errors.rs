//! Pasted error messages and logs: what is found, and what it costs.

use std::time::{Duration, Instant};

use windlass_docs::{Docs, Query};

fn first(docs: &Docs<'_>, question: impl Into<String>) -> Option<String> {
    let answer = docs.query(&Query::new(question)).unwrap();
    answer.references.first().map(|first| first.path.clone())
}

/// Messages as programs print them, with the page that explains each.
const MESSAGES: &[(&str, &str)] = &[
    (
        "npm error code ERESOLVE\nnpm error ERESOLVE could not resolve\nnpm error While resolving: x@1",
        "node-errors",
    ),
    (
        "Error [ERR_REQUIRE_ESM]: require() of ES Module /app/node_modules/chalk/source/index.js",
        "node-errors",
    ),
    (
        "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
        "node-errors",
    ),
    (
        "\u{1b}[31m✘ \u{1b}[41;31m[ERROR]\u{1b}[0m No loader is configured for \".node\" files: a.node",
        "build-errors",
    ),
    (
        "src/api.ts(3,19): error TS2307: Cannot find module './db' or its corresponding type declarations.",
        "build-errors",
    ),
    (
        "ERROR: Could not find a version that satisfies the requirement torch==9 (from versions: 1.0)",
        "build-errors",
    ),
    (
        "main.go:4:2: no required module provides package github.com/x/y; to add it:",
        "build-errors",
    ),
    (
        "[ERROR] Runtime.ImportModuleError: Unable to import module 'app': No module named 'requests'",
        "function-errors",
    ),
    (
        "Runtime.HandlerNotFound: index.main is undefined or not exported",
        "function-errors",
    ),
    (
        "/var/task/node_modules/bcrypt/lib.node: invalid ELF header",
        "function-errors",
    ),
    (
        "ERROR:  relation \"orders\" does not exist\nLINE 1: select * from orders",
        "database-errors",
    ),
    (
        "Error: P2002: Unique constraint failed on the fields: (`email`)",
        "database-errors",
    ),
    (
        "ERROR 1213 (40001): Deadlock found when trying to get lock; try restarting transaction",
        "database-errors",
    ),
    (
        "(error) CROSSSLOT Keys in request don't hash to the same slot",
        "database-errors",
    ),
    ("connect ECONNREFUSED 127.0.0.1:5432", "database-connection"),
    (
        "ERROR 2003 (HY000): Can't connect to MySQL server on 'db.x' (110)",
        "database-connection",
    ),
    (
        "CREATE_FAILED Encountered unsupported property Foo",
        "template-errors",
    ),
    (
        "Export prod-vpc cannot be deleted as it is in use by shop-prod",
        "template-errors",
    ),
    (
        "An error occurred (ValidationError) when calling the UpdateStack operation: No updates are to be performed.",
        "no-changes",
    ),
    (
        "Stack:arn:aws:cloudformation:eu-west-1:1:stack/a/b is in UPDATE_IN_PROGRESS state and can not be updated.",
        "stack-busy",
    ),
    (
        "(service shop-web) (deployment ecs-svc/123) deployment failed: tasks failed to start. Task failed ELB health checks in (target-group arn:aws:x)",
        "container-errors",
    ),
    (
        "Unable to locate credentials. You can configure credentials by running \"aws configure\".",
        "access-denied",
    ),
    (
        "Error response from daemon: driver failed programming external connectivity: Bind for 0.0.0.0:5432 failed: port is already allocated",
        "port-in-use",
    ),
    (
        "{\"message\":\"Missing Authentication Token\"}",
        "http-errors",
    ),
    (
        "Error: unable to verify the first certificate\n  code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'",
        "network-errors",
    ),
    (
        "ConditionalCheckFailedException: The conditional request failed",
        "aws-runtime-errors",
    ),
];

#[test]
fn messages_are_explained_first() {
    let docs = Docs::embedded().unwrap();
    let mut wrong = Vec::new();
    for (message, page) in MESSAGES {
        let found = first(&docs, *message);
        if found != Some(format!("stack/troubleshooting/{page}.md")) {
            wrong.push(format!("{message}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_explanation_is_the_whole_section_with_its_place() {
    let docs = Docs::embedded().unwrap();
    let answer = docs
        .query(&Query::new("npm ERR! code ERESOLVE"))
        .unwrap()
        .answer;
    assert!(
        answer.contains("--legacy-peer-deps")
            && answer.contains("[stack/troubleshooting/node-errors.md#dependencies-conflict]"),
        "{answer}"
    );
}

/// The message is in the last line of a megabyte, and the answer is bounded and quick.
#[test]
fn a_pasted_log_of_a_megabyte_is_answered() {
    let docs = Docs::embedded().unwrap();
    docs.prepare();
    let line = "2026-03-04T09:12:44Z INFO GET /orders/1a2b 200 the stack is fine error at Object\n";
    let message = "Error: listen EADDRINUSE: address already in use :::3000";
    let log = format!("{}{message}", line.repeat((1_000_000 - 100) / line.len()));
    let start = Instant::now();
    let answer = docs.query(&Query::new(log)).unwrap();
    assert_eq!(
        answer.references[0].path,
        "stack/troubleshooting/port-in-use.md"
    );
    assert!(answer.answer.chars().count() <= 12_000);
    // Well under a second even without optimisation; quadratic work would take minutes.
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn our_own_example_questions_are_not_found() {
    let docs = Docs::embedded().unwrap();
    let answer = docs.query(&Query::new("best pizza in naples")).unwrap();
    assert_eq!(answer.references, []);
}
