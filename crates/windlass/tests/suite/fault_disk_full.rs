//! No space left under the real binary: a typed refusal, nothing acknowledged that is not on
//! disk, and over once there is space. On a small file system where one may be mounted, and
//! with a limit on file size everywhere.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use serde_json::{Value, json};

use super::support::{
    binary::{Daemon, READY, Said, free_address},
    home::{ALLOW_ALL, Place, temporary},
    http::Ask,
};

const HOME: &str = "WINDLASS_TEST_SMALL_DISK";
/// Smaller than the log becomes when one run with a large file follows the other.
const FILE_LIMIT: u64 = 1_500_000;

/// How space is taken and given back.
enum Room {
    /// A file on the same file system.
    Ballast(PathBuf),
    /// A limit on what the process may write.
    Limit,
}

impl Room {
    fn take(&self, daemon: &Daemon) {
        match self {
            Self::Ballast(path) => fill(path),
            Self::Limit => limit(daemon, Some(FILE_LIMIT)),
        }
    }

    fn give_back(&self, daemon: Option<&Daemon>) {
        match (self, daemon) {
            (Self::Ballast(path), _) => fs_err::remove_file(path).unwrap(),
            (Self::Limit, Some(daemon)) => limit(daemon, getrlimit(Resource::Fsize).current),
            // The limit went with the process.
            (Self::Limit, None) => {}
        }
    }

    /// A command that finds as little room as the daemon does.
    fn say(&self, home: &Path, arguments: &[&str]) -> Said {
        let prelude = match self {
            Self::Ballast(_) => String::new(),
            // In units of 512 bytes, and less than one change needs: in the meantime the daemon may
            // have moved its log into the database and so made room in it.
            Self::Limit => "ulimit -f 128;".to_owned(),
        };
        let mut command = windlass_after(&prelude, home);
        let output = command.args(arguments).stdin(Stdio::null()).output();
        output.unwrap().into()
    }
}

