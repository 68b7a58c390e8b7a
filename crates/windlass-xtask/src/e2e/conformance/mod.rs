//! The official MCP conformance suite against the built server and the client, in both protocol
//! eras.
//!
//! First the product's handler offering the fixtures, which must pass every scenario that a
//! revision scores and those it only reports; then with its own tools, when it must pass
//! every scenario that needs no fixture. Last the client (`client`).
//! Not here: reading the suite's report (`report`), what a revision asks
//! (`requirements`) and what is known to fail (`baseline`).

mod baseline;
mod client;
mod report;
mod requirements;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use self::baseline::Baseline;
use self::report::{Mode, Side};
use self::requirements::Requirements;
use super::server::Server;
use crate::binary::Binaries;
use crate::process;
use crate::repo::Repo;
use crate::tools::{Node, node, node_package};

const PACKAGE: &str = "@modelcontextprotocol/conformance";
const VERSION: &str = "0.2.0-alpha.12";
const EXPECTED_FAILURES: &str = "crates/windlass-xtask/conformance-expected-failures.yaml";
const LIST_LIMIT: Duration = Duration::from_secs(60);
/// A whole revision takes some fifteen seconds; a hanging scenario ends itself after thirty.
const RUN_LIMIT: Duration = Duration::from_secs(900);

/// One protocol revision and what must be true of it.
struct Revision {
    name: &'static str,
    /// Scenarios the suite scores and scenarios it only reports; guards against a changed suite.
    scored: usize,
    reported: usize,
    /// Scenarios of this suite version that only say they are not written yet.
    unwritten: &'static [&'static str],
    /// Scenarios that any correct server passes, whatever its tools are.
    without_fixtures: &'static [&'static str],
}

const REVISIONS: [Revision; 2] = [
    Revision {
        name: "2025-11-25",
        scored: 30,
        reported: 3,
        unwritten: &[],
        without_fixtures: &[
            "server-initialize",
            "ping",
            "logging-set-level",
            "tools-list",
            "resources-list",
            "prompts-list",
            "resources-subscribe",
            "resources-unsubscribe",
            "server-sse-multiple-streams",
            "server-session-lifecycle",
            "dns-rebinding-protection",
        ],
    },
    Revision {
        name: "2026-07-28",
        scored: 37,
        reported: 13,
        unwritten: &["tasks-status-notifications"],
        without_fixtures: &[
            "server-stateless",
            "tools-list",
            "resources-list",
            "prompts-list",
            "server-sse-multiple-streams",
            "dns-rebinding-protection",
            "caching",
            "http-header-validation",
        ],
    },
];

/// Installs what the stage needs.
pub fn prepare(repo: &Repo) -> Result<()> {
    Suite::install(repo)?;
    client::build(repo).map(drop)
}

/// Runs the stage.
pub fn run(repo: &Repo, binaries: &Binaries) -> Result<String> {
    let suite = Suite::install(repo)?;
    let baseline = Baseline::parse(&fs_err::read_to_string(repo.root.join(EXPECTED_FAILURES))?)?;
    let scratch = repo.scratch("conformance")?;
    let mut notes = Vec::new();
    let mut problems = Vec::new();

    // One process serves both eras, as it does for users.
    let fixtures = binaries.with_fixtures(repo)?;
    let folder = scratch.join("fixtures");
    allow_everything(&folder.join("home"))?;
    let server = Server::start(&fixtures, &["--fixtures"], &folder)?;
    for revision in &REVISIONS {
        let requirements = suite.requirements(revision)?.without(revision.unwritten);
        let folder = scratch.join("fixtures").join(revision.name);
        suite.run(&server, &["--requirements", revision.name], &folder)?;
        let names = requirements.all();
        let scenarios = report::read(&folder, Side::Server, &names, Mode::Complete)?;
        let score = requirements.score(&scenarios);
        println!("{}: {score}", revision.name);
        notes.push(format!("{} {score}", revision.name));
        if !score.is_full() {
            problems.push(format!("{}: {score}", revision.name));
        }
        let key = format!("fixtures-{}", revision.name);
        problems.extend(baseline.compare(&key, &scenarios));
    }
    drop(server);

    let product = binaries.product(repo)?;
    let server = Server::start(&product, &[], &scratch.join("product"))?;
    for revision in &REVISIONS {
        let folder = scratch.join("product").join(revision.name);
        for scenario in revision.without_fixtures {
            suite.run(
                &server,
                &["--scenario", scenario, "--spec-version", revision.name],
                &folder,
            )?;
        }
        let names = revision.without_fixtures;
        let scenarios = report::read(&folder, Side::Server, names, Mode::WithoutFixtures)?;
        let passed = scenarios
            .iter()
            .filter(|scenario| scenario.passed())
            .count();
        let untestable: usize = scenarios.iter().map(|scenario| scenario.untestable).sum();
        let count = format!("{passed}/{} without fixtures", scenarios.len());
        println!(
            "{}: {count}, {untestable} checks need a fixture",
            revision.name
        );
        notes.push(format!("{} {count}", revision.name));
        let key = format!("product-{}", revision.name);
        problems.extend(baseline.compare(&key, &scenarios));
    }
    drop(server);
    if fixtures != product {
        refuses_fixtures(&product, &scratch)?;
    }
    client::run(repo, &suite, &baseline, &scratch, &mut notes, &mut problems)?;

    if problems.is_empty() {
        return Ok(notes.join(", "));
    }
    for problem in &problems {
        println!("- {problem}");
    }
    println!("reports: {}", scratch.display());
    bail!("{} problems; {}", problems.len(), notes.join(", "))
}

