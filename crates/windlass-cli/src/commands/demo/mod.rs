//! `windlass demo`: a small real change to a directory, with everything a run can do.

mod apply;
mod plan;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use windlass_text::shell_word;
use windlass_types::Problem;

use crate::{
    cli::Need,
    flow::ChangeOperations,
    session::{Report, Session},
};

const OPERATIONS: ChangeOperations = ChangeOperations {
    plan: "demo.plan",
    apply: "demo.apply",
};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum DemoCommand {
    /// Show what would change, and issue a confirm token.
    Plan(plan::PlanArgs),
    /// Plan, ask, and apply as a durable run.
    Apply(apply::ApplyDemoArgs),
}

impl DemoCommand {
    pub(crate) const fn need(&self) -> Need {
        match self {
            Self::Plan(_) => Need::Short,
            Self::Apply(_) => Need::Long,
        }
    }

    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        match self {
            Self::Plan(args) => args.run(session).await,
            Self::Apply(args) => args.run(session).await,
        }
    }
}

// What the directory should look like.
#[derive(Args, Clone, Debug)]
struct DemoArgs {
    /// The directory to change; it must exist, and nothing outside it is touched.
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    /// A file to create or update; may be given several times.
    #[arg(long = "file", value_name = "NAME=CONTENT")]
    files: Vec<String>,
    /// A file to delete; may be given several times.
    #[arg(long, value_name = "NAME")]
    delete: Vec<String>,
    /// Pause after each file; a timer that survives a crash.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0)]
    pause: f64,
    /// Stop halfway and wait for an approval.
    #[arg(long)]
    approval: bool,
    /// Have a child run write a note about what was done.
    #[arg(long)]
    child: bool,
    /// An address to notify at the end.
    #[arg(long, value_name = "URL")]
    webhook: Option<String>,
}

impl DemoArgs {
    fn input(&self) -> Result<Value, Problem> {
        let mut files = Map::new();
        for file in &self.files {
            let (name, content) = file.split_once('=').ok_or_else(|| {
                Problem::invalid(
                    "file",
                    "NAME=CONTENT",
                    format!("{file:?} has no '='; write --file NAME=CONTENT"),
                )
            })?;
            if files.insert(name.to_owned(), json!(content)).is_some() {
                return Err(Problem::invalid(
                    "file",
                    "unique",
                    format!("--file {name} is given twice"),
                ));
            }
        }
        if !(0.0..=86_400.0).contains(&self.pause) {
            return Err(Problem::invalid(
                "pause",
                "range",
                "--pause takes 0 to 86400 seconds",
            ));
        }
        Ok(json!({
            "dir": absolute(&self.dir)?,
            "files": files,
            "delete": self.delete,
            "pause_ms": (self.pause * 1000.0).round() as u64,
            "approval": self.approval,
            "note": self.child,
            "webhook_url": self.webhook,
        }))
    }

    /// The same arguments as words to type.
    fn words(&self) -> String {
        let mut words = vec!["--dir".to_owned(), shell_word(&self.dir.to_string_lossy())];
        let mut option =
            |name: &str, value: &str| words.extend([name.to_owned(), shell_word(value)]);
        self.files.iter().for_each(|file| option("--file", file));
        self.delete.iter().for_each(|name| option("--delete", name));
        if self.pause > 0.0 {
            option("--pause", &self.pause.to_string());
        }
        if let Some(webhook) = &self.webhook {
            option("--webhook", webhook);
        }
        words.extend(self.approval.then(|| "--approval".to_owned()));
        words.extend(self.child.then(|| "--child".to_owned()));
        words.join(" ")
    }
}

/// The path from the root, as text: the process that drives the run may stand in another directory.
fn absolute(path: &Path) -> Result<String, Problem> {
    std::path::absolute(path)
        .ok()
        .and_then(|path| path.into_os_string().into_string().ok())
        .ok_or_else(|| {
            Problem::invalid(
                "dir",
                "path",
                format!("{} is not a usable path", path.display()),
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(files: &[&str]) -> DemoArgs {
        DemoArgs {
            dir: "/srv/x".into(),
            files: files.iter().map(|file| (*file).to_owned()).collect(),
            delete: vec!["old".into()],
            pause: 0.5,
            approval: true,
            child: false,
            webhook: None,
        }
    }

    #[test]
    fn arguments_become_input() {
        insta::assert_snapshot!(
            args(&["a.txt=hello=world", "b="]).input().unwrap(),
            @r#"{"approval":true,"delete":["old"],"dir":"/srv/x","files":{"a.txt":"hello=world","b":""},"note":false,"pause_ms":500,"webhook_url":null}"#
        );
        assert_eq!(
            args(&["a b=it's"]).words(),
            r"--dir /srv/x --file 'a b=it'\''s' --delete old --pause 0.5 --approval"
        );
    }

    #[test]
    fn invalid_arguments_are_named() {
        assert!(
            args(&["a.txt"])
                .input()
                .unwrap_err()
                .message()
                .contains("has no '='")
        );
        assert!(
            args(&["a=1", "a=2"])
                .input()
                .unwrap_err()
                .message()
                .contains("twice")
        );
        for pause in [-1.0, f64::NAN, f64::INFINITY] {
            let args = DemoArgs { pause, ..args(&[]) };
            assert!(args.input().unwrap_err().message().contains("--pause"));
        }
    }
}
