//! What a model says while it says it: seen by watchers in this process and in others, and
//! nowhere once it is over.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    process::Stdio,
    time::Duration,
};

use serde_json::json;

use super::site::{SPEC, Site};
use crate::suite::support::binary::{Killed, say, windlass};

const WORDS: &str = "once upon a time";

/// A model that talks for as long as a client listens.
fn talking_model() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || talk(stream));
        }
    });
    address
}

fn talk(mut stream: TcpStream) -> std::io::Result<()> {
    // The question is not looked at; what is left of it is read beside the answer.
    let mut question = stream.try_clone()?;
    std::thread::spawn(move || std::io::copy(&mut question, &mut std::io::sink()));
    stream.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
    )?;
    loop {
        let piece = json!({ "choices": [{ "delta": { "content": format!("{WORDS}\n") } }] });
        stream.write_all(format!("data: {piece}\n\n").as_bytes())?;
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn every_watcher_sees_it_and_no_journal_does() {
    let settings = format!(
        "[models]\nallow_private_targets = true\nallow_http = true\n\
         [pipeline]\ngenerator = \"llm\"\n\
         [pipeline.model]\napi_base_url = \"http://{}/v1\"\nmodel = \"talking\"\n",
        talking_model()
    );
    let site = Site::open(&settings);
    let job = site.begin(&json!({ "spec": SPEC, "phases": ["strategy"] }));

    // Another process, over the socket beside the store.
    let watch = windlass(&site.place.home())
        .args(["--agent", "runs", "watch", &job])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut watch = Killed(watch);
    let lines = BufReader::new(watch.0.stdout.take().unwrap()).lines();
    let heard = lines
        .map_while(Result::ok)
        .find(|line| line.contains(WORDS));
    assert!(heard.is_some_and(|line| line.contains("\"progress\"")));

    // The driving process itself, as an event stream; without an id, so a client that comes back
    // goes on where it was in the journal.
    let stream = TcpStream::connect(site.daemon.address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    write!(
        &stream,
        "GET /v1/pipelines/{job}/events HTTP/1.1\r\nhost: {}\r\n\
         accept: text/event-stream\r\nauthorization: Bearer {}\r\n\r\n",
        site.daemon.address, site.key.text
    )
    .unwrap();
    let mut text = String::new();
    let mut reader = BufReader::new(stream.take(1_000_000));
    while !text.contains(WORDS) {
        assert_ne!(reader.read_line(&mut text).unwrap(), 0, "{text}");
    }
    let (before, _) = text.rsplit_once("\ndata: ").unwrap();
    let event = before.rsplit_once('\n').unwrap();
    assert_eq!(event.1.trim(), "event: passing", "{text}");
    assert!(!event.0.ends_with("id:"), "{text}");

    let home = site.place.home();
    say(&home, &["--json", "runs", "cancel", &job]).worked();
    let export = say(&home, &["--json", "runs", "export", &job]);
    let export = export.worked().stdout;
    assert!(export.contains(&job), "{export}");
    assert!(!export.contains(WORDS), "{export}");
}
