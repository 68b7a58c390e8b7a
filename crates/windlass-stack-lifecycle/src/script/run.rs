//! Runs a script of the config: its steps one after the other, until one fails.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use windlass_ports::MessageSockets;
use windlass_secrets::Redactor;
use windlass_stack_compile::Facts;
use windlass_stack_config::Config;
use windlass_stack_config::model::script::{Script, ScriptStep};
use windlass_types::{Problem, Timestamp, code};

use crate::Access;
use crate::script::environment::{Environment, assemble};
use crate::script::failure::{not_found, refused};
use crate::script::interpreter::Interpreters;
use crate::script::program::{Ending, Listener, Program, follow};
use crate::script::remote;
use crate::script::tail::Tail;
use crate::script::tunnels::Tunnels;
use crate::script::values::{Audience, Values};

/// What is to be run, and with what.
#[derive(Clone)]
pub struct ScriptCall<'a> {
    /// The config.
    pub config: &'a Config,
    /// What is known of the stack.
    pub facts: &'a Facts,
    /// The script's name in the config.
    pub script: &'a str,
    /// Where the command was started; `cwd` is relative to it.
    pub directory: PathBuf,
    /// Where the config is; files of scripts are relative to it.
    pub config_directory: PathBuf,
    /// Variables of the call; they win over all others.
    pub env: Vec<(String, String)>,
    /// The resource whose permissions it has; wins over what the config says.
    pub assume_role_of_resource: Option<String>,
    /// The variables of the caller.
    pub inherited: BTreeMap<String, String>,
    /// Programs that run files.
    pub interpreters: &'a Interpreters,
    /// Sockets for sessions on a bastion, where there are any.
    pub sockets: Option<Arc<dyn MessageSockets>>,
}

/// The result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScriptOutcome {
    /// The exit code: 0, since everything else is a problem.
    pub exit_code: i32,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The last lines it printed.
    pub output_tail: String,
}

/// What a script is run in.
pub(crate) struct Surroundings<'a> {
    pub access: &'a Access,
    pub redactor: &'a Redactor,
    pub deadline: Timestamp,
}

/// Runs a script. `lines` hears what it prints, redacted, unless the script keeps it to itself
/// (`pipeStdio: false`). AWS is asked only for values the script needs.
pub async fn run(
    call: &ScriptCall<'_>,
    access: &Access,
    redactor: &Redactor,
    lines: &Listener<'_>,
    deadline: Timestamp,
) -> Result<ScriptOutcome, Problem> {
    let began = access.clock.now();
    let script = find(call)?;
    let around = Surroundings {
        access,
        redactor,
        deadline,
    };
    let silent = |_, _: &str| {};
    let shown: &Listener<'_> = if pipes(script) { lines } else { &silent };
    let tail = match script {
        Script::Local(local) => {
            let directory = directory(call, local.cwd.as_deref())?;
            let mut values = values(call, &around);
            here(
                call,
                script,
                &around,
                &mut values,
                directory,
                (lines, shown),
            )
            .await
        }
        Script::LocalWithTunnel(local) => {
            let directory = directory(call, local.cwd.as_deref())?;
            tunnelled(call, script, &around, directory, (lines, shown)).await
        }
        Script::Bastion(remote) => {
            let mut values = values(call, &around);
            remote::run(call, (script, remote), &around, &mut values, (lines, shown)).await
        }
    };
    let tail = tail.map_err(|problem| redactor.redact_problem(problem))?;
    let took = access.clock.now().since(began).as_millis();
    Ok(ScriptOutcome {
        exit_code: 0,
        duration_ms: u64::try_from(took).unwrap_or(u64::MAX),
        output_tail: tail.text(),
    })
}

/// Who hears of the preparation, and who of what the script prints.
pub(crate) type Listeners<'a> = (&'a Listener<'a>, &'a Listener<'a>);

fn values<'a>(call: &'a ScriptCall<'_>, around: &Surroundings<'a>) -> Values<'a> {
    Values::new(
        around.access,
        around.redactor,
        call.config,
        call.facts,
        Audience::Program,
    )
}

/// On this machine, with the databases of connectTo behind ports of this machine.
async fn tunnelled(
    call: &ScriptCall<'_>,
    script: &Script,
    around: &Surroundings<'_>,
    directory: PathBuf,
    (lines, shown): Listeners<'_>,
) -> Result<Tail, Problem> {
    let mut values = values(call, around);
    let tunnels = Tunnels::open(call, script, around, &mut values, lines).await?;
    let done = here(call, script, around, &mut values, directory, (lines, shown)).await;
    tunnels.close(lines).await;
    done
}

/// On this machine.
async fn here(
    call: &ScriptCall<'_>,
    script: &Script,
    around: &Surroundings<'_>,
    values: &mut Values<'_>,
    directory: PathBuf,
    (lines, shown): Listeners<'_>,
) -> Result<Tail, Problem> {
    let environment = assemble(call, script, around, values, lines).await?;
    let mut work = Work {
        call,
        around,
        environment,
        directory,
        lines: shown,
        tail: Tail::default(),
    };
    for step in script.steps() {
        work.step(step).await?;
    }
    Ok(work.tail)
}

