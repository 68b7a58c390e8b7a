//! The sample application, from the first start to the last process.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Instant;

use serde_json::json;
use windlass_stack_dev::client;
use windlass_stack_dev::log::LogQuery;

use super::project::{Project, call, has_servers, is_running, until};

#[tokio::test(flavor = "multi_thread")]
async fn the_sample_starts_changes_survives_and_ends() {
    if !has_servers() {
        return;
    }
    let project = Project::sample("dev");
    let began = Instant::now();
    let started = project.start().await.unwrap();
    println!(
        "cold start with a new PostgreSQL and Redis: {} ms",
        began.elapsed().as_millis()
    );
    assert!(started.ok, "{started:?}");
    let data = started.data.unwrap();
    let api = data["workloads"]["api"].as_str().unwrap().to_owned();
    assert_eq!(data["workloads"]["notes"], "running");

    serves_and_stores(&api).await;
    answers_agents(&project).await;
    goes_live(&project, &api).await;
    pages_its_log(&project).await;

    // The session file is private, and a second start finds the session.
    let mode = fs_err::metadata(&project.places().session)
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let again = project.start().await.unwrap();
    assert_eq!(again.data.unwrap()["reused"], true);

    // Killed: the truth is found, the next start ends what was left and keeps the data.
    let processes = project.processes().await;
    assert!(processes.len() >= 4, "{processes:?}");
    project.kill().await;
    let status = client::status(&project.wanted(), false).await.unwrap();
    let truth = status.data.unwrap();
    assert_eq!(
        (truth["phase"].clone(), truth["ready"].clone()),
        (json!("stopped"), json!(false))
    );
    let left = truth["leftBehind"].to_string();
    assert!(
        left.contains("database") && left.contains("cache"),
        "{left}"
    );
    assert!(
        client::logs(&project.wanted(), &LogQuery::default())
            .await
            .unwrap()
            .ok
    );

    let began = Instant::now();
    let restarted = project.start().await.unwrap();
    println!(
        "start over data that is there: {} ms",
        began.elapsed().as_millis()
    );
    assert!(restarted.ok, "{restarted:?}");
    assert!(
        processes.iter().all(|pid| !is_running(*pid)),
        "{processes:?}"
    );
    assert_eq!(
        restarted.data.unwrap()["workloads"]["api"],
        api.as_str(),
        "addresses stay the same"
    );
    let (_, kept) = call("GET", &format!("{api}/notes"), None).await;
    assert_eq!(kept["notes"][0]["text"], "buy rope");

    // Stopped: nothing is left, not even the file.
    let processes = project.processes().await;
    let manager = project.session().manager;
    let stopped = client::stop(&project.wanted()).await.unwrap();
    assert_eq!(
        stopped.data.unwrap()["leftBehind"],
        json!([]),
        "the manager ended everything itself"
    );
    until("the manager is gone", async || {
        (!manager.is_running()).then_some(())
    })
    .await;
    assert!(
        processes.iter().all(|pid| !is_running(*pid)),
        "{processes:?}"
    );
    assert!(!project.places().session.exists());
    let problem = client::status(&project.wanted(), false).await.unwrap_err();
    assert_eq!(problem.code().name, "NOT_FOUND");
}

async fn serves_and_stores(api: &str) {
    let (status, note) = call(
        "POST",
        &format!("{api}/notes"),
        Some(json!({ "text": "buy rope" })),
    )
    .await;
    assert_eq!(
        (status, &note),
        (201, &json!({ "id": "1", "text": "buy rope" }))
    );
    let (status, note) = call("GET", &format!("{api}/notes/1"), None).await;
    assert_eq!((status, note["text"].as_str()), (200, Some("buy rope")));
    assert_eq!(call("GET", &format!("{api}/notes/77"), None).await.0, 404);
    assert_eq!(
        call("GET", &format!("{api}/elsewhere"), None).await,
        (404, json!({ "message": "Not Found" }))
    );
    for expected in 1..=3 {
        let (status, visits) = call("POST", &format!("{api}/visits/home/page"), None).await;
        assert_eq!(
            (status, visits),
            (200, json!({ "page": "home/page", "visits": expected }))
        );
    }
    let (_, visits) = call("GET", &format!("{api}/visits/home/page"), None).await;
    assert_eq!(visits["visits"], 3);
}

