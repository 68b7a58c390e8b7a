//! `windlass policy`: the rules in force and what they would decide.

use clap::{Args, Subcommand, builder::PossibleValuesParser};
use serde_json::json;
use windlass_policy::WithoutRule;
use windlass_types::{EffectClass, Problem, code};

use crate::{
    OpenOptions,
    commands::{field, given},
    output::Tone,
    session::{Report, Session},
};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum PolicyCommand {
    /// Show the policy file, or the defaults without one.
    Show(ShowArgs),
    /// Show what policy would decide, and which rule decides.
    Check(CheckArgs),
}

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {}

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// The operation, such as `demo.apply`.
    #[arg(long, value_name = "OPERATION")]
    operation: String,
    /// What it would act on.
    #[arg(long, value_name = "TARGET", default_value = "")]
    target: String,
    /// What it would do. Default: the operation's own effect class.
    #[arg(long, value_name = "CLASS", value_parser = PossibleValuesParser::new(["read", "write", "destructive"]))]
    effect: Option<String>,
    /// Who would call, such as `local:ada` or `key:key_…`. Default: you.
    #[arg(long, value_name = "PRINCIPAL")]
    principal: Option<String>,
}

impl PolicyCommand {
    pub(crate) async fn run(
        self,
        session: &Session,
        options: &OpenOptions,
    ) -> Result<Report, Problem> {
        match self {
            Self::Show(_) => show(session, options),
            Self::Check(args) => args.run(session).await,
        }
    }
}

const WITHOUT_A_FILE: &str = "\
Without a policy file: reads are allowed, changes ask, and the calls listed below count as their own confirmation.
Approvers: you (local:*), and holders of a key with the scopes `runs` and `approve`.";

fn show(session: &Session, options: &OpenOptions) -> Result<Report, Problem> {
    let path = options.home.policy();
    let text = windlass_config::file::read_if_there(&path).map_err(|error| {
        Problem::new(
            &code::CONFIG_INVALID,
            format!("the policy file cannot be read: {error}"),
        )
    })?;
    let printer = &session.printer;
    printer.notice(&format!(
        "{}{}",
        path.display(),
        if text.is_some() {
            ""
        } else {
            " (no such file)"
        }
    ));
    printer.data(text.as_deref().unwrap_or(WITHOUT_A_FILE).trim_end());
    let confirmed_by_call: Vec<&str> = session
        .catalogue()
        .operations()
        .filter(|info| info.without_rule == WithoutRule::ConfirmedByCall)
        .filter(|info| info.effect != EffectClass::Read)
        .map(|info| info.name.as_str())
        .collect();
    printer.notice(&format!(
        "Where no rule matches, reads are allowed, and these {} operations are allowed because the \
         call itself confirms them; any rule that matches overrides this:\n  {}",
        confirmed_by_call.len(),
        confirmed_by_call.join(" ")
    ));
    printer.hint("windlass policy check --operation NAME --target TARGET");
    Ok(Report::new(
        "the policy in force",
        json!({
            "file": path,
            "exists": text.is_some(),
            "text": text,
            "confirmed_by_call": confirmed_by_call,
        }),
    ))
}

impl CheckArgs {
    async fn run(self, session: &Session) -> Result<Report, Problem> {
        let catalogue = session.catalogue();
        let info = catalogue
            .find(&self.operation)
            .ok_or_else(|| catalogue.unknown(&self.operation))?;
        let effect = self
            .effect
            .unwrap_or_else(|| info.effect.as_str().to_owned());
        let input = json!({
            "operation": info.name,
            "target": self.target,
            "effect": effect,
            "principal": self.principal,
        });
        let answer = session.call("admin.policy_check", given(input)).await?;
        let verdict: String = field(&answer.output, "verdict")?;
        let approvers: Vec<String> = field(&answer.output, "approvers")?;
        let quorum: u64 = field(&answer.output, "quorum")?;
        let distinct: bool = field(&answer.output, "distinct_approver")?;
        let mut conditions = Vec::new();
        if quorum > 1 {
            conditions.push(format!("{quorum} different approvers"));
        }
        if distinct {
            conditions.push("not the caller".to_owned());
        }
        let tone = match verdict.as_str() {
            "allow" => Tone::Good,
            "deny" => Tone::Bad,
            _ => Tone::Warn,
        };
        let printer = &session.printer;
        printer.data(&printer.paint().text(tone, &verdict));
        printer.fields(&[
            ("rule", field(&answer.output, "rule")?),
            ("reason", field(&answer.output, "reason")?),
            ("approvers", approvers.join(", ")),
            ("conditions", conditions.join(", ")),
        ]);
        Ok(Report::new(format!("policy says {verdict}"), answer.output))
    }
}
