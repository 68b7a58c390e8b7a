//! Functions that fail in every way, and requests that are refused.

use serde_json::json;
use windlass_stack_dev::client;

use super::project::{Project, call, http, until};

const CONFIG: &str = r#"
resources:
  api:
    type: http-api-gateway
    properties:
      cors: { enabled: true, allowedOrigins: ["https://app.example"] }
  odd:
    type: function
    properties:
      timeout: 1
      url: { enabled: true }
      packaging:
        type: stacktape-lambda-buildpack
        properties: { entryfilePath: odd.cjs }
      events:
        - type: http-api-gateway
          properties: { httpApiGatewayName: api, method: "*", path: "/{proxy+}", payloadFormat: "2.0" }
  queue:
    type: sqs-queue
"#;

const ODD: &str = r#"
exports.handler = async (event, context) => {
  switch (event.rawPath) {
    case '/error': throw new TypeError('on purpose');
    case '/slow': return new Promise(() => setTimeout(() => {}, 60000));
    case '/exit': process.exit(3);
    case '/shape': return { statusCode: 'x' };
    case '/bytes': return { statusCode: 200, isBase64Encoded: true, body: Buffer.from([0, 255]).toString('base64'), headers: { 'content-type': 'application/octet-stream' } };
    default: return { path: event.rawPath, cookies: event.cookies, left: context.getRemainingTimeInMillis() > 0 };
  }
};
"#;

#[tokio::test(flavor = "multi_thread")]
async fn every_failure_has_its_answer_and_a_crash_loop_ends() {
    let project = Project::new("odd", &[("stacktape.yml", CONFIG), ("odd.cjs", ODD)]);
    let started = project.start().await.unwrap();
    assert!(started.ok, "{started:?}");
    let data = started.data.unwrap();
    assert!(
        data["elsewhere"]["queue"]
            .as_str()
            .unwrap()
            .starts_with("not-local: "),
        "{data}"
    );
    let api = data["workloads"]["api"].as_str().unwrap().to_owned();
    let own = data["workloads"]["odd"].as_str().unwrap().to_owned();

    let failed = json!({ "message": "Internal Server Error" });
    for (path, expected) in [
        ("/fine", (200, json!({ "path": "/fine", "left": true }))),
        ("/error", (500, failed.clone())),
        ("/shape", (500, failed.clone())),
        (
            "/slow",
            (504, json!({ "message": "Endpoint request timed out" })),
        ),
        ("/fine", (200, json!({ "path": "/fine", "left": true }))),
        ("/exit", (502, failed.clone())),
        ("/fine", (200, json!({ "path": "/fine", "left": true }))),
    ] {
        assert_eq!(
            call("GET", &format!("{api}{path}"), None).await,
            expected,
            "{path}"
        );
    }
    let bytes = http()
        .get(format!("{own}/bytes"))
        .send()
        .await
        .unwrap()
        .bytes()
        .await
        .unwrap();
    assert_eq!(&bytes[..], [0, 255]);
    let preflight = http()
        .request(reqwest::Method::OPTIONS, format!("{api}/fine"))
        .header("origin", "https://app.example")
        .header("access-control-request-method", "PUT")
        .send()
        .await
        .unwrap();
    assert_eq!(preflight.status(), 204);
    assert_eq!(
        preflight.headers()["access-control-allow-origin"],
        "https://app.example"
    );

    // Four crashes in a row and it is given up; a rebuild brings it back.
    for _ in 0..4 {
        assert_eq!(call("GET", &format!("{api}/exit"), None).await.0, 502);
    }
    let shown = until("the function is given up", async || {
        let status = client::status(&project.wanted(), true)
            .await
            .unwrap()
            .data
            .unwrap();
        let shown = status["workloads"]["odd"].as_str().unwrap().to_owned();
        assert_eq!(
            status["ready"],
            json!(!shown.starts_with("error: ") && shown != "starting")
        );
        shown.starts_with("error: ").then_some(shown)
    })
    .await;
    assert!(shown.contains("4 times in a row"), "{shown}");
    assert_eq!(
        call("GET", &format!("{api}/fine"), None).await,
        (500, failed)
    );
    assert!(client::rebuild(&project.wanted(), "odd").await.unwrap().ok);
    assert_eq!(call("GET", &format!("{api}/fine"), None).await.0, 200);

    refuses_other_callers(&project).await;
    assert!(client::stop(&project.wanted()).await.unwrap().ok);
}

