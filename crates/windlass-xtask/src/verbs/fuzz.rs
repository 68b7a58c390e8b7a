//! `cargo xtask fuzz`: build the fuzz program and run each of its targets for a while.
//!
//! The program is the workspace in `fuzz`; each file in `fuzz/src/targets` is a target, and an
//! environment variable names the one to run. It is built with the compiler's coverage passes,
//! address checking and libFuzzer, which is what cargo-fuzz does, so the stable toolchain is
//! enough and nothing is installed. Not here: the targets.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use crate::args::Args;
use crate::process;
use crate::repo::Repo;
use crate::tools::require_cxx;

const USAGE: &str = "\
Usage: cargo xtask fuzz [--seconds N] [TARGET]...

Runs the named fuzz targets, or all, for N seconds each (default: 60).
Found inputs are kept in fuzz/artifacts; put a fixed one into fuzz/seeds/TARGET.";

const DEFAULT_SECONDS: u64 = 60;
/// One input that takes longer than this is a finding.
const INPUT_LIMIT_SECONDS: u64 = 10;
const MEMORY_LIMIT_MB: u64 = 2048;
/// These read input from untrusted clients and get the whole time; the others read the user's own
/// files and get a third of it.
const EXPOSED: [&str; 6] = [
    "json_rpc_line",
    "model_stream",
    "pipeline_spec",
    "policy",
    "redact",
    "token",
];
/// From the root of the checkout.
pub const MANIFEST: &str = "fuzz/Cargo.toml";
const TARGETS: &str = "fuzz/src/targets";
const PROGRAM: &str = "windlass-fuzz";
/// Names the target to run; `fuzz/src/main.rs` reads it.
const VARIABLE: &str = "WINDLASS_FUZZ_TARGET";

/// For every crate: address checking, and the checks of a debug build.
const FLAGS: [&str; 3] = ["-Zsanitizer=address", "-Cdebug-assertions", "--cfg=fuzzing"];
/// Feedback for libFuzzer.
const COVERAGE: [&str; 5] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];
pub fn run(mut args: Args) -> Result<()> {
    if args.take_flag("--help") {
        println!("{USAGE}");
        return Ok(());
    }
    let seconds = args.take_value("--seconds")?.unwrap_or(DEFAULT_SECONDS);
    let chosen = args.take_words()?;
    println!("{}", fuzz(&Repo::load()?, seconds, &chosen)?);
    Ok(())
}

/// Builds and runs the chosen targets, or all; also a stage of `cargo xtask test`.
pub fn fuzz(repo: &Repo, seconds: u64, chosen: &[String]) -> Result<String> {
    let known = targets(&repo.root)?;
    if known.is_empty() {
        bail!("there is no target in {TARGETS}");
    }
    if let Some(unknown) = chosen.iter().find(|name| !known.contains(name)) {
        bail!(
            "no fuzz target is called `{unknown}`; there are: {}",
            known.join(", ")
        );
    }
    let targets = if chosen.is_empty() { &known } else { chosen };
    let program = build(repo)?;
    let logs = repo.scratch("fuzz")?;
    let job = Job {
        repo,
        program: &program,
        logs: &logs,
        seconds,
    };
    let outcomes = run_all(&job, targets)?;
    let mut findings = Vec::new();
    for (target, outcome) in &outcomes {
        match outcome {
            Ok(inputs) => println!("{target}: {inputs} inputs, no finding"),
            Err(error) => {
                println!("{target}: {error:#}");
                findings.push(target.as_str());
            }
        }
    }
    if !findings.is_empty() {
        bail!("findings in {}", findings.join(", "));
    }
    Ok(format!(
        "{} targets, {seconds} s each ({} s for those that read the user's files), no finding",
        targets.len(),
        time_for("", seconds)
    ))
}

/// The names of all fuzz targets, sorted.
fn targets(root: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs_err::read_dir(root.join(TARGETS))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        match name.strip_suffix(".rs") {
            Some("mod") | None => {}
            Some(target) => names.push(target.to_owned()),
        }
    }
    names.sort();
    Ok(names)
}

/// Builds the program and returns its path.
pub fn build(repo: &Repo) -> Result<PathBuf> {
    require_cxx()?;
    let triple = host_triple(repo)?;
    let target_folder = repo.target.join("fuzz");
    let flags: Vec<&str> = FLAGS.iter().chain(&COVERAGE).copied().collect();
    process::run(
        repo.cargo()
            .args(["build", "--quiet", "--release", "--manifest-path", MANIFEST])
            // Naming the target keeps the flags away from build scripts and macros.
            .args(["--target", &triple, "--target-dir"])
            .arg(&target_folder)
            .env("RUSTFLAGS", flags.join(" "))
            // Address checking is an unstable feature of the stable toolchain.
            .env("RUSTC_BOOTSTRAP", "1"),
    )?;
    Ok(target_folder.join(triple).join("release").join(PROGRAM))
}

fn host_triple(repo: &Repo) -> Result<String> {
    let output = process::capture(
        repo.cargo().args(["--version", "--verbose"]),
        Duration::from_secs(60),
    )?
    .success("`cargo --version`")?;
    output
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .context("`cargo --version --verbose` names no host")
}

/// What is the same for every target of one run.
struct Job<'a> {
    repo: &'a Repo,
    program: &'a Path,
    logs: &'a Path,
    seconds: u64,
}

