//! Benchmarks as programs: each measures Windlass and a peer in alternating slots of one run
//! and prints the ratio. Absolute figures belong to the machine, ratios to the code.
//!
//! `cargo xtask bench [steps] [calls] [start] [recovery] [parked] [pack] [launch] [pipeline] [docs] [stack]
//! [secrets]`, `secrets --set FILE…` (recall on samples from elsewhere) and
//! `secrets --text PATH…` (what is taken for a secret in ordinary text).
//! Needs the release binary next to it.

#![expect(clippy::print_stdout, reason = "the figures are this program's data")]

mod calls;
mod docs;
mod echo;
mod launch;
mod launch_inputs;
mod load;
mod pack;
mod parked;
mod pipeline;
mod pipeline_jobs;
mod process;
mod recovery;
mod report;
mod secrets;
mod stack;
mod stack_dev;
mod stack_preview;
mod start;
mod steps;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Helpers of the benchmarks, in processes of their own.
    match arguments.first().map(String::as_str) {
        Some("echo-stdio") => return echo::serve_stdio(),
        Some("echo-http") => return echo::serve_http(),
        // What the launch benchmark reads, to look at or to profile with.
        Some("launch-inputs") => return launch::write_inputs(&arguments[1..]),
        Some("parked-start") => return parked::print_start(&arguments[1..]),
        Some("rusage") => return process::print_rusage(&arguments[1..]),
        _ => {}
    }
    // Samples from elsewhere, or ordinary text, to measure redaction with.
    if let [name, flag, paths @ ..] = &arguments[..]
        && name == "secrets"
        && flag.starts_with("--")
    {
        return secrets::measure(flag, paths);
    }
    let chosen =
        |name: &str| arguments.is_empty() || arguments.iter().any(|argument| argument == name);
    let known = [
        "steps", "calls", "start", "recovery", "parked", "pack", "launch", "pipeline", "docs",
        "stack", "secrets",
    ];
    if let Some(unknown) = arguments
        .iter()
        .find(|name| !known.contains(&name.as_str()))
    {
        bail!(
            "no benchmark is called {unknown}; known: {}",
            known.join(", ")
        );
    }
    println!(
        "windlass {}, {}",
        env!("CARGO_PKG_VERSION"),
        report::machine()
    );
    if chosen("steps") {
        steps::run()?;
    }
    if chosen("calls") {
        calls::run()?;
    }
    if chosen("start") {
        start::run()?;
    }
    if chosen("recovery") {
        recovery::run()?;
    }
    if chosen("parked") {
        parked::run()?;
    }
    if chosen("pack") {
        pack::run()?;
    }
    if chosen("launch") {
        launch::run()?;
    }
    if chosen("pipeline") {
        pipeline::run()?;
    }
    if chosen("docs") {
        docs::run()?;
    }
    if chosen("stack") {
        stack::run()?;
    }
    if chosen("secrets") {
        secrets::run()?;
    }
    Ok(())
}
