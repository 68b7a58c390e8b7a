//! Runs on a machine that really has too little: no free descriptor, no free space. They end well
//! once there is enough again, and so does taking them back.
//!
//! Each test starts itself again as a process with such limits.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use windlass_engine::{
    Driver, Engine,
    run::{RunKind, Step},
};
use windlass_testkit::{local, new_run, program::fn_kind};
use windlass_types::{Problem, RunId, RunRecord, RunState, code};

use super::on_disk::{engine, options};

const HOME: &str = "WINDLASS_TEST_HOME";
const FILES: usize = 6;
/// Longer than the first pauses of a run that has to wait.
const SHORT: Duration = Duration::from_millis(2500);

fn home_of_child() -> Option<PathBuf> {
    std::env::var_os(HOME).map(PathBuf::from)
}

fn child(line: &str, test: &str, home: &Path) {
    let output = Command::new("sh")
        .args(["-c", line, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--nocapture", "--exact"])
        .arg(format!("suite::fault_shortage::{test}"))
        .env(HOME, home)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A run that writes files once it may, and takes them back by emptying them: that needs a
/// descriptor, too.
fn files(directory: &Path, may_write: &Arc<AtomicBool>) -> Arc<dyn RunKind> {
    let (directory, may_write) = (directory.to_owned(), Arc::clone(may_write));
    fn_kind("files", move |context, _| {
        let (directory, may_write) = (directory.clone(), Arc::clone(&may_write));
        Box::pin(async move {
            while !may_write.load(Ordering::Relaxed) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            let write = |path: &Path, bytes: &[u8]| {
                fs_err::write(path, bytes)
                    .map_err(|error| Problem::new(&code::NOT_FOUND, error.to_string()))
            };
            for number in 0..FILES {
                let path = directory.join(format!("{number}.txt"));
                let undone = path.clone();
                Step::effect(format!("file{number}"), "a file")
                    .undo(move |(): ()| std::future::ready(write(&undone, b"")))
                    .run(context, move |_| {
                        std::future::ready(write(&path, &[7; 20_000]))
                    })
                    .await?;
            }
            Ok(json!(null))
        })
    })
}

/// Runs, then rolls back, each with too little at first.
async fn survives<T>(home: &Path, directory: &Path, mut exhaust: impl FnMut() -> T) {
    let may_write = Arc::new(AtomicBool::new(true));
    let kinds = vec![files(directory, &may_write)];
    let (engine, _store) = engine(home, kinds, options(None));
    let driver = Driver::start_all(&engine).await.unwrap();
    // Once with enough, so that what the process opens lazily is open.
    let run_id = engine
        .create_ungated(new_run("files", json!(null)))
        .await
        .unwrap();
    assert_eq!(wait(&engine, &run_id).await.state, RunState::Completed);
    may_write.store(false, Ordering::Relaxed);
    let run_id = engine
        .create_ungated(new_run("files", json!(null)))
        .await
        .unwrap();
    let taken = exhaust();
    may_write.store(true, Ordering::Relaxed);
    tokio::time::sleep(SHORT).await;
    assert!(
        !wait_for(&engine, &run_id, Duration::ZERO)
            .await
            .state
            .is_final()
    );
    drop(taken);
    let record = wait(&engine, &run_id).await;
    assert_eq!(record.state, RunState::Completed, "{:?}", record.problem);
    for number in 0..FILES {
        let file = fs_err::metadata(directory.join(format!("{number}.txt"))).unwrap();
        assert_eq!(file.len(), 20_000);
    }
    engine
        .request_rollback(&local(), &run_id, None)
        .await
        .unwrap();
    let taken = exhaust();
    tokio::time::sleep(SHORT).await;
    drop(taken);
    let record = wait(&engine, &run_id).await;
    assert_eq!(
        (record.state, record.residue),
        (RunState::RolledBack, vec![])
    );
    assert!(engine.verify(&run_id).await.unwrap().intact);
    driver.stop().await;
}

async fn wait(engine: &Engine, run_id: &RunId) -> RunRecord {
    wait_for(engine, run_id, Duration::from_secs(60)).await
}

/// Reads again while there is no descriptor to read with.
async fn wait_for(engine: &Engine, run_id: &RunId, time: Duration) -> RunRecord {
    loop {
        match engine.settle(run_id, time).await {
            Ok(record) => return record,
            Err(problem) => assert_eq!(problem.code().name, "STORE_UNAVAILABLE", "{problem}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_descriptors() {
    if let Some(home) = home_of_child() {
        let limited = Rlimit {
            current: Some(200),
            ..getrlimit(Resource::Nofile)
        };
        setrlimit(Resource::Nofile, limited).unwrap();
        let hoard = || {
            let mut files = Vec::new();
            while let Ok(file) = File::open("/dev/null") {
                files.push(file);
            }
            files
        };
        return survives(&home.join("home"), &home, hoard).await;
    }
    let home = tempfile::tempdir().unwrap();
    child(r#"exec "$@""#, "without_descriptors", home.path());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_space() {
    /// A file that fills a disk while it exists.
    struct Ballast(PathBuf);

    impl Drop for Ballast {
        fn drop(&mut self) {
            fs_err::remove_file(&self.0).unwrap();
        }
    }

    if let Some(mount) = home_of_child() {
        let fill = || {
            let ballast = mount.join("ballast");
            let mut size = 1 << 20;
            let mut file = File::create(&ballast).unwrap();
            while size > 0 {
                if std::io::Write::write_all(&mut file, &vec![0; size]).is_err() {
                    size /= 2;
                }
            }
            Ballast(ballast)
        };
        return survives(&mount.join("home"), &mount, fill).await;
    }
    let may_mount = Command::new("unshare").args(["--mount", "true"]).output();
    if !may_mount.is_ok_and(|output| output.status.success()) {
        println!("not tested on a full file system: this user may not mount one");
        return;
    }
    let mount = tempfile::tempdir().unwrap();
    let line = r#"exec unshare --mount sh -c 'mount -t tmpfs -o size=4m tmpfs "$WINDLASS_TEST_HOME" && exec "$@"' sh "$@""#;
    child(line, "without_space", mount.path());
}
