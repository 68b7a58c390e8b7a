//! Whether operator assets are there and of this version; shown by `status`.

use std::{collections::BTreeSet, path::Path};

use windlass_pack_model::{
    ConfigScope, RootScope, Target, TargetRoot, fault,
    next_actions::{Action, Caller, NextAction, ordered},
};
use windlass_types::Problem;

use super::{OperatorInput, assets_of, operator_roots, takes_commands};
use crate::repository::read_bytes;

/// What to report about operator assets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperatorCheck {
    /// What is missing or outdated.
    pub warnings: Vec<String>,
    /// The commands that help, each once.
    pub next_actions: Vec<NextAction>,
}

/// Looks at the operator assets of the targets, in the scope each of them has. `json` adds what
/// the commands need to run without a person.
pub fn check_operator_assets(
    input: &OperatorInput<'_>,
    caller: &Caller,
    json: bool,
) -> Result<OperatorCheck, Problem> {
    let mut check = OperatorCheck::default();
    for target in input.targets {
        let Some(config) = input.manifest.targets.get(target) else {
            continue;
        };
        for (scope, wanted) in [
            (ConfigScope::User, config.scope.has_user()),
            (
                ConfigScope::Project,
                config.scope.has_project() && input.project.is_some(),
            ),
        ] {
            if wanted {
                check.place(input, *target, scope, caller, json)?;
            }
        }
    }
    check.next_actions = ordered(check.next_actions);
    Ok(check)
}

impl OperatorCheck {
    fn place(
        &mut self,
        input: &OperatorInput<'_>,
        target: Target,
        scope: ConfigScope,
        caller: &Caller,
        json: bool,
    ) -> Result<(), Problem> {
        let place = OperatorInput {
            targets: &[target],
            scope,
            ..*input
        };
        let bootstrap = format!("bootstrap --scope {}", scope.as_str());
        let caller = caller.for_target(target.as_str());
        let command = caller.command(&bootstrap);
        for root in operator_roots(&place)? {
            let found = look(&root, input.version)?;
            if found.is_empty() {
                continue;
            }
            let location = match root.scope {
                RootScope::User => format!("{target}/user"),
                RootScope::Project => format!("{target}/project"),
            };
            for (what, which) in found {
                let warning =
                    format!("operator assets {what} ({location}): {which}; run: {command}");
                self.warnings.push(warning);
            }
            let arguments = match json {
                true => format!("{bootstrap} --yes --json"),
                false => bootstrap.clone(),
            };
            self.next_actions
                .push(caller.suggest(Action::Bootstrap, &arguments));
        }
        Ok(())
    }
}

/// What is wrong with the assets of a root: what, and which.
fn look(root: &TargetRoot, version: &str) -> Result<Vec<(&'static str, String)>, Problem> {
    let mut missing = BTreeSet::new();
    let mut found = Vec::new();
    let assets = assets_of(&root.path);
    let all = assets.len();
    for asset in assets {
        let path = root.path.join(&asset.path);
        let Some(bytes) = read_bytes(&path)? else {
            missing.insert(asset.path);
            continue;
        };
        match version_of(&String::from_utf8_lossy(&bytes)) {
            None => found.push(("missing agentpack_version", path.display().to_string())),
            Some(has) if has != version => found.push((
                "outdated",
                format!("{} has {has}, want {version}", path.display()),
            )),
            Some(_) => {}
        }
    }
    if !missing.is_empty() {
        let whole = missing.len() == all;
        let which = match (whole, takes_commands(&root.path)) {
            (true, true) => root.path.display().to_string(),
            (true, false) => joined(&root.path, missing.iter().map(|path| path.as_path())),
            _ => {
                let names: Vec<String> = missing.iter().map(|path| fault::posix(path)).collect();
                format!("{} lacks {}", root.path.display(), names.join(", "))
            }
        };
        found.insert(0, ("missing", which));
    }
    Ok(found)
}

fn joined<'a>(root: &Path, paths: impl Iterator<Item = &'a Path>) -> String {
    let paths: Vec<String> = paths
        .map(|path| root.join(path).display().to_string())
        .collect();
    paths.join(", ")
}

/// The version an asset says it is of.
fn version_of(text: &str) -> Option<&str> {
    text.lines().find_map(|line| {
        let (_, value) = line.split_once("agentpack_version:")?;
        let value = value.trim().trim_end_matches("-->").trim();
        let value = value.trim_matches(['"', '\'']);
        (!value.is_empty()).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::version_of;

    #[test]
    fn versions_are_found_in_every_form() {
        for (text, expected) in [
            ("---\nagentpack_version: \"0.9.1\"\n---\n", Some("0.9.1")),
            ("x\n<!-- agentpack_version: 1.2 -->\n", Some("1.2")),
            ("agentpack_version: 'a'\n", Some("a")),
            ("agentpack_version:\n", None),
            ("nothing\n", None),
        ] {
            assert_eq!(version_of(text), expected, "{text:?}");
        }
    }
}
