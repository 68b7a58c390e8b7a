//! Commands: `run_command`, and the tools for commands in the background.

mod capture;
mod escaped;
mod process;
mod task_tools;
mod tasks;

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_agent_model::{Source, SourceKind};
use windlass_policy::ToolClass;
use windlass_ports::{BoxFuture, SandboxRefusal, SandboxRequest, ToolSpec, entropy::random};
use windlass_text::shell_word;

use self::{
    capture::Capture,
    process::{Captures, Ended, Finished, Job},
};
use crate::{
    Code, Context, Failure, Look, Outcome, Places, Progress, Ran, Tool,
    arguments::read,
    files,
    schema::{filled, number, spec, text},
};

pub use tasks::{TASKS_AT_ONCE, Task, TaskState, Tasks};

/// Where no time is given.
const TIME: Duration = Duration::from_secs(600);
const MOST_SECONDS: u64 = 86_400;
/// Commands that would ask get no answer, and pagers show everything at once.
const NOT_INTERACTIVE: [(&str, &str); 8] = [
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("PIP_NO_INPUT", "1"),
];

/// The tools of this module, in order.
pub(crate) fn tools() -> Vec<Box<dyn Tool>> {
    let mut tools: Vec<Box<dyn Tool>> = vec![Box::new(RunCommand::default())];
    tools.extend(task_tools::tools());
    tools
}

struct RunCommand(ToolSpec);

/// A command as it is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    command: String,
    /// For the reader of an approval.
    #[serde(rename = "description")]
    _description: Option<String>,
    timeout: Option<u64>,
    cwd: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

fn fields() -> Vec<(&'static str, Value)> {
    vec![
        ("command!", filled("The command, run by sh -c.")),
        ("description", text("What it does, in a few words.")),
        (
            "timeout",
            number(1, MOST_SECONDS, "Seconds after which it is stopped."),
        ),
        (
            "cwd",
            filled("The directory it starts in, inside the work tree; otherwise the work tree."),
        ),
        (
            "env",
            json!({
                "type": "object",
                "additionalProperties": { "type": "string" },
                "description": "Environment variables to set.",
            }),
        ),
    ]
}

impl Default for RunCommand {
    fn default() -> Self {
        Self(spec(
            "run_command",
            "Run a shell command and wait for its end. It has no input and no terminal. Without \
             timeout it is stopped after 10 minutes. Processes it leaves in the background are \
             ended; use run_command_task for long work. Of long output the end is returned, with \
             the path of a file that has all of it.",
            &fields(),
        ))
    }
}

impl Tool for RunCommand {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn look(&self, input: &Value, places: &Places) -> Result<Look, Failure> {
        look(&read(input)?, places)
    }

    fn run<'a>(&'a self, input: Value, context: &'a Context) -> BoxFuture<'a, Ran> {
        Box::pin(async move { Ran::Done(run(input, context).await.into()) })
    }
}

fn look(input: &Input, places: &Places) -> Result<Look, Failure> {
    check(input)?;
    let mut look = Look::new(ToolClass::Exec);
    look.script = Some(windlass_shell::parse(&line(input)));
    if let Some(cwd) = &input.cwd {
        look.directory = Some(directory(cwd, places)?.display().to_string());
    }
    Ok(look)
}

/// The line that policy judges: with variables, as a command that sets them for a shell.
fn line(input: &Input) -> String {
    if input.env.is_empty() {
        return input.command.clone();
    }
    let variables = input
        .env
        .iter()
        .map(|(name, value)| format!("{name}={} ", shell_word(value)));
    format!(
        "{}sh -c {}",
        variables.collect::<String>(),
        shell_word(&input.command)
    )
}

fn check(input: &Input) -> Result<(), Failure> {
    let refuse = |why: &str| Err(Failure::new(Code::InvalidArguments, why));
    if input.command.contains('\0') || input.env.values().any(|value| value.contains('\0')) {
        return refuse("Commands and variables have no NUL characters.");
    }
    let is_name = |name: &String| {
        let mut letters = name.chars();
        let first = letters
            .next()
            .is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
        first && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    };
    match input
        .env
        .keys()
        .find(|name| !is_name(name) || *name == escaped::MARK)
    {
        Some(name) => refuse(&format!("{name:?} is no name of a variable.")),
        None => Ok(()),
    }
}

fn directory(cwd: &str, places: &Places) -> Result<PathBuf, Failure> {
    let located = places.locate(cwd)?;
    match located.is_inside() {
        true => Ok(located.absolute),
        false => Err(Failure::new(
            Code::InvalidPath,
            format!(
                "{} is outside the directories of this session.",
                located.absolute.display()
            ),
        )),
    }
}

/// Opens the directory, so that one behind a link is refused, and says where it is.
fn open_directory(input: &Input, places: &Places) -> Result<PathBuf, Failure> {
    let Some(cwd) = &input.cwd else {
        return Ok(places.work_tree().to_owned());
    };
    let path = directory(cwd, places)?;
    let held = places.locate(cwd)?.hold(false)?;
    held.parent
        .directory(&held.name)
        .map_err(|error| Failure::of_file(error, Code::CommandError))?;
    Ok(path)
}

