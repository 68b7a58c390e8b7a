//! `cargo xtask test`: everything that must pass before a change is merged.
//!
//! Stages run in order, cheap ones first, and a failing stage does not stop the next: one run shows
//! every failure. What later stages need is prepared in the background.
//! Not here: what a stage does beyond one Cargo command.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use super::prepare::Background;
use super::{fuzz, generate, tidy};
use crate::args::Args;
use crate::binary::{self, Binaries};
use crate::process;
use crate::repo::{self, Repo};
use crate::tools;
use crate::{budget, e2e, stage};

const SHORT_FUZZ_SECONDS: u64 = 5;
const LONG_FUZZ_SECONDS: u64 = 30;
/// What a whole run from nothing may take on two idle cores.
const GOAL: Duration = Duration::from_secs(45 * 60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    /// Part of every run.
    Fast,
    /// Left out by `--fast`.
    Full,
}

pub struct Stage {
    pub name: &'static str,
    lane: Lane,
    about: &'static str,
    /// Twice the seconds it takes from nothing on two idle cores, rounded up: machines are noisy.
    budget: u64,
    /// Installs and builds what the stage needs.
    pub prepare: fn(&Repo) -> Result<()>,
    run: fn(&Context) -> Result<String>,
}

/// Every stage, in the order they run. The two that build a program of their own come last: by then
/// it was built in the background.
pub const STAGES: [Stage; 16] = [
    Stage {
        name: "fmt",
        lane: Lane::Fast,
        about: "formatting",
        budget: 30,
        prepare: tools::require_rustfmt,
        run: fmt,
    },
    Stage {
        name: "tidy",
        lane: Lane::Fast,
        about: "layers, manifests, documents, links",
        budget: 30,
        prepare: |_| Ok(()),
        run: |context| tidy::check(&context.repo),
    },
    Stage {
        name: "clippy",
        lane: Lane::Fast,
        about: "lints, as errors",
        budget: 540,
        prepare: tools::require_clippy,
        run: clippy,
    },
    Stage {
        name: "deny",
        lane: Lane::Fast,
        about: "licences, bans and sources of dependencies",
        budget: 240,
        prepare: |repo| tools::cargo_deny(repo).map(drop),
        run: deny,
    },
    Stage {
        name: "tests",
        lane: Lane::Fast,
        about: "every Rust test",
        budget: 2100,
        prepare: |repo| test_command(repo).map(drop),
        run: tests,
    },
    Stage {
        name: "drift",
        lane: Lane::Fast,
        about: "generated documents are up to date",
        budget: 120,
        prepare: |_| Ok(()),
        run: |context| generate::check(&context.repo, &context.binaries),
    },
    Stage {
        name: "conformance",
        lane: Lane::Full,
        about: "the official MCP conformance suite",
        budget: 420,
        prepare: e2e::conformance::prepare,
        run: |context| e2e::conformance::run(&context.repo, &context.binaries),
    },
    Stage {
        name: "inspector",
        lane: Lane::Full,
        about: "the MCP Inspector as client",
        budget: 120,
        prepare: e2e::inspector::prepare,
        run: |context| e2e::inspector::run(&context.repo, &context.binaries),
    },
    Stage {
        name: "python-client",
        lane: Lane::Full,
        about: "the Python MCP SDK as client",
        budget: 120,
        prepare: e2e::python_client::prepare,
        run: |context| e2e::python_client::run(&context.repo, &context.binaries),
    },
    Stage {
        name: "generated-code",
        lane: Lane::Full,
        about: "generated projects: npm install, tsc, lint, build, tests, Chromium, PostgreSQL",
        budget: 900,
        prepare: e2e::generated_code::prepare,
        run: |context| e2e::generated_code::run(&context.repo, &context.binaries),
    },
    Stage {
        name: "databases",
        lane: Lane::Full,
        about: "PostgreSQL, MariaDB and Redis: reading, limits, attempts to write",
        budget: 240,
        prepare: e2e::databases::prepare,
        run: |context| e2e::databases::run(&context.repo),
    },
    Stage {
        name: "local-stack",
        lane: Lane::Full,
        about: "local development: the sample with Node, Python, PostgreSQL and Redis",
        budget: 300,
        prepare: e2e::local_stack::prepare,
        run: |context| e2e::local_stack::run(&context.repo),
    },
    Stage {
        name: "webhooks",
        lane: Lane::Full,
        about: "webhooks verified by the Python Standard Webhooks library",
        budget: 120,
        prepare: |repo| tools::standard_webhooks(repo).map(drop),
        run: |context| e2e::webhooks::run(&context.repo, &context.binaries),
    },
    Stage {
        name: "local-model",
        lane: Lane::Full,
        about: "a small language model served here: streaming, schemas, a phase by it",
        budget: 300,
        prepare: |repo| tools::small_model(repo).map(drop),
        run: |context| e2e::local_model::run(&context.repo, &context.binaries),
    },
    Stage {
        name: "fuzz",
        lane: Lane::Full,
        about: "every fuzz target for a while",
        budget: 900,
        prepare: |repo| fuzz::build(repo).map(drop),
        run: |context| fuzz::fuzz(&context.repo, context.fuzz_seconds, &[]),
    },
    Stage {
        name: "tour",
        lane: Lane::Full,
        about: "`cargo run --release -- tour`, and all its chapters",
        budget: 1200,
        prepare: |repo| binary::build_release(repo).map(drop),
        run: |context| e2e::tour::run(&context.repo, &context.binaries),
    },
];

