//! A script that runs on a bastion: its commands one after the other, until one fails.

use windlass_stack_config::model::script::{BastionScript, Script, ScriptStep};
use windlass_stack_diagnose::session::{Ending, quoted};
use windlass_types::{Problem, Secret, code};

use crate::lines::Level;
use crate::script::bastion::bastion;
use crate::script::environment::{Environment, assemble_remote};
use crate::script::program::pass_on;
use crate::script::run::{Listeners, ScriptCall, Surroundings, at_step, failed, late};
use crate::script::tail::Tail;
use crate::script::values::Values;

/// Runs it; every command is a session of its own.
pub(crate) async fn run(
    call: &ScriptCall<'_>,
    (script, remote): (&Script, &BastionScript),
    around: &Surroundings<'_>,
    values: &mut Values<'_>,
    (lines, shown): Listeners<'_>,
) -> Result<Tail, Problem> {
    let bastion = bastion(call, script, around, values).await?;
    let environment = assemble_remote(call, script, around, values, lines).await?;
    let mut tail = Tail::default();
    for step in script.steps() {
        // The config lets a bastion script have commands only.
        let ScriptStep::Command(command) = step else {
            continue;
        };
        let text = spelled(&environment, &remote.cwd, command);
        let mut hear = |line: &str| pass_on(Level::Info, line, around.redactor, &mut tail, shown);
        let ending = bastion.run(&text, &mut hear, around.deadline).await;
        let name = call.script;
        let problem = match ending {
            Ok(Ending::Code(0)) => continue,
            Ok(Ending::Code(code)) => failed(name, command, i32::try_from(code).ok()),
            Ok(Ending::Late) => late(name, command),
            Ok(Ending::Interrupted(said)) => interrupted(name, command, &said),
            Err(problem) => problem,
        };
        let problem = problem.with("bastion", bastion.name());
        return Err(at_step(problem, name, command, &tail));
    }
    Ok(tail)
}

/// The command with its variables, where it runs.
fn spelled(environment: &Environment, cwd: &str, command: &str) -> Secret<String> {
    let mut text = String::new();
    for (name, value) in environment.pairs() {
        text.push_str(&format!("export {name}={}\n", quoted(value)));
    }
    text.push_str(&format!("cd {} || exit 1\n{command}\n", quoted(cwd)));
    Secret::new(text)
}

fn interrupted(script: &str, step: &str, said: &str) -> Problem {
    let said = match said {
        "" => String::new(),
        said => format!(" ({said})"),
    };
    let message = format!(
        "the script \"{script}\" was cut off: the session with the bastion ended before `{step}` did{said}"
    );
    Problem::new(&code::STEP_FAILED, message)
        .with("reason", "script_interrupted")
        .next("check what the script did, then run it again")
}
