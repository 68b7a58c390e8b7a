//! The questions of `init --guided`.

use serde::Serialize;
use windlass_types::{Problem, code};

use super::context::Context;
use crate::flow::read_line;

/// Every target, in the order they are offered.
pub(super) const TARGETS: [&str; 7] = [
    "codex",
    "claude_code",
    "cursor",
    "vscode",
    "jetbrains",
    "zed",
    "export_dir",
];

/// What was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Answers {
    targets: Vec<String>,
    scope: String,
    /// Whether Claude Code gets a CLAUDE.md.
    claude_md: bool,
    /// Whether skills also go to `.agents/skills`.
    agents_skills: bool,
    /// Where `export_dir` goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    export_root: Option<String>,
    #[serde(skip)]
    pub(super) bootstrap: bool,
}

impl Default for Answers {
    fn default() -> Self {
        Self {
            targets: vec!["codex".to_owned(), "claude_code".to_owned()],
            scope: "both".to_owned(),
            claude_md: true,
            agents_skills: true,
            export_root: None,
            bootstrap: false,
        }
    }
}

/// Asks everything.
pub(super) async fn ask(context: &Context<'_>, bootstrap: bool) -> Result<Answers, Problem> {
    let defaults = Answers::default();
    let offered = format!(
        "Targets ({}) [{}]:",
        TARGETS.join(", "),
        defaults.targets.join(",")
    );
    let targets = until(context, &offered, |line| targets(line, &defaults.targets)).await?;
    let scope = until(context, "Scope (user, project, both) [both]:", |line| {
        choice(line, &["user", "project", "both"], "both")
    })
    .await?;
    let has = |name: &str| targets.iter().any(|target| target == name);
    let claude_md = has("claude_code")
        && until(
            context,
            "Write a CLAUDE.md that imports AGENTS.md? [Y/n]",
            |line| yes(line, true),
        )
        .await?;
    let agents_skills = has("codex")
        && until(
            context,
            "Put skills into .agents/skills, where current tools look? [Y/n]",
            |line| yes(line, true),
        )
        .await?;
    let mut export_root = None;
    if has("export_dir") {
        export_root = Some(until(context, "Directory export_dir writes to:", directory).await?);
    }
    let bootstrap = bootstrap
        || until(
            context,
            "Install the files that let agents operate pack? [y/N]",
            |line| yes(line, false),
        )
        .await?;
    Ok(Answers {
        targets,
        scope,
        claude_md,
        agents_skills,
        export_root,
        bootstrap,
    })
}

/// Asks until the answer is understood.
async fn until<T>(
    context: &Context<'_>,
    question: &str,
    understand: impl Fn(&str) -> Result<T, String>,
) -> Result<T, Problem> {
    loop {
        match understand(line(context, question).await?.trim()) {
            Ok(answer) => return Ok(answer),
            Err(why) => context.printer().notice(&why),
        }
    }
}

async fn line(context: &Context<'_>, question: &str) -> Result<String, Problem> {
    let line = read_line(context.session, question).await?;
    line.ok_or_else(|| {
        Problem::new(
            &code::INTERRUPTED,
            "interrupted before all questions were answered; nothing was written",
        )
    })
}

fn targets(line: &str, default: &[String]) -> Result<Vec<String>, String> {
    if line.is_empty() {
        return Ok(default.to_vec());
    }
    let mut named: Vec<String> = Vec::new();
    for name in line.split([',', ' ']).filter(|name| !name.is_empty()) {
        if !TARGETS.contains(&name) {
            return Err(format!(
                "there is no target {name:?}; there are {}",
                TARGETS.join(", ")
            ));
        }
        if !named.iter().any(|known| known == name) {
            named.push(name.to_owned());
        }
    }
    Ok(named)
}

fn directory(line: &str) -> Result<String, String> {
    if line.is_empty() {
        return Err("a directory is needed".to_owned());
    }
    Ok(line.to_owned())
}

fn choice(line: &str, known: &[&str], default: &str) -> Result<String, String> {
    match line.to_ascii_lowercase().as_str() {
        "" => Ok(default.to_owned()),
        word if known.contains(&word) => Ok(word.to_owned()),
        other => Err(format!("{other:?} is none of {}", known.join(", "))),
    }
}

fn yes(line: &str, default: bool) -> Result<bool, String> {
    match line.to_ascii_lowercase().as_str() {
        "" => Ok(default),
        "y" | "yes" => Ok(true),
        "n" | "no" => Ok(false),
        _ => Err("please answer y or n".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_are_understood() {
        let default = Answers::default().targets;
        for (line, expected) in [
            ("", Ok(vec!["codex", "claude_code"])),
            ("zed, cursor zed", Ok(vec!["zed", "cursor"])),
            ("emacs", Err("there is no target \"emacs\"")),
        ] {
            match (targets(line, &default), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected),
                (Err(why), Err(expected)) => assert!(why.starts_with(expected), "{why}"),
                (found, expected) => panic!("{line}: {found:?}, not {expected:?}"),
            }
        }
        assert_eq!(choice("", &["user", "both"], "both").unwrap(), "both");
        assert_eq!(choice("USER", &["user", "both"], "both").unwrap(), "user");
        assert!(choice("all", &["user", "both"], "both").is_err());
        for (line, default, expected) in [
            ("", true, Ok(true)),
            ("", false, Ok(false)),
            ("Yes", false, Ok(true)),
            ("n", true, Ok(false)),
        ] {
            assert_eq!(yes(line, default), expected);
        }
        assert!(yes("maybe", true).is_err());
        assert_eq!(directory("/out"), Ok("/out".to_owned()));
        assert!(directory("").is_err());
    }

    #[test]
    fn the_operation_gets_what_was_answered() {
        assert_eq!(
            json!(Answers::default()),
            json!({ "targets": ["codex", "claude_code"], "scope": "both", "claude_md": true, "agents_skills": true })
        );
    }
}
