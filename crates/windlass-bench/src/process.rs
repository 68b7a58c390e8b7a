//! Processes: where the binary is, and what one start of a program costs.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};

/// What one execution used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    pub(crate) cpu_ms: f64,
    pub(crate) rss_mib: f64,
}

/// The binary that is measured: the one next to this program.
pub(crate) fn windlass() -> Result<PathBuf> {
    let path = own()?.with_file_name("windlass");
    if !path.exists() {
        bail!(
            "{} is missing; run `cargo xtask bench`, which builds it",
            path.display()
        );
    }
    Ok(path)
}

/// This program.
pub(crate) fn own() -> Result<PathBuf> {
    std::env::current_exe().context("this program's own path")
}

/// Runs a program to its end in a process of its own, whose only child it is, and reads what it used.
pub(crate) fn usage_in(
    program: &Path,
    arguments: &[&str],
    directory: &Path,
    variables: &[(&str, PathBuf)],
) -> Result<Usage> {
    let output = Command::new(own()?)
        .arg("rusage")
        .arg(program)
        .args(arguments)
        .current_dir(directory)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .stderr(Stdio::inherit())
        .output()
        .context("the rusage helper")?;
    let text = String::from_utf8(output.stdout)?;
    let mut numbers = text.split_whitespace().map(str::parse::<f64>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(cpu_ms)), Some(Ok(rss_mib))) => Ok(Usage { cpu_ms, rss_mib }),
        _ => bail!("the rusage helper printed {text:?}"),
    }
}

/// The helper behind `usage_in`.
#[expect(clippy::print_stdout, reason = "read by the parent")]
pub(crate) fn print_rusage(command: &[String]) -> Result<()> {
    let (program, arguments) = command.split_first().context("rusage needs a program")?;
    let status = Command::new(program)
        .args(arguments)
        .stdout(Stdio::null())
        .status()?;
    if !status.success() {
        bail!("{program} ended with {status}");
    }
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let millis =
        |time: nix::sys::time::TimeVal| time.tv_sec() as f64 * 1e3 + time.tv_usec() as f64 / 1e3;
    let cpu = millis(usage.user_time()) + millis(usage.system_time());
    println!("{cpu} {}", usage.max_rss() as f64 / 1024.0);
    Ok(())
}

/// Milliseconds of a duration.
pub(crate) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
