//! The bastion of a script.

use windlass_stack_compile::bastion_group_id;
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::script::Script;
use windlass_stack_diagnose::session::{Bastion, Reach};
use windlass_types::Problem;

use crate::script::failure::{not_found, refused};
use crate::script::run::{ScriptCall, Surroundings};
use crate::script::values::Values;

/// The bastion that the script names, or the only one of the config.
pub(crate) async fn bastion(
    call: &ScriptCall<'_>,
    script: &Script,
    around: &Surroundings<'_>,
    values: &mut Values<'_>,
) -> Result<Bastion, Problem> {
    let name = named(call, script)?;
    let Some(sockets) = call.sockets.clone() else {
        let message =
            "this Windlass is built without message sockets, which sessions on a bastion need";
        return Err(refused("no_message_sockets", message).with("script", call.script));
    };
    let id = bastion_group_id(name);
    let Some(group) = values.physical(&id).await? else {
        let stack = call.facts.stack_name();
        let message = format!(
            "the script \"{}\" needs the bastion \"{name}\", which the stack {stack} does not have",
            call.script
        );
        return Err(not_found("bastion", name, message, [])
            .with("script", call.script)
            .next("deploy the stack as the config is now"));
    };
    let reach = Reach {
        access: around.access.clone(),
        sockets,
        redactor: around.redactor.clone(),
    };
    Bastion::of_group(&reach, name, &group)
        .await
        .map_err(|problem| problem.with("script", call.script))
}

fn named<'a>(call: &ScriptCall<'a>, script: &'a Script) -> Result<&'a str, Problem> {
    let bastions: Vec<&str> = call
        .config
        .resources
        .iter()
        .filter(|(_, resource)| matches!(resource.kind, ResourceKind::Bastion(_)))
        .map(|(name, _)| name.as_str())
        .collect();
    match (script.bastion_resource(), bastions.as_slice()) {
        (Some(name), _) if bastions.contains(&name) => Ok(name),
        (Some(name), _) => {
            let message = format!("the config has no bastion \"{name}\"");
            Err(not_found("bastion", name, message, bastions))
        }
        (None, [only]) => Ok(*only),
        (None, several) => {
            let message = match several {
                [] => format!(
                    "the script \"{}\" needs a bastion, and there is none",
                    call.script
                ),
                _ => format!(
                    "the script \"{}\" must name one of {} bastions",
                    call.script,
                    several.len()
                ),
            };
            let help = match several {
                [] => "add a resource of type bastion",
                _ => "give bastionResource",
            };
            Err(refused("bastion_unknown", message)
                .with("script", call.script)
                .with("bastions", several.to_vec())
                .next(help))
        }
    }
}
