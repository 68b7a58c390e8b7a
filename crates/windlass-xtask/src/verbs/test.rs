//! `cargo xtask test`: everything that must pass before a change is merged.
//!
//! Stages run in order, cheap ones first, and a failing stage does not stop the next:
//! one run tells everything. Not here: what a stage does beyond one Cargo command.

use std::path::PathBuf;

use anyhow::{Result, bail};

use super::{fuzz, generate, tidy};
use crate::args::Args;
use crate::binary::Binaries;
use crate::process;
use crate::repo::{self, Repo};
use crate::tools;
use crate::{e2e, stage};

const SHORT_FUZZ_SECONDS: u64 = 5;
const LONG_FUZZ_SECONDS: u64 = 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    /// Part of every run.
    Fast,
    /// Left out by `--fast`.
    Full,
}

struct Stage {
    name: &'static str,
    lane: Lane,
    about: &'static str,
    run: fn(&Context) -> Result<String>,
}

const STAGES: [Stage; 16] = [
    Stage {
        name: "fmt",
        lane: Lane::Fast,
        about: "formatting",
        run: fmt,
    },
    Stage {
        name: "tidy",
        lane: Lane::Fast,
        about: "layers, manifests, documents, links",
        run: |context| tidy::check(&context.repo),
    },
    Stage {
        name: "clippy",
        lane: Lane::Fast,
        about: "lints, as errors",
        run: clippy,
    },
    Stage {
        name: "deny",
        lane: Lane::Fast,
        about: "licences, bans and sources of dependencies",
        run: deny,
    },
    Stage {
        name: "tests",
        lane: Lane::Fast,
        about: "every Rust test",
        run: tests,
    },
    Stage {
        name: "drift",
        lane: Lane::Fast,
        about: "generated documents are up to date",
        run: |context| generate::check(&context.repo, &context.binaries),
    },
    Stage {
        name: "fuzz",
        lane: Lane::Full,
        about: "every fuzz target for a while",
        run: |context| fuzz::fuzz(&context.repo, context.fuzz_seconds, &[]),
    },
    Stage {
        name: "conformance",
        lane: Lane::Full,
        about: "the official MCP conformance suite",
        run: |context| e2e::conformance::run(&context.repo, &context.binaries),
    },
    Stage {
        name: "inspector",
        lane: Lane::Full,
        about: "the MCP Inspector as client",
        run: |context| e2e::inspector::run(&context.repo, &context.binaries),
    },
    Stage {
        name: "python-client",
        lane: Lane::Full,
        about: "the Python MCP SDK as client",
        run: |context| e2e::python_client::run(&context.repo, &context.binaries),
    },
    Stage {
        name: "generated-code",
        lane: Lane::Full,
        about: "generated projects: npm install, tsc, lint, build, tests, Chromium, PostgreSQL",
        run: |context| e2e::generated_code::run(&context.repo, &context.binaries),
    },
    Stage {
        name: "databases",
        lane: Lane::Full,
        about: "PostgreSQL, MariaDB and Redis: reading, limits, attempts to write",
        run: |context| e2e::databases::run(&context.repo),
    },
    Stage {
        name: "local-stack",
        lane: Lane::Full,
        about: "local development: the sample with Node, Python, PostgreSQL and Redis",
        run: |context| e2e::local_stack::run(&context.repo),
    },
    Stage {
        name: "webhooks",
        lane: Lane::Full,
        about: "webhooks verified by the Python Standard Webhooks library",
        run: |context| e2e::webhooks::run(&context.repo, &context.binaries),
    },
    Stage {
        name: "local-model",
        lane: Lane::Full,
        about: "a small language model served here: streaming, schemas, a phase by it",
        run: |context| e2e::local_model::run(&context.repo, &context.binaries),
    },
    Stage {
        name: "tour",
        lane: Lane::Full,
        about: "`windlass tour`, twice",
        run: |context| e2e::tour::run(&context.repo, &context.binaries),
    },
];

struct Context {
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
    let reports: Vec<stage::Report> = stages
        .iter()
        .map(|stage| stage::run(stage.name, || (stage.run)(&context)))
        .collect();
    println!("\n{}", stage::table(&reports));
    if reports.iter().any(|report| report.outcome.is_err()) {
        // The table has said it all, and its last line must stay the last.
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
  --fuzz             fuzz what strangers reach for {LONG_FUZZ_SECONDS} s instead of {SHORT_FUZZ_SECONDS} s, the other targets
                     for a third of that (CI=true does so too)
  --fuzz-seconds N   the same with N seconds
  --binary PATH      run drift and end-to-end stages with this program instead of building

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

fn deny(context: &Context) -> Result<String> {
    let program = tools::cargo_deny(&context.repo)?;
    // The check is offline, and it also looks at what other platforms would build.
    tools::retry("cargo fetch", || {
        process::run(context.repo.cargo().args(["fetch", "--quiet"]))
    })?;
    process::run(
        std::process::Command::new(program)
            .args(["--offline", "check", "licenses", "bans", "sources"])
            .current_dir(&context.repo.root),
    )?;
    Ok(String::new())
}

fn tests(context: &Context) -> Result<String> {
    let profile = if repo::on_build_machine() {
        "ci"
    } else {
        "default"
    };
    // Tests that need the real Hugo, moto or cfn-lint skip themselves without it.
    let hugo = tools::hugo(&context.repo)?;
    let moto = tools::moto(&context.repo)?;
    let cfn_lint = tools::cfn_lint(&context.repo)?;
    process::run(
        tools::require_nextest(&context.repo)?
            .args(["run", "--workspace", "--profile"])
            .arg(profile)
            .env("WINDLASS_TEST_HUGO", hugo)
            .env("WINDLASS_TEST_MOTO", moto)
            .env("WINDLASS_TEST_CFN_LINT", cfn_lint),
    )?;
    Ok(String::new())
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
