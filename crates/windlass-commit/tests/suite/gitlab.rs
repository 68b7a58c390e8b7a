//! GitLab, as its REST interface answers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use windlass_ports::commit_service::{FoundBranch, OpenedPull, ServiceKind, Stage};

use super::server::{Reply, Request, Server, reply};
use super::support::{
    BASE, BRANCH, TOKEN, World, address, commit_request, open, pull_request, world, write,
};

const URL: &str = "https://gitlab.example.org/acme/web/site.git";
const PROJECT: &str = "/api/v4/projects/acme%2Fweb%2Fsite";
const ESCAPED_BRANCH: &str = "launch%2Fr_1%2Facme";

type Files = BTreeMap<String, Vec<u8>>;

struct Commit {
    parent: String,
    message: String,
    files: Files,
    changed: usize,
}

/// The project `acme/web/site` with one commit.
#[derive(Default)]
struct Lab {
    commits: BTreeMap<String, Commit>,
    branch: Option<String>,
    requests: Vec<Value>,
}

fn failed(status: u16, message: &str) -> Reply {
    reply(status, json!({ "message": message }))
}

impl Lab {
    fn new() -> Self {
        let old = |name: &str| (format!("content/{name}.md"), b"# Old\n".to_vec());
        let base = Commit {
            parent: String::new(),
            message: "base".to_owned(),
            files: [old("old"), old("gone")].into(),
            changed: 2,
        };
        Self {
            commits: BTreeMap::from([(BASE.to_owned(), base)]),
            ..Self::default()
        }
    }

    fn answer(&mut self, request: &Request) -> Reply {
        if request.header("authorization") != format!("Bearer {TOKEN}") {
            return failed(401, "401 Unauthorized");
        }
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let Some(path) = path.strip_prefix(PROJECT) else {
            return failed(404, "404 Project Not Found");
        };
        let body = &request.body;
        let branch_path = format!("/repository/branches/{ESCAPED_BRANCH}");
        match (request.method.as_str(), path) {
            ("GET", "") => reply(200, json!({ "id": 7, "default_branch": "trunk" })),
            ("GET", _) if path == branch_path => match &self.branch {
                Some(id) => reply(200, json!({ "name": BRANCH, "commit": self.commit(id) })),
                None => failed(404, "404 Branch Not Found"),
            },
            ("DELETE", _) if path == branch_path => match self.branch.take() {
                Some(_) => reply(204, Value::Null),
                None => failed(404, "404 Branch Not Found"),
            },
            ("HEAD", _) if path.starts_with("/repository/files/") => {
                let name = path["/repository/files/".len()..].replace("%2F", "/");
                let commit = &self.commits[&query["ref=".len()..]];
                match commit.files.get(&name) {
                    None => failed(404, "404 File Not Found"),
                    Some(content) => {
                        let digest = hex::encode(Sha256::digest(content));
                        let header = vec![("X-Gitlab-Content-Sha256", digest)];
                        Reply::With(200, header, Value::Null)
                    }
                }
            }
            ("POST", "/repository/commits") => self.make(body),
            ("GET", _) if path.ends_with("/diff") => {
                let id = path.split('/').nth(3).unwrap();
                let total = vec![("X-Total", self.commits[id].changed.to_string())];
                Reply::With(200, total, json!([{ "new_path": "a", "diff": "@@" }]))
            }
            ("GET", "/merge_requests") => {
                assert!(query.contains(&format!("source_branch={ESCAPED_BRANCH}")));
                let wanted = |mr: &&Value| query.contains("state=all") || mr["state"] == "opened";
                let newest = self.requests.iter().rev().filter(wanted).take(1);
                reply(200, newest.cloned().collect())
            }
            ("POST", "/merge_requests") => {
                if self.requests.iter().any(|mr| mr["state"] == "opened") {
                    let message =
                        "Another open merge request already exists for this source branch: !5";
                    return reply(409, json!({ "message": [message] }));
                }
                let iid = self.requests.len() + 5;
                let mut made = body.clone();
                made["iid"] = json!(iid);
                made["state"] = json!("opened");
                made["web_url"] = json!(format!(
                    "https://gitlab.example.org/acme/web/site/-/merge_requests/{iid}"
                ));
                self.requests.push(made.clone());
                reply(201, made)
            }
            ("PUT", _) if path.starts_with("/merge_requests/") => {
                assert_eq!(body["state_event"], "close");
                let iid: u64 = path["/merge_requests/".len()..].parse().unwrap();
                let found = self.requests.iter_mut().find(|mr| mr["iid"] == iid);
                let found = found.unwrap();
                found["state"] = json!("closed");
                reply(200, found.clone())
            }
            _ => failed(404, "404 Not Found"),
        }
    }