/// The binary started by a shell that ignores the signal a file beyond the limit brings, so that
/// writing fails instead.
fn windlass_after(prelude: &str, home: &Path) -> Command {
    let line = format!(r#"trap "" XFSZ; {prelude} exec "$0" "$@""#);
    let mut command = Command::new("sh");
    command
        .args(["-c", &line, env!("CARGO_BIN_EXE_windlass")])
        .env_clear()
        .env("WINDLASS_HOME", home);
    command
}

fn start(home: &Path) -> Daemon {
    let mut daemon = Daemon::spawn_with(windlass_after("", home), free_address(), &["--no-auth"]);
    daemon.wait_until_ready();
    daemon
}

/// Writes until nothing more fits.
fn fill(path: &Path) {
    let mut file = std::fs::File::create(path).unwrap();
    for chunk in [64 * 1024, 512, 1] {
        while file.write_all(&vec![0; chunk]).is_ok() {}
    }
}

fn limit(daemon: &Daemon, current: Option<u64>) {
    let pid = Pid::from_child(&daemon.process.0);
    let maximum = getrlimit(Resource::Fsize).maximum;
    prlimit(Some(pid), Resource::Fsize, Rlimit { current, maximum }).unwrap();
}

#[test]
fn with_a_limit_on_file_size() {
    let place = Place::with_policy(ALLOW_ALL);
    full_and_free_again(&place.home(), &Room::Limit);
}

#[test]
fn on_a_full_file_system() {
    let mount = temporary();
    let script = r#"mount -t tmpfs -o size=56m tmpfs "$0" && exec "$@""#;
    let inside = |arguments: &[&str]| {
        Command::new("unshare")
            .args(["--mount", "sh", "-c", script])
            .arg(mount.path())
            .args(arguments)
            .env(HOME, mount.path())
            .output()
    };
    let may_mount = inside(&["true"]);
    if !may_mount
        .as_ref()
        .is_ok_and(|output| output.status.success())
    {
        println!("not tested on a full file system: none can be mounted here: {may_mount:?}");
        return;
    }
    let this = std::env::current_exe().unwrap();
    let test = "suite::fault_disk_full::inside_a_small_file_system";
    let this = this.to_str().unwrap();
    let output = inside(&[this, "--exact", test, "--nocapture"]).unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Runs in a mount namespace of its own, which takes the file system with it.
#[test]
fn inside_a_small_file_system() {
    let Some(mount) = std::env::var_os(HOME).map(PathBuf::from) else {
        return;
    };
    let home = mount.join("home");
    std::fs::create_dir(&home).unwrap();
    fs_err::write(home.join("policy.toml"), ALLOW_ALL).unwrap();
    let room = Room::Ballast(mount.join("ballast"));
    full_and_free_again(&home, &room);
    told_and_pruned(&home, &room);
}

/// Nobody makes room: what is wrong is told, and a prune takes what was kept aside for it.
fn told_and_pruned(home: &Path, room: &Room) {
    let scratch = temporary();
    let daemon = start(home);
    let mut client = Client {
        scratch: scratch.path(),
        started: Vec::new(),
    };
    for _ in 0..5 {
        assert_eq!(client.apply(&daemon).0, 200);
    }
    client.wait_for_all(&daemon);
    let reserve = home.join("windlass.reserve");
    wait_until("space is kept aside", || reserve.exists());
    room.take(&daemon);
    client.apply_until_full(&daemon);
    wait_until("the server says that the disk is full", || {
        let ready = Ask::get("/v1/ready").send(daemon.address).unwrap();
        let answer = ready.json();
        ready.status == 503
            && answer["checks"]["disk"] == "full"
            && answer["reasons"][0]["code"] == "STORE_FULL"
    });
    let doctor = room.say(home, &["doctor", "--json"]);
    assert_ne!(doctor.code, Some(0));
    assert!(
        doctor.stdout.contains("full; nothing is written"),
        "{}{}",
        doctor.stdout,
        doctor.stderr
    );
    let prune = ["store", "prune", "--keep-days", "0", "--yes", "--json"];
    room.say(home, &prune).worked();
    assert!(!reserve.exists() || fs_err::metadata(&reserve).unwrap().len() > 0);
    wait_until("the server is ready again", || {
        Ask::get("/v1/ready").send(daemon.address).unwrap().status == 200
    });
    assert_eq!(client.apply(&daemon).0, 200);
    let (status, checked) = daemon.call("admin.store_check", &json!({}));
    assert_eq!((status, &checked["findings"]), (200, &json!([])));
    println!("a full disk was reported and pruned");
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = std::time::Instant::now();
    while !is_so() {
        assert!(started.elapsed() < READY, "never: {what}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

fn full_and_free_again(home: &Path, room: &Room) {
    let scratch = temporary();
    let mut daemon = start(home);
    let mut client = Client {
        scratch: scratch.path(),
        started: Vec::new(),
    };
    // The log gets its reserve, and the run its end, while there is room.
    assert_eq!(client.apply(&daemon).0, 200);
    client.wait_for_all(&daemon);

    room.take(&daemon);
    client.apply_until_full(&daemon);
    assert_eq!(
        Ask::get("/v1/runs").send(daemon.address).unwrap().status,
        200,
        "a full store can be read"
    );
    let directory = scratch.path().join("by hand");
    std::fs::create_dir(&directory).unwrap();
    let text = format!("large={}", "x".repeat(100_000));
    let arguments = ["--json", "demo", "apply", "--yes", "--detach"];
    let file = ["--dir", directory.to_str().unwrap(), "--file", &text];
    let said = room.say(home, &[arguments.as_slice(), &file].concat());
    assert_eq!(said.code, Some(7), "{}{}", said.stdout, said.stderr);
    assert_eq!(said.json()["error"]["code"], "STORE_FULL");

    room.give_back(Some(&daemon));
    assert_eq!(
        client.apply(&daemon).0,
        200,
        "the same process continues by itself"
    );
    client.wait_for_all(&daemon);

    room.take(&daemon);
    client.apply_until_full(&daemon);
    daemon.process.kill();
    room.give_back(None);
    let daemon = start(home);
    client.wait_for_all(&daemon);
    let (status, checked) = daemon.call("admin.store_check", &json!({}));
    assert_eq!((status, &checked["findings"]), (200, &json!([])));
    println!(
        "{} runs acknowledged, all on disk and completed",
        client.started.len()
    );
}

/// Who applies one change after the other, and remembers what was acknowledged.
struct Client<'a> {
    scratch: &'a Path,
    started: Vec<String>,
}

impl Client<'_> {
    /// Applies a change with a large file; status and answer.
    fn apply(&mut self, daemon: &Daemon) -> (u16, Value) {
        let directory = self.scratch.join(self.started.len().to_string());
        std::fs::create_dir_all(&directory).unwrap();
        let text = "0123456789".repeat(10_000);
        let mut input = json!({ "dir": directory, "files": { "large.txt": text } });
        let (status, planned) = daemon.call("demo.plan", &input);
        if status != 200 {
            return (status, planned);
        }
        input["confirm_token"] = planned["confirm_token"].clone();
        let (status, answer) = daemon.call("demo.apply", &input);
        if status == 200 {
            let run_id = answer["run"]["run_id"].as_str().unwrap();
            self.started.push(run_id.to_owned());
        }
        (status, answer)
    }

    fn apply_until_full(&mut self, daemon: &Daemon) {
        for _ in 0..500 {
            let (status, answer) = self.apply(daemon);
            if status != 200 {
                let code = answer["error"]["code"].as_str();
                assert_eq!((status, code), (507, Some("STORE_FULL")), "{answer}");
                return;
            }
        }
        panic!("there was room for everything");
    }

    /// Every acknowledged run exists and comes to its end.
    fn wait_for_all(&self, daemon: &Daemon) {
        for run_id in &self.started {
            let mut after = 0;
            loop {
                let input = json!({ "run_id": run_id, "after_seq": after, "wait_seconds": 30 });
                let (status, watched) = daemon.call("runs.watch", &input);
                assert_eq!(status, 200, "{run_id}: {watched}");
                if watched["done"] == true {
                    assert_eq!(watched["run"]["state"], "completed", "{watched}");
                    break;
                }
                let next = watched["next_after_seq"].as_u64().unwrap();
                assert!(next > after, "{run_id} stands still: {watched}");
                after = next;
            }
        }
    }
}