pub struct Context {
    repo: Repo,
    binaries: Binaries,
    fuzz_seconds: u64,
}

pub fn run(mut args: Args) -> Result<()> {
    if args.take_flag("--help") {
        println!("{}", usage());
        return Ok(());
    }
    let fast = args.take_flag("--fast");
    let long_fuzz = args.take_flag("--fuzz") || repo::on_build_machine();
    let fuzz_seconds = args.take_value("--fuzz-seconds")?;
    let binary = args.take_value::<PathBuf>("--binary")?;
    let only = args.take_values("--only")?;
    args.finish()?;

    let stages = choose(fast, &only)?;
    let context = Context {
        repo: Repo::load()?,
        binaries: Binaries::new(binary)?,
        fuzz_seconds: fuzz_seconds.unwrap_or(if long_fuzz {
            LONG_FUZZ_SECONDS
        } else {
            SHORT_FUZZ_SECONDS
        }),
    };
    let background = match stages.len() == STAGES.len() {
        true => Some(Background::start(&context.repo)?),
        false => None,
    };
    let mut reports: Vec<stage::Report> = stages
        .iter()
        .map(|stage| {
            let budget = Duration::from_secs(stage.budget);
            stage::run(stage.name, budget, || (stage.run)(&context))
        })
        .collect();
    if let Some(background) = background {
        background.wait()?;
    }
    budget::enforce(&context.repo, &mut reports)?;
    println!("\n{}", stage::table(&reports, GOAL));
    if reports.iter().any(|report| report.outcome.is_err()) {
        // The table says what failed, and its last line must stay the last.
        std::process::exit(1);
    }
    Ok(())
}

fn usage() -> String {
    let stages: Vec<String> = STAGES
        .iter()
        .map(|stage| format!("  {:14} {}", stage.name, stage.about))
        .collect();
    format!(
        "\
Usage: cargo xtask test [OPTIONS]

Options:
  --fast             leave out fuzzing and the end-to-end stages
  --only STAGE,...   run these stages only
  --fuzz             fuzz what untrusted clients send for {LONG_FUZZ_SECONDS} s instead of {SHORT_FUZZ_SECONDS} s, the other
                     targets for a third of that (the default with CI=true)
  --fuzz-seconds N   the same with N seconds
  --binary PATH      run drift and end-to-end stages with this program instead of building one

Stages:
{}",
        stages.join("\n")
    )
}

