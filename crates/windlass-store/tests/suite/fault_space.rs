//! No space left: reported as such, nothing acknowledged that is not stored, and over when
//! there is space again. Once on a real full file system, once with a limit on file size.

use std::{
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Duration,
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use windlass_ports::{
    BlobError, BlobStore, CommitError, Expect, RunFilter, RunStore as _, StoreError,
    StoreMaintenance,
};
use windlass_store::SqliteStore;

use super::support::*;

const HOME: &str = "WINDLASS_TEST_HOME";

/// The directory to work in, in the process that a test has started.
fn home_of_child() -> Option<PathBuf> {
    std::env::var_os(HOME).map(PathBuf::from)
}

/// Runs a test of this file again, through a shell line that prepares its surroundings.
fn through_shell(line: &str, test: &str, home: &Path) -> Output {
    Command::new("sh")
        .args(["-c", line, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args([
            "--nocapture",
            "--exact",
            &format!("suite::fault_space::{test}"),
        ])
        .env(HOME, home)
        .output()
        .unwrap()
}

/// The one test that was asked for ran, and passed.
fn assert_success(output: &Output) {
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "signal {:?}\n{said}{}",
        output.status.signal(),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Appends until the store says that it is full; returns how many were acknowledged.
async fn fill(store: &SqliteStore) -> u64 {
    let run = id("run_1");
    let text = "x".repeat(5000);
    for n in 0..10_000 {
        match try_append(store, &run, Expect::Any, 1, &[said(&text)]).await {
            Ok(committed) => assert_eq!(committed.events[0].seq, n + 1),
            Err(CommitError::Store(StoreError::Full)) => return n,
            Err(other) => panic!("after {n} events: {other}"),
        }
    }
    panic!("there was room for everything");
}

async fn full_then_room_again(home: &Path, make_room: impl FnOnce()) {
    let store = open(home);
    let acknowledged = fill(&store).await;
    assert!(acknowledged > 5, "{acknowledged}");
    for _ in 0..3 {
        let again = try_append(
            &store,
            &id("run_1"),
            Expect::Any,
            1,
            &[said(&"x".repeat(20_000))],
        )
        .await;
        assert!(
            matches!(again, Err(CommitError::Store(StoreError::Full))),
            "{again:?}"
        );
    }
    let large = store.put(vec![1; 8_000_000]).await;
    assert!(matches!(large, Err(BlobError::Full)), "{large:?}");
    assert_eq!(
        all_events(&store, &id("run_1")).await.len() as u64,
        acknowledged,
        "reading continues"
    );

    make_room();
    let next = append(&store, &id("run_1"), 2, &[said(&"x".repeat(20_000))]).await;
    assert_eq!(next[0].seq, acknowledged + 1, "the same store writes again");
    drop(store);
    let store = open(home);
    assert_eq!(
        all_events(&store, &id("run_1")).await.len() as u64,
        acknowledged + 1
    );
    assert_eq!(store.check().await.unwrap().findings, Vec::<String>::new());
}

#[tokio::test]
async fn a_full_disk() {
    if let Some(mount) = home_of_child() {
        let ballast = mount.join("ballast");
        fs_err::write(&ballast, vec![0; 1_500_000]).unwrap();
        let make_room = || fs_err::remove_file(ballast).unwrap();
        return full_then_room_again(&mount.join("home"), make_room).await;
    }
    let may_mount = Command::new("unshare").args(["--mount", "true"]).output();
    if !may_mount.is_ok_and(|output| output.status.success()) {
        println!("not tested on a full file system: this user may not mount one");
        return;
    }
    let mount = tempfile::tempdir().unwrap();
    let line = r#"exec unshare --mount sh -c 'mount -t tmpfs -o size=3m tmpfs "$WINDLASS_TEST_HOME" && exec "$@"' sh "$@""#;
    assert_success(&through_shell(line, "a_full_disk", mount.path()));
}

#[tokio::test]
async fn a_limit_on_file_size() {
    if let Some(home) = home_of_child() {
        drop(open(&home));
        let before = getrlimit(Resource::Fsize);
        let limited = Rlimit {
            current: Some(700_000),
            ..before
        };
        setrlimit(Resource::Fsize, limited).unwrap();
        let make_room = || setrlimit(Resource::Fsize, before).unwrap();
        return full_then_room_again(&home, make_room).await;
    }
    let home = tempfile::tempdir().unwrap();
    // Without this the kernel ends a process that writes past its limit.
    let line = r#"trap '' XFSZ; exec "$@""#;
    assert_success(&through_shell(line, "a_limit_on_file_size", home.path()));
}

/// Fills the disk with ended runs, and what is left with bytes.
async fn fill_with_runs(store: &SqliteStore, ballast: &Path) -> u64 {
    let text = said(&"x".repeat(20_000));
    let mut runs = 0;
    loop {
        let run = id(&format!("run_{runs}"));
        let story = [created().into(), text.clone(), completed()];
        match try_append(store, &run, Expect::New, 1, &story).await {
            Ok(_) => runs += 1,
            Err(CommitError::Store(StoreError::Full)) => break,
            Err(other) => panic!("after {runs} runs: {other}"),
        }
    }
    let mut file = fs_err::File::create(ballast).unwrap();
    for piece in [1 << 16, 4096, 1] {
        while std::io::Write::write_all(&mut file, &vec![0; piece]).is_ok() {}
    }
    runs
}

/// A disk that is full of ended runs is pruned without more room than was kept aside.
#[tokio::test]
async fn a_full_disk_is_pruned() {
    let Some(mount) = home_of_child() else {
        let may_mount = Command::new("unshare").args(["--mount", "true"]).output();
        if !may_mount.is_ok_and(|output| output.status.success()) {
            println!("not tested on a full file system: this user may not mount one");
            return;
        }
        let mount = tempfile::tempdir().unwrap();
        let line = r#"exec unshare --mount sh -c 'mount -t tmpfs -o size=48m tmpfs "$WINDLASS_TEST_HOME" && exec "$@"' sh "$@""#;
        let output = through_shell(line, "a_full_disk_is_pruned", mount.path());
        assert_success(&output);
        print!("{}", String::from_utf8_lossy(&output.stdout));
        return;
    };
    let home = mount.join("home");
    let store = open(&home);
    store.keep_reserve().await.unwrap();
    assert!(store.probe().await.is_ok());
    let runs = fill_with_runs(&store, &mount.join("ballast")).await;
    assert!(
        matches!(store.probe().await, Err(StoreError::Full)),
        "the probe tells"
    );
    let refused = store.prune(Duration::ZERO, at(10_000_000), false).await;
    println!("without the reserve: {refused:?}");
    store.release_reserve().await.unwrap();
    // What is recorded about the prune itself.
    append(&store, &id("sys_audit"), 2, &[said("prune")]).await;
    let report = store
        .prune(Duration::ZERO, at(10_000_000), false)
        .await
        .unwrap();
    println!(
        "full disk: {runs} runs, {} removed now, {} bytes given back",
        report.runs, report.bytes
    );
    assert!(report.bytes > 4 << 20, "{report:?}");
    ended_run(&store, &id("run_after"), 3).await;
    drop(store);
    let store = open(&home);
    assert_eq!(store.check().await.unwrap().findings, Vec::<String>::new());
    let left = store
        .runs(RunFilter {
            limit: 10,
            ..RunFilter::default()
        })
        .await
        .unwrap();
    assert_eq!(left.runs.len(), 1);
    fs_err::remove_file(mount.join("ballast")).unwrap();
    store.keep_reserve().await.unwrap();
    assert!(home.join("windlass.reserve").exists());
}
