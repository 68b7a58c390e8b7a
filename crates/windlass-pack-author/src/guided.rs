//! The answers of `init --guided`, and the manifest they make.
//!
//! Asking is the surface's work. Without being asked, a user gets what agentpack always wrote.

use std::{collections::BTreeSet, fmt::Write as _};

use windlass_pack_model::{ConfigScope, Target, fault, parse_manifest};
use windlass_types::Problem;

/// What the user chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuidedAnswers {
    /// The tools to deploy to.
    pub targets: BTreeSet<Target>,
    /// Whose directories are written.
    pub scope: ConfigScope,
    /// Whether Claude Code gets a `CLAUDE.md`.
    pub claude_md: bool,
    /// Whether Codex's skills go to `.agents/skills` instead of its own directories.
    pub agents_skills: bool,
    /// The directory of the target `export_dir`.
    pub export_root: Option<String>,
}

impl GuidedAnswers {
    /// What is suggested: the newer places are selected.
    pub fn suggested() -> Self {
        Self {
            claude_md: true,
            agents_skills: true,
            ..Self::unasked()
        }
    }

    /// What is written for those who were not asked.
    pub(crate) fn unasked() -> Self {
        Self {
            targets: BTreeSet::from([Target::Codex, Target::ClaudeCode]),
            scope: ConfigScope::Both,
            claude_md: false,
            agents_skills: false,
            export_root: None,
        }
    }

    /// The chosen targets, by name.
    pub(crate) fn chosen(&self) -> Vec<Target> {
        self.targets.iter().copied().collect()
    }

    /// The manifest, and what could not be as it was chosen.
    pub(crate) fn manifest(&self) -> Result<(String, Vec<String>), Problem> {
        if self.targets.is_empty() {
            return Err(fault::unexpected(
                "invalid_arguments",
                &["retry_command"],
                "no target was chosen; choose at least one tool to deploy to",
            )
            .with("field", "targets"));
        }
        let mut text = String::from(
            "version: 1\n\nprofiles:\n  default:\n    include_tags: [base]\n\ntargets:\n",
        );
        let mut warnings = Vec::new();
        // The two most common come first.
        let mut targets = self.chosen();
        targets.sort_by_key(|target| (*target != Target::Codex, *target));
        for target in targets {
            let mut scope = self.scope;
            if target.is_project_only() && scope == ConfigScope::User {
                warnings.push(format!(
                    "{target} reads nothing from the home directory; its scope is project"
                ));
                scope = ConfigScope::Project;
            }
            // Writing to a String cannot fail.
            let _ = write!(
                text,
                "  {target}:\n    mode: files\n    scope: {}\n    options:\n",
                scope.as_str()
            );
            for (option, value) in self.options(target)? {
                let _ = writeln!(text, "      {option}: {value}");
            }
        }
        text.push_str("\nmodules: []\n");
        parse_manifest(&text)?;
        Ok((text, warnings))
    }