/// Runs as many targets at a time as there are cores.
fn run_all(job: &Job<'_>, targets: &[String]) -> Result<Vec<(String, Result<String>)>> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let queue = Mutex::new(targets.iter());
    let outcomes = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..workers.min(targets.len()) {
            scope.spawn(|| {
                // The lock is released before the run, which is the long part.
                let next = || queue.lock().ok().and_then(|mut queue| queue.next());
                while let Some(target) = next() {
                    let outcome = run_one(job, target);
                    if let Ok(mut outcomes) = outcomes.lock() {
                        outcomes.push((target.clone(), outcome));
                    }
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_default();
    if outcomes.len() != targets.len() {
        bail!("a fuzz worker ended early");
    }
    outcomes.sort_by(|left, right| left.0.cmp(&right.0));
    Ok(outcomes)
}

/// How long a target runs when the exposed ones run for `seconds`.
fn time_for(target: &str, seconds: u64) -> u64 {
    if EXPOSED.contains(&target) {
        seconds
    } else {
        seconds.div_ceil(3)
    }
}

/// Runs one target and returns how many inputs it tried.
fn run_one(job: &Job<'_>, target: &str) -> Result<String> {
    let seconds = time_for(target, job.seconds);
    let fuzz = job.repo.root.join("fuzz");
    let corpus = fuzz.join("corpus").join(target);
    let seeds = fuzz.join("seeds").join(target);
    let artifacts = fuzz.join("artifacts").join(target);
    for made in [&corpus, &artifacts] {
        fs_err::create_dir_all(made)?;
    }
    let mut command = Command::new(job.program);
    command
        .env(VARIABLE, target)
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-timeout={INPUT_LIMIT_SECONDS}"))
        .arg(format!("-rss_limit_mb={MEMORY_LIMIT_MB}"))
        .arg("-print_final_stats=1")
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        // New inputs go into the first folder; the seeds are only read.
        .arg(&corpus);
    if seeds.is_dir() {
        command.arg(&seeds);
    }
    let limit = Duration::from_secs(seconds + INPUT_LIMIT_SECONDS + 60);
    let output = process::capture(&mut command, limit)?;
    let log = job.logs.join(format!("{target}.log"));
    fs_err::write(&log, &output.stderr)?;
    if !output.status.success() {
        bail!(
            "{}\n    whole log: {}\n    reproduce: {VARIABLE}={target} {} {}",
            finding(&output.stderr),
            log.display(),
            job.program.display(),
            artifact(&output.stderr).unwrap_or("FILE"),
        );
    }
    Ok(statistic(&output.stderr, "stat::number_of_executed_units:").to_owned())
}

/// The lines that say what went wrong, without the stack.
fn finding(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    let mut report = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        if line.contains("panicked at") {
            // The message follows the place on a line of its own.
            report.extend(lines[index..].iter().take(2).map(|line| line.trim()));
        } else if line.starts_with("SUMMARY: ") {
            report.push(line.trim());
        }
    }
    if report.is_empty() {
        return process::tail(log, 10);
    }
    report.join("\n    ")
}

/// The file that holds the offending input.
fn artifact(log: &str) -> Option<&str> {
    log.lines()
        .find_map(|line| line.split_once("Test unit written to "))
        .map(|(_, path)| path.trim())
}

fn statistic<'a>(text: &'a str, name: &str) -> &'a str {
    text.lines()
        .find_map(|line| line.strip_prefix(name))
        .map_or("?", str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_of_the_folder_is_a_target() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join(TARGETS);
        fs_err::create_dir_all(&folder).unwrap();
        for file in ["token.rs", "mod.rs", "line.rs", "notes.md"] {
            fs_err::write(folder.join(file), "").unwrap();
        }
        assert_eq!(targets(root.path()).unwrap(), ["line", "token"]);
    }

    #[test]
    fn the_exposed_targets_and_every_folder_of_seeds_exist() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let known = targets(&root).unwrap();
        for name in EXPOSED {
            assert!(known.iter().any(|known| known == name), "{name}");
        }
        for entry in fs_err::read_dir(root.join("fuzz/seeds")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(known.contains(&name), "seeds for no target: {name}");
        }
    }

    #[test]
    fn a_finding_is_reported_without_its_stack() {
        let log = "INFO: seed\nthread '<unnamed>' (7) panicked at src/line.rs:4:9:\nfound\n\
                   note: run with backtrace\n==1== ERROR: libFuzzer: deadly signal\n    #0 0x1\n\
                   SUMMARY: libFuzzer: deadly signal\n\
                   artifact_prefix='x/'; Test unit written to x/crash-1\n";
        assert_eq!(
            finding(log),
            "thread '<unnamed>' (7) panicked at src/line.rs:4:9:\n    found\n    \
             SUMMARY: libFuzzer: deadly signal"
        );
        assert_eq!(artifact(log), Some("x/crash-1"));
        assert_eq!(finding("killed\n"), "killed");
        assert_eq!(artifact("killed\n"), None);
    }

    #[test]
    fn the_statistics_are_read() {
        let text = "#1 DONE\nstat::number_of_executed_units: 4711\nstat::x: 1\n";
        assert_eq!(statistic(text, "stat::number_of_executed_units:"), "4711");
        assert_eq!(statistic("", "stat::number_of_executed_units:"), "?");
    }
}