async fn refuses_other_callers(project: &Project) {
    let session = project.session();
    let url = |path: &str| format!("http://127.0.0.1:{}{path}", session.port);
    let ask = |path: &str, headers: &[(&'static str, String)]| {
        let mut request = http().get(url(path));
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        request.send()
    };
    let token = || ("authorization", format!("Bearer {}", session.token));
    for (path, headers, status, code) in [
        ("/health", vec![], 200, "OK"),
        ("/status", vec![], 401, "AUTH_ERROR"),
        (
            "/status",
            vec![("authorization", "Bearer wrong".to_owned())],
            401,
            "AUTH_ERROR",
        ),
        ("/status", vec![token()], 200, "OK"),
        (
            "/status",
            vec![token(), ("origin", "http://localhost".to_owned())],
            403,
            "READ_ONLY_VIOLATION",
        ),
        (
            "/status",
            vec![token(), ("host", "evil.example".to_owned())],
            403,
            "READ_ONLY_VIOLATION",
        ),
        ("/nowhere", vec![token()], 404, "NOT_FOUND"),
        ("/health/odd", vec![token()], 200, "OK"),
        ("/health/nobody", vec![token()], 200, "NOT_FOUND"),
        ("/logs?limit=0", vec![token()], 200, "VALIDATION_ERROR"),
        (
            "/dynamodb/queue/scan",
            vec![token()],
            200,
            "VALIDATION_ERROR",
        ),
        (
            "/postgres/queue/tables",
            vec![token()],
            200,
            "VALIDATION_ERROR",
        ),
        ("/aws/sdk/services", vec![token()], 200, "OK"),
    ] {
        let answer = ask(path, &headers).await.unwrap();
        let given = answer.status().as_u16();
        let envelope: serde_json::Value = answer.json().await.unwrap();
        assert_eq!(
            (given, envelope["code"].as_str().unwrap()),
            (status, code),
            "{path} {envelope}"
        );
        assert_eq!(envelope["v"], "1.0");
    }
    let (status, envelope) = project
        .agent(
            "POST",
            "/aws/sdk",
            Some(json!({ "service": "s3", "command": "DeleteBucket" })),
        )
        .await;
    assert_eq!(
        (status, envelope.code.as_str()),
        (200, "READ_ONLY_VIOLATION")
    );
    let bad = http()
        .post(url("/aws/sdk"))
        .bearer_auth(&session.token)
        .body("{")
        .send()
        .await
        .unwrap();
    assert_eq!(bad.status(), 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn code_that_cannot_be_loaded_fails_the_start_and_recovers_after_a_change() {
    let project = Project::new(
        "odd",
        &[
            ("stacktape.yml", CONFIG),
            ("odd.cjs", "require('./missing');"),
        ],
    );
    let started = project.start().await.unwrap();
    assert!(!started.ok, "{started:?}");
    assert!(
        started
            .message
            .unwrap()
            .starts_with("odd: function odd could not be started: ")
    );
    let api = started.data.unwrap()["workloads"]["api"]
        .as_str()
        .unwrap()
        .to_owned();
    project.write("odd.cjs", ODD);
    until("the change fixes it", async || {
        (call("GET", &format!("{api}/fine"), None).await.0 == 200).then_some(())
    })
    .await;
    assert!(client::stop(&project.wanted()).await.unwrap().ok);
}

/// A function for each way in which code cannot be loaded, with the place that is named.
const UNLOADABLE: [(&str, &str, &str); 6] = [
    (
        "required.cjs",
        "// first\nrequire('./missing');",
        "required.cjs:2:1: Error: Cannot find module './missing'",
    ),
    (
        "imported.mjs",
        "// first\nimport x from './nowhere.mjs';",
        "imported.mjs:2:18: Error: Cannot find module ",
    ),
    (
        "parsed.mjs",
        "// first\nexport const handler = ;",
        "parsed.mjs:2: SyntaxError: Unexpected token ';'",
    ),
    (
        "thrown.mjs",
        "// first\nthrow new TypeError('on\\npurpose');",
        "thrown.mjs:2:7: TypeError: on",
    ),
    (
        "named.py",
        "# first\nimport nowhere_at_all",
        "named.py:2: ModuleNotFoundError: No module named 'nowhere_at_all'",
    ),
    (
        "indented.py",
        "# first\ndef handler(:\n    pass",
        "indented.py:2: SyntaxError: ",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn code_that_cannot_be_loaded_is_named_with_its_place() {
    let mut config = "resources:\n".to_owned();
    let mut files = Vec::new();
    for (file, text, _) in UNLOADABLE {
        let name = file.split('.').next().unwrap();
        config.push_str(&format!(
            "  {name}:\n    type: function\n    properties:\n      packaging:\n        type: stacktape-lambda-buildpack\n        properties: {{ entryfilePath: {file} }}\n"
        ));
        files.push((file, text));
    }
    files.push(("stacktape.yml", &config));
    let project = Project::new("odd", &files);
    let started = project.start().await.unwrap();
    let data = started.data.unwrap();
    let log = fs_err::read_to_string(project.places().log()).unwrap();
    for (file, _, place) in UNLOADABLE {
        let name = file.split('.').next().unwrap();
        let expected = format!("function {name} could not be started: {place}");
        let shown = data["workloads"][name].as_str().unwrap();
        assert!(
            shown.starts_with(&format!("error: {expected}")),
            "{expected}\n{shown}"
        );
        let logged = serde_json::to_string(&expected).unwrap();
        assert!(log.contains(logged.trim_matches('"')), "{logged}\n{log}");
    }
    assert!(client::stop(&project.wanted()).await.unwrap().ok);
}

/// The build of a function fails: status and log say where, and the project's own esbuild stays
/// unused.
#[tokio::test(flavor = "multi_thread")]
async fn a_bundle_that_fails_is_named_with_its_place() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut project = Project::new(
        "odd",
        &[
            ("stacktape.yml", &CONFIG.replace("odd.cjs", "src/odd.ts")),
            ("src/odd.ts", "import './missing';"),
            (
                "node_modules/.bin/esbuild",
                "#!/bin/sh\ntouch own-was-run\n",
            ),
            (
                "pinned",
                "#!/bin/sh\nprintf '✘ [ERROR] Could not resolve \"./missing\"\\n\\n    src/odd.ts:1:7:\\n      1 │ import\\n\\n1 error\\n' >&2; exit 1\n",
            ),
        ],
    );
    let pinned = project.path().join("pinned");
    for file in [&pinned, &project.path().join("node_modules/.bin/esbuild")] {
        fs_err::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let pinned = pinned.display().to_string();
    project
        .environment
        .insert("WINDLASS_TEST_ESBUILD".to_owned(), pinned);
    let started = project.start().await.unwrap();
    let said = "src/odd.ts:1:7: Could not resolve \"./missing\"";
    assert_eq!(started.message.unwrap(), format!("odd: {said}"));
    assert_eq!(
        started.data.unwrap()["workloads"]["odd"],
        format!("error: {said}")
    );
    let logs = client::logs(&project.wanted(), &Default::default()).await;
    let logs = logs.unwrap().data.unwrap()["logs"].to_string();
    assert!(logs.contains("[odd] src/odd.ts:1:7: "), "{logs}");
    assert!(!project.path().join("own-was-run").exists());
    assert!(client::stop(&project.wanted()).await.unwrap().ok);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_agent_port_and_an_unknown_resource_are_refused() {
    let project = Project::new("odd", &[("stacktape.yml", CONFIG), ("odd.cjs", ODD)]);
    let busy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut plan = project.plan();
    plan.agent_port = Some(busy.local_addr().unwrap().port());
    let refused = project.start_with(&plan).await.unwrap_err();
    assert!(refused.message().contains("agentPort"), "{refused}");
    let mut plan = project.plan();
    plan.resources = vec!["nobody".to_owned()];
    let refused = project.start_with(&plan).await.unwrap_err();
    assert!(
        refused.message().contains("there is no resource 'nobody'"),
        "{refused}"
    );
}

/// A service with its own PORT, restarted when it dies, and a job that runs on demand.
#[tokio::test(flavor = "multi_thread")]
async fn services_are_processes_and_containers_are_skipped_loudly() {
    let config = r#"
resources:
  web:
    type: web-service
    properties:
      resources: { cpu: 0.25, memory: 512 }
      environment: [{ name: WORD, value: rope }]
      packaging: { type: stacktape-image-buildpack, properties: { entryfilePath: web.py } }
  image:
    type: worker-service
    properties:
      resources: { cpu: 0.25, memory: 512 }
      packaging: { type: external-buildpack, properties: { sourceDirectoryPath: . } }
"#;
    let web = r#"
import http.server, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == '/die': os._exit(1)
        self.send_response(200); self.end_headers(); self.wfile.write(os.environ['WORD'].encode())
http.server.ThreadingHTTPServer(('127.0.0.1', int(os.environ['PORT'])), Handler).serve_forever()
"#;
    let project = Project::new("odd", &[("stacktape.yml", config), ("web.py", web)]);
    let started = project.start().await.unwrap();
    let data = started.data.unwrap();
    assert!(
        !started.ok
            && data["workloads"]["image"]
                .as_str()
                .unwrap()
                .starts_with("error: "),
        "{data}"
    );
    let url = data["workloads"]["web"].as_str().unwrap().to_owned();
    assert_eq!(call("GET", &url, None).await, (200, json!("rope")));
    let _ = http().get(format!("{url}/die")).send().await;
    until("it is started again", async || {
        let answer = http().get(&url).send().await.ok()?;
        (answer.text().await.ok()? == "rope").then_some(())
    })
    .await;
    project.write("web.py", &web.replace("os.environ['WORD']", "'knot'"));
    until("the change is live", async || {
        let answer = http().get(&url).send().await.ok()?;
        (answer.text().await.ok()? == "knot").then_some(())
    })
    .await;
    let processes = project.processes().await;
    assert!(client::stop(&project.wanted()).await.unwrap().ok);
    assert!(
        processes
            .iter()
            .all(|pid| !super::project::is_running(*pid))
    );
}