    fn make(&mut self, body: &Value) -> Reply {
        if self.branch.is_some() {
            return failed(400, "A branch called 'launch/r_1/acme' already exists.");
        }
        let parent = body["start_sha"].as_str().unwrap().to_owned();
        let mut files = self.commits[&parent].files.clone();
        let actions = body["actions"].as_array().unwrap();
        for action in actions {
            let path = action["file_path"].as_str().unwrap().to_owned();
            let content = || {
                STANDARD
                    .decode(action["content"].as_str().unwrap())
                    .unwrap()
            };
            let message = match (
                action["action"].as_str().unwrap(),
                files.contains_key(&path),
            ) {
                ("create", true) => "A file with this name already exists",
                ("update" | "delete", false) => "A file with this name doesn't exist",
                ("delete", true) => {
                    files.remove(&path);
                    continue;
                }
                _ => {
                    files.insert(path, content());
                    continue;
                }
            };
            return failed(400, message);
        }
        let id = hex::encode(Sha256::digest(body.to_string()))[..40].to_owned();
        let commit = Commit {
            parent,
            message: body["commit_message"].as_str().unwrap().to_owned(),
            changed: actions.len(),
            files,
        };
        self.commits.insert(id.clone(), commit);
        self.branch = Some(id.clone());
        reply(201, self.commit(&id))
    }

    fn commit(&self, id: &str) -> Value {
        let commit = &self.commits[id];
        json!({ "id": id, "parent_ids": [commit.parent], "message": commit.message })
    }
}

async fn lab() -> (Server, World, Arc<Mutex<Lab>>) {
    let lab = Arc::new(Mutex::new(Lab::new()));
    let shared = Arc::clone(&lab);
    let server = Server::start(move |request| shared.lock().unwrap().answer(request)).await;
    let world = world(ServiceKind::GitLab, format!("{}/api/v4", server.url()));
    (server, world, lab)
}

