//! One run of a build program: bounded in time and output; its last words are kept for a failure.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;
use windlass_process::{Bounds, Ended, Output, Stragglers, start};
use windlass_types::Problem;

use crate::package::failure::failed;

/// How much of the end of an output is kept.
const TAIL_BYTES: usize = 8_000;
const TAIL_LINES: usize = 60;

/// What programs of one packaging have in common.
pub(crate) struct Runner<'a> {
    pub workload: &'a str,
    pub environment: &'a BTreeMap<OsString, OsString>,
    pub time: Duration,
    pub unwanted: &'a dyn Fn() -> bool,
}

/// A program and its arguments.
pub(crate) struct Call<'a> {
    pub tool: &'a str,
    pub program: &'a Path,
    pub arguments: Vec<OsString>,
    pub directory: &'a Path,
    pub environment: Vec<(&'static str, String)>,
    pub input: Option<&'a [u8]>,
}

impl Runner<'_> {
    /// Runs a program and expects success; returns its output.
    pub fn run(&self, call: Call<'_>) -> Result<Vec<u8>, Problem> {
        let tool = call.tool;
        let broken = |error: std::io::Error| {
            failed(self.workload, format!("{tool} could not be run: {error}")).with("tool", tool)
        };
        let mut command = windlass_process::command(call.program);
        command
            .args(&call.arguments)
            .current_dir(call.directory)
            .env_clear()
            .envs(self.environment)
            .envs(call.environment);
        let running = start(&mut command, call.input, Command::spawn).map_err(broken)?;
        let ended = running.finish(&Bounds {
            time: self.time,
            unwanted: self.unwanted,
            stragglers: Stragglers::End,
        });
        match ended.map_err(broken)? {
            Ended::Itself {
                code: Some(0),
                mut stdout,
                ..
            } => stdout.all().map_err(broken),
            Ended::Itself {
                code,
                mut stdout,
                mut stderr,
            } => {
                let how = match code {
                    Some(code) => format!("{tool} ended with code {code}"),
                    None => format!("{tool} was ended by a signal"),
                };
                let output = format!("{}{}", last(&mut stdout), last(&mut stderr));
                Err(failed(self.workload, how)
                    .with("tool", tool)
                    .with("output", tail(&output)))
            }
            Ended::Stopped => {
                let cause = match (self.unwanted)() {
                    true => format!("{tool} was stopped because the result is no longer wanted"),
                    false => format!("{tool} took longer than {} s", self.time.as_secs()),
                };
                Err(failed(self.workload, cause).with("tool", tool))
            }
        }
    }
}

fn last(output: &mut Output) -> String {
    let (first, last) = output.ends(TAIL_BYTES).unwrap_or_default();
    let bytes = if last.is_empty() { first } else { last };
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The last lines, without colours and control characters.
fn tail(text: &str) -> String {
    #[expect(clippy::unwrap_used, reason = "a constant pattern, tried by a test")]
    static ESCAPES: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07").unwrap());
    let plain: String = ESCAPES
        .replace_all(text, "")
        .chars()
        .filter(|it| *it == '\n' || *it == '\t' || !it.is_control())
        .collect();
    let lines: Vec<&str> = plain.lines().collect();
    let lines = lines.get(lines.len().saturating_sub(TAIL_LINES)..);
    let kept = lines.unwrap_or_default().join("\n");
    let cut = kept.len().saturating_sub(TAIL_BYTES);
    let cut = (cut..=kept.len()).find(|at| kept.is_char_boundary(*at));
    kept.get(cut.unwrap_or(0)..).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str, time: Duration) -> Result<Vec<u8>, Problem> {
        let runner = Runner {
            workload: "api",
            environment: &BTreeMap::new(),
            time,
            unwanted: &|| false,
        };
        runner.run(Call {
            tool: "shell",
            program: Path::new("/bin/sh"),
            arguments: vec!["-c".into(), script.into()],
            directory: Path::new("/"),
            environment: vec![("GIVEN", "yes".to_owned())],
            input: None,
        })
    }

    #[test]
    fn output_of_a_success_and_last_lines_of_a_failure() {
        let minute = Duration::from_secs(60);
        assert_eq!(run("printf $GIVEN$HOME", minute).unwrap(), b"yes");
        let script = r"i=0; while [ $i -lt 200 ]; do echo line$i; i=$((i+1)); done; printf '\033[31mred\033[0m\n' >&2; exit 3";
        let problem = run(script, minute).unwrap_err();
        let output = problem.details()["output"].as_str().unwrap();
        assert!(output.ends_with("line199\nred"), "{output}");
        assert_eq!(output.lines().count(), TAIL_LINES);
        assert_eq!(problem.details()["reason"], "packaging_failed");
        assert_eq!(problem.details()["workload"], "api");
        assert_eq!(problem.details()["tool"], "shell");
    }

    #[test]
    fn one_that_does_not_end_is_ended() {
        let problem = run("sleep 600", Duration::from_millis(50)).unwrap_err();
        assert!(problem.message().contains("took longer than"), "{problem}");
    }

    #[test]
    fn a_long_line_of_wide_characters_is_cut_between_characters() {
        let long = "é".repeat(TAIL_BYTES) + "x";
        let kept = tail(&long);
        assert!(kept.len() <= TAIL_BYTES && kept.ends_with('x'));
    }
}