fn choose(fast: bool, only: &[String]) -> Result<Vec<&'static Stage>> {
    let names: Vec<&str> = only.iter().flat_map(|list| list.split(',')).collect();
    for name in &names {
        if !STAGES.iter().any(|stage| stage.name == *name) {
            let known: Vec<&str> = STAGES.iter().map(|stage| stage.name).collect();
            bail!(
                "no stage is called `{name}`; there are: {}",
                known.join(", ")
            );
        }
    }
    Ok(STAGES
        .iter()
        .filter(|stage| match names.as_slice() {
            [] => stage.lane == Lane::Fast || !fast,
            names => names.contains(&stage.name),
        })
        .collect())
}

fn fmt(context: &Context) -> Result<String> {
    tools::require_rustfmt(&context.repo)?;
    process::run(context.repo.cargo().args(["fmt", "--all", "--check"]))?;
    // The fuzz targets are a workspace of their own, which `--all` does not reach.
    process::run(
        context
            .repo
            .cargo()
            .args(["fmt", "--check"])
            .args(["--manifest-path", fuzz::MANIFEST]),
    )?;
    Ok(String::new())
}

fn clippy(context: &Context) -> Result<String> {
    tools::require_clippy(&context.repo)?;
    process::run(context.repo.cargo().args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]))?;
    Ok(String::new())
}

/// How long the database of advisories may take to arrive.
const ADVISORIES_LIMIT: Duration = Duration::from_secs(60);

fn deny(context: &Context) -> Result<String> {
    let program = tools::cargo_deny(&context.repo)?;
    // The check is offline, and it also looks at what other platforms would build.
    tools::retry("cargo fetch", || {
        process::run(context.repo.cargo().args(["fetch", "--quiet"]))
    })?;
    process::run(
        Command::new(&program)
            .args(["--offline", "check", "licenses", "bans", "sources"])
            .current_dir(&context.repo.root),
    )?;
    // The database of advisories is on the internet, which a build machine may not reach. What it
    // said is then unknown, which is no failure of this checkout.
    let fetched = process::capture(
        Command::new(&program)
            .args(["fetch", "db"])
            .current_dir(&context.repo.root),
        ADVISORIES_LIMIT,
    );
    if !fetched.is_ok_and(|fetched| fetched.success("cargo deny fetch db").is_ok()) {
        return Ok("advisories not checked: their database cannot be reached".to_owned());
    }
    process::run(
        Command::new(&program)
            .args(["--offline", "check", "advisories"])
            .current_dir(&context.repo.root),
    )?;
    Ok("advisories checked".to_owned())
}

fn tests(context: &Context) -> Result<String> {
    process::run(&mut test_command(&context.repo)?)?;
    Ok(String::new())
}

/// Every Rust test, with the tools that some of them use. Those skip themselves without their tool.
fn test_command(repo: &Repo) -> Result<Command> {
    let profile = if repo::on_build_machine() {
        "ci"
    } else {
        "default"
    };
    tools::require_bubblewrap()?;
    let mut command = tools::require_nextest(repo)?;
    command
        .args(["run", "--workspace", "--profile"])
        .arg(profile)
        .env("WINDLASS_TEST_HUGO", tools::hugo(repo)?)
        .env("WINDLASS_TEST_MOTO", tools::moto(repo)?)
        .env("WINDLASS_TEST_CFN_LINT", tools::cfn_lint(repo)?);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(fast: bool, only: &[&str]) -> Vec<&'static str> {
        let only: Vec<String> = only.iter().map(ToString::to_string).collect();
        choose(fast, &only)
            .unwrap()
            .iter()
            .map(|stage| stage.name)
            .collect()
    }

    #[test]
    fn stages_are_chosen_by_lane_or_by_name() {
        assert_eq!(chosen(false, &[]).len(), STAGES.len());
        assert_eq!(
            chosen(true, &[]),
            ["fmt", "tidy", "clippy", "deny", "tests", "drift"]
        );
        assert_eq!(chosen(true, &["tour,fmt", "fuzz"]), ["fmt", "fuzz", "tour"]);
    }

    #[test]
    fn an_unknown_stage_is_refused_with_the_known_ones() {
        let error = choose(false, &["tuor".to_owned()]).err().unwrap();
        assert!(
            error
                .to_string()
                .starts_with("no stage is called `tuor`; there are: fmt, tidy,"),
            "{error}"
        );
    }
}
