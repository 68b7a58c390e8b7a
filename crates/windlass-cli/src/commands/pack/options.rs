//! The flags every pack command takes, as input for operations and as words of a command.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value};
use windlass_text::shell_word;
use windlass_types::Problem;

// Flags of every pack command.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Pack options")]
pub(crate) struct PackOptions {
    /// The configuration repository. Default: `repo` in AGENTPACK_HOME.
    #[arg(long, global = true, value_name = "DIR")]
    pub(super) repo: Option<PathBuf>,
    /// The profile, which selects modules. Default: `default`.
    #[arg(long, global = true, value_name = "NAME")]
    pub(super) profile: Option<String>,
    /// One target (codex, claude_code, cursor, vscode, jetbrains, zed, export_dir) or `all`, the
    /// default.
    #[arg(long, global = true, value_name = "TARGET")]
    pub(super) target: Option<String>,
    /// The machine whose overlays apply. Default: this one.
    #[arg(long, global = true, value_name = "ID")]
    pub(super) machine: Option<String>,
    /// Do it without asking.
    #[arg(long, global = true)]
    pub(super) yes: bool,
    /// Write nothing; say what would be done.
    #[arg(long, global = true)]
    pub(super) dry_run: bool,
}

impl PackOptions {
    /// The input of an operation: its own fields and those every operation takes. What was
    /// not given is left out, so that the operation's defaults apply.
    pub(super) fn input(&self, own: Value) -> Result<Value, Problem> {
        let mut input = Map::new();
        if let Some(repo) = &self.repo {
            let text = repo.to_str().ok_or_else(|| {
                Problem::invalid(
                    "repo",
                    "utf-8",
                    format!("--repo {} is not UTF-8", repo.display()),
                )
            })?;
            input.insert("repo".to_owned(), text.into());
        }
        for (name, value) in [
            ("profile", &self.profile),
            ("target", &self.target),
            ("machine", &self.machine),
        ] {
            if let Some(value) = value {
                input.insert(name.to_owned(), value.as_str().into());
            }
        }
        if let Value::Object(own) = own {
            input.extend(own.into_iter().filter(|(_, value)| !value.is_null()));
        }
        Ok(Value::Object(input))
    }

    /// A command a person can type next: the same repository, profile, target and machine.
    pub(super) fn command(&self, program: &str, words: &str) -> String {
        let repo = self.repo.as_ref().map(|repo| repo.display().to_string());
        let mut line = program.to_owned();
        for (flag, value, default) in [
            ("--repo", repo.as_deref(), ""),
            ("--profile", self.profile.as_deref(), "default"),
            ("--target", self.target.as_deref(), "all"),
            ("--machine", self.machine.as_deref(), ""),
        ] {
            if let Some(value) = value.filter(|value| *value != default) {
                line.push_str(&format!(" {flag} {}", shell_word(value)));
            }
        }
        format!("{line} {words}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_was_given_is_sent() {
        let none = PackOptions::default();
        assert_eq!(
            none.input(json!({ "diff": true, "id": null })).unwrap(),
            json!({ "diff": true })
        );
        let some = PackOptions {
            repo: Some("r".into()),
            target: Some("codex".to_owned()),
            ..PackOptions::default()
        };
        assert_eq!(
            some.input(json!({})).unwrap(),
            json!({ "repo": "r", "target": "codex" })
        );
    }

    #[test]
    fn suggested_commands_repeat_what_differs_from_the_default() {
        let options = PackOptions {
            repo: Some("it's here".into()),
            profile: Some("default".to_owned()),
            target: Some("codex".to_owned()),
            ..PackOptions::default()
        };
        assert_eq!(
            options.command("agentpack", "status"),
            r"agentpack --repo 'it'\''s here' --target codex status"
        );
        assert_eq!(
            PackOptions::default().command("windlass pack", "plan"),
            "windlass pack plan"
        );
    }
}
