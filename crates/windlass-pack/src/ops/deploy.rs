//! `deploy`, `deploy_apply`, and the command line's apply: plan → confirm → apply.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_engine::{
    confirm::{ReturnedToken, TokenPurpose, TokenRefusal},
    operation::{Answer, CallContext, Operation, ProposedRun, operation},
};
use windlass_pack_deploy::{Adoption, Binding, DeployPlan, PlanHash};
use windlass_pack_model::fault;
use windlass_types::{Digest, EffectClass, Problem, Surface};

use super::{
    Outcome, Shop, done,
    plan::{PlanInput, plan_data, planned},
    with_warnings,
};
use crate::{
    apply::{Finish, LOCK_WAIT, Prepared, Start, blocking, propose, targets},
    arguments::{Common, read_tool, require_yes, says_yes},
    contract::{self, PackContract},
    workspace::{Moment, Pack, Scene, Workspace},
};

/// The operation tokens are for.
const APPLY: &str = "pack.deploy_apply";
/// How many paths a refusal names.
const SAMPLES: usize = 20;

pub(super) fn operations(shop: &Shop) -> Vec<Arc<dyn Operation>> {
    let planning = shop.clone();
    vec![
        shop.tool("deploy", "deploy", contract::inputs::plan())
            .describe(
                "Plan a deploy and get a confirm token",
                "Shows what a deploy would change and returns a confirm_token for deploy_apply. Show the plan to the user first.",
            )
            .discloses("confirm_token")
            .discloses("changes")
            .handle_reply(move |context: CallContext, input: Value| {
                let shop = planning.clone();
                async move { deploy(&shop, &context, input).await }
            }),
        shop.writing(
            shop.tool("deploy_apply", "deploy_apply", contract::inputs::deploy_apply())
                .describe(
                    "Apply a reviewed deploy",
                    "Applies exactly the plan that deploy showed: needs yes=true and that call's confirm_token. Atomic, with a snapshot to roll back to.",
                )
                .discloses("changes"),
            EffectClass::Destructive,
            |shop, context, input| async move { deploy_apply(&shop, &context, input).await },
        ),
        shop.proposing(
            shop.named(operation("pack", "apply"))
                .describe(
                    "Apply a deploy from the command line",
                    "Plans and applies in one call, for a person who has seen the plan.",
                )
                .contract(&PackContract)
                .not_a_tool()
                .discloses("changes")
                .command(EffectClass::Destructive),
            |shop, context, input| async move { apply(&shop, &context, input).await },
        ),
    ]
}

/// Plans, and hands out a token where the caller is one that confirms with it.
async fn deploy(shop: &Shop, context: &CallContext, input: Value) -> Outcome {
    shop.judge(context, &input)?;
    let (common, PlanInput { .. }) = read_tool(input)?;
    let (pack, moment) = (Arc::clone(&shop.pack), Moment::of(&shop.engine, context));
    let (mut data, note, hash, targets) = blocking(move || {
        let (workspace, scene, plan) = planned(&pack, common, moment)?;
        let mut data = plan_data(&workspace, &plan)?;
        add_move(&mut data, &workspace, &scene)?;
        data["applied"] = json!(false);
        let hash = workspace.hash(&plan);
        let note = Note::of(&workspace, &hash, &plan);
        let targets = targets(&workspace.repo, &workspace.roots_to_lock()?);
        Ok((with_warnings(data, plan.warnings), note, hash, targets))
    })
    .await?;
    // The command line confirms by asking, not by token.
    if context.surface != Surface::Cli {
        let purpose = TokenPurpose {
            operation: APPLY.to_owned(),
            plan_digest: hash.full,
            targets,
            note: note.into_value()?,
        };
        let issued = shop.engine.issue_token(&context.principal, purpose).await?;
        data["confirm_plan_hash"] = json!(hash.confirm);
        data["confirm_token"] = json!(issued.token);
        data["confirm_token_expires_at"] = json!(issued.expires_at.to_string());
    }
    done(data)
}

