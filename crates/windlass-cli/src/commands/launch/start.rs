//! `windlass launch start`.

use std::path::PathBuf;

use clap::{Args, builder::PossibleValuesParser};
use serde_json::{Map, Value, json};
use windlass_text::shell_word;
use windlass_types::{Problem, RunId};

use super::{
    config::{self, Flags},
    live::{PROGRAM, follow},
    show::{ask_status, conclude},
};
use crate::{
    commands::field,
    flow::detached,
    session::{Report, Session},
};

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct StartArgs {
    /// The product repository: a path, or an https or ssh address.
    #[arg(long, value_name = "REPO", required_unless_present = "config")]
    product: Option<String>,
    /// The product's branch, tag or commit. Default: the repository's default branch.
    #[arg(long = "ref", value_name = "REF")]
    reference: Option<String>,
    /// The site repository: a path, or an https or ssh address.
    #[arg(long, value_name = "REPO", required_unless_present = "config")]
    site: Option<String>,
    /// The site's branch, tag or commit. Default: the repository's default branch.
    #[arg(long, value_name = "REF")]
    site_ref: Option<String>,
    /// What may be written in the site: files, folders or patterns. Nothing else ever is.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    allow: Vec<String>,
    /// The product's name, as pages show it. Default: what its manifest or folder says.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// How strict the gates are. A profile in the configuration wins.
    #[arg(long, value_name = "PROFILE", value_parser = PossibleValuesParser::new(["local", "ci", "prod"]))]
    profile: Option<String>,
    /// How much is written.
    #[arg(long, value_name = "TIER", value_parser = PossibleValuesParser::new(["minimal", "standard", "rich"]))]
    tier: Option<String>,
    /// Write only these sections. Default: all whose folders may be written.
    #[arg(long, value_name = "SECTION", num_args = 1.., value_parser = PossibleValuesParser::new(["products", "docs", "reference", "kb", "blog"]))]
    section: Vec<String>,
    /// How many issues the run may fix. Default: 3.
    #[arg(long, value_name = "COUNT")]
    max_fixes: Option<u32>,
    /// A run_config as YAML or JSON, or - for standard input. Flags override it; paths in it
    /// are relative to the current directory.
    #[arg(long, short, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Repeating the command with the same key and configuration starts no second run.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Start the run and return; do not follow it.
    #[arg(long)]
    no_wait: bool,
}

impl StartArgs {
    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let config = self.run_config(session)?;
        let prepared = session
            .call("launch.prepare", json!({ "run_config": config }))
            .await?
            .output;
        let config: Map<String, Value> = field(&prepared, "run_config")?;
        for note in field::<Vec<String>>(&prepared, "notes")? {
            session.printer.notice(&note);
        }
        if !config.contains_key("allowed_paths") {
            return Err(self.nothing_allowed(&field::<Vec<String>>(&prepared, "suggested_paths")?));
        }
        let mut input = json!({ "run_config": config });
        if let Some(key) = &self.key {
            input["idempotency_key"] = json!(key);
        }
        let mut answer = session.call("launch.start_run", input).await?.output;
        let run_id: RunId = field(&answer, "run_id")?;
        if answer.get("existing") == Some(&Value::Bool(true)) {
            session
                .printer
                .notice(&format!("The key was already used: it started {run_id}."));
        }
        if self.no_wait {
            return detached(session, PROGRAM, &run_id, answer).await;
        }
        follow(&run_id).run(session).await?;
        let (now, status) = ask_status(session, &run_id).await?;
        answer["state"] = json!(status.state);
        answer["status"] = now["status"].clone();
        conclude(session, &run_id, answer, &status).await
    }

    /// The configuration as far as it was given.
    fn run_config(&self, session: &Session) -> Result<Map<String, Value>, Problem> {
        let mut config = match &self.config {
            Some(path) => config::read(path)?,
            None => Map::new(),
        };
        let mut flags = Flags::default();
        flags.set("github_repo_url", self.product.clone());
        flags.set("github_ref", self.reference.clone());
        flags.set("site_repo_url", self.site.clone());
        flags.set("site_ref", self.site_ref.clone());
        flags.list("allowed_paths", &self.allow);
        flags.set("product_name", self.name.clone());
        flags.set("launch_tier", self.tier.clone());
        flags.list("required_sections", &self.section);
        flags.set("max_fix_attempts", self.max_fixes);
        match (&self.profile, config.get("validation_profile")) {
            (Some(asked), Some(Value::String(fixed))) if asked != fixed => {
                session.printer.notice(&format!(
                    "The configuration says profile {fixed}, so --profile {asked} is not used."
                ));
            }
            (Some(asked), None) => flags.set("validation_profile", Some(asked.clone())),
            _ => {}
        }
        flags.apply(&mut config);
        Ok(config)
    }

    /// What may be written is missing: that is never guessed, only suggested.
    fn nothing_allowed(&self, suggested: &[String]) -> Problem {
        let problem = Problem::invalid(
            "allow",
            "required",
            "say what may be written in the site; nothing else is ever written",
        );
        if suggested.is_empty() {
            return problem.next("repeat the command with --allow PATH");
        }
        let paths: Vec<String> = suggested.iter().map(|path| shell_word(path)).collect();
        problem
            .with("suggested_paths", json!(suggested))
            .next(format!("{} --allow {}", self.words(), paths.join(" ")))
    }

    /// The same command as words to type.
    fn words(&self) -> String {
        let mut words = vec!["windlass launch start".to_owned()];
        let config = self.config.as_ref().map(|path| path.display().to_string());
        for (flag, value) in [
            ("--config", &config),
            ("--product", &self.product),
            ("--ref", &self.reference),
            ("--site", &self.site),
            ("--site-ref", &self.site_ref),
            ("--name", &self.name),
            ("--profile", &self.profile),
            ("--tier", &self.tier),
            ("--key", &self.key),
        ] {
            words.extend(
                value
                    .iter()
                    .map(|value| format!("{flag} {}", shell_word(value))),
            );
        }
        words.extend(self.max_fixes.map(|count| format!("--max-fixes {count}")));
        if !self.section.is_empty() {
            words.push(format!("--section {}", self.section.join(" ")));
        }
        words.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_written_is_suggested_and_never_assumed() {
        let args = StartArgs {
            product: Some("./acme pdf".to_owned()),
            site: Some("../site".to_owned()),
            section: vec!["docs".to_owned()],
            max_fixes: Some(5),
            ..StartArgs::default()
        };
        let paths = ["content/docs/acme".to_owned(), "content/kb/acme".to_owned()];
        let problem = args.nothing_allowed(&paths);
        insta::assert_snapshot!(problem.next_actions().join("\n"), @"windlass launch start --product './acme pdf' --site ../site --max-fixes 5 --section docs --allow content/docs/acme content/kb/acme");
        assert_eq!(problem.code().exit_code, 2);
        insta::assert_snapshot!(args.nothing_allowed(&[]).next_actions().join("\n"), @"repeat the command with --allow PATH");
    }
}