/// The suite has no person who approves what it does, such as cancelling a task.
fn allow_everything(home: &Path) -> Result<()> {
    let rule = "version = 1\n[[rule]]\ndecision = \"allow\"\nreason = \"the suite\"\n";
    fs_err::create_dir_all(home)?;
    fs_err::write(home.join("policy.toml"), rule)?;
    Ok(())
}

/// What is shipped must not contain the fixtures.
fn refuses_fixtures(product: &Path, scratch: &Path) -> Result<()> {
    let outcome = process::capture(
        Command::new(product)
            .args(["mcp", "serve", "--fixtures"])
            .env("WINDLASS_HOME", scratch.join("refused")),
        LIST_LIMIT,
    )?;
    if outcome.status.success() {
        bail!("the product accepts `mcp serve --fixtures`; only the build for this suite may");
    }
    Ok(())
}

/// The installed suite.
struct Suite {
    node: Node,
    script: PathBuf,
}

impl Suite {
    fn install(repo: &Repo) -> Result<Suite> {
        Ok(Suite {
            node: node(repo)?,
            script: node_package(repo, "conformance", PACKAGE, VERSION, "dist/index.js")?,
        })
    }

    fn requirements(&self, revision: &Revision) -> Result<Requirements> {
        let expected = (revision.scored, revision.reported);
        self.scenarios(revision.name, Side::Server, expected)
    }

    /// What a revision asks of a side; as many scored and reported scenarios as are expected.
    fn scenarios(
        &self,
        revision: &str,
        side: Side,
        expected: (usize, usize),
    ) -> Result<Requirements> {
        let mut command = self.node.script(&self.script);
        command.args(["list", "--requirements", revision]);
        let listing = process::capture(&mut command, LIST_LIMIT)?.success("listing scenarios")?;
        let requirements = Requirements::parse(&listing.stdout, side);
        let found = (requirements.scored.len(), requirements.reported.len());
        if found != expected {
            bail!(
                "the suite lists {} scored and {} reported scenarios ({side:?}) for {revision}, \
                 not {} and {}",
                found.0,
                found.1,
                expected.0,
                expected.1
            );
        }
        Ok(requirements)
    }

    /// Runs the suite. Its exit code says only that something failed, so the report is read instead.
    fn run(&self, server: &Server, selection: &[&str], folder: &Path) -> Result<()> {
        fs_err::create_dir_all(folder)?;
        let mut command = self.node.script(&self.script);
        command
            .args(["server", "--url", &server.url])
            .args(selection)
            .arg("--output-dir")
            .arg(folder);
        let output = process::capture(&mut command, RUN_LIMIT)
            .with_context(|| format!("the suite stopped ({})", selection.join(" ")))?;
        let log = folder.join(format!("{}.log", selection.join("_").replace("--", "")));
        fs_err::write(log, format!("{}{}", output.stdout, output.stderr))?;
        Ok(())
    }
}