/// What a token remembers of its plan.
#[derive(serde::Serialize, Deserialize)]
struct Note {
    /// `$AGENTPACK_HOME`: part of who the caller is.
    pack_home: std::path::PathBuf,
    binding: Digest,
    confirm_plan_hash: Digest,
    /// Each changed path with a digest of its change, to say later what differs.
    paths: Vec<(String, String)>,
}

impl Note {
    fn of(workspace: &Workspace<'_>, hash: &PlanHash, plan: &DeployPlan) -> Self {
        Self {
            pack_home: canonical_home(workspace),
            binding: Binding::digest(&workspace.binding()),
            confirm_plan_hash: hash.confirm,
            paths: change_marks(plan),
        }
    }

    fn into_value(self) -> Result<Value, Problem> {
        super::value(&self)
    }
}

/// The pack home, whatever name it was given by.
fn canonical_home(workspace: &Workspace<'_>) -> std::path::PathBuf {
    let home = &workspace.pack.environment.pack_home;
    fs_err::canonicalize(home).unwrap_or_else(|_| home.clone())
}

/// Enough of each change to find those that differ; bounded, since a token is kept for a day.
fn change_marks(plan: &DeployPlan) -> Vec<(String, String)> {
    const MOST: usize = 2_000;
    let mark =
        |digest: Option<Digest>| digest.map_or_else(|| "-".to_owned(), |digest| digest.short());
    plan.changes
        .iter()
        .take(MOST)
        .map(|change| {
            let marks = format!(
                "{}>{}",
                mark(change.before_sha256),
                mark(change.after_sha256)
            );
            (change.path.display().to_string(), marks)
        })
        .collect()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DeployApplyInput {
    #[serde(default)]
    adopt: bool,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    confirm_token: Option<String>,
    #[serde(rename = "yes")]
    _yes: bool,
}

/// The order of refusals is the contract's: yes, token, its age, its purpose, the plan, adopt.
async fn deploy_apply(shop: &Shop, context: &CallContext, input: Value) -> Outcome {
    require_yes(says_yes(&input), "deploy --apply")?;
    let (common, input): (Common, DeployApplyInput) = read_tool(input)?;
    let (pack, moment) = (Arc::clone(&shop.pack), Moment::of(&shop.engine, context));
    if input.dry_run {
        return dry_run(pack, common, moment).await;
    }
    let token = match input.confirm_token.filter(|token| !token.is_empty()) {
        Some(token) => token,
        None => {
            return Err(hinted(fault::token_required(
                "deploy_apply needs the confirm_token of a reviewed deploy",
            )));
        }
    };
    let returned = shop
        .engine
        .return_token(&context.principal, APPLY, &token)
        .await
        .map_err(refused)?;
    let note: Note = serde_json::from_value(returned.purpose.note.clone())
        .map_err(|error| Problem::internal("confirm token", error))?;
    let adoption = if input.adopt {
        Adoption::all()
    } else {
        Adoption::none()
    };
    let confirmation = Confirmation::Token(Confirmed {
        plan_digest: returned.purpose.plan_digest,
        note,
    });
    let ready =
        blocking(move || prepare(&pack, common, moment, &adoption, Some(&confirmation))).await?;
    finish(shop, APPLY, ready, Some(returned)).await
}

/// Says that Codex's home would move.
fn add_move(data: &mut Value, workspace: &Workspace<'_>, scene: &Scene) -> Result<(), Problem> {
    if let Some(moved) = workspace.moved_home(scene) {
        data["codex_home_moved"] = super::value(&moved)?;
    }
    Ok(())
}

/// The plan, shown as an apply that did not happen.
async fn dry_run(pack: Arc<Pack>, common: Common, moment: Moment) -> Outcome {
    let data = blocking(move || {
        let (workspace, scene, plan) = planned(&pack, common, moment)?;
        let mut data = plan_data(&workspace, &plan)?;
        add_move(&mut data, &workspace, &scene)?;
        data["applied"] = json!(false);
        data["plan_digest"] = json!(workspace.hash(&plan).full);
        Ok(with_warnings(data, plan.warnings))
    })
    .await?;
    done(data)
}

/// What the command line may ask for.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct ApplyInput {
    #[serde(flatten)]
    common: Common,
    /// Take over every unmanaged file in the way.
    #[serde(default)]
    adopt: bool,
    /// Take over only these, as paths or patterns.
    #[serde(default)]
    adopt_paths: Vec<String>,
    /// Leave the other unmanaged files out instead of refusing.
    #[serde(default)]
    skip_unadopted: bool,
    /// The digest of the plan a dry run showed; any other plan is refused.
    #[serde(default)]
    plan_digest: Option<Digest>,
    /// Show the plan and write nothing.
    #[serde(default)]
    dry_run: bool,
    /// An explicit yes.
    #[serde(default)]
    yes: bool,
}

