//! The telemetry interface over HTTP: reports from outside, on the real binary.

use std::{net::SocketAddr, thread};

use serde_json::{Value, json};

use super::support::{
    binary::{Daemon, free_address, say},
    home::Place,
    http::{Ask, Reply},
    keyed::Server,
};

/// So that the tables, not the limits, decide.
const SETTINGS: &str = "[limits.tiers.local]\nper_minute = 100000\nconcurrency = 64\n[limits.tiers.pro]\nper_minute = 100000\nconcurrency = 64\n";

/// A server that is open to this machine.
struct Open {
    place: Place,
    daemon: Daemon,
}

impl Open {
    fn start() -> Self {
        let place = Place::new();
        fs_err::write(place.home().join("config.toml"), SETTINGS).unwrap();
        let daemon = Daemon::open(&place.home());
        Self { place, daemon }
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        ask(self.daemon.address, method, path, body)
    }

    fn get(&self, path: &str) -> (u16, Value) {
        let reply = Ask::get(path).send(self.daemon.address).unwrap();
        (reply.status, reply.json())
    }
}

fn ask(address: SocketAddr, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let mut ask = Ask::post(path, body.to_string());
    method.clone_into(&mut ask.method);
    let reply = ask.send(address).unwrap();
    (reply.status, reply.json())
}

fn event_id(number: u32) -> String {
    format!("00000000-0000-4000-8000-{number:012x}")
}

fn report(number: u32) -> Value {
    json!({
        "event_id": event_id(number),
        "run_id": format!("run-{number}"),
        "agent_name": "builder",
        "job_type": "worker",
        "start_time": format!("2026-01-21T10:00:{:02}+00:00", number % 60),
    })
}

fn with(mut report: Value, changes: Value) -> Value {
    let Value::Object(changes) = changes else {
        panic!("changes are an object")
    };
    report.as_object_mut().unwrap().extend(changes);
    report
}

/// The code of a refusal and the field it is about; its envelope is the service's own.
#[track_caller]
fn refused(answer: &(u16, Value)) -> String {
    let (status, body) = answer;
    assert_eq!(body["ok"], false, "{body}");
    for key in ["code", "message", "details", "retryable", "request_id"] {
        assert!(!body["error"][key].is_null(), "{key}: {body}");
    }
    let field = body["error"]["details"]["field"].as_str().unwrap_or("-");
    let code = body["error"]["code"].as_str().unwrap();
    format!("{status} {code} {field}").trim_end().to_owned()
}

#[test]
fn a_report_is_kept_once() {
    let server = Open::start();
    let given = with(
        report(1),
        json!({ "status": "succeeded", "product": "quill" }),
    );
    let (status, first) = server.ask("POST", "/api/v1/runs", &given);
    assert_eq!((status, &first["result"]), (201, &json!("created")));
    assert_eq!(first["status"], "success");
    assert_eq!(first["start_time"], "2026-01-21T10:00:01.000Z");
    let other = with(report(1), json!({ "agent_name": "another reporter" }));
    for again in [&given, &other] {
        let (status, body) = server.ask("POST", "/api/v1/runs", again);
        assert_eq!((status, &body["result"]), (200, &json!("duplicate")));
        assert_eq!(body["agent_name"], "builder");
    }
    let (_, listed) = server.get("/api/v1/runs");
    assert_eq!(listed["total"], 1);
    // Another process, and the same store.
    let mut killed = server.daemon;
    killed.process.kill();
    let daemon = Daemon::open(&server.place.home());
    let (status, body) = ask(daemon.address, "POST", "/api/v1/runs", &given);
    assert_eq!((status, &body["result"]), (200, &json!("duplicate")));
}

