//! The files of a repository that have rules of their own: skills and slash commands.

use std::path::{Path, PathBuf};

use fs_err as fs;
use serde_json::{Value, json};
use windlass_pack_model::{Frontmatter, FrontmatterError};

use super::{
    invocation::{bash_lines, dangerous},
    issue::Issue,
};

/// Where slash commands are.
const COMMAND_DIRS: [&str; 3] = [
    ".claude/commands",
    "templates/claude/commands",
    "modules/claude-commands",
];

/// Directories that are not reviewed.
const IGNORED: [&str; 4] = [".agentpack", ".git", "node_modules", "target"];

/// The files with rules of their own, below the repository, by path.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) skills: Vec<PathBuf>,
    pub(super) commands: Vec<PathBuf>,
}

impl Found {
    /// Walks the repository once. Links are not followed: what they lead to is not in it.
    pub(super) fn walk(repo: &Path, issues: &mut Vec<Issue>) -> Self {
        let mut found = Self::default();
        let mut pending = vec![PathBuf::new()];
        while let Some(below) = pending.pop() {
            let entries = match std::fs::read_dir(repo.join(&below)) {
                Ok(entries) => entries,
                Err(error) => {
                    issues.push(unreadable(&below, &error));
                    continue;
                }
            };
            for entry in entries.flatten() {
                let name = entry.file_name();
                let path = below.join(&name);
                let Ok(kind) = entry.file_type() else {
                    continue;
                };
                if kind.is_dir() {
                    if !IGNORED.iter().any(|ignored| name == *ignored) {
                        pending.push(path);
                    }
                } else if kind.is_file() {
                    found.take(path);
                }
            }
        }
        found.skills.sort();
        found.commands.sort();
        found
    }

    fn take(&mut self, path: PathBuf) {
        let markdown = path.extension().is_some_and(|extension| extension == "md");
        if markdown && COMMAND_DIRS.iter().any(|dir| path.starts_with(dir)) {
            self.commands.push(path.clone());
        }
        if path.ends_with("SKILL.md") {
            self.skills.push(path);
        }
    }

