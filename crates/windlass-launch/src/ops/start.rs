//! `launch_start_run`: a configuration becomes a run, once per key.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use windlass_engine::operation::{
    Answer, AnswerWhen, CallContext, Explain, Operation, ProposedRun, Render, Reply,
};
use windlass_launch_model::{
    LaunchState,
    config::{Accepted, schema},
    ids,
};
use windlass_ports::entropy::random;
use windlass_types::{Digest, EffectClass, Problem, RunId, journal::ChangeSubject};

use super::{Desk, telling, traced::traced};
use crate::{
    arguments::Arguments,
    fault,
    run::{KIND, LaunchInput},
    view,
};

const LONGEST_KEY: usize = 200;

/// The answer.
#[derive(Serialize, JsonSchema)]
struct Started {
    /// The run.
    run_id: RunId,
    /// Where it stands.
    state: LaunchState,
    /// Whether an earlier call with the same key started it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    existing: bool,
}

pub(super) fn operation(desk: &Desk) -> Arc<dyn Operation> {
    let desk = desk.clone();
    telling(
        "start_run",
        "Start a launch",
        "Starts a run from a run_config: reads the product, plans and drafts pages in which every \
         fact has evidence, patches them into a copy of the site and validates them. It never \
         opens a pull request by itself. Answers at once; follow with launch_get_status.",
        input_schema(),
    )
    .example(
        "A product and a site on this machine",
        json!({ "run_config": {
            "product_name": "Acme PDF",
            "github_repo_url": "https://git.example/acme/acme-pdf",
            "github_ref": "0123456789abcdef0123456789abcdef01234567",
            "site_repo_url": "https://git.example/acme/site",
            "allowed_paths": ["content/**"],
        }, "idempotency_key": "acme-pdf-2026-01" }),
    )
    .judged_by_plan()
    .output::<Started>()
    .handle_reply(move |context, input| {
        let desk = desk.clone();
        async move { start(&desk, context, input).await }
    })
}

fn input_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "run_config": schema(),
            "idempotency_key": {
                "type": "string",
                "minLength": 1,
                "maxLength": LONGEST_KEY,
                "description": "Repeating a call with the same key and configuration gives the same run.",
            },
        },
        "required": ["run_config"],
        "additionalProperties": false,
    })
}

async fn start(desk: &Desk, context: CallContext, input: Value) -> Result<Reply, Problem> {
    let mut arguments = Arguments::read(input, &["run_config", "idempotency_key"])?;
    let config = arguments.object("run_config")?;
    let key = arguments.text("idempotency_key")?;
    if let Some(key) = &key {
        check_key(key)?;
    }
    let caller = desk.outside.caller(&context.principal);
    let accepted = Accepted::new(config, &caller).map_err(|errors| fault::schema(&errors))?;
    let programs = accepted.config().hugo.exec_allow.iter();
    desk.outside.check_programs(programs.map(String::as_str))?;
    let engine = &desk.engine;
    let fresh = ids::run_id(engine.now(), random(&*engine.entropy))
        .map_err(|error| Problem::internal("run id", error))?;
    let input = LaunchInput {
        config: accepted.json().clone(),
        config_hash: accepted.hash(),
    };
    let input =
        serde_json::to_value(&input).map_err(|error| Problem::internal("launch input", error))?;
    let config = accepted.config();
    let repositories = [
        config.github_repo_url.clone(),
        config.site_repo_url.clone(),
        config.workflows_repo_url.clone().unwrap_or_default(),
    ];
    let repositories: Vec<String> = repositories
        .into_iter()
        .filter(|url| !url.is_empty())
        .collect();
    let lines = vec![
        format!("> read {} at {}", config.github_repo_url, config.github_ref),
        format!("> patch a copy of {}", config.site_repo_url),
        format!("> paths {}", config.allowed_paths.join(", ")),
    ];
    let proposed = ProposedRun::new("launch.start_run", EffectClass::Write, KIND, input);
    let subject = ChangeSubject {
        targets: view::targets(&fresh, &config.product_slug, &repositories),
        lines,
        ..proposed.subject
    };
    let title = format!("launch of {}", config.product_slug);
    let (own, asker, own_id) = (desk.clone(), context.clone(), fresh.clone());
    let render: Render = Box::new(move |record| {
        Box::pin(async move { started(&own, &asker, record.run_id, &own_id).await })
    });
    let (own, asker, hash) = (desk.clone(), context, accepted.hash());
    let explain: Explain = Box::new(move |problem| {
        Box::pin(async move {
            match problem.code().name {
                "IDEMPOTENCY_CONFLICT" => conflict(&own, &asker, &problem, hash).await,
                _ => problem,
            }
        })
    });
    Ok(ProposedRun {
        title,
        subject,
        plan_digest: Some(hash),
        idempotency_key: key,
        run_id: Some(fresh),
        answer_when: AnswerWhen::Created,
        render: Some(render),
        explain: Some(explain),
        ..proposed
    }
    .into())
}

async fn started(
    desk: &Desk,
    context: &CallContext,
    run_id: RunId,
    fresh: &RunId,
) -> Result<Answer, Problem> {
    let existing = run_id != *fresh;
    let state = async {
        if existing {
            Ok(desk.view(context, &run_id).await?.state)
        } else {
            Ok(LaunchState::Created)
        }
    };
    let state = traced(desk, context, "launch_start_run", &run_id, state).await?;
    let started = Started {
        run_id: run_id.clone(),
        state,
        existing,
    };
    let output =
        serde_json::to_value(started).map_err(|error| Problem::internal("answer", error))?;
    Ok(Answer::of_run(output, run_id))
}

fn check_key(key: &str) -> Result<(), Problem> {
    let length = key.chars().count();
    if length == 0 || length > LONGEST_KEY || key.chars().any(char::is_control) {
        return Err(fault::invalid(
            "/idempotency_key",
            "key",
            "an idempotency key has 1 to 200 printable characters",
        ));
    }
    Ok(())
}

/// The key belongs to a run with another configuration.
async fn conflict(desk: &Desk, context: &CallContext, problem: &Problem, given: Digest) -> Problem {
    let existing = problem.details().get("run_id").and_then(Value::as_str);
    let existing = existing.and_then(|id| id.parse::<RunId>().ok());
    let hash = match &existing {
        Some(run_id) => match desk.record(context, run_id).await {
            Ok(record) => view::view(&record, &[]).config_hash.to_string(),
            Err(_) => String::new(),
        },
        None => String::new(),
    };
    let run_id = existing.map(|id| id.to_string()).unwrap_or_default();
    fault::invalid(
        "/idempotency_key",
        "key_conflict",
        format!("the idempotency key was used for {run_id} with another configuration"),
    )
    .with("run_id", run_id.as_str())
    .with(
        "conflict",
        json!({
            "run_id": run_id,
            "existing_hash": hash,
            "given_hash": given,
        }),
    )
}