async fn answers_agents(project: &Project) {
    let (_, rows) = project
        .agent(
            "POST",
            "/postgres/database/query",
            Some(json!({ "sql": "insert into notes (text) values ('by agent') returning id" })),
        )
        .await;
    assert_eq!(rows.data.unwrap()["rows"], json!([{ "id": 2 }]));
    let (_, tables) = project
        .agent("GET", "/postgres/database/tables", None)
        .await;
    assert_eq!(tables.data.unwrap()["rows"][0]["table_name"], "notes");
    let (_, sample) = project
        .agent("GET", "/postgres/database/sample?table=notes&limit=1", None)
        .await;
    assert_eq!(sample.data.unwrap()["rowCount"], 1);
    let (_, keys) = project
        .agent("GET", "/redis/cache/keys?pattern=visits:*", None)
        .await;
    assert_eq!(keys.data.unwrap()["keys"], json!(["visits:home/page"]));
    let (_, value) = project
        .agent(
            "POST",
            "/redis/cache/command",
            Some(json!({ "command": "SET a 'b c'" })),
        )
        .await;
    assert!(value.ok, "{value:?}");
    let (_, value) = project.agent("GET", "/redis/cache/get?key=a", None).await;
    assert_eq!(value.data.unwrap()["result"], "b c");
    let (status, wrong) = project
        .agent(
            "POST",
            "/postgres/database/query",
            Some(json!({ "sql": "selec 1" })),
        )
        .await;
    assert_eq!(
        (status, wrong.ok, wrong.code.as_str()),
        (200, false, "VALIDATION_ERROR")
    );

    // Values are masked, and no password is anywhere in the log.
    let (_, env) = project.agent("GET", "/env/notes", None).await;
    let env = env.data.unwrap()["env"].clone();
    assert_eq!(env["GREETING"], "*****");
    assert!(
        env["STP_DATABASE_CONNECTION_STRING"]
            .as_str()
            .unwrap()
            .starts_with("post...otes"),
        "{env}"
    );
    let token = project.session().token;
    let log = fs_err::read_to_string(project.places().log()).unwrap();
    assert!(
        !log.contains(&token) && !log.contains("postgresql://db_master_user:"),
        "{log}"
    );
}

/// A change of code is served in less than two seconds, and a broken one is not served at all.
async fn goes_live(project: &Project, api: &str) {
    for (file, old, new, path) in [
        (
            "src/notes.mjs",
            "greeting: process.env.GREETING",
            "greeting: 'changed'",
            "/notes",
        ),
        (
            "src/visits.py",
            "\"visits\": count",
            "\"visits\": \"changed\"",
            "/visits/home",
        ),
    ] {
        let text = fs_err::read_to_string(project.path().join(file)).unwrap();
        assert!(text.contains(old));
        let began = Instant::now();
        project.write(file, &text.replace(old, new));
        until("the change is live", async || {
            let (status, body) = call("GET", &format!("{api}{path}"), None).await;
            assert_eq!(status, 200, "no request fails during this: {body}");
            body.to_string().contains("changed").then_some(())
        })
        .await;
        let took = began.elapsed();
        println!("change of {file} live after {} ms", took.as_millis());
        assert!(took.as_secs() < 2, "{took:?}");
    }
    let good = fs_err::read_to_string(project.path().join("src/notes.mjs")).unwrap();
    project.write("src/notes.mjs", "export const handler = ;");
    let rebuilt = client::rebuild(&project.wanted(), "notes").await.unwrap();
    assert!(!rebuilt.ok, "{rebuilt:?}");
    assert!(
        rebuilt.data.unwrap()["output"]
            .as_str()
            .unwrap()
            .contains("SyntaxError")
    );
    assert_eq!(
        call("GET", &format!("{api}/notes"), None).await.1["greeting"],
        "changed"
    );
    project.write("src/notes.mjs", &good);
    let rebuilt = client::rebuild(&project.wanted(), "notes").await.unwrap();
    assert!(rebuilt.ok, "{rebuilt:?}");
    let all = client::rebuild_all(&project.wanted()).await.unwrap();
    assert_eq!(
        all.data.unwrap()["workloads"],
        json!({ "notes": { "ok": true }, "visits": { "ok": true } })
    );
    let unknown = client::rebuild(&project.wanted(), "nobody")
        .await
        .unwrap_err();
    assert_eq!(unknown.code().name, "NOT_FOUND");
}

async fn pages_its_log(project: &Project) {
    let everything = LogQuery {
        workload: Some("notes".to_owned()),
        cursor: Some(0),
        limit: Some(1000),
        ..LogQuery::default()
    };
    let whole = client::logs(&project.wanted(), &everything)
        .await
        .unwrap()
        .data
        .unwrap();
    let whole: Vec<String> = whole["logs"]
        .as_str()
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    assert!(
        whole
            .iter()
            .any(|line| line.ends_with("[notes] note 1 was written")),
        "{whole:?}"
    );
    let (mut seen, mut cursor) = (Vec::new(), 0);
    loop {
        let path = format!("/logs?workload=notes&limit=1&cursor={cursor}");
        let (_, page) = project.agent("GET", &path, None).await;
        let page = page.data.unwrap();
        cursor = page["nextCursor"].as_u64().unwrap();
        if page["count"] == 0 {
            break;
        }
        seen.push(page["logs"].as_str().unwrap().to_owned());
    }
    assert_eq!(seen, whole);
}
