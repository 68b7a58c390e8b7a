//! `windlass pipeline strategize|architecture|ux|code`: one phase, answered at once.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use windlass_pipeline_design::model::{ArchitectureOutput, Requirements, StrategyOutput, UxOutput};
use windlass_types::Problem;

use super::{
    make,
    spec::{self, SpecArg, earlier},
    tree,
    view::Files,
};
use crate::{
    commands::word,
    output::counted,
    session::{Report, Session},
};

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
        let (made, output): (StrategyOutput, _) =
            make(session, "pipeline.strategize", input).await?;
        let printer = &session.printer;
        let Requirements {
            functional,
            non_functional,
            constraints,
        } = &made.requirements;
        let line = |id: &str, note: String, description: &str| {
            printer.data(&format!("{id:<7} {note:<12} {description}"));
        };
        for item in functional {
            line(&item.id, word(item.priority), &item.description);
        }
        for item in non_functional {
            line(&item.id, word(item.category), &item.description);
        }
        for item in constraints {
            line(&item.id, word(item.kind), &item.description);
        }
        let message = format!(
            "{} functional, {} non-functional requirements, {} constraints; {}",
            functional.len(),
            non_functional.len(),
            constraints.len(),
            word(made.estimated_complexity),
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
            "stack_preference": spec::stack(self.stack)?,
        });
        let (made, output): (ArchitectureOutput, _) =
            make(session, "pipeline.design_architecture", input).await?;
        session.printer.data(&made.architecture_markdown);
        let message = format!(
            "{} entities, {} endpoints, {} policies",
            made.architecture.data_model.entities.len(),
            made.architecture.api_design.endpoints.len(),
            made.architecture.security.policies.len(),
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
    /// minimal, corporate, playful, elegant, bold, or your own words.
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
        let (made, output): (UxOutput, _) = make(session, "pipeline.design_ux", input).await?;
        session.printer.data(&made.ux_markdown);
        let message = format!(
            "{} pages, {} flows",
            made.ux_spec.pages.len(),
            made.ux_spec.user_flows.len(),
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
    /// Overwrite what is in the directory.
    #[arg(long, requires = "out")]
    force: bool,
}

impl CodeArgs {
    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        if let Some(directory) = &self.out {
            tree::ready(directory, self.force)?;
        }
        let input = json!({
            "spec": self.spec.read()?,
            "architecture": self.architecture.as_deref().map(earlier).transpose()?,
            "ux_spec": self.ux.as_deref().map(earlier).transpose()?,
            "framework": self.framework,
            "target_files": self.files,
        });
        let (made, mut output): (Files, _) = make(session, "pipeline.generate_code", input).await?;
        let printer = &session.printer;
        let message = match &self.out {
            Some(directory) => {
                let redactor = &session.engine().redactor;
                let written = tree::write(redactor, made.texts(), directory, self.force)?;
                written.note(&mut output);
                written.message(directory)
            }
            None => {
                for file in &made.files {
                    printer.data(&file.path);
                }
                let files = counted(made.files.len(), "file");
                format!("{files}; write them with --out DIR")
            }
        };
        printer.notice(&message);
        Ok(Report::new(message, output))
    }
}
