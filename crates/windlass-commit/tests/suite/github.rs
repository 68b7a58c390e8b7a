//! GitHub, as its REST interface answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use windlass_ports::commit_service::{FoundBranch, OpenedPull, ServiceKind, Stage};

use super::server::{Reply, Request, Server, reply};
use super::support::{
    BASE, BRANCH, TOKEN, World, address, commit_request, open, pull_request, world, write,
};

const URL: &str = "git@github.example.org:acme/site.git";

/// The repository `acme/site` with one commit on `trunk`.
#[derive(Default)]
struct Hub {
    commits: BTreeMap<String, Value>,
    references: BTreeMap<String, String>,
    pulls: Vec<Value>,
}

fn id(value: &Value) -> String {
    hex::encode(Sha256::digest(value.to_string()))[..40].to_owned()
}

fn failed(status: u16, message: &str) -> Reply {
    let more = json!([{ "resource": "X", "code": "custom", "message": message }]);
    reply(
        status,
        json!({
            "message": if status == 422 { "Validation Failed" } else { message },
            "errors": if status == 422 { more } else { Value::Null },
            "documentation_url": "https://docs.github.com/rest",
            "status": status.to_string(),
        }),
    )
}

impl Hub {
    fn new() -> Self {
        let base = json!({ "tree": "2".repeat(40), "parents": [] });
        Self {
            commits: BTreeMap::from([(BASE.to_owned(), base)]),
            ..Self::default()
        }
    }

    fn answer(&mut self, request: &Request) -> Reply {
        if request.header("authorization") != format!("Bearer {TOKEN}") {
            return failed(401, "Bad credentials");
        }
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let Some(path) = path.strip_prefix("/repos/acme/site") else {
            return failed(404, "Not Found");
        };
        let body = &request.body;
        match (request.method.as_str(), path) {
            ("GET", "") => reply(200, json!({ "id": 1, "default_branch": "trunk" })),
            ("POST", "/git/blobs") => reply(
                201,
                json!({ "url": "https://x", "sha": id(&body["content"]) }),
            ),
            ("POST", "/git/trees") => reply(201, json!({ "sha": id(body), "tree": [] })),
            ("POST", "/git/commits") => {
                let sha = id(body);
                self.commits.insert(sha.clone(), body.clone());
                reply(201, self.commit(&sha))
            }
            ("GET", _) if path.starts_with("/git/commits/") => {
                let sha = &path["/git/commits/".len()..];
                match self.commits.contains_key(sha) {
                    true => reply(200, self.commit(sha)),
                    false => failed(404, "Not Found"),
                }
            }
            ("POST", "/git/refs") => {
                let name = body["ref"].as_str().unwrap().to_owned();
                if self.references.contains_key(&name) {
                    return failed(422, "Reference already exists");
                }
                let sha = body["sha"].as_str().unwrap().to_owned();
                self.references.insert(name.clone(), sha);
                reply(201, self.reference(&name))
            }
            ("GET", _) if path.starts_with("/git/ref/") => {
                let name = format!("refs/{}", &path["/git/ref/".len()..]);
                match self.references.contains_key(&name) {
                    true => reply(200, self.reference(&name)),
                    false => failed(404, "Not Found"),
                }
            }
            ("DELETE", _) if path.starts_with("/git/refs/") => {
                let name = format!("refs/{}", &path["/git/refs/".len()..]);
                match self.references.remove(&name) {
                    Some(_) => reply(204, Value::Null),
                    None => failed(422, "Reference does not exist"),
                }
            }
            ("GET", "/pulls") => {
                let wanted = |pull: &&Value| query.contains("state=all") || pull["state"] == "open";
                assert!(query.contains("head=acme%3Alaunch%2Fr_1%2Facme"), "{query}");
                let newest = self.pulls.iter().rev().filter(wanted).take(1);
                reply(200, newest.cloned().collect())
            }
            ("POST", "/pulls") => {
                if self.pulls.iter().any(|pull| pull["state"] == "open") {
                    return failed(
                        422,
                        "A pull request already exists for acme:launch/r_1/acme.",
                    );
                }
                let number = self.pulls.len() + 41;
                self.pulls.push(json!({
                    "html_url": format!("https://github.example.org/acme/site/pull/{number}"),
                    "number": number,
                    "state": "open",
                    "title": body["title"],
                    "draft": body["draft"],
                    "base": { "ref": body["base"] },
                    "head": { "ref": body["head"] },
                }));
                reply(201, self.pulls.last().unwrap().clone())
            }
            ("PATCH", _) if path.starts_with("/pulls/") => {
                let number: u64 = path["/pulls/".len()..].parse().unwrap();
                let pull = self.pulls.iter_mut().find(|pull| pull["number"] == number);
                let pull = pull.unwrap();
                pull["state"] = body["state"].clone();
                reply(200, pull.clone())
            }
            _ => failed(404, "Not Found"),
        }
    }

