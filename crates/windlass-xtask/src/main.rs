//! `cargo xtask`: the project's own chores, one verb per file in `verbs/`.
//!
//! Not here: anything a user of Windlass runs, and no dependency on any other
//! crate of the workspace, so that a broken crate never stops the tool that says so.
//! Called by people and by `.ci/run`.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a developer tool that talks to its terminal"
)]

mod args;
mod binary;
mod budget;
mod e2e;
mod process;
mod repo;
mod stage;
mod tidy;
mod tools;
mod verbs;

use std::process::ExitCode;

use args::Args;

const USAGE: &str = "\
Usage: cargo xtask VERB [OPTIONS]

Verbs:
  test      everything that must pass before a change is merged
  tidy      layers, manifests, documents, links, file sizes, forbidden words
  generate  write the generated documents; --check only compares
  dist      write what a release archive carries beside the program
  bench     build and run the benchmarks
  fuzz      build and run the fuzz targets
  prepare   install and build what `test` needs

`cargo xtask VERB --help` shows the options of one verb.";

fn main() -> ExitCode {
    let mut args = Args::from_environment();
    let outcome = match args.next_word().as_deref() {
        Some("test") => verbs::test::run(args),
        Some("tidy") => verbs::tidy::run(args),
        Some("generate") => verbs::generate::run(args),
        Some("dist") => verbs::dist::run(args),
        Some("bench") => verbs::bench::run(args),
        Some("fuzz") => verbs::fuzz::run(args),
        Some("prepare") => verbs::prepare::run(args),
        None if args.take_flag("--help") => {
            println!("{USAGE}");
            Ok(())
        }
        None => Err(anyhow::anyhow!("no verb given\n\n{USAGE}")),
        Some(other) => Err(anyhow::anyhow!("unknown verb `{other}`\n\n{USAGE}")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