async fn apply(shop: &Shop, context: &CallContext, input: ApplyInput) -> Outcome {
    let (pack, moment) = (Arc::clone(&shop.pack), Moment::of(&shop.engine, context));
    if input.dry_run {
        return dry_run(pack, input.common, moment).await;
    }
    require_yes(input.yes, "deploy --apply")?;
    let adoption = Adoption {
        all: input.adopt,
        paths: moment.patterns(&input.adopt_paths),
        skip_others: input.skip_unadopted,
    };
    let ready = blocking(move || {
        let shown = input.plan_digest.map(Confirmation::Shown);
        prepare(&pack, input.common, moment, &adoption, shown.as_ref())
    })
    .await?;
    finish(shop, "pack.apply", ready, None).await
}

/// What stands behind an apply.
enum Confirmation {
    /// The token of a reviewed plan.
    Token(Confirmed),
    /// A person said yes to the plan with this digest.
    Shown(Digest),
}

/// What a token confirmed.
struct Confirmed {
    plan_digest: Digest,
    note: Note,
}

/// A plan under locks, ready to be started.
struct Ready {
    data: Value,
    warnings: Vec<String>,
    plan_digest: Digest,
    prepared: Prepared,
    title: String,
}

/// Locks the roots, plans once, compares with what was confirmed, and freezes that plan.
fn prepare(
    pack: &Pack,
    common: Common,
    moment: Moment,
    adoption: &Adoption,
    confirmation: Option<&Confirmation>,
) -> Result<Ready, Problem> {
    let mut workspace = Workspace::open(pack, common, moment)?;
    if let Some(Confirmation::Token(confirmed)) = confirmation {
        let same_home = confirmed.note.pack_home == canonical_home(&workspace);
        if !same_home || confirmed.note.binding != workspace.binding().digest() {
            return Err(hinted(fault::token_mismatch(
                "the confirm token was issued for other arguments",
            )));
        }
    }
    let roots = workspace.roots_to_lock()?;
    let locks = workspace.state.lock(&roots, "planning", LOCK_WAIT)?;
    workspace.hashes.keep_contents();
    let scene = workspace.look()?;
    let plan = workspace.plan(&scene)?;
    workspace.remember_hashes();
    let hash = workspace.hash(&plan);
    match confirmation {
        Some(Confirmation::Token(confirmed)) if confirmed.plan_digest != hash.full => {
            return Err(plan_changed(confirmed, &hash, &plan));
        }
        Some(Confirmation::Shown(digest)) if *digest != hash.full => {
            return Err(fault::token_mismatch(
                "the plan has changed since it was shown; nothing was written",
            ));
        }
        _ => {}
    }
    if let Some(moved) = workspace.moved_home(&scene) {
        moved.agreed(confirmation.is_some())?;
    }
    let event = plan.approve(adoption)?;
    for link in &plan.links {
        link.agreed()?;
    }
    let prepared = Prepared::new(&workspace.state, locks, &event, &workspace.event_context())?
        .with_contents(workspace.hashes.take_contents());
    let mut data = plan_data(&workspace, &plan)?;
    if !event.left_out.is_empty() {
        let left_out = event.left_out.iter();
        data["left_out"] = left_out
            .map(|(target, path)| json!({ "target": target, "path": path.display().to_string() }))
            .collect();
        // What is shown is what is done.
        data["changes"] = super::value(&event.changes)?;
        data["summary"] = super::value(&event.summary)?;
    }
    Ok(Ready {
        data,
        warnings: plan.warnings,
        plan_digest: hash.full,
        prepared,
        title: format!("pack deploy {}", workspace.repo.display()),
    })
}

