//! `policy lint|audit|lock`: what an organisation demands.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use windlass_engine::operation::Operation;
use windlass_pack_author::{
    GitCheckouts, LintRequest, audit as report, lint as examine, policy_lock,
};
use windlass_types::Problem;

use super::{Shop, manifest::finish, value, with_warnings};
use crate::{
    arguments::{Common, require_yes},
    workspace::{Moment, Pack},
};

pub(super) fn operations(shop: &Shop) -> Vec<Arc<dyn Operation>> {
    vec![
        shop.query(
            "policy.lint",
            "Lint the repository",
            "Checks skills, commands and the organisation's rules.",
            lint,
        ),
        shop.query(
            "policy.audit",
            "Audit the lockfile",
            "Lists every module with its source and what changed since the last commit.",
            audit,
        ),
        shop.change(
            "policy.lock",
            "Pin the policy pack",
            "Resolves the organisation's policy pack and writes its lockfile.",
            lock,
        ),
    ]
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct PolicyInput {
    #[serde(flatten)]
    common: Common,
    /// Unknown keys fail too.
    #[serde(default)]
    strict: bool,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    yes: bool,
}

fn lint(pack: &Pack, moment: &Moment, input: PolicyInput) -> Result<Value, Problem> {
    let report = examine(&LintRequest {
        repo: &pack.repo(&input.common, moment),
        strict: input.strict,
        program: &pack.environment.program,
    })?;
    value(&report.passed()?)
}

fn audit(pack: &Pack, moment: &Moment, input: PolicyInput) -> Result<Value, Problem> {
    let found = report(&pack.repo(&input.common, moment), &*pack.git)?;
    Ok(with_warnings(value(&found.data)?, found.warnings))
}

fn lock(pack: &Pack, moment: &Moment, input: PolicyInput) -> Result<Value, Problem> {
    require_yes(input.yes || input.dry_run, "policy lock")?;
    let state = pack.state();
    let checkouts = GitCheckouts::new(state.home(), &*pack.git);
    let locked = policy_lock(
        &pack.repo(&input.common, moment),
        &checkouts,
        &windlass_pack_model::NoHashCache,
    )?;
    finish(pack, moment, &locked, input.dry_run)
}
