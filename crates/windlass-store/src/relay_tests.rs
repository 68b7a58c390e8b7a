//! A driver's socket and its watchers.

use std::{os::unix::fs::PermissionsExt as _, sync::Mutex};

use tokio::sync::broadcast;
use windlass_types::{Passing, Timestamp};

use super::*;
use windlass_ports::NoticeReceiver;

/// Notices of every run on one channel.
struct Source {
    sender: broadcast::Sender<Arc<PassingNotice>>,
    asked: Mutex<Vec<RunId>>,
}

impl NoticeSource for Source {
    fn subscribe(&self, run_id: &RunId) -> NoticeReceiver {
        let receiver = self.sender.subscribe();
        self.asked.lock().unwrap().push(run_id.clone());
        receiver
    }
}

fn source() -> Arc<Source> {
    Arc::new(Source {
        sender: broadcast::Sender::new(BUFFER),
        asked: Mutex::default(),
    })
}

fn notice(text: &str) -> PassingNotice {
    PassingNotice {
        run_id: RunId::from_random([1; 16]),
        step: "draft".to_owned(),
        time: Timestamp::EPOCH,
        what: Passing::Text {
            text: text.to_owned(),
            stream: None,
        },
    }
}

/// Waits until so many watchers have said what they want.
async fn watched(source: &Source, count: usize) {
    while source.asked.lock().unwrap().len() < count {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn a_watcher_hears_what_is_said_and_nobody_else_gets_to_the_socket() {
    for deep in [0, 150] {
        let directory = tempfile::tempdir().unwrap();
        // A path that is too long for a socket is reached another way.
        let home = Home::at(&directory.path().join("x".repeat(deep)));
        let source = source();
        let served = serve(&home, 7, Arc::clone(&source) as _).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&home.socket(7)), 0o600);
        assert_eq!(mode(&home.drivers()), 0o700);

        let run_id = notice("").run_id;
        let mut heard = hear(&home, 7, &run_id).await.unwrap();
        watched(&source, 1).await;
        assert_eq!(*source.asked.lock().unwrap(), [run_id]);
        source.sender.send(Arc::new(notice("one\ntwo "))).unwrap();
        assert_eq!(heard.recv().await, Some(notice("one\ntwo ")));

        // One that goes away is not kept in mind.
        drop(heard);
        while source.sender.receiver_count() > 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        drop(served);
        assert!(!home.socket(7).exists());
    }
}

#[tokio::test]
async fn the_end_of_a_driver_is_the_end_of_its_notices() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path());
    let source = source();
    let served = serve(&home, 7, Arc::clone(&source) as _).unwrap();
    let mut heard = hear(&home, 7, &notice("").run_id).await.unwrap();
    watched(&source, 1).await;
    drop(served);
    assert_eq!(heard.recv().await, None);
    assert!(hear(&home, 7, &notice("").run_id).await.is_err());
}

#[tokio::test]
async fn sockets_of_dead_drivers_are_removed() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path());
    create_private_dir(&home.drivers()).unwrap();
    for name in ["3.sock", "note.txt"] {
        fs::write(home.drivers().join(name), "").unwrap();
    }
    let _served = serve(&home, 7, source()).unwrap();
    let mut names: Vec<String> = fs::read_dir(home.drivers())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["7.sock", "note.txt"]);
}

#[tokio::test]
async fn a_watcher_that_reads_nothing_is_dropped_and_delays_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path());
    let source = source();
    let _served = serve(&home, 7, Arc::clone(&source) as _).unwrap();
    let mut deaf = UnixStream::connect(home.socket(7)).await.unwrap();
    let question = format!("{}\n", notice("").run_id);
    deaf.write_all(question.as_bytes()).await.unwrap();
    watched(&source, 1).await;
    // More than any buffer between the two holds; saying it takes no time.
    let long = Arc::new(notice(&"x".repeat(Passing::LONGEST)));
    while source.sender.receiver_count() > 0 {
        let _ = source.sender.send(Arc::clone(&long));
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn nonsense_ends_the_connection() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path());
    let source = source();
    let _served = serve(&home, 7, Arc::clone(&source) as _).unwrap();
    for said in ["no run at all\n".to_owned(), "x".repeat(100_000)] {
        let mut stream = UnixStream::connect(home.socket(7)).await.unwrap();
        // The driver may close while it is being said.
        let _ = stream.write_all(said.as_bytes()).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert!(answer.is_empty());
    }
    assert_eq!(*source.asked.lock().unwrap(), Vec::new());
}
