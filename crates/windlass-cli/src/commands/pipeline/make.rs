//! `windlass pipeline strategize|architecture|ux|code`: one phase, answered at once.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use windlass_types::Problem;

use super::{
    count, make,
    spec::{SpecArg, earlier},
    text, tree,
};
use crate::session::{Report, Session};

#[derive(Args, Debug)]
pub(crate) struct StrategizeArgs {
    #[command(flatten)]
    spec: SpecArg,
    /// The industry, for the summary.
    #[arg(long, value_name = "WORDS")]
    industry: Option<String>,
    /// For whom, for the summary.
    #[arg(long, value_name = "WORDS")]
    audience: Option<String>,
    /// startup, scaleup or enterprise.
    #[arg(long, value_name = "TIER")]
    budget: Option<String>,
}

impl StrategizeArgs {
    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let input = json!({
            "spec": self.spec.read()?,
            "context": {
                "industry": self.industry,
                "target_audience": self.audience,
                "budget_tier": self.budget,
            },
        });
        let output = make(session, "pipeline.strategize", input).await?;
        let printer = &session.printer;
        for kind in ["functional", "non_functional", "constraints"] {
            let items = output.pointer(&format!("/requirements/{kind}"));
            for item in items.and_then(Value::as_array).into_iter().flatten() {
                let note = match kind {
                    "functional" => text(item, "priority"),
                    "non_functional" => text(item, "category"),
                    _ => text(item, "type"),
                };
                let line = format!(
                    "{:<7} {:<12} {}",
                    text(item, "id"),
                    note,
                    text(item, "description")
                );
                printer.data(&line);
            }
        }
        let message = format!(
            "{} functional, {} non-functional requirements, {} constraints; {}",
            count(&output, "/requirements/functional"),
            count(&output, "/requirements/non_functional"),
            count(&output, "/requirements/constraints"),
            text(&output, "estimated_complexity"),
        );
        printer.notice(&message);
        Ok(Report::new(message, output))
    }
}

#[derive(Args, Debug)]
pub(crate) struct ArchitectureArgs {
    #[command(flatten)]
    spec: SpecArg,
    /// The JSON of `strategize`.
    #[arg(long, value_name = "FILE")]
    requirements: Option<PathBuf>,
    /// The preferred stack: nextjs-react or vite-react.
    #[arg(long, value_name = "STACK")]
    stack: Option<String>,
}

impl ArchitectureArgs {
    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let input = json!({
            "spec": self.spec.read()?,
            "requirements": self.requirements.as_deref().map(earlier).transpose()?,
            "stack_preference": self.stack,
        });
        let output = make(session, "pipeline.design_architecture", input).await?;
        session.printer.data(text(&output, "architecture_markdown"));
        let message = format!(
            "{} entities, {} endpoints, {} policies",
            count(&output, "/architecture/data_model/entities"),
            count(&output, "/architecture/api_design/endpoints"),
            count(&output, "/architecture/security/policies"),
        );
        session.printer.notice(&message);
        Ok(Report::new(message, output))
    }
}

#[derive(Args, Debug)]
pub(crate) struct UxArgs {
    #[command(flatten)]
    spec: SpecArg,
    /// The JSON of `strategize`.
    #[arg(long, value_name = "FILE")]
    requirements: Option<PathBuf>,
    /// The JSON of `architecture`.
    #[arg(long, value_name = "FILE")]
    architecture: Option<PathBuf>,
    /// minimal, corporate, playful, elegant, bold, or words of yours.
    #[arg(long, value_name = "STYLE")]
    style: Option<String>,
}

impl UxArgs {
    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let input = json!({
            "spec": self.spec.read()?,
            "requirements": self.requirements.as_deref().map(earlier).transpose()?,
            "architecture": self.architecture.as_deref().map(earlier).transpose()?,
            "style_preference": self.style,
        });
        let output = make(session, "pipeline.design_ux", input).await?;
        session.printer.data(text(&output, "ux_markdown"));
        let message = format!(
            "{} pages, {} flows",
            count(&output, "/ux_spec/pages"),
            count(&output, "/ux_spec/user_flows"),
        );
        session.printer.notice(&message);
        Ok(Report::new(message, output))
    }
}

#[derive(Args, Debug)]
pub(crate) struct CodeArgs {
    #[command(flatten)]
    spec: SpecArg,
    /// The JSON of `architecture`.
    #[arg(long, value_name = "FILE")]
    architecture: Option<PathBuf>,
    /// The JSON of `ux`.
    #[arg(long, value_name = "FILE")]
    ux: Option<PathBuf>,
    /// nextjs-react or vite-react.
    #[arg(long, value_name = "PRESET")]
    framework: Option<String>,
    /// Only these files, by path or pattern; may be given more than once.
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<String>,
    /// The directory to write the project to.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write over what is in the directory.
    #[arg(long, requires = "out")]
    force: bool,
}

impl CodeArgs {
    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let input = json!({
            "spec": self.spec.read()?,
            "architecture": self.architecture.as_deref().map(earlier).transpose()?,
            "ux_spec": self.ux.as_deref().map(earlier).transpose()?,
            "framework": self.framework,
            "target_files": self.files,
        });
        let output = make(session, "pipeline.generate_code", input).await?;
        let printer = &session.printer;
        let message = match &self.out {
            Some(directory) => {
                let files = tree::write(&output, directory, self.force)?;
                format!("{files} files in {}", directory.display())
            }
            None => {
                let files = output.get("files").and_then(Value::as_array);
                for file in files.into_iter().flatten() {
                    printer.data(text(file, "path"));
                }
                format!(
                    "{} files; write them with --out DIR",
                    count(&output, "/files")
                )
            }
        };
        printer.notice(&message);
        Ok(Report::new(message, output))
    }
}