    /// Checks every file.
    pub(super) fn lint(&self, repo: &Path, issues: &mut Vec<Issue>) {
        for path in &self.skills {
            match fs::read_to_string(repo.join(path)) {
                Ok(text) => lint_skill(path, &text, issues),
                Err(error) => issues.push(unreadable(path, &error)),
            }
        }
        for path in &self.commands {
            match fs::read_to_string(repo.join(path)) {
                Ok(text) => lint_command(path, &text, issues),
                Err(error) => issues.push(unreadable(path, &error)),
            }
        }
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Issue {
    Issue::new("io_read", path, format!("it cannot be read: {error}"))
        .with(json!({ "error": error.to_string() }))
}

fn lint_skill(path: &Path, text: &str, issues: &mut Vec<Issue>) {
    let issue = |message: String, details: Value| {
        Issue::new("skill_frontmatter", path, message).with(details)
    };
    let matter = match Frontmatter::parse(text) {
        Ok(matter) => matter,
        Err(error) => {
            let details = match error {
                FrontmatterError::Missing => {
                    json!({ "required_fields": ["name", "description"] })
                }
                FrontmatterError::NotMapping => json!({ "expected": "mapping" }),
                _ => json!({ "error": error.to_string() }),
            };
            issues.push(issue(
                format!("the frontmatter is not usable: {error}"),
                details,
            ));
            return;
        }
    };
    for field in matter.missing(&["name", "description"]) {
        let (what, details) = match matter.fields.get(field) {
            None => ("is missing", json!({ "missing": [field] })),
            Some(Value::String(_)) => ("is empty", json!({ "field": field })),
            Some(_) => (
                "is not text",
                json!({ "field": field, "expected": "string" }),
            ),
        };
        issues.push(issue(format!("{field} {what} in the frontmatter"), details));
    }
}

fn lint_command(path: &Path, text: &str, issues: &mut Vec<Issue>) {
    if text.contains("!bash") || text.contains("!`bash`") {
        issues.extend(lint_allowed_tools(path, text));
    }
    for (line, command) in bash_lines(text) {
        for call in dangerous(&command) {
            let missing = call.missing.join(" and ");
            let message = format!(
                "{:?} changes things and must have {missing}",
                call.command_id
            );
            issues.push(Issue::new("dangerous_defaults", path, message).with(json!({
                "line": line,
                "command_id": call.command_id,
                "invocation": call.invocation,
                "missing": call.missing,
            })));
        }
    }
}

/// A command that runs bash must say so.
fn lint_allowed_tools(path: &Path, text: &str) -> Option<Issue> {
    let issue = |message: String| Issue::new("claude_command_allowed_tools", path, message);
    let matter = match Frontmatter::parse(text) {
        Ok(matter) => matter,
        Err(error) => {
            let plain = issue(format!(
                "it runs bash, but has no usable frontmatter: {error}"
            ));
            return Some(match error {
                FrontmatterError::Missing => plain,
                FrontmatterError::NotMapping => plain.with(json!({ "expected": "mapping" })),
                _ => plain.with(json!({ "error": error.to_string() })),
            });
        }
    };
    let Some(allowed) = matter.fields.get("allowed-tools") else {
        let missing = issue("it runs bash, but the frontmatter has no allowed-tools".to_owned());
        return Some(missing.with(json!({ "missing": ["allowed-tools"] })));
    };
    let names_bash = |value: &Value| value.as_str().is_some_and(|text| text.contains("Bash("));
    let named = match allowed {
        Value::Array(items) => items.iter().any(names_bash),
        other => names_bash(other),
    };
    (!named).then(|| issue("it runs bash, but allowed-tools does not name Bash(…)".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(lint: fn(&Path, &str, &mut Vec<Issue>), text: &str) -> Vec<String> {
        let mut issues = Vec::new();
        lint(Path::new("x.md"), text, &mut issues);
        issues
            .into_iter()
            .map(|issue| format!("{} {}", issue.rule, issue.details.unwrap_or_default()))
            .collect()
    }

    #[test]
    fn skills_need_name_and_description() {
        for (text, expected) in [
            ("---\nname: a\ndescription: b\n---\n", &[][..]),
            (
                "# no\n",
                &[r#"skill_frontmatter {"required_fields":["name","description"]}"#],
            ),
            (
                "---\nname: ' '\ndescription: 3\n---\n",
                &[
                    r#"skill_frontmatter {"field":"name"}"#,
                    r#"skill_frontmatter {"expected":"string","field":"description"}"#,
                ],
            ),
            (
                "---\nname: a\n---\n",
                &[r#"skill_frontmatter {"missing":["description"]}"#],
            ),
            (
                "---\n- a\n---\n",
                &[r#"skill_frontmatter {"expected":"mapping"}"#],
            ),
        ] {
            assert_eq!(rules(lint_skill, text), expected, "{text:?}");
        }
    }

    #[test]
    fn commands_that_run_bash_must_say_so() {
        for (text, expected) in [
            ("no bash at all\n", &[][..]),
            ("---\nallowed-tools: Bash(ls)\n---\n!bash\nls\n", &[]),
            (
                "---\nallowed-tools: [Read, 'Bash(ls)']\n---\n!`bash`\nls\n",
                &[],
            ),
            ("!bash\nls\n", &["claude_command_allowed_tools null"]),
            (
                "---\nallowed-tools: Read\n---\n!bash\nls\n",
                &["claude_command_allowed_tools null"],
            ),
            (
                "---\ndescription: x\n---\n!bash\nls\n",
                &[r#"claude_command_allowed_tools {"missing":["allowed-tools"]}"#],
            ),
        ] {
            assert_eq!(rules(lint_command, text), expected, "{text:?}");
        }
    }
}
