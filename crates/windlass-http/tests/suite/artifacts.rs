//! Artifacts as downloads: bytes, names, tags, and who may have them.

use http::StatusCode;
use windlass_testkit::program::{KIND, Op, input};
use windlass_types::{Digest, RunId};

use super::{
    connections::Running,
    support::{Server, get, server},
};

async fn run_with(server: &Server, artifacts: &[(&str, &str)]) -> RunId {
    let ops: Vec<Op> = artifacts
        .iter()
        .map(|(name, text)| Op::Artifact {
            name: (*name).to_owned(),
            text: (*text).to_owned(),
        })
        .collect();
    let run_id = server.process.start(KIND, input(&ops)).await;
    server.process.settle(&run_id).await;
    run_id
}

#[tokio::test]
async fn bytes_come_with_their_digest() {
    let server = server().await;
    let run_id = run_with(&server, &[("report.txt", "all is well\n")]).await;
    let path = format!("/v1/runs/{run_id}/artifacts/report.txt");
    let reply = server.ask(get(&path).key(&server.root)).await;
    assert_eq!(
        (reply.status, reply.text().as_str()),
        (StatusCode::OK, "all is well\n")
    );
    reply.check_headers("artifact");
    let tag = format!("\"{}\"", Digest::of(b"all is well\n"));
    assert_eq!(reply.header("etag"), tag);
    assert_eq!(reply.header("content-type"), "text/plain");
    assert_eq!(
        reply.header("content-disposition"),
        "attachment; filename=\"report.txt\""
    );
    assert_eq!(
        reply.header("content-security-policy"),
        "default-src 'none'; sandbox"
    );
    assert_eq!(reply.header("cache-control"), "private, no-cache");

    for (sent, status) in [(tag.as_str(), 304), ("*", 304), ("\"other\"", 200)] {
        let reply = server
            .ask(get(&path).with("if-none-match", sent).key(&server.root))
            .await;
        assert_eq!(reply.status.as_u16(), status, "{sent}");
        assert_eq!(reply.header("etag"), tag);
        assert_eq!(reply.body.is_empty(), status == 304);
    }
}

#[tokio::test]
async fn odd_names_are_found_and_safe() {
    let server = server().await;
    let names = ["logs/build.txt", "résumé.md", "a b+c.txt"];
    let run_id = run_with(&server, &names.map(|name| (name, name))).await;
    for (name, path) in [
        ("logs/build.txt", "logs/build.txt"),
        ("logs/build.txt", "logs%2Fbuild.txt"),
        ("résumé.md", "r%C3%A9sum%C3%A9.md"),
        ("a b+c.txt", "a%20b+c.txt"),
    ] {
        let reply = server
            .ask(get(&format!("/v1/runs/{run_id}/artifacts/{path}")).key(&server.root))
            .await;
        assert_eq!(
            (reply.status, reply.text().as_str()),
            (StatusCode::OK, name),
            "{path}"
        );
        assert!(
            reply
                .header("content-disposition")
                .starts_with("attachment; ")
        );
    }
}

#[tokio::test]
async fn what_is_not_there_is_said() {
    let server = server().await;
    let run_id = run_with(&server, &[("report.txt", "x")]).await;
    for (path, key, status, code) in [
        (
            "artifacts/none.txt",
            &server.root,
            404,
            "ARTIFACT_NOT_FOUND",
        ),
        (
            "artifacts/..%2Freport.txt",
            &server.root,
            404,
            "ARTIFACT_NOT_FOUND",
        ),
        ("artifacts/%00", &server.root, 404, "ARTIFACT_NOT_FOUND"),
        ("artifacts/report.txt", &server.runs, 404, "RUN_NOT_FOUND"),
        ("artifacts/report.txt", &server.probe, 403, "FORBIDDEN"),
        (
            "artifacts/report.txt?x=1",
            &server.root,
            400,
            "INVALID_INPUT",
        ),
    ] {
        let reply = server
            .ask(get(&format!("/v1/runs/{run_id}/{path}")).key(key))
            .await;
        assert_eq!(
            (reply.status.as_u16(), reply.code().as_str()),
            (status, code),
            "{path}"
        );
        reply.check_headers(path);
    }
    let long = "a".repeat(256);
    let reply = server
        .ask(get(&format!("/v1/runs/{run_id}/artifacts/{long}")).key(&server.root))
        .await;
    assert_eq!(reply.code(), "INVALID_INPUT");
}

/// As curl sees it: a part, the rest of a download that was cut off, a head, and too far.
#[tokio::test]
async fn a_download_that_was_cut_off_goes_on() {
    let server = server().await;
    let run_id = run_with(&server, &[("report.txt", "0123456789")]).await;
    let running = Running::start(&server.state, |_| {}).await;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("part");
    fs_err::write(&file, "0123").unwrap();
    let address = format!(
        "http://{}/v1/runs/{run_id}/artifacts/report.txt",
        running.address
    );
    let curl = async |arguments: &[&str]| {
        let output = tokio::process::Command::new("curl")
            .args(["-sS", "-H", "Host: localhost", "-H"])
            .arg(format!("Authorization: Bearer {}", server.root))
            .args(arguments)
            .arg(&address)
            .output()
            .await
            .unwrap();
        String::from_utf8(output.stdout).unwrap().to_lowercase()
    };
    let part = curl(&["-i", "-r", "2-4"]).await;
    assert!(part.starts_with("http/1.1 206"), "{part}");
    assert!(part.contains("content-range: bytes 2-4/10"), "{part}");
    assert!(part.ends_with("\r\n\r\n234"), "{part}");
    curl(&["-C", "-", "-o", file.to_str().unwrap()]).await;
    assert_eq!(fs_err::read_to_string(&file).unwrap(), "0123456789");
    let head = curl(&["-I"]).await;
    assert!(head.starts_with("http/1.1 200"), "{head}");
    assert!(head.contains("accept-ranges: bytes"), "{head}");
    assert!(head.contains("content-length: 10"), "{head}");
    let beyond = curl(&["-i", "-r", "10-"]).await;
    assert!(beyond.starts_with("http/1.1 416"), "{beyond}");
    assert!(beyond.contains("content-range: bytes */10"), "{beyond}");
    let changed = curl(&["-i", "-r", "2-4", "-H", "If-Range: \"other\""]).await;
    assert!(changed.starts_with("http/1.1 200"), "{changed}");
    running.stop().await;
}