fn find<'a>(call: &ScriptCall<'a>) -> Result<&'a Script, Problem> {
    let name = call.script;
    call.config.scripts.get(name).ok_or_else(|| {
        let known = call.config.scripts.keys().map(String::as_str);
        let message = format!("the config has no script \"{name}\"");
        not_found("script", name, message, known)
    })
}

fn pipes(script: &Script) -> bool {
    match script {
        Script::Local(it) => it.pipe_stdio,
        Script::LocalWithTunnel(it) => it.pipe_stdio,
        Script::Bastion(it) => it.pipe_stdio,
    }
}

fn directory(call: &ScriptCall<'_>, cwd: Option<&str>) -> Result<PathBuf, Problem> {
    let directory = call.directory.join(cwd.unwrap_or("."));
    if directory.is_dir() {
        return Ok(directory);
    }
    let message = format!(
        "the script \"{}\" runs in {}, and there is no such directory",
        call.script,
        directory.display()
    );
    Err(refused("directory_missing", message)
        .with("script", call.script)
        .next("cwd is relative to where the command is started"))
}

struct Work<'a> {
    call: &'a ScriptCall<'a>,
    around: &'a Surroundings<'a>,
    environment: Environment,
    directory: PathBuf,
    lines: &'a Listener<'a>,
    tail: Tail,
}

impl Work<'_> {
    async fn step(&mut self, step: ScriptStep<'_>) -> Result<(), Problem> {
        match step {
            ScriptStep::Command(command) => {
                let directory = self.directory.clone();
                let program = Program::shell(command, directory, self.environment.clone());
                self.follow(command, program).await
            }
            ScriptStep::File(written) => {
                let steps = self.interpreted(written).await?;
                for (path, arguments) in steps.list {
                    let program = Program {
                        path,
                        arguments,
                        directory: self.directory.clone(),
                        environment: self.environment.clone(),
                    };
                    self.follow(written, program).await?;
                }
                drop(steps.folder);
                Ok(())
            }
        }
    }

    async fn interpreted(
        &self,
        written: &str,
    ) -> Result<crate::script::interpreter::Steps, Problem> {
        let file = std::path::absolute(self.call.config_directory.join(Path::new(written)))
            .map_err(|error| Problem::internal("script file", error))?;
        if !file.is_file() {
            let script = self.call.script;
            let message = format!(
                "the script \"{script}\" runs {written}, and there is no file {}",
                file.display()
            );
            return Err(refused("script_file_missing", message)
                .with("script", script)
                .next("files of scripts are relative to the config"));
        }
        let interpreters = self.call.interpreters.clone();
        let steps = tokio::task::spawn_blocking(move || interpreters.steps(&file));
        let steps = steps
            .await
            .map_err(|error| Problem::internal("script file", error))?;
        steps.map_err(|problem| problem.with("script", self.call.script))
    }

    async fn follow(&mut self, step: &str, program: Program) -> Result<(), Problem> {
        let script = self.call.script;
        let around = self.around;
        let time = around.deadline.since(around.access.clock.now());
        let name = program.path.display().to_string();
        let (redactor, lines) = (around.redactor, self.lines);
        let ending = follow(program, time, redactor, &mut self.tail, lines).await;
        let problem = match ending {
            Ok(Ending::Code(Some(0))) => return Ok(()),
            Ok(Ending::Code(code)) => failed(script, step, code),
            Ok(Ending::Late) => late(script, step),
            Err(error) => {
                let message = format!("the script \"{script}\" could not be run: {name}: {error}");
                Problem::new(&code::STEP_FAILED, message).with("reason", "script_failed")
            }
        };
        Err(at_step(problem, script, step, &self.tail))
    }
}

/// A step that ended with a code that is not 0, or by a signal.
pub(crate) fn failed(script: &str, step: &str, code: Option<i32>) -> Problem {
    let how = match code {
        Some(code) => format!("ended with code {code}"),
        None => "was ended by a signal".to_owned(),
    };
    let message = format!("the script \"{script}\" failed: `{step}` {how}");
    Problem::new(&code::STEP_FAILED, message)
        .with("reason", "script_failed")
        .with("exitCode", code)
        .next("read outputTail, fix the script and run it again")
}

/// A step whose time was up.
pub(crate) fn late(script: &str, step: &str) -> Problem {
    let message = format!("the script \"{script}\" did not end in time and was ended: `{step}`");
    Problem::new(&code::TIMEOUT, message)
        .with("reason", "script_timeout")
        .next("run it again with a larger timeoutSeconds")
}

/// Where it happened, and what was printed before.
pub(crate) fn at_step(problem: Problem, script: &str, step: &str, tail: &Tail) -> Problem {
    problem
        .with("script", script)
        .with("step", step)
        .with("outputTail", tail.text())
}