    fn commit(&self, sha: &str) -> Value {
        let commit = &self.commits[sha];
        let parents: Vec<Value> = commit["parents"]
            .as_array()
            .unwrap()
            .iter()
            .map(|parent| json!({ "sha": parent }))
            .collect();
        json!({
            "sha": sha,
            "author": commit["author"],
            "message": commit["message"],
            "tree": { "sha": commit["tree"] },
            "parents": parents,
        })
    }

    fn reference(&self, name: &str) -> Value {
        json!({ "ref": name, "object": { "type": "commit", "sha": self.references[name] } })
    }
}

async fn hub() -> (Server, World, Arc<Mutex<Hub>>) {
    let hub = Arc::new(Mutex::new(Hub::new()));
    let shared = Arc::clone(&hub);
    let server = Server::start(move |request| shared.lock().unwrap().answer(request)).await;
    let world = world(ServiceKind::GitHub, server.url());
    (server, world, hub)
}

#[tokio::test]
async fn a_commit_creates_blobs_tree_commit_and_reference() {
    let (server, world, hub) = hub().await;
    let made = world.service.commit(commit_request(URL)).await.unwrap();
    assert!(!made.reused);
    let requests = server.requests();
    let calls: Vec<String> = requests
        .iter()
        .map(|request| format!("{} {} {}", request.method, request.path, request.body))
        .collect();
    insta::assert_snapshot!(calls.join("\n"), @r#"
    GET /repos/acme/site/git/commits/1111111111111111111111111111111111111111 null
    POST /repos/acme/site/git/blobs {"content":"IyBOZXcK","encoding":"base64"}
    POST /repos/acme/site/git/blobs {"content":"IyBDaGFuZ2VkCg==","encoding":"base64"}
    POST /repos/acme/site/git/trees {"base_tree":"2222222222222222222222222222222222222222","tree":[{"mode":"100644","path":"content/new.md","sha":"77a5d4ff88eca3e37137d974f369ca8c94e7b4b0","type":"blob"},{"mode":"100644","path":"content/old.md","sha":"aa499e00722228f728dffa149c4ab530e81a40b9","type":"blob"},{"mode":"100644","path":"content/gone.md","sha":null,"type":"blob"}]}
    GET /repos/acme/site/git/ref/heads/launch/r_1/acme null
    POST /repos/acme/site/git/commits {"author":{"date":"2023-11-14T22:13:20Z","email":"windlass@example.com","name":"Windlass"},"committer":{"date":"2023-11-14T22:13:20Z","email":"windlass@example.com","name":"Windlass"},"message":"Launch Acme\n\nAll of it.\n","parents":["1111111111111111111111111111111111111111"],"tree":"5e9798d01c254e50a22c6757db76fb434f3187a1"}
    POST /repos/acme/site/git/refs {"ref":"refs/heads/launch/r_1/acme","sha":"6d70d76369c0871eb62d352c5730b122409174d9"}
    "#);
    assert_eq!(requests[0].header("accept"), "application/vnd.github+json");
    assert_eq!(requests[0].header("x-github-api-version"), "2022-11-28");

    let mut request = pull_request(URL, &made.commit_sha);
    request.draft = true;
    let pull = world.service.open_pr(request).await.unwrap();
    assert_eq!(
        pull,
        OpenedPull {
            pr_url: "https://github.example.org/acme/site/pull/41".to_owned(),
            pr_number: Some(41),
        }
    );
    insta::assert_snapshot!(server.calls(), @"
    GET /repos/acme/site/pulls?head=acme%3Alaunch%2Fr_1%2Facme&state=open&per_page=1
    GET /repos/acme/site
    POST /repos/acme/site/pulls
    ");
    let hub = hub.lock().unwrap();
    assert_eq!(hub.pulls[0]["base"]["ref"], "trunk");
    assert_eq!(
        (&hub.pulls[0]["draft"], &hub.pulls[0]["head"]["ref"]),
        (&json!(true), &json!(BRANCH))
    );
}

#[tokio::test]
async fn twice_is_once() {
    let (_server, world, hub) = hub().await;
    let first = world.service.commit(commit_request(URL)).await.unwrap();
    let again = world.service.commit(commit_request(URL)).await.unwrap();
    assert_eq!(
        (again.commit_sha, again.reused),
        (first.commit_sha.clone(), true)
    );
    let request = || pull_request(URL, &first.commit_sha);
    let pull = world.service.open_pr(request()).await.unwrap();
    assert_eq!(world.service.open_pr(request()).await.unwrap(), pull);
    assert_eq!(hub.lock().unwrap().pulls.len(), 1);

    let mut other = commit_request(URL);
    other.files[0] = write("content/new.md", "# Other\n");
    let fault = world.service.commit(other).await.unwrap_err();
    assert_eq!(
        (fault.service_code.as_deref(), fault.retryable),
        (Some("branch_exists"), false)
    );
}

#[tokio::test]
async fn a_lost_answer_is_not_a_second_effect() {
    let (server, world, hub) = hub().await;
    server.lose("POST", "/git/refs", Reply::Cut);
    let made = world.service.commit(commit_request(URL)).await.unwrap();
    assert!(made.reused);
    server.lose("POST", "/pulls", reply(500, Value::Null));
    let pull = world
        .service
        .open_pr(pull_request(URL, &made.commit_sha))
        .await
        .unwrap();
    assert_eq!(pull.pr_number, Some(41));
    assert_eq!(world.clock.pauses(), [1, 1]);
    let hub = hub.lock().unwrap();
    assert_eq!((hub.pulls.len(), hub.references.len()), (1, 1));
}

#[tokio::test]
async fn a_reference_that_appears_in_the_meantime_is_compared() {
    let (server, world, hub) = hub().await;
    // Nothing there when it was looked for, there when it is made.
    server.fail("GET", "/git/ref/", failed(404, "Not Found"));
    let name = format!("refs/heads/{BRANCH}");
    hub.lock().unwrap().references.insert(name, BASE.to_owned());
    let fault = world.service.commit(commit_request(URL)).await.unwrap_err();
    assert_eq!(fault.service_code.as_deref(), Some("branch_exists"));
}

#[tokio::test]
async fn after_a_crash_between_the_calls_the_commit_is_found() {
    let (server, world, _) = hub().await;
    assert_eq!(world.service.find(URL, BRANCH).await.unwrap(), None);
    let made = world.service.commit(commit_request(URL)).await.unwrap();
    for _ in 0..4 {
        server.fail("POST", "/pulls", Reply::Cut);
    }
    let request = || pull_request(URL, &made.commit_sha);
    let fault = world.service.open_pr(request()).await.unwrap_err();
    assert_eq!((fault.stage, fault.retryable), (Stage::OpenPr, true));

    let world = super::support::world(ServiceKind::GitHub, server.url());
    let commit_sha = made.commit_sha.clone();
    let found = world.service.find(URL, BRANCH).await.unwrap();
    assert_eq!(
        found,
        Some(FoundBranch {
            commit_sha,
            pull: None
        })
    );
    let pull = world.service.open_pr(request()).await.unwrap();
    let found = world.service.find(URL, BRANCH).await.unwrap().unwrap();
    assert_eq!(found.pull, Some(pull));
}

#[tokio::test]
async fn what_was_created_is_removed_once() {
    let (server, world, hub) = hub().await;
    let made = world.service.commit(commit_request(URL)).await.unwrap();
    let pull = world
        .service
        .open_pr(pull_request(URL, &made.commit_sha))
        .await
        .unwrap();
    server.lose("DELETE", "/git/refs", Reply::Cut);
    for _ in 0..2 {
        world
            .service
            .withdraw(URL, BRANCH, &made.commit_sha, Some(&pull))
            .await
            .unwrap();
    }
    assert_eq!(world.service.find(URL, BRANCH).await.unwrap(), None);
    assert_eq!(hub.lock().unwrap().pulls[0]["state"], "closed");

    // New commits were added: the branch stays.
    let made = world.service.commit(commit_request(URL)).await.unwrap();
    let name = format!("refs/heads/{BRANCH}");
    hub.lock()
        .unwrap()
        .references
        .insert(name.clone(), BASE.to_owned());
    world
        .service
        .withdraw(URL, BRANCH, &made.commit_sha, None)
        .await
        .unwrap();
    assert_eq!(hub.lock().unwrap().references[&name], BASE);
}

#[tokio::test]
async fn refusals_say_why_and_whether_a_retry_helps() {
    let (server, world, _) = hub().await;
    let limited = |seconds: &str| {
        let headers = vec![("retry-after", seconds.to_owned())];
        Reply::With(403, headers, json!({ "message": "secondary rate limit" }))
    };
    server.fail("GET", "/git/commits", limited("5"));
    server.fail("POST", "/git/trees", reply(502, Value::Null));
    world.service.commit(commit_request(URL)).await.unwrap();
    assert_eq!(world.clock.pauses(), [5, 1]);

    server.fail("GET", "/git/commits", limited("900"));
    let fault = world.service.commit(commit_request(URL)).await.unwrap_err();
    let pause = Some(Duration::from_secs(900));
    assert_eq!((fault.retryable, fault.retry_after), (true, pause));

    for (status, retryable) in [
        (401, false),
        (403, false),
        (404, false),
        (409, false),
        (301, false),
    ] {
        server.fail(
            "GET",
            "/git/commits",
            failed(status, &format!("no {TOKEN}")),
        );
        let fault = world.service.commit(commit_request(URL)).await.unwrap_err();
        assert_eq!(
            (
                fault.adapter,
                fault.stage,
                fault.http_status,
                fault.retryable
            ),
            ("github", Stage::Commit, Some(status), retryable)
        );
        assert!(!format!("{fault:?}").contains(TOKEN), "{fault}");
    }
    server.fail(
        "POST",
        "/pulls",
        failed(422, "No commits between trunk and launch"),
    );
    let fault = world
        .service
        .open_pr(pull_request(URL, "x"))
        .await
        .unwrap_err();
    assert!(
        fault.message.contains("No commits between") && !fault.retryable,
        "{fault}"
    );
}

#[tokio::test]
async fn a_token_is_not_sent_where_the_repository_is_not() {
    let world = open(address(ServiceKind::GitHub, None), Duration::from_secs(1)).unwrap();
    for url in [
        URL,
        "https://gitlab.com/acme/site",
        "file:///srv/site",
        "https://github.com/a/b/c",
    ] {
        let fault = world.service.commit(commit_request(url)).await.unwrap_err();
        assert!(!fault.retryable && fault.http_status.is_none(), "{fault}");
    }
    let (server, world, _) = hub().await;
    let mut request = commit_request(URL);
    request.files.push(write("layouts/x.html", ""));
    let fault = world.service.commit(request).await.unwrap_err();
    assert_eq!(fault.path_not_allowed.as_deref(), Some("layouts/x.html"));
    assert_eq!(server.calls(), "");
}