async fn finish(
    shop: &Shop,
    operation: &'static str,
    ready: Ready,
    token: Option<ReturnedToken>,
) -> Outcome {
    let Ready {
        mut data,
        mut warnings,
        plan_digest,
        prepared,
        title,
    } = ready;
    let is_noop = prepared.is_noop();
    // Without a token nothing has to be redeemed, and nothing to do is no run.
    if is_noop && token.is_none() {
        data["applied"] = json!(false);
        data["reason"] = json!("no_changes");
        return done(with_warnings(data, warnings));
    }
    let start = Start {
        operation,
        effect: EffectClass::Destructive,
        title,
        plan_digest: Some(plan_digest),
        token,
    };
    let finish: Finish = Box::new(move |applied| {
        data["applied"] = json!(!is_noop);
        match applied.snapshot_id {
            Some(id) => data["snapshot_id"] = json!(id),
            None => data["reason"] = json!("no_changes"),
        }
        data["run_id"] = json!(applied.run_id);
        warnings.extend(applied.warnings);
        Ok(Answer::of_run(
            with_warnings(data, warnings),
            applied.run_id,
        ))
    });
    let proposed = propose(&shop.pack, &shop.engine, prepared, start, finish).await?;
    Ok(ProposedRun {
        explain: Some(Box::new(|problem| {
            Box::pin(async move { used_up(problem) })
        })),
        ..proposed
    }
    .into())
}

/// A token that another call redeemed in the meantime.
fn used_up(problem: Problem) -> Problem {
    if problem.code() == &windlass_types::code::CONFIRM_TOKEN_USED {
        return hinted(fault::token_mismatch(problem.message().to_owned()));
    }
    problem
}

fn refused(refusal: TokenRefusal) -> Problem {
    match refusal {
        TokenRefusal::Expired => hinted(fault::token_expired(refusal.to_string())),
        TokenRefusal::Unknown | TokenRefusal::OtherOperation | TokenRefusal::Used(_) => {
            hinted(fault::token_mismatch(refusal.to_string()))
        }
        TokenRefusal::Failed(problem) => problem,
    }
}

fn plan_changed(confirmed: &Confirmed, hash: &PlanHash, plan: &DeployPlan) -> Problem {
    let before: std::collections::BTreeMap<_, _> = confirmed.note.paths.iter().cloned().collect();
    let after: std::collections::BTreeMap<_, _> = change_marks(plan).into_iter().collect();
    let mut changed: Vec<&String> = before
        .iter()
        .filter(|(path, marks)| after.get(*path) != Some(marks))
        .map(|(path, _)| path)
        .chain(after.keys().filter(|path| !before.contains_key(*path)))
        .collect();
    changed.sort();
    changed.truncate(SAMPLES);
    hinted(fault::token_mismatch(
        "the plan has changed since it was reviewed",
    ))
    .with("confirm_plan_hash", hash.confirm.to_string())
    .with(
        "expected_confirm_plan_hash",
        confirmed.note.confirm_plan_hash.to_string(),
    )
    .with("changed_paths", json!(changed))
}

fn hinted(problem: Problem) -> Problem {
    problem.with(
        "hint",
        "call deploy, review the plan, then call deploy_apply with its confirm_token",
    )
}