    fn options(&self, target: Target) -> Result<Vec<(&'static str, String)>, Problem> {
        let flags = |flags: &[(&'static str, bool)]| {
            flags
                .iter()
                .map(|(option, value)| (*option, value.to_string()))
                .collect::<Vec<_>>()
        };
        Ok(match target {
            Target::Codex => {
                // In both places every skill would be there twice.
                let own = !self.agents_skills;
                let mut options = vec![("codex_home", "\"~/.codex\"".to_owned())];
                options.extend(flags(&[
                    ("write_agents_global", true),
                    ("write_user_prompts", true),
                    ("write_user_skills", own),
                    ("write_agents_repo_root", true),
                    ("write_repo_skills", own),
                ]));
                if self.agents_skills {
                    options.extend(flags(&[
                        ("write_agents_skills_user", true),
                        ("write_agents_skills_repo", true),
                    ]));
                }
                options
            }
            Target::ClaudeCode => {
                let mut options = flags(&[
                    ("write_user_commands", true),
                    ("write_repo_commands", true),
                    ("write_user_skills", false),
                    ("write_repo_skills", false),
                ]);
                if self.claude_md {
                    options.extend(flags(&[
                        ("write_claude_md_user", true),
                        ("write_claude_md_repo", true),
                    ]));
                    options.push(("claude_md", "import".to_owned()));
                }
                options
            }
            Target::Cursor | Target::Zed => flags(&[("write_rules", true)]),
            Target::Vscode => flags(&[("write_instructions", true), ("write_prompts", true)]),
            Target::Jetbrains => flags(&[("write_guidelines", true)]),
            Target::ExportDir => {
                let root = self
                    .export_root
                    .as_deref()
                    .map(str::trim)
                    .unwrap_or_default();
                if root.is_empty() {
                    return Err(fault::unexpected(
                        "invalid_arguments",
                        &["retry_command"],
                        "export_dir needs a directory to write to; name one",
                    )
                    .with("field", "root"));
                }
                // A JSON string is a YAML string.
                vec![
                    ("root", serde_json::Value::from(root).to_string()),
                    ("scan_extras", true.to_string()),
                ]
            }
        })
    }
}

/// Refuses to ask without a terminal.
pub fn require_terminal(stdin: bool, stdout: bool) -> Result<(), Problem> {
    if stdin && stdout {
        return Ok(());
    }
    let which = match (stdin, stdout) {
        (false, false) => "neither input nor output is one",
        (false, true) => "the input is none",
        _ => "the output is none",
    };
    Err(fault::tty_required(format!(
        "init --guided asks questions and needs a terminal, but {which}; run it in a terminal, or without --guided"
    ))
    .with("stdin_is_terminal", stdin)
    .with("stdout_is_terminal", stdout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_questions_the_manifest_is_the_old_one() {
        let (text, warnings) = GuidedAnswers::unasked().manifest().unwrap();
        assert!(warnings.is_empty());
        insta::assert_snapshot!(text, @r#"
        version: 1

        profiles:
          default:
            include_tags: [base]

        targets:
          codex:
            mode: files
            scope: both
            options:
              codex_home: "~/.codex"
              write_agents_global: true
              write_user_prompts: true
              write_user_skills: true
              write_agents_repo_root: true
              write_repo_skills: true
          claude_code:
            mode: files
            scope: both
            options:
              write_user_commands: true
              write_repo_commands: true
              write_user_skills: false
              write_repo_skills: false

        modules: []
        "#);
    }

    #[test]
    fn every_choice_produces_a_manifest_without_warnings() {
        for scope in [ConfigScope::User, ConfigScope::Project, ConfigScope::Both] {
            for target in Target::ALL {
                let answers = GuidedAnswers {
                    targets: BTreeSet::from([target]),
                    scope,
                    export_root: Some("~/out \"x\"".to_owned()),
                    ..GuidedAnswers::suggested()
                };
                let (text, warnings) = answers.manifest().unwrap();
                let parsed = parse_manifest(&text).unwrap();
                assert_eq!(parsed.warnings, [], "{text}");
                let moved = target.is_project_only() && scope == ConfigScope::User;
                assert_eq!(warnings.len(), usize::from(moved), "{target} {scope:?}");
                let config = &parsed.manifest.targets[&target];
                assert_eq!(config.scope.has_user(), scope.has_user() && !moved);
            }
        }
    }

    #[test]
    fn the_newer_places_are_suggested_and_no_skill_lands_twice() {
        let (text, _) = GuidedAnswers::suggested().manifest().unwrap();
        let manifest = parse_manifest(&text).unwrap().manifest;
        let codex = &manifest.targets[&Target::Codex];
        assert!(codex.flag("write_agents_skills_user", false));
        assert!(!codex.flag("write_user_skills", true));
        let claude = &manifest.targets[&Target::ClaudeCode];
        assert!(claude.flag("write_claude_md_repo", false));
    }

    #[test]
    fn what_cannot_be_answered_is_refused() {
        let none = GuidedAnswers {
            targets: BTreeSet::new(),
            ..GuidedAnswers::suggested()
        };
        assert_eq!(none.manifest().unwrap_err().details()["field"], "targets");
        let nowhere = GuidedAnswers {
            targets: BTreeSet::from([Target::ExportDir]),
            ..GuidedAnswers::suggested()
        };
        assert_eq!(nowhere.manifest().unwrap_err().details()["field"], "root");
        let problem = require_terminal(false, true).unwrap_err();
        assert_eq!(problem.code().name, "E_TTY_REQUIRED");
        assert_eq!(problem.details()["stdin_is_terminal"], false);
        require_terminal(true, true).unwrap();
    }
}
