//! Local development: how long the example's function takes to be there, to answer, and to be
//! another one after a change of its file; compared with starting Node.
//!
//! The example without its databases, whose own start would be measured otherwise.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use fs_err as fs;
use serde_json::Value;

use crate::{
    process,
    report::{self, Samples},
    stack_preview,
};

const STARTS: usize = 5;
const RELOADS: usize = 7;
const CALLS: usize = 200;
/// A changed file is live after this many milliseconds.
const RELOAD_GOAL: f64 = 2_000.0;
/// Where a change that never comes is given up.
const WAIT_LIMIT: Duration = Duration::from_secs(30);

#[expect(clippy::print_stdout, reason = "the figures are this program's data")]
pub(crate) fn run(windlass: &Path, base: &Path) -> Result<()> {
    report::heading("stack dev: the example's Node function behind its HTTP API");
    if !node()? {
        println!("  SKIPPED: there is no `node` on PATH; install Node to measure dev mode");
        return Ok(());
    }
    let project = Project::create(windlass, base)?;
    let (mut starts, mut first, mut floor) =
        (Samples::default(), Samples::default(), Samples::default());
    for _ in 0..STARTS {
        let began = Instant::now();
        ensure!(node()?, "node is gone");
        floor.push(process::millis(began.elapsed()));
        let began = Instant::now();
        let session = project.start()?;
        starts.push(process::millis(began.elapsed()));
        let began = Instant::now();
        ensure!(
            session.get()?.contains("mark 0"),
            "not the answer that was written"
        );
        first.push(process::millis(began.elapsed()));
    }
    let (warm, reloads) = live(&project)?;
    report::figure("windlass stack dev start, to ready", &starts, "ms");
    report::figure("floor: node -e 0", &floor, "ms");
    report::figure("first call", &first, "ms");
    report::figure("call", &warm, "ms");
    report::figure("a changed file, written to answered", &reloads, "ms");
    report::value("cold start / node", starts.median() / floor.median(), "×");
    report::value("reload / node", reloads.median() / floor.median(), "×");
    let share = reloads.quantile(1.0) / RELOAD_GOAL;
    report::ratio("slowest reload, of 2 s allowed", share, "≤ 1", share <= 1.0);
    Ok(())
}

/// Calls and changes within one session.
fn live(project: &Project<'_>) -> Result<(Samples, Samples)> {
    let session = project.start()?;
    let (mut warm, mut reloads) = (Samples::default(), Samples::default());
    for _ in 0..CALLS {
        let began = Instant::now();
        session.get()?;
        warm.push(process::millis(began.elapsed()));
    }
    for mark in 1..=RELOADS {
        let wanted = format!("mark {mark}");
        let began = Instant::now();
        project.write(&wanted)?;
        while !session.get().is_ok_and(|answer| answer.contains(&wanted)) {
            ensure!(began.elapsed() < WAIT_LIMIT, "the change {mark} never came");
            std::thread::sleep(Duration::from_millis(2));
        }
        reloads.push(process::millis(began.elapsed()));
    }
    project.write("mark 0")?;
    Ok((warm, reloads))
}

/// Starts Node once; false where there is none.
fn node() -> Result<bool> {
    match Command::new("node").args(["-e", "0"]).status() {
        Ok(status) => {
            ensure!(status.success(), "node -e 0 ended with {status}");
            Ok(true)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).context("node"),
    }
}

struct Project<'a> {
    windlass: &'a Path,
    directory: PathBuf,
    home: PathBuf,
    /// The function's source with a place for what it answers.
    source: String,
}

impl<'a> Project<'a> {
    fn create(windlass: &'a Path, base: &Path) -> Result<Self> {
        let directory = base.join("dev-app");
        let home = base.join("dev-home");
        stack_preview::copy(&stack_preview::example(), &directory)?;
        fs::create_dir_all(&home)?;
        let config = directory.join("stacktape.yml");
        let whole = fs::read_to_string(&config)?;
        let (functions, _) = whole
            .split_once("\n  database:")
            .context("the example has a database")?;
        let alone = functions
            .replace("      connectTo:\n        - database\n", "")
            .replace("      connectTo:\n        - cache\n", "");
        ensure!(!alone.contains("connectTo"), "the example's config changed");
        fs::write(&config, alone + "\n")?;
        let source = fs::read_to_string(directory.join("src/notes.mjs"))?;
        ensure!(source.contains(CONNECTS), "the example's function changed");
        let project = Self {
            windlass,
            directory,
            home,
            source,
        };
        project.write("mark 0")?;
        Ok(project)
    }

    /// Lets the function answer this, without its database.
    fn write(&self, answer: &str) -> Result<()> {
        let answers = format!("return answer(200, '{answer}');");
        let source = self.source.replacen(CONNECTS, &answers, 1);
        Ok(fs::write(self.directory.join("src/notes.mjs"), source)?)
    }

    fn start(&self) -> Result<Session<'_>> {
        // Whatever becomes of the start, the session ends with this value.
        let mut session = Session {
            project: self,
            address: String::new(),
        };
        let answer = self.windlass(&["start", "--resources", "api,notes"])?;
        let url = answer["data"]["workloads"]["api"].as_str();
        let url = url.with_context(|| format!("no address of the API in {answer}"))?;
        session.address = url.trim_start_matches("http://").to_owned();
        Ok(session)
    }

    fn windlass(&self, arguments: &[&str]) -> Result<Value> {
        let output = Command::new(self.windlass)
            .args(["--json", "stack", "dev"])
            .args(arguments)
            .current_dir(&self.directory)
            .env("WINDLASS_HOME", &self.home)
            .output()
            .context("stack dev")?;
        if !output.status.success() {
            bail!(
                "stack dev {}: {}{}",
                arguments.join(" "),
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        serde_json::from_slice(&output.stdout).context("the answer of stack dev")
    }
}

/// The line of the example's function that opens its database.
const CONNECTS: &str = "const notes = await ready();";

struct Session<'a> {
    project: &'a Project<'a>,
    address: String,
}

impl Session<'_> {
    fn get(&self) -> Result<String> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(WAIT_LIMIT))?;
        let request = format!(
            "GET /notes HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            self.address
        );
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        ensure!(answer.starts_with("HTTP/1.1 200"), "answer: {answer}");
        Ok(answer)
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        // A session that never came to be has nothing to end.
        let _ = self.project.windlass(&["stop"]);
    }
}
