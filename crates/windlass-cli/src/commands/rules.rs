//! `windlass rules check`: what the rules say about a command, without running it.

use std::path::Path;

use clap::{Args, Subcommand, builder::PossibleValuesParser};
use serde_json::json;
use windlass_config::env;
use windlass_policy::{
    Attendance, Extent, Mode, Place, Policy, Profile, Sandbox, Taint, ToolClass, ToolRequest,
    Verdict,
};
use windlass_types::Problem;

use crate::{
    OpenOptions,
    output::Tone,
    session::{Report, Session},
};

/// The tool that commands are run with.
const RUN_COMMAND: &str = "run_command";

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum RulesCommand {
    /// Show what the rules decide about a shell command, and which rule decides. Runs nothing.
    Check(CheckArgs),
}

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// The command line, as a shell would get it.
    #[arg(value_name = "CMD", required = true, last = true, num_args = 1..)]
    command: Vec<String>,
    /// How much is asked about.
    #[arg(long, value_name = "MODE", default_value = "ask", value_parser = PossibleValuesParser::new(["ask", "auto-read", "auto", "plan"]))]
    mode: String,
    /// What the session may do at all.
    #[arg(long, value_name = "PROFILE", default_value = "default", value_parser = PossibleValuesParser::new(["default", "readonly"]))]
    profile: String,
    /// As if there were nobody to ask.
    #[arg(long)]
    unattended: bool,
    /// As if the command were not run in the sandbox.
    #[arg(long)]
    unsandboxed: bool,
}

impl RulesCommand {
    pub(crate) fn run(self, session: &Session, options: &OpenOptions) -> Result<Report, Problem> {
        match self {
            Self::Check(args) => args.run(session, options),
        }
    }
}

impl CheckArgs {
    fn run(self, session: &Session, options: &OpenOptions) -> Result<Report, Problem> {
        let policy = Policy::load(&options.home.policy())?.load_rules(&options.home.rules())?;
        let line = self.line();
        let script = windlass_shell::parse(&line);
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let directory =
            std::env::current_dir().map_err(|error| Problem::internal("directory", error))?;
        let home = options.environment.path(&env::HOME).unwrap_or_default();
        let (directory, home) = (text(&directory), text(&home));
        let own_home = text(options.home.root());
        let decision = policy.decide_tool(&ToolRequest {
            tool: RUN_COMMAND,
            class: ToolClass::Exec,
            script: Some(&script),
            paths: &[],
            hosts: &[],
            principal: session.principal(),
            mode: match self.mode.as_str() {
                "auto-read" => Mode::AutoRead,
                "auto" => Mode::Auto,
                "plan" => Mode::Plan,
                _ => Mode::Ask,
            },
            profile: match self.profile.as_str() {
                "readonly" => Profile::ReadOnly,
                _ => Profile::Default,
            },
            attendance: match self.unattended {
                true => Attendance::Unattended,
                false => Attendance::Attended,
            },
            taint: Taint::Clean,
            sandbox: match self.unsandboxed {
                true => Sandbox::Off,
                false => Sandbox::On,
            },
            place: Place {
                work_tree: &directory,
                directory: &directory,
                home: &home,
                own_home: &own_home,
                scratch: &[],
            },
            extent: Extent::default(),
            grants: &[],
            now: session.engine().now(),
        });
        let verdict = decision.verdict.as_str();
        let commands: Vec<String> = script.commands.iter().map(|one| one.text()).collect();
        let concerns: Vec<&str> = script
            .concerns
            .iter()
            .map(|one| one.kind.as_str())
            .collect();
        let findings: Vec<String> = decision
            .findings
            .iter()
            .map(|finding| format!("{}: {}", finding.guard.as_str(), finding.what))
            .collect();
        let approvers = match &decision.verdict {
            Verdict::Ask { terms } => terms.approvers.clone(),
            Verdict::Allow | Verdict::Deny => Vec::new(),
        };
        let tone = match decision.verdict {
            Verdict::Allow => Tone::Good,
            Verdict::Ask { .. } => Tone::Warn,
            Verdict::Deny => Tone::Bad,
        };
        let printer = &session.printer;
        printer.data(&printer.paint().text(tone, verdict));
        printer.fields(&[
            ("rule", decision.rule.clone()),
            ("from", decision.source.clone()),
            ("reason", decision.reason.clone().unwrap_or_default()),
            ("guards", findings.join("; ")),
            ("runs", commands.join("; ")),
            ("not understood", concerns.join(", ")),
            ("approvers", approvers.join(", ")),
        ]);
        Ok(Report::new(
            format!("the rules say {verdict}"),
            json!({
                "command": line,
                "verdict": verdict,
                "rule": decision.rule,
                "source": decision.source,
                "reason": decision.reason,
                "findings": findings,
                "commands": commands,
                "concerns": concerns,
                "approvers": approvers,
                "always_human": decision.is_always_human,
            }),
        ))
    }

    /// One argument is a command line; several are the words of one command.
    fn line(&self) -> String {
        match self.command.as_slice() {
            [line] => line.clone(),
            words => {
                let words = words
                    .iter()
                    .map(|word| windlass_shell::Word::plain(word).quoted());
                words.collect::<Vec<_>>().join(" ")
            }
        }
    }
}
