//! What to do next, as commands: their order, and the prefix that repeats the arguments the
//! user gave.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::selection;

/// What a suggested command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// `bootstrap`.
    Bootstrap,
    /// `doctor`.
    Doctor,
    /// `update`.
    Update,
    /// `preview`.
    Preview,
    /// `preview --diff`.
    PreviewDiff,
    /// `diff`.
    Diff,
    /// `plan`.
    Plan,
    /// `deploy`.
    Deploy,
    /// `deploy --apply`.
    DeployApply,
    /// `status`.
    Status,
    /// `evolve propose`.
    EvolvePropose,
    /// `evolve restore`.
    EvolveRestore,
    /// Another `evolve`.
    Evolve,
    /// `rollback`.
    Rollback,
    /// Anything else.
    Other,
}

impl Action {
    /// The place in the list; variants of one command are then ordered by their text.
    fn rank(self) -> u8 {
        match self {
            Self::Bootstrap => 0,
            Self::Doctor => 10,
            Self::Update => 20,
            Self::Preview | Self::PreviewDiff => 30,
            Self::Diff => 40,
            Self::Plan => 50,
            Self::Deploy | Self::DeployApply => 60,
            Self::Status => 70,
            Self::EvolvePropose => 80,
            Self::Evolve | Self::EvolveRestore => 81,
            Self::Rollback => 90,
            Self::Other => 100,
        }
    }
}

/// A suggested command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NextAction {
    /// What it does.
    pub action: Action,
    /// How it is called.
    pub command: String,
}

/// Suggestions in their order, each once.
pub fn ordered(actions: impl IntoIterator<Item = NextAction>) -> Vec<NextAction> {
    let mut seen = BTreeSet::new();
    let mut actions: Vec<NextAction> = actions
        .into_iter()
        .filter(|action| seen.insert(action.command.clone()))
        .collect();
    actions.sort_by(|left, right| {
        (left.action.rank(), &left.command).cmp(&(right.action.rank(), &right.command))
    });
    actions
}

/// How the user called the program, repeated in every suggestion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// The name it was started under: `agentpack` or `windlass pack`.
    pub program: String,
    /// `--repo`, when given.
    pub repo: Option<String>,
    /// `--profile`, when given.
    pub profile: Option<String>,
    /// `--target`, when given.
    pub target: Option<String>,
    /// `--machine`, when given.
    pub machine: Option<String>,
}

impl Caller {
    /// A suggestion: the sub-command with its own arguments behind the caller's.
    pub fn suggest(&self, action: Action, arguments: &str) -> NextAction {
        NextAction {
            action,
            command: self.command(arguments),
        }
    }

    /// The command line of a sub-command.
    pub fn command(&self, arguments: &str) -> String {
        let mut line = self.program.clone();
        let flags = [
            ("--repo", self.repo.as_deref()),
            (
                "--profile",
                selection::profile_argument(self.profile.as_deref()),
            ),
            (
                "--target",
                selection::target_argument(self.target.as_deref()),
            ),
            ("--machine", self.machine.as_deref()),
        ];
        for (flag, value) in flags {
            if let Some(value) = value {
                line.push(' ');
                line.push_str(flag);
                line.push(' ');
                line.push_str(&shell_quote(value));
            }
        }
        line.push(' ');
        line.push_str(arguments);
        line
    }

    /// The same caller for one target and no profile, as bootstrap needs it.
    #[must_use]
    pub fn for_target(&self, target: &str) -> Self {
        Self {
            target: Some(target.to_owned()),
            profile: None,
            ..self.clone()
        }
    }
}

/// A word as a POSIX shell takes it back.
pub fn shell_quote(word: &str) -> String {
    let plain = !word.is_empty()
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"/._-:@%+=,~\\".contains(&byte));
    if plain {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_come_in_their_order() {
        let caller = Caller {
            program: "agentpack".into(),
            ..Caller::default()
        };
        let actions = ordered([
            caller.suggest(Action::Rollback, "rollback --to 1"),
            caller.suggest(Action::EvolveRestore, "evolve restore"),
            caller.suggest(Action::Other, "sync"),
            caller.suggest(Action::EvolvePropose, "evolve propose --dry-run"),
            caller.suggest(Action::DeployApply, "deploy --apply"),
            caller.suggest(Action::DeployApply, "deploy --apply"),
            caller.suggest(Action::PreviewDiff, "preview --diff"),
            caller.suggest(Action::Preview, "preview"),
            caller.suggest(Action::Bootstrap, "bootstrap"),
            caller.suggest(Action::Status, "status"),
        ]);
        let shown: Vec<String> = actions
            .iter()
            .map(|action| serde_json::to_string(action).unwrap())
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r#"
        {"action":"bootstrap","command":"agentpack bootstrap"}
        {"action":"preview","command":"agentpack preview"}
        {"action":"preview_diff","command":"agentpack preview --diff"}
        {"action":"deploy_apply","command":"agentpack deploy --apply"}
        {"action":"status","command":"agentpack status"}
        {"action":"evolve_propose","command":"agentpack evolve propose --dry-run"}
        {"action":"evolve_restore","command":"agentpack evolve restore"}
        {"action":"rollback","command":"agentpack rollback --to 1"}
        {"action":"other","command":"agentpack sync"}
        "#);
    }

    #[test]
    fn the_prefix_repeats_what_is_not_default() {
        let caller = Caller {
            program: "windlass pack".into(),
            repo: Some("/my repo's".into()),
            profile: Some("default".into()),
            target: Some("all".into()),
            machine: Some("laptop".into()),
        };
        insta::assert_snapshot!(caller.command("status"), @r"windlass pack --repo '/my repo'\''s' --machine laptop status");
        let caller = Caller {
            program: "agentpack".into(),
            profile: Some("work".into()),
            ..Caller::default()
        };
        insta::assert_snapshot!(caller.command("plan"), @"agentpack --profile work plan");
        insta::assert_snapshot!(caller.for_target("codex").command("bootstrap --scope user"), @"agentpack --target codex bootstrap --scope user");
    }
}