/// The job and its captures.
fn prepare(
    input: &Input,
    time: Option<Duration>,
    name: &str,
    context: &Context,
) -> Result<(Job, Captures), Failure> {
    check(input)?;
    let directory = open_directory(input, &context.places)?;
    let mark = random::<12>(context.entropy.as_ref());
    let mark: String = mark.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut environment: BTreeMap<OsString, OsString> =
        context.environment.iter().cloned().collect();
    let given = input
        .env
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let own = [(escaped::MARK, mark.as_str())];
    for (name, value) in NOT_INTERACTIVE.into_iter().chain(given).chain(own) {
        environment.insert(name.into(), value.into());
    }
    let environment: Vec<(OsString, OsString)> = environment.into_iter().collect();
    let arguments = vec![OsString::from("-c"), OsString::from(&input.command)];
    let job = match &context.sandbox {
        None => Job {
            program: PathBuf::from("/bin/sh"),
            arguments,
            environment,
            directory,
            time,
            mark,
        },
        Some(sandbox) => {
            let mut confinement = sandbox.confinement.clone();
            confinement.directory = directory;
            let names = NOT_INTERACTIVE.iter().map(|(name, _)| (*name).to_owned());
            let own = [escaped::MARK.to_owned()];
            let given = input.env.keys().cloned();
            confinement.variables.extend(names.chain(own).chain(given));
            let prepared = sandbox.sandbox.prepare(SandboxRequest {
                program: OsStr::new("/bin/sh"),
                arguments: &arguments,
                environment: &environment,
                confinement: &confinement,
            });
            let prepared = prepared.map_err(|refusal| refused(&refusal))?;
            Job {
                program: prepared.program,
                arguments: prepared.arguments,
                environment: prepared.environment,
                directory: prepared.directory,
                time,
                mark,
            }
        }
    };
    let capture = |stream: &str| {
        let name = format!("{name}-{stream}");
        Mutex::new(Capture::new(
            context.hiding.as_ref(),
            context.spills.clone(),
            &name,
        ))
    };
    let captures = Captures {
        out: capture("out"),
        err: capture("err"),
    };
    Ok((job, captures))
}

/// Without its sandbox a command does not run.
fn refused(refusal: &SandboxRefusal) -> Failure {
    let remedy = match refusal {
        SandboxRefusal::Missing { remedy, .. } => format!(" {remedy}"),
        _ => String::new(),
    };
    Failure::new(
        Code::CommandError,
        format!("The command was not run, because it cannot be sandboxed: {refusal}.{remedy}"),
    )
}

async fn run(input: Value, context: &Context) -> Result<Outcome, Failure> {
    let input: Input = read(&input)?;
    let time = input.timeout.map_or(TIME, Duration::from_secs);
    let (job, captures) = prepare(&input, Some(time), "command", context)?;
    let cancel = context.cancel.child_token();
    // A call that no one waits for any more ends.
    let guard = cancel.clone().drop_guard();
    let (tasks, progress) = (context.tasks.clone(), context.progress.clone());
    let captures = Arc::new(captures);
    let same = captures.clone();
    let finished = files::blocking(move || {
        let tell = |what: Progress<'_>| {
            if let Some(progress) = &progress {
                progress(what);
            }
        };
        process::run(&job, &same, &tell, &cancel, tasks.workplace()).map_err(|error| {
            Failure::new(
                Code::CommandError,
                format!("The command could not be run: {error}."),
            )
        })
    })
    .await?;
    drop(guard);
    Ok(told(&finished, time, &captures, &input.command))
}

fn told(finished: &Finished, time: Duration, captures: &Captures, command: &str) -> Outcome {
    let (mut text, spilled) = output(captures);
    if finished.was_held {
        text.push_str(
            "[A process that the command left in the background held its output open and was not \
             waited for. What is left of the command's process group was ended; use \
             run_command_task for what has to keep running.]\n",
        );
    }
    let seconds = time.as_secs();
    let failed = match finished.ended {
        Ended::Code(0) => None,
        Ended::Code(code) => Some((
            Code::CommandFailed,
            format!("Command exited with code {code}"),
        )),
        Ended::Signal(signal) => Some((
            Code::CommandFailed,
            format!("Command was ended by signal {signal}"),
        )),
        Ended::TimedOut => Some((
            Code::CommandTimedOut,
            format!("Command was stopped after {seconds} s, with everything it started"),
        )),
        Ended::Cancelled => Some((
            Code::CommandCancelled,
            "Command was cancelled, with everything it started".to_owned(),
        )),
    };
    let mut outcome = match failed {
        None if text.is_empty() => Outcome::text("(no output)"),
        None => Outcome::text(text),
        Some((code, end)) => Failure::new(code, format!("{text}{end}")).into(),
    };
    outcome.spilled = spilled;
    outcome.told_by(Source {
        kind: SourceKind::Tool,
        name: command.to_owned(),
    })
}

/// Both streams as they are told: the output, then the messages.
fn output(captures: &Captures) -> (String, Vec<crate::Spilled>) {
    let told = |capture: &Mutex<Capture>| {
        let mut capture = capture
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        capture.told()
    };
    let (out, err) = (told(&captures.out), told(&captures.err));
    let mut text = out.text;
    let end_line = |text: &mut String| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    };
    end_line(&mut text);
    if !err.text.is_empty() {
        if !text.is_empty() {
            text.push_str("[stderr]\n");
        }
        text.push_str(&err.text);
        end_line(&mut text);
    }
    (text, out.spilled.into_iter().chain(err.spilled).collect())
}

#[cfg(test)]
#[path = "../task_tests.rs"]
mod task_tests;
#[cfg(test)]
#[path = "../command_tests.rs"]
mod tests;