#[test]
fn a_report_that_is_wrong_is_refused() {
    let server = Open::start();
    let without = |field: &str| {
        let mut report = report(1);
        report.as_object_mut().unwrap().remove(field);
        report
    };
    let cases = [
        json!({}),
        json!([]),
        without("event_id"),
        without("run_id"),
        without("agent_name"),
        without("job_type"),
        without("start_time"),
        with(report(1), json!({ "event_id": "1" })),
        with(
            report(1),
            json!({ "event_id": "00000000-0000-1000-8000-000000000001" }),
        ),
        with(report(1), json!({ "start_time": "2026-01-21T10:00:00" })),
        with(report(1), json!({ "status": "done" })),
        with(report(1), json!({ "job_type": "cron" })),
        with(report(1), json!({ "metrics_json": 7 })),
        with(report(1), json!({ "surprise": true })),
    ];
    let said: Vec<String> = cases
        .iter()
        .map(|case| refused(&server.ask("POST", "/api/v1/runs", case)))
        .collect();
    insta::assert_snapshot!(said.join("\n"), @"
    400 INVALID_INPUT /event_id
    400 INVALID_INPUT
    400 INVALID_INPUT /event_id
    400 INVALID_INPUT /run_id
    400 INVALID_INPUT /agent_name
    400 INVALID_INPUT /job_type
    400 INVALID_INPUT /start_time
    400 INVALID_INPUT /event_id
    400 INVALID_INPUT /event_id
    400 INVALID_INPUT /start_time
    400 INVALID_INPUT /status
    400 INVALID_INPUT /job_type
    400 INVALID_INPUT /metrics_json
    400 INVALID_INPUT /surprise
    ");
    let (_, listed) = server.get("/api/v1/runs");
    assert_eq!(listed["total"], 0);
}

#[test]
fn a_reported_run_can_be_changed() {
    let server = Open::start();
    server.ask("POST", "/api/v1/runs", &report(1));
    let path = format!("/api/v1/runs/{}", event_id(1));
    let change = json!({
        "status": "failed",
        "end_time": "2026-01-21T10:00:03.250Z",
        "items_discovered": 3,
        "items_failed": 1,
        "output_summary": "two pages",
        "error_summary": "one page",
        "error_details": { "page": 3 },
        "metrics_json": { "total_tokens": 12 },
        "context_json": { "trace_id": "ab", "span_id": "cd" },
    });
    let (status, body) = server.ask("PATCH", &path, &change);
    assert_eq!(status, 200, "{body}");
    assert_eq!(body["status"], "failure");
    assert_eq!(body["duration_ms"], 2250);
    assert_eq!(body["metrics_json"]["total_tokens"], 12);
    let (_, same) = server.ask("PATCH", &path, &json!({}));
    assert_eq!(same, body);
    let commit = format!("{path}/associate-commit");
    let (status, body) = server.ask(
        "POST",
        &commit,
        &json!({ "commit_hash": "4F2A9C1", "commit_source": "llm" }),
    );
    assert_eq!((status, &body["commit_hash"]), (200, &json!("4f2a9c1")));
    assert_eq!(body["commit_source"], "llm");
    let (_, shown) = server.get("/api/v1/runs/run-1");
    assert_eq!(shown, body);
    let (_, events) = server.get("/api/v1/runs/run-1/events");
    let types: Vec<&str> = events["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["RUN_REPORTED", "RUN_UPDATED", "RUN_UPDATED"]);

    let unknown = format!("/api/v1/runs/{}", event_id(2));
    let said = [
        server.ask("PATCH", &unknown, &change),
        server.ask("PATCH", "/api/v1/runs/nobody", &change),
        server.ask("PATCH", &path, &json!({ "status": "done" })),
        server.ask("PATCH", &path, &json!({ "agent_name": "other" })),
        server.ask("PATCH", &path, &json!({ "duration_ms": -1 })),
        server.ask("PATCH", &path, &json!({ "id": "other" })),
        server.ask(
            "POST",
            &commit,
            &json!({ "commit_hash": "4f2a9c", "commit_source": "ci" }),
        ),
        server.ask(
            "POST",
            &commit,
            &json!({ "commit_hash": "4f2a9cx", "commit_source": "ci" }),
        ),
        server.ask(
            "POST",
            &commit,
            &json!({ "commit_hash": "4f2a9c1", "commit_source": "cron" }),
        ),
        server.ask("POST", &commit, &json!({ "commit_hash": "4f2a9c1" })),
        server.ask(
            "POST",
            &format!("{unknown}/associate-commit"),
            &json!({ "commit_hash": "4f2a9c1", "commit_source": "ci" }),
        ),
        server.get("/api/v1/runs/nobody"),
        server.get("/api/v1/runs/nobody/events"),
        server.get("/telemetry/nobody"),
    ]
    .map(|answer| refused(&answer));
    insta::assert_snapshot!(said.join("\n"), @"
    404 RUN_NOT_FOUND -
    404 RUN_NOT_FOUND -
    400 INVALID_INPUT /status
    400 INVALID_INPUT /agent_name
    400 INVALID_INPUT /duration_ms
    400 INVALID_INPUT id
    400 INVALID_INPUT /commit_hash
    400 INVALID_INPUT /commit_hash
    400 INVALID_INPUT /commit_source
    400 INVALID_INPUT /commit_source
    404 RUN_NOT_FOUND -
    404 RUN_NOT_FOUND -
    404 RUN_NOT_FOUND -
    404 RUN_NOT_FOUND -
    ");
}

#[test]
fn runs_are_listed_by_what_they_are() {
    let server = Open::start();
    let given: Vec<Value> = (0..30)
        .map(|number| {
            with(
                report(number),
                json!({
                    "status": if number % 3 == 0 { "failed" } else { "running" },
                    "job_type": if number % 2 == 0 { "gate" } else { "llm_call" },
                    "parent_run_id": if number < 10 { json!("parent") } else { json!(null) },
                    "product": if number < 5 { "quill" } else { "ink" },
                    "metrics_json": { "prompt_tokens": 2, "total_tokens": 3 },
                }),
            )
        })
        .collect();
    let (status, kept) = server.ask("POST", "/api/v1/runs/batch", &json!(given));
    assert_eq!((status, &kept["created"]), (200, &json!(30)), "{kept}");
    for (query, total, shown) in [
        ("", 30, 30),
        ("?limit=7", 30, 7),
        ("?limit=7&offset=28", 30, 2),
        ("?offset=30", 30, 0),
        ("?status=failure", 10, 10),
        ("?status=failed", 10, 10),
        ("?status=timeout", 0, 0),
        ("?job_type=gate", 15, 15),
        ("?parent_run_id=parent", 10, 10),
        ("?product=quill", 5, 5),
        ("?product=quill&job_type=gate&status=running", 2, 2),
    ] {
        let (status, body) = server.get(&format!("/api/v1/runs{query}"));
        assert_eq!((status, &body["total"]), (200, &json!(total)), "{query}");
        let runs = body["runs"].as_array().unwrap();
        assert_eq!(runs.len(), shown, "{query}");
        assert!(
            runs.windows(2)
                .all(|pair| pair[0]["start_time"].as_str() >= pair[1]["start_time"].as_str()),
            "{query}"
        );
    }
    let said: Vec<String> = [
        "?limit=0",
        "?limit=1001",
        "?limit=x",
        "?offset=-1",
        "?status=done",
        "?job_type=cron",
        "?colour=red",
    ]
    .into_iter()
    .map(|query| refused(&server.get(&format!("/api/v1/runs{query}"))))
    .collect();
    insta::assert_snapshot!(said.join("\n"), @"
    400 INVALID_INPUT /limit
    400 INVALID_INPUT /limit
    400 INVALID_INPUT /limit
    400 INVALID_INPUT /offset
    400 INVALID_INPUT /status
    400 INVALID_INPUT /job_type
    400 INVALID_INPUT /colour
    ");

    server.ask(
        "POST",
        "/api/v1/runs",
        &with(
            report(99),
            json!({ "run_id": "parent", "job_type": "launch" }),
        ),
    );
    let (_, shown) = server.get("/telemetry/parent");
    assert_eq!(shown["run"]["event_id"], event_id(99));
    assert_eq!(shown["children"].as_array().unwrap().len(), 10);
    assert_eq!(shown["events"].as_array().unwrap().len(), 1);
    assert_eq!(
        shown["llm"],
        json!({
            "calls": 5, "prompt_tokens": 10, "completion_tokens": 0, "total_tokens": 15,
            "api_cost_usd": null,
        })
    );
    let (_, values) = server.get("/api/v1/metadata");
    assert_eq!(values["products"], json!(["ink", "quill"]));
    assert_eq!(values["job_types"], json!(["launch", "gate", "llm_call"]));
    // Remembered for a while.
    server.ask(
        "POST",
        "/api/v1/runs",
        &with(report(100), json!({ "product": "new" })),
    );
    assert_eq!(server.get("/api/v1/metadata").1, values);
}

#[test]
fn a_batch_reports_the_result_of_each() {
    let server = Open::start();
    let wrong = with(report(2), json!({ "status": "done" }));
    let given = json!({ "runs": [report(1), wrong, 7, report(1), report(3)] });
    let (status, body) = server.ask("POST", "/api/v1/runs/batch", &given);
    assert_eq!(status, 200, "{body}");
    let counts = ["total", "created", "existing", "failed"].map(|key| body[key].as_u64().unwrap());
    assert_eq!(counts, [5, 2, 1, 2]);
    let results: Vec<&str> = body["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["result"].as_str().unwrap())
        .collect();
    assert_eq!(results, ["created", "duplicate", "created"]);
    insta::assert_snapshot!(body["errors"], @r#"[{"event_id":"00000000-0000-4000-8000-000000000002","field":"/status","index":1,"message":"no status is called \"done\"; it is one of running, success, failure, partial, timeout, cancelled"},{"field":"","index":2,"message":"this is a number, not an object"}]"#);

    let given = json!([report(4), wrong]);
    let answer = server.ask("POST", "/api/v1/runs/batch-transactional", &given);
    assert_eq!(refused(&answer), "400 INVALID_INPUT /runs/1");
    assert_eq!(answer.1["error"]["details"]["errors"][0]["index"], 1);
    let given = json!([report(3), report(4)]);
    let (status, body) = server.ask("POST", "/api/v1/runs/batch-transactional", &given);
    assert_eq!(status, 200, "{body}");
    assert_eq!(
        (&body["created"], &body["existing"]),
        (&json!(1), &json!(1))
    );

    let (status, body) = server.ask("POST", "/api/v1/runs/batch", &json!([]));
    assert_eq!((status, &body["total"]), (200, &json!(0)));
    let many: Vec<Value> = (0..1001).map(report).collect();
    let most = json!(many[..1000]);
    for path in ["/api/v1/runs/batch", "/api/v1/runs/batch-transactional"] {
        for given in [json!(many), json!({}), json!({ "runs": 7 }), json!(7)] {
            let answer = server.ask("POST", path, &given);
            assert_eq!(answer.0, 400, "{path} {}", answer.1);
        }
    }
    assert_eq!(server.get("/api/v1/runs").1["total"], 3);
    let (_, body) = server.ask("POST", "/api/v1/runs/batch-transactional", &most);
    assert_eq!(
        (&body["created"], &body["existing"]),
        (&json!(997), &json!(3))
    );
}

#[test]
fn of_equal_reports_at_once_one_is_new() {
    let server = Open::start();
    let address = server.daemon.address;
    let answers: Vec<(u16, Value)> = thread::scope(|scope| {
        let calls: Vec<_> = (0..12)
            .map(|_| scope.spawn(move || ask(address, "POST", "/api/v1/runs", &report(1))))
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    let created = answers.iter().filter(|(status, _)| *status == 201).count();
    let there = answers.iter().filter(|(status, _)| *status == 200).count();
    assert_eq!((created, there), (1, 11), "{answers:?}");
    assert_eq!(server.get("/api/v1/runs").1["total"], 1);
    assert_eq!(server.get("/api/v1/runs/run-1/events").0, 200);
}

#[test]
fn keys_see_what_is_theirs() {
    let place = Place::new();
    let home = place.home();
    fs_err::write(home.join("config.toml"), SETTINGS).unwrap();
    let key = |scopes: &[&str]| {
        let mut arguments = vec!["keys", "create", "test"];
        arguments.extend(scopes.iter().flat_map(|scope| ["--scope", *scope]));
        say(&home, &arguments).worked().stdout.trim().to_owned()
    };
    let (one, two) = (key(&["launch"]), key(&["launch"]));
    let (other, all) = (key(&["runs"]), key(&["*"]));
    let mut daemon = Daemon::spawn(&home, free_address(), &[]);
    daemon.wait_until_ready();
    let send = |ask: Ask, key: Option<&String>| -> Reply {
        let ask = match key {
            Some(key) => ask.with("authorization", format!("Bearer {key}")),
            None => ask,
        };
        ask.send(daemon.address).unwrap()
    };
    let post = || Ask::post("/api/v1/runs", report(1).to_string());
    assert_eq!(send(post(), None).status, 401);
    assert_eq!(send(post(), Some(&other)).status, 403);
    assert_eq!(send(post(), Some(&one)).status, 201);
    // Ids are unique per reporter.
    assert_eq!(send(post(), Some(&two)).status, 201);
    assert_eq!(send(post(), Some(&one)).status, 200);
    let total = |key: &String| {
        let reply = send(Ask::get("/api/v1/runs"), Some(key));
        reply.json()["total"].as_u64()
    };
    assert_eq!(total(&one), Some(1));
    assert_eq!(total(&all), Some(2));
    assert_eq!(send(Ask::get("/api/v1/runs"), None).status, 401);
    assert_eq!(send(Ask::get("/health"), None).status, 200);
    assert_eq!(send(Ask::get("/metrics"), None).status, 401);
    let metrics = send(Ask::get("/metrics"), Some(&all));
    assert_eq!(metrics.status, 200);
    assert!(metrics.text().contains("windlass_requests_total"));
}

#[test]
fn hostile_requests_do_no_harm() {
    let server = Server::start();
    let asks = [
        Ask::new("PUT", "/api/v1/runs"),
        Ask::new("DELETE", "/api/v1/runs/x"),
        Ask::get("/api/v1/runs/..%2f..%2fetc%2fpasswd"),
        Ask::get("/telemetry/%00"),
        Ask::get("/api/v1/runs/%ff"),
        Ask::post("/api/v1/runs", "{"),
        Ask::post("/api/v1/runs/batch", "[[[[[[[[[["),
        Ask::post("/api/v1/runs", vec![b' '; 11 * 1024 * 1024]),
        Ask::post("/api/v1/runs/batch", report(1).to_string()).without("content-type"),
    ];
    for ask in asks {
        let shown = format!("{} {}", ask.method, ask.path);
        if let Ok(reply) = server.with_key(ask).send(server.daemon.address) {
            assert!((400..500).contains(&reply.status), "{shown}: {reply:?}");
        }
        server.assert_up(&shown);
    }
}
