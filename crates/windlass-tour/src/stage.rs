//! Where a chapter plays: a temporary home and directory, and the real program run in them.

use std::{
    ffi::OsStr,
    fs::DirBuilder,
    io::{BufRead as _, BufReader},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use windlass_config::env;
use windlass_text::shell_word;
use windlass_types::{Problem, code};

use crate::screen::{Answer, Screen, Tone};

/// The user's home directory, below the tour's own.
const USER: &str = "me";

/// What would lead git to another repository or to the user's own settings.
const GIT_VARIABLES: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_CONFIG_GLOBAL",
    "XDG_CONFIG_HOME",
];

/// What would lead commands to a real account.
const AWS_VARIABLES: [&str; 8] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_PROFILE",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_CLOUDFORMATION",
];

/// The place and the means of a chapter.
pub(crate) struct Stage<'a> {
    screen: &'a Screen<'a>,
    program: PathBuf,
    place: TempDir,
    /// The directory the commands run in.
    directory: PathBuf,
    /// Long words and what is shown instead of them, as a shell variable would be.
    names: Vec<(String, &'static str)>,
    commands: Vec<Value>,
    /// A CloudFormation for the chapter, and the variables that lead commands to it.
    double: Option<Reaped>,
    variables: Vec<(&'static str, String)>,
    pace: Pace,
}

/// When the next command runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// After the reader has said so.
    Asking,
    /// At once.
    Running,
    /// Never: the reader has left.
    Left,
}

/// How many lines at the beginning and the end of a long output are shown.
const HEAD: usize = 4;
const TAIL: usize = 10;

/// How much of an output is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Every line, as it comes.
    Whole,
    /// The beginning and the end, once the command has ended.
    Ends,
    /// Lines that begin with one of these signs, as they come.
    Signs(&'static str),
}

/// The signs of lines that say what would change.
pub(crate) const PLANNED: &str = "+~-";

/// What a command did.
pub(crate) struct Played {
    /// The exit code; none when it was killed.
    pub(crate) exit: Option<i32>,
    /// Everything it printed.
    pub(crate) text: String,
}

impl<'a> Stage<'a> {
    pub(crate) fn new(screen: &'a Screen<'a>, keep: bool) -> Result<Self, Problem> {
        let program = std::env::current_exe()
            .map_err(|error| Problem::internal("tour: own program", error))?;
        let place = tempfile::Builder::new()
            .prefix("windlass-tour-")
            .disable_cleanup(keep)
            .tempdir()
            .map_err(|error| unusable(&error))?;
        // The user's home directory as the commands see it.
        std::fs::create_dir(place.path().join(USER)).map_err(|error| unusable(&error))?;
        Ok(Self {
            screen,
            program,
            directory: place.path().to_owned(),
            place,
            names: Vec::new(),
            commands: Vec::new(),
            double: None,
            variables: Vec::new(),
            pace: match screen.wait {
                Some(_) => Pace::Asking,
                None => Pace::Running,
            },
        })
    }

    /// Whether the reader has ended the tour.
    pub(crate) fn is_left(&self) -> bool {
        self.pace == Pace::Left
    }

    /// How the reader can start this program: by its name, if that is what `PATH` leads to.
    pub(crate) fn program_name(&self) -> String {
        let found = std::env::var_os("PATH")
            .and_then(|path| windlass_process::find("windlass", &path))
            .and_then(|found| fs_err::canonicalize(found).ok());
        let program = fs_err::canonicalize(&self.program).unwrap_or_else(|_| self.program.clone());
        if found.is_some_and(|found| found == program) {
            return "windlass".to_owned();
        }
        let here = std::env::current_dir().unwrap_or_default();
        let shown = program.strip_prefix(here).unwrap_or(&program);
        shell_word(&shown.display().to_string())
    }

    /// The directory everything happens in; every chapter begins there.
    pub(crate) fn path(&self) -> &Path {
        self.place.path()
    }

    /// The home directory of the user the commands run for.
    pub(crate) fn user(&self) -> PathBuf {
        self.path().join(USER)
    }

    /// Goes back to where every chapter begins.
    pub(crate) fn begin(&mut self) {
        self.leave_double();
        self.directory = self.path().to_owned();
    }