#[tokio::test]
async fn one_call_creates_branch_and_commit_and_one_the_merge_request() {
    let (server, world, lab) = lab().await;
    let made = world.service.commit(commit_request(URL)).await.unwrap();
    assert!(!made.reused);
    let calls: Vec<String> = server
        .requests()
        .iter()
        .map(|request| format!("{} {} {}", request.method, request.path, request.body))
        .collect();
    insta::assert_snapshot!(calls.join("\n"), @r#"
    GET /api/v4/projects/acme%2Fweb%2Fsite/repository/branches/launch%2Fr_1%2Facme null
    HEAD /api/v4/projects/acme%2Fweb%2Fsite/repository/files/content%2Fnew.md?ref=1111111111111111111111111111111111111111 null
    HEAD /api/v4/projects/acme%2Fweb%2Fsite/repository/files/content%2Fold.md?ref=1111111111111111111111111111111111111111 null
    HEAD /api/v4/projects/acme%2Fweb%2Fsite/repository/files/content%2Fgone.md?ref=1111111111111111111111111111111111111111 null
    POST /api/v4/projects/acme%2Fweb%2Fsite/repository/commits {"actions":[{"action":"create","content":"IyBOZXcK","encoding":"base64","file_path":"content/new.md"},{"action":"update","content":"IyBDaGFuZ2VkCg==","encoding":"base64","file_path":"content/old.md"},{"action":"delete","file_path":"content/gone.md"}],"author_email":"windlass@example.com","author_name":"Windlass","branch":"launch/r_1/acme","commit_message":"Launch Acme\n\nAll of it.\n","start_sha":"1111111111111111111111111111111111111111"}
    "#);

    let mut request = pull_request(URL, &made.commit_sha);
    request.draft = true;
    let pull = world.service.open_pr(request).await.unwrap();
    assert_eq!(
        pull,
        OpenedPull {
            pr_url: "https://gitlab.example.org/acme/web/site/-/merge_requests/5".to_owned(),
            pr_number: Some(5),
        }
    );
    let lab = lab.lock().unwrap();
    let opened = &lab.requests[0];
    assert_eq!(opened["title"], "Draft: Launch Acme");
    assert_eq!(
        (&opened["target_branch"], &opened["source_branch"]),
        (&json!("trunk"), &json!(BRANCH))
    );
    let files: Vec<&str> = lab.commits[&made.commit_sha]
        .files
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(files, ["content/new.md", "content/old.md"]);
}

#[tokio::test]
async fn twice_is_once() {
    let (_server, world, lab) = lab().await;
    let first = world.service.commit(commit_request(URL)).await.unwrap();
    let again = world.service.commit(commit_request(URL)).await.unwrap();
    assert_eq!(
        (again.commit_sha, again.reused),
        (first.commit_sha.clone(), true)
    );
    let request = || pull_request(URL, &first.commit_sha);
    let pull = world.service.open_pr(request()).await.unwrap();
    assert_eq!(world.service.open_pr(request()).await.unwrap(), pull);
    assert_eq!(lab.lock().unwrap().requests.len(), 1);
}

#[tokio::test]
async fn a_branch_with_other_content_is_left_alone() {
    let (_server, world, lab) = lab().await;
    let first = world.service.commit(commit_request(URL)).await.unwrap();
    let mut content = commit_request(URL);
    content.files[0] = write("content/new.md", "# Other\n");
    let mut base = commit_request(URL);
    base.base_ref = "3".repeat(40);
    let mut fewer = commit_request(URL);
    fewer.files.pop();
    for request in [content, base, fewer] {
        let fault = world.service.commit(request).await.unwrap_err();
        assert_eq!(
            (fault.service_code.as_deref(), fault.retryable),
            (Some("branch_exists"), false)
        );
    }
    assert_eq!(lab.lock().unwrap().branch, Some(first.commit_sha));
}

#[tokio::test]
async fn a_lost_answer_is_not_a_second_effect() {
    let (server, world, lab) = lab().await;
    server.lose("POST", "/repository/commits", Reply::Cut);
    let made = world.service.commit(commit_request(URL)).await.unwrap();
    assert!(made.reused);
    server.lose("POST", "/merge_requests", reply(502, Value::Null));
    let pull = world
        .service
        .open_pr(pull_request(URL, &made.commit_sha))
        .await
        .unwrap();
    assert_eq!(pull.pr_number, Some(5));
    assert_eq!(lab.lock().unwrap().requests.len(), 1);
    assert_eq!(world.clock.pauses(), [1, 1]);
}

#[tokio::test]
async fn after_a_crash_between_the_calls_the_commit_is_found() {
    let (server, world, _) = lab().await;
    assert_eq!(world.service.find(URL, BRANCH).await.unwrap(), None);
    let made = world.service.commit(commit_request(URL)).await.unwrap();
    for _ in 0..4 {
        server.fail("POST", "/merge_requests", Reply::Cut);
    }
    let request = || pull_request(URL, &made.commit_sha);
    let fault = world.service.open_pr(request()).await.unwrap_err();
    assert_eq!((fault.stage, fault.retryable), (Stage::OpenPr, true));
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
    let (server, world, lab) = lab().await;
    let made = world.service.commit(commit_request(URL)).await.unwrap();
    let pull = world
        .service
        .open_pr(pull_request(URL, &made.commit_sha))
        .await
        .unwrap();
    server.lose("DELETE", "/repository/branches", reply(500, Value::Null));
    for _ in 0..2 {
        world
            .service
            .withdraw(URL, BRANCH, &made.commit_sha, Some(&pull))
            .await
            .unwrap();
    }
    assert_eq!(lab.lock().unwrap().requests[0]["state"], "closed");
    assert_eq!(world.service.find(URL, BRANCH).await.unwrap(), None);
    // New commits were added: the branch stays.
    lab.lock().unwrap().branch = Some(BASE.to_owned());
    world
        .service
        .withdraw(URL, BRANCH, &made.commit_sha, None)
        .await
        .unwrap();
    assert_eq!(lab.lock().unwrap().branch.as_deref(), Some(BASE));
}

#[tokio::test]
async fn refusals_say_why_and_whether_a_retry_helps() {
    let (server, world, _) = lab().await;
    let limited = vec![("Retry-After", "3".to_owned())];
    server.fail("GET", "/branches", Reply::With(429, limited, Value::Null));
    server.fail("HEAD", "/files", reply(500, Value::Null));
    server.fail("POST", "/commits", Reply::CutWithin);
    world.service.commit(commit_request(URL)).await.unwrap();
    assert_eq!(world.clock.pauses(), [3, 1, 1]);
    for (status, message) in [
        (401, "401 Unauthorized"),
        (403, "403 Forbidden"),
        (404, "404 x"),
    ] {
        server.fail("POST", "/merge_requests", failed(status, message));
        let fault = world
            .service
            .open_pr(pull_request(URL, "x"))
            .await
            .unwrap_err();
        assert_eq!(
            (
                fault.adapter,
                fault.stage,
                fault.http_status,
                fault.retryable
            ),
            ("gitlab", Stage::OpenPr, Some(status), false)
        );
        assert!(fault.message.contains(message), "{fault}");
    }
}

#[tokio::test]
async fn a_token_is_not_sent_where_the_project_is_not() {
    let world = open(address(ServiceKind::GitLab, None), Duration::from_secs(1)).unwrap();
    let fault = world.service.commit(commit_request(URL)).await.unwrap_err();
    assert!(
        fault.message.contains("https://gitlab.example.org/api/v4"),
        "{fault}"
    );
    let (server, world, _) = lab().await;
    let mut request = commit_request(URL);
    request.files.push(write("layouts/x.html", ""));
    let fault = world.service.commit(request).await.unwrap_err();
    assert_eq!(fault.path_not_allowed.as_deref(), Some("layouts/x.html"));
    assert_eq!(server.calls(), "");
}
