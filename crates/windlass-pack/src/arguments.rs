//! The arguments every command shares, and how tool calls are read.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use windlass_pack_model::{fault, next_actions::Caller};
use windlass_types::{Problem, Surface};

/// The names of [`Common`].
const COMMON: [&str; 4] = ["repo", "profile", "target", "machine"];

/// Which repository, profile, target and machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
pub(crate) struct Common {
    /// Path to the config repository (default: $AGENTPACK_HOME/repo).
    #[serde(default)]
    pub(crate) repo: Option<String>,
    /// The profile.
    #[serde(default)]
    pub(crate) profile: Option<String>,
    /// The target, or `all`.
    #[serde(default)]
    pub(crate) target: Option<String>,
    /// The machine id for machine overlays; detected when left out.
    #[serde(default)]
    pub(crate) machine: Option<String>,
}

impl Common {
    /// How suggestions repeat these arguments.
    pub(crate) fn caller(&self, program: &str) -> Caller {
        Caller {
            program: program.to_owned(),
            repo: self.repo.clone(),
            profile: self.profile.clone(),
            target: self.target.clone(),
            machine: self.machine.clone(),
        }
    }
}

/// Reads the arguments of a tool call; the contract answers bad ones in its own words.
pub(crate) fn read<T: DeserializeOwned>(input: Value) -> Result<T, Problem> {
    let input = match input {
        Value::Null => Value::Object(serde_json::Map::new()),
        other => other,
    };
    serde_json::from_value(input).map_err(|error| {
        fault::unexpected(
            "invalid_arguments",
            &["fix_arguments", "retry_command"],
            format!("the arguments do not fit the tool: {error}"),
        )
    })
}

/// Reads the arguments of a tool call: those every tool shares, and its own.
pub(crate) fn read_tool<T: DeserializeOwned>(mut input: Value) -> Result<(Common, T), Problem> {
    let mut shared = serde_json::Map::new();
    if let Some(all) = input.as_object_mut() {
        for name in COMMON {
            shared.extend(all.remove_entry(name));
        }
    }
    Ok((read(Value::Object(shared))?, read(input)?))
}

/// Refuses arguments that the contract's tool does not have. The command line may say more.
pub(crate) fn only_known(surface: Surface, input: &Value, names: &[&str]) -> Result<(), Problem> {
    let known = |name: &String| surface == Surface::Cli || names.contains(&name.as_str());
    match input
        .as_object()
        .and_then(|map| map.keys().find(|name| !known(name)))
    {
        None => Ok(()),
        Some(name) => Err(fault::unexpected(
            "invalid_arguments",
            &["fix_arguments", "retry_command"],
            format!(
                "the tool has no argument {name:?}; it has {}",
                names.join(", ")
            ),
        )
        .with("argument", name.clone())),
    }
}

/// Whether the caller said yes: the literal `true` and nothing else.
pub(crate) fn says_yes(input: &Value) -> bool {
    input.get("yes") == Some(&Value::Bool(true))
}

/// Refuses a write without a yes.
pub(crate) fn require_yes(yes: bool, command: &str) -> Result<(), Problem> {
    if yes {
        return Ok(());
    }
    Err(
        fault::confirm_required(format!("{command} changes files and needs an explicit yes"))
            .with("command", command),
    )
}