    /// Runs what follows in the user's home.
    pub(crate) fn enter_home(&mut self) {
        self.directory = self.user();
        self.screen.line("");
        self.screen.line(&self.prompt("cd ~"));
    }

    /// Runs what follows in a directory of the user's home.
    pub(crate) fn enter(&mut self, below_home: &str) {
        self.directory = self.user().join(below_home);
        self.screen.line("");
        self.screen
            .line(&self.prompt(&format!("cd ~/{below_home}")));
    }

    /// The commands run so far, for the report.
    pub(crate) fn take_commands(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.commands)
    }

    /// Shows `word` as `$name` from now on.
    pub(crate) fn name(&mut self, word: &str, name: &'static str) {
        self.names.push((word.to_owned(), name));
        self.screen
            .line(&self.prompt(&format!("{}={}…", &name[1..], &word[..word.len().min(16)])));
    }

    /// Announces what comes next.
    pub(crate) fn say(&self, text: &str) {
        self.screen.line("");
        self.screen.line(text);
    }

    /// Shows a fact that was looked up rather than printed by a command.
    pub(crate) fn show(&self, text: &str) {
        self.screen
            .line(&format!("  {}", self.screen.paint(Tone::Dim, text)));
    }

    /// Fails the tour unless something holds.
    pub(crate) fn expect(&self, holds: bool, what: &str) -> Result<(), Problem> {
        if holds {
            return Ok(());
        }
        Err(Problem::internal("tour", format!("expected that {what}"))
            .with("place", self.path().display().to_string())
            .next("repeat with --keep -v and file the output"))
    }

    /// Runs a command, shows it and its output, and expects an exit code.
    pub(crate) fn run(&mut self, args: &[&str], expected: i32) -> Result<Played, Problem> {
        self.run_showing(args, expected, Part::Whole)
    }

    /// The same for a command with a long output, of which the beginning and the end are shown.
    pub(crate) fn run_briefly(&mut self, args: &[&str], expected: i32) -> Result<Played, Problem> {
        self.run_showing(args, expected, Part::Ends)
    }

    /// The same for a command of whose output only lines with some signs are shown.
    pub(crate) fn run_signs(
        &mut self,
        args: &[&str],
        expected: i32,
        signs: &'static str,
    ) -> Result<Played, Problem> {
        self.run_showing(args, expected, Part::Signs(signs))
    }

    fn run_showing(&mut self, args: &[&str], expected: i32, part: Part) -> Result<Played, Problem> {
        let shown = self.shown("windlass", args);
        let played = self.play(self.command(args), &shown, part, |_| false)?;
        self.expect(
            played.exit == Some(expected),
            &format!("`{shown}` exits with {expected}, not {:?}", played.exit),
        )?;
        Ok(played)
    }

    /// Runs a command until it prints a line that fits, then kills it with SIGKILL.
    pub(crate) fn run_and_kill(
        &mut self,
        args: &[&str],
        fits: impl Fn(&str) -> bool,
    ) -> Result<(), Problem> {
        let shown = self.shown("windlass", args);
        let killed = self.try_to_kill(args, fits)?;
        self.expect(killed, &format!("`{shown}` is killed halfway, not exited"))
    }

    /// The same for a command that may end before it can be killed; whether it was killed.
    pub(crate) fn try_to_kill(
        &mut self,
        args: &[&str],
        fits: impl Fn(&str) -> bool,
    ) -> Result<bool, Problem> {
        let shown = self.shown("windlass", args);
        let played = self.play(self.command(args), &shown, Part::Whole, fits)?;
        Ok(played.exit.is_none())
    }

    /// Runs a command that may not work here, and shows it and its output.
    pub(crate) fn try_to_run(&mut self, args: &[&str]) -> Result<Played, Problem> {
        let shown = self.shown("windlass", args);
        self.play(self.command(args), &shown, Part::Whole, |_| false)
    }

    /// Writes the settings that the commands which follow have.
    pub(crate) fn configure(&self, settings: &str) -> Result<(), Problem> {
        let failed = |error: std::io::Error| Problem::internal("tour: settings", error);
        let home = self.path().join("home");
        if !home.exists() {
            DirBuilder::new()
                .mode(0o700)
                .create(&home)
                .map_err(failed)?;
        }
        fs_err::write(home.join("config.toml"), settings).map_err(failed)
    }

    /// Starts a CloudFormation that the commands which follow talk to; its address.
    pub(crate) fn start_double(&mut self) -> Result<String, Problem> {
        let failed = |error: std::io::Error| Problem::internal("tour: double", error);
        let mut child = self
            .command(&["internal", "aws-double"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // It ends when this pipe is closed, however the tour ends.
            .stdin(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let mut address = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output)
                .read_line(&mut address)
                .map_err(failed)?;
        }
        self.double = Some(Reaped(child));
        let address = address.trim().to_owned();
        self.expect(
            address.starts_with("http://"),
            "the double says where it is",
        )?;
        self.variables = vec![
            ("AWS_ENDPOINT_URL", address.clone()),
            ("AWS_REGION", "eu-west-1".to_owned()),
            ("AWS_ACCESS_KEY_ID", "TOUR".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "tour-has-no-account".to_owned()),
        ];
        Ok(address)
    }

    /// Ends it; commands have no AWS any more.
    pub(crate) fn leave_double(&mut self) {
        self.double = None;
        self.variables.clear();
    }

    /// Runs git, shows it and its output, and expects it to work.
    pub(crate) fn git(&mut self, args: &[&str]) -> Result<(), Problem> {
        let shown = self.shown("git", args);
        let played = self.play(self.prepared("git", args), &shown, Part::Whole, |_| false)?;
        self.expect(
            played.exit == Some(0),
            &format!("`{shown}` works, not exits with {:?}", played.exit),
        )
    }

    /// Runs git unseen and returns what it printed; none when there is no git or it fails.
    pub(crate) fn ask_git(&self, args: &[&str]) -> Option<String> {
        let output = self.prepared("git", args).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    }

    /// Runs a command unseen and returns its `--json` document.
    pub(crate) fn ask(&self, args: &[&str]) -> Result<Value, Problem> {
        let output = self
            .command(args)
            .arg("--json")
            .stderr(Stdio::null())
            .output()
            .map_err(|error| Problem::internal("tour: command", error))?;
        serde_json::from_slice(&output.stdout).map_err(|error| {
            Problem::internal(
                "tour",
                format!(
                    "`{}` did not print JSON: {error}",
                    self.shown("windlass", args)
                ),
            )
        })
    }

    fn play(
        &mut self,
        mut command: Command,
        shown: &str,
        part: Part,
        stop: impl Fn(&str) -> bool,
    ) -> Result<Played, Problem> {
        let failed = |error: std::io::Error| Problem::internal("tour: command", error);
        self.screen.line("");
        self.screen.line(&self.prompt(shown));
        self.wait_for_reader()?;
        // One pipe for both streams keeps the lines in the order a terminal would show.
        let (reader, writer) = std::io::pipe().map_err(failed)?;
        let child = {
            let errors = writer.try_clone().map_err(failed)?;
            command.stdout(writer).stderr(errors).stdin(Stdio::null());
            let child = command.spawn().map_err(failed)?;
            // With the command our ends for writing go, so that reading ends when the child does.
            drop(command);
            child
        };
        let mut child = Reaped(child);
        let mut lines = Vec::new();
        for line in BufReader::new(reader).lines() {
            let line = line.map_err(failed)?;
            let is_shown = match part {
                Part::Whole => true,
                Part::Ends => false,
                Part::Signs(signs) => sign(&line).is_some_and(|sign| signs.contains(sign)),
            };
            if is_shown {
                self.screen.line(&format!("  {line}"));
            }
            let stops = stop(&line);
            lines.push(line);
            if stops {
                child.0.kill().map_err(failed)?;
                break;
            }
        }
        if part == Part::Ends {
            self.show_ends(&lines);
        }
        let exit = child.0.wait().map_err(failed)?.code();
        if exit.is_none() {
            self.screen.line(&format!(
                "  {}",
                self.screen.paint(Tone::Bad, "killed (SIGKILL)")
            ));
        }
        self.commands
            .push(json!({ "command": shown, "exit_code": exit }));
        let text = lines.into_iter().map(|line| line + "\n").collect();
        Ok(Played { exit, text })
    }

    fn wait_for_reader(&mut self) -> Result<(), Problem> {
        let Some(wait) = self.screen.wait.filter(|_| self.pace == Pace::Asking) else {
            return Ok(());
        };
        match wait() {
            Answer::Continue => {}
            Answer::RunAll => self.pace = Pace::Running,
            Answer::Leave => {
                self.pace = Pace::Left;
                return Err(Problem::new(&code::CANCELLED, "the tour was ended"));
            }
        }
        Ok(())
    }

    fn show_ends(&self, lines: &[String]) {
        let hidden = lines.len().saturating_sub(HEAD + TAIL);
        for (index, line) in lines.iter().enumerate() {
            if hidden > 0 && index == HEAD {
                self.show(&format!("… {hidden} more lines"));
            }
            if hidden == 0 || index < HEAD || index >= HEAD + hidden {
                self.screen.line(&format!("  {line}"));
            }
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        self.prepared(&self.program, args)
    }

    fn prepared(&self, program: impl AsRef<OsStr>, args: &[&str]) -> Command {
        let mut command = windlass_process::command(program);
        command
            .args(args)
            .current_dir(&self.directory)
            .env(env::WINDLASS_HOME.name, self.path().join("home"))
            .env(env::HOME.name, self.user());
        // The tour is the same everywhere: the user's own settings stay out of it.
        for variable in [
            &env::WINDLASS_CONFIG,
            &env::WINDLASS_LOG,
            &env::OTEL_EXPORTER_OTLP_ENDPOINT,
            &env::AGENTPACK_HOME,
            &env::AGENTPACK_MACHINE_ID,
            &env::CODEX_HOME,
        ] {
            command.env_remove(variable.name);
        }
        for variable in GIT_VARIABLES.into_iter().chain(AWS_VARIABLES) {
            command.env_remove(variable);
        }
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        if self.screen.colour {
            command
                .env(env::CLICOLOR_FORCE.name, "1")
                .env_remove(env::NO_COLOR.name);
        } else {
            command.env(env::NO_COLOR.name, "1");
        }
        command
    }

    fn prompt(&self, text: &str) -> String {
        self.screen.paint(Tone::Active, &format!("$ {text}"))
    }

    fn shown(&self, program: &str, args: &[&str]) -> String {
        let words = args.iter().map(
            |arg| match self.names.iter().find(|(word, _)| word == arg) {
                Some((_, name)) => format!("\"{name}\""),
                None => shell_word(arg),
            },
        );
        format!("{program} {}", words.collect::<Vec<_>>().join(" "))
    }
}

/// The first letter of a line that may be painted.
fn sign(line: &str) -> Option<char> {
    let mut rest = line.trim_start();
    while let Some(painted) = rest.strip_prefix('\u{1b}') {
        rest = painted.split_once('m')?.1.trim_start();
    }
    rest.chars().next()
}

/// The tour cannot work in the temporary directory of this machine.
fn unusable(error: &std::io::Error) -> Problem {
    let directory = std::env::temp_dir();
    Problem::new(
        &code::CONFIG_INVALID,
        format!(
            "the temporary directory {} cannot be used: {error}",
            directory.display()
        ),
    )
    .next("set TMPDIR to a directory that you can write to, and run the tour again")
}

/// A child that does not outlive the tour.
struct Reaped(Child);

impl Drop for Reaped {
    fn drop(&mut self) {
        // Already gone in all but error paths.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_known_by_its_sign_painted_or_not() {
        for (line, expected) in [
            ("✓ done", Some('✓')),
            ("    ↶ undid", Some('↶')),
            ("\u{1b}[32m✓\u{1b}[0m done", Some('✓')),
            ("\u{1b}[1m\u{1b}[32m  + new", Some('+')),
            ("plan digest: 1", Some('p')),
            ("", None),
        ] {
            assert_eq!(sign(line), expected, "{line:?}");
        }
    }
}
