//! Plan → confirm → apply as two operations made from one planner.
//!
//! `<toolset>.plan` plans and hands out a token; `<toolset>.apply` plans again and proposes the
//! run, which receives exactly the plan that was hashed. A domain writes the planner and the run;
//! neither the token nor the policy is its business.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use windlass_policy::WithoutRule;
use windlass_ports::CommitError;
use windlass_types::{
    Code, Digest, EffectClass, Plan, Problem, RunId, RunRecord, RunState, Timestamp, code,
    journal::ChangeSubject,
};

use super::{
    Answer, AnswerWhen, Awaited, CallContext, Example, Flow, LazySchema, Operation, OperationInfo,
    ProposedRun, Reply, input_schema_of, output_schema_of,
};
use crate::{
    Engine,
    confirm::{PolicyView, ReturnedToken, TokenPurpose, TokenRefusal},
    contract::Plain,
    engine::commit_problem,
    run::{RunView, config_hash},
};

/// How the two operations of a change are called and described.
#[derive(Clone, Debug)]
pub struct ChangeInfo {
    /// The toolset.
    pub toolset: String,
    /// The verb of the planning operation, e.g. `plan`.
    pub plan_verb: String,
    /// The verb of the applying operation, e.g. `apply`.
    pub apply_verb: String,
    /// A few words for people.
    pub title: String,
    /// What the change is; both descriptions begin with it.
    pub description: String,
    /// The strongest effect a plan may have.
    pub effect: EffectClass,
    /// The kind of run that applies it.
    pub kind: String,
    /// Inputs that work for planning.
    pub examples: Vec<Example>,
}

/// A planner: input in, plan out, nothing changed.
pub trait Change: Send + Sync + 'static {
    /// What a caller asks for.
    type Input: DeserializeOwned + JsonSchema + Send + 'static;

    /// Names and descriptions.
    fn info(&self) -> ChangeInfo;

    /// What people say when they want it, in words that title and description do not have.
    fn search_words(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether a plan says by a rule what it removes, and not by a list. Then what was confirmed is
    /// applied, however much the rule covers by then.
    fn is_rule(&self) -> bool {
        false
    }

    /// What must be so before anything is recorded about the change.
    fn prepare(&self) -> BoxFuture<'_, Result<(), Problem>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Works out what would change. Must give the same plan while the world is the same.
    fn plan<'a>(
        &'a self,
        context: &'a CallContext,
        input: Self::Input,
    ) -> BoxFuture<'a, Result<Plan, Problem>>;
}

/// What planning answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanAnswer {
    /// The plan.
    pub plan: Plan,
    /// Its digest; what the token and every approval name.
    pub plan_digest: Digest,
    /// Pass this to the applying operation within ten minutes; it works once.
    pub confirm_token: String,
    /// When the token stops working.
    pub confirm_token_expires_at: Timestamp,
    /// What policy will say when the plan is applied.
    pub policy: PolicyView,
    /// What to do next.
    pub next_actions: Vec<String>,
}

/// What applying answers: the run, which continues in the background.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ApplyAnswer {
    /// The run.
    pub run: RunView,
    /// What to do next.
    pub next_actions: Vec<String>,
}

/// The fields applying takes besides the planner's own.
#[derive(Debug, Default, Deserialize, JsonSchema)]
struct ApplyFields {
    /// The token of the reviewed plan.
    confirm_token: Option<String>,
    /// An explicit yes, counted where the caller may approve.
    #[serde(default)]
    yes: bool,
    /// Repeating a call with the same key starts no second run.
    idempotency_key: Option<String>,
    /// Wait up to so many seconds for the run to end or to ask something.
    #[serde(default)]
    #[schemars(range(min = 0, max = 300))]
    wait_seconds: u64,
}

/// The planning and the applying operation of a change.
pub fn change_operations<C: Change>(engine: &Engine, change: C) -> Vec<Arc<dyn Operation>> {
    let change = Arc::new(change);
    let plan_schema = LazySchema::new(input_schema_of::<C::Input>);
    let apply_schema = LazySchema::new(|| {
        merge_properties(
            input_schema_of::<C::Input>(),
            input_schema_of::<ApplyFields>(),
        )
    });
    let info = change.info();
    let plan_name = format!("{}.{}", info.toolset, info.plan_verb);
    vec![
        Arc::new(PlanOperation {
            engine: engine.clone(),
            info: operation_info(
                &info,
                &info.plan_verb,
                Flow::Plan,
                (plan_schema, LazySchema::new(output_schema_of::<PlanAnswer>)),
                change.search_words(),
            ),
            apply_name: format!("{}.{}", info.toolset, info.apply_verb),
            change: Arc::clone(&change),
        }),
        Arc::new(ApplyOperation {
            engine: engine.clone(),
            info: operation_info(
                &info,
                &info.apply_verb,
                Flow::Apply,
                (
                    apply_schema,
                    LazySchema::new(output_schema_of::<ApplyAnswer>),
                ),
                change.search_words(),
            ),
            plan_name,
            kind: info.kind,
            change,
        }),
    ]
}

fn operation_info(
    info: &ChangeInfo,
    verb: &str,
    flow: Flow,
    schemas: (LazySchema, LazySchema),
    search_words: &[&str],
) -> OperationInfo {
    let (input, output) = schemas;
    let (title, effect, description) = match flow {
        Flow::Apply => (
            info.title.clone(),
            info.effect,
            format!(
                "{} Applies the plan that {}.{} returned: pass the same input and its confirm_token. \
                 Starts a durable run and returns its id.",
                info.description, info.toolset, info.plan_verb
            ),
        ),
        _ => (
            format!("Plan to {}", lower_first(&info.title)),
            EffectClass::Read,
            format!(
                "{} Shows what would change, changes nothing, returns a confirm_token.",
                info.description
            ),
        ),
    };
    OperationInfo {
        name: format!("{}.{verb}", info.toolset),
        tool: format!("{}_{verb}", info.toolset),
        toolset: info.toolset.clone(),
        title,
        description,
        effect,
        flow,
        scope: info.toolset.clone(),
        input_schema: input,
        output_schema: output,
        examples: if flow == Flow::Plan {
            info.examples.clone()
        } else {
            Vec::new()
        },
        discloses: if flow == Flow::Plan {
            vec!["confirm_token".to_owned()]
        } else {
            Vec::new()
        },
        is_content: false,
        shows_secret: false,
        target_inputs: Vec::new(),
        secret_inputs: Vec::new(),
        is_tool: true,
        reaches_out: false,
        search_words: search_words
            .iter()
            .map(|words| (*words).to_owned())
            .collect(),
        without_rule: WithoutRule::ByEffect,
        answers_approval: false,
        is_judged_by_plan: flow == Flow::Apply,
        validates_itself: false,
        contract: &Plain,
    }
}

/// A title inside a sentence.
fn lower_first(title: &str) -> String {
    let mut letters = title.chars();
    let first = letters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(letters).collect()
}

/// Adds the properties of one object schema to another.
fn merge_properties(mut schema: Value, extra: Value) -> Value {
    let extra = extra
        .get("properties")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    if let Some(map) = schema.as_object_mut()
        && let Some(properties) = map
            .entry("properties")
            .or_insert_with(|| json!({}))
            .as_object_mut()
    {
        properties.extend(extra);
    }
    schema
}

/// A plan that says by a rule what it removes, kept with its token.
#[derive(Serialize, Deserialize)]
struct ConfirmedRule {
    input: Value,
    plan: Plan,
}

struct PlanOperation<C> {
    engine: Engine,
    info: OperationInfo,
    apply_name: String,
    change: Arc<C>,
}

impl<C: Change> Operation for PlanOperation<C> {
    fn info(&self) -> &OperationInfo {
        &self.info
    }

    fn call<'a>(
        &'a self,
        context: CallContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Reply, Problem>> {
        Box::pin(async move {
            let asked = input.clone();
            let input = parse_input(&self.info, input)?;
            self.change.prepare().await?;
            let plan = self.change.plan(&context, input).await?;
            context.require_target(&plan.target)?;
            let plan_digest = plan.digest();
            let note = match self.change.is_rule() {
                true => serde_json::to_value(ConfirmedRule {
                    input: asked,
                    plan: plan.clone(),
                })
                .map_err(|error| Problem::internal("confirmed plan", error))?,
                false => Value::Null,
            };
            let purpose = TokenPurpose {
                operation: self.apply_name.clone(),
                plan_digest,
                targets: vec![plan.target.clone()],
                note,
            };
            let issued = self.engine.issue_token(&context.principal, purpose).await?;
            let policy = self.engine.preview_policy(&context, &plan);
            let next_actions = if plan.is_empty() {
                vec!["nothing to do".to_owned()]
            } else {
                vec![format!(
                    "review the plan, then call {} with the confirm_token",
                    self.apply_name
                )]
            };
            let answer = PlanAnswer {
                plan_digest,
                confirm_token: issued.token,
                confirm_token_expires_at: issued.expires_at,
                plan,
                policy,
                next_actions,
            };
            let output = serde_json::to_value(&answer)
                .map_err(|error| Problem::internal("operation output", error))?;
            Ok(Answer::plain(output).into())
        })
    }
}

struct ApplyOperation<C> {
    engine: Engine,
    info: OperationInfo,
    plan_name: String,
    kind: String,
    change: Arc<C>,
}

/// What bringing a token back tells.
enum Brought {
    /// It has not been used.
    Fresh(ReturnedToken),
    /// An earlier call with the same idempotency key used it; this is that call's run.
    Repeated(RunId),
}

impl<C: Change> Operation for ApplyOperation<C> {
    fn info(&self) -> &OperationInfo {
        &self.info
    }

    fn says_yes(&self, input: &Value) -> bool {
        input.get("yes").and_then(Value::as_bool) == Some(true)
    }

    fn call<'a>(
        &'a self,
        context: CallContext,
        mut input: Value,
    ) -> BoxFuture<'a, Result<Reply, Problem>> {
        Box::pin(async move {
            let fields = take_apply_fields(&mut input)?;
            self.change.prepare().await?;
            let timeout = Duration::from_secs(fields.wait_seconds);
            let again = |run_id| Ok(Reply::Await(Awaited::run(run_id, timeout)));
            let bound = self.bound_to(&input);
            let token = match self.bring(&context, &fields, &bound).await? {
                Brought::Fresh(token) => token,
                Brought::Repeated(run_id) => return again(run_id),
            };
            match self.propose(&context, &fields, token, input).await {
                Ok(proposed) => Ok(ProposedRun {
                    answer_when: AnswerWhen::Polled,
                    timeout,
                    ..proposed
                }
                .into()),
                // The same call may have been applied meanwhile, and the world changed by it:
                // then that is the answer, not that the plan came out differently.
                Err(problem) => match self.bring(&context, &fields, &bound).await? {
                    Brought::Repeated(run_id) => again(run_id),
                    Brought::Fresh(_) => Err(problem),
                },
            }
        })
    }

    fn settled<'a>(
        &'a self,
        context: CallContext,
        ticket: &'a str,
    ) -> BoxFuture<'a, Result<Option<Answer>, Problem>> {
        Box::pin(async move {
            let run_id: RunId = ticket
                .parse()
                .map_err(|error| Problem::internal("ticket", error))?;
            let record = self.engine.visible_run(&context.principal, &run_id).await?;
            match record.state.is_final()
                || record.state == RunState::Held
                || record.wanted_approval().is_some()
            {
                true => self.unsettled(record, ticket).map(Some),
                false => Ok(None),
            }
        })
    }

    fn unsettled(&self, record: RunRecord, _ticket: &str) -> Result<Answer, Problem> {
        let run_id = record.run_id.clone();
        let run = RunView::from(record);
        let next_actions = run.next_actions();
        let output = serde_json::to_value(ApplyAnswer { run, next_actions })
            .map_err(|error| Problem::internal("operation output", error))?;
        Ok(Answer::of_run(output, run_id))
    }
}

impl<C: Change> ApplyOperation<C> {
    /// Takes the token of a call, before anything is planned.
    async fn bring(
        &self,
        context: &CallContext,
        fields: &ApplyFields,
        bound: &Value,
    ) -> Result<Brought, Problem> {
        let Some(token) = fields
            .confirm_token
            .as_deref()
            .filter(|token| !token.is_empty())
        else {
            return Err(self.refuse(
                &code::CONFIRM_TOKEN_REQUIRED,
                "token_missing",
                "this change needs the confirm token of a reviewed plan".to_owned(),
            ));
        };
        let returned = self
            .engine
            .return_token(&context.principal, &self.info.name, token)
            .await;
        let refusal = match returned {
            Ok(token) => return Ok(Brought::Fresh(token)),
            Err(refusal) => refusal,
        };
        let message = refusal.to_string();
        let mismatch = &code::CONFIRM_TOKEN_MISMATCH;
        Err(match refusal {
            TokenRefusal::Unknown => self.refuse(mismatch, "token_invalid", message),
            TokenRefusal::OtherOperation => self.refuse(mismatch, "operation_mismatch", message),
            TokenRefusal::Expired => {
                self.refuse(&code::CONFIRM_TOKEN_EXPIRED, "token_expired", message)
            }
            TokenRefusal::Used(run_id) => {
                let record = self.engine.store.run(&run_id).await?;
                let same_key = record.filter(|record| {
                    record.idempotency_key.is_some()
                        && record.idempotency_key == fields.idempotency_key
                });
                match same_key {
                    Some(record) if self.is_same_call(&record, bound) => {
                        return Ok(Brought::Repeated(run_id));
                    }
                    Some(record) => commit_problem(CommitError::IdempotencyTaken {
                        run_id,
                        config_hash: record.config_hash,
                    }),
                    None => commit_problem(CommitError::TokenUsed { run_id }),
                }
            }
            TokenRefusal::Failed(problem) => problem,
        })
    }

    /// What an idempotency key is bound to: what the caller asked for. The plan is not that: after
    /// the first call the same input plans something else, or nothing.
    fn bound_to(&self, input: &Value) -> Value {
        json!({ "operation": self.info.name, "input": input })
    }

    /// Whether the run was started by a call for the same. Earlier versions bound the key to the plan,
    /// which the token stands for.
    fn is_same_call(&self, record: &RunRecord, bound: &Value) -> bool {
        record.config_hash == config_hash(&self.kind, bound)
            || record.config_hash == config_hash(&self.kind, &record.input)
    }

    fn refuse(&self, code: &'static Code, reason: &str, message: String) -> Problem {
        Problem::new(code, message)
            .with("reason_code", reason)
            .next(format!("call {} and review the plan", self.plan_name))
            .next(format!(
                "call {} with the new confirm_token",
                self.info.name
            ))
    }

    /// Plans again; the plan must be the confirmed one.
    async fn propose(
        &self,
        context: &CallContext,
        fields: &ApplyFields,
        token: ReturnedToken,
        input: Value,
    ) -> Result<ProposedRun, Problem> {
        let bound = self.bound_to(&input);
        let confirmed: Option<ConfirmedRule> = match self.change.is_rule() {
            true => serde_json::from_value(token.purpose.note.clone()).ok(),
            false => None,
        };
        let plan = match confirmed {
            Some(confirmed) if confirmed.input == input => confirmed.plan,
            _ => {
                let input = parse_input(&self.info, input)?;
                self.change.plan(context, input).await?
            }
        };
        let plan_digest = plan.digest();
        if plan_digest != token.purpose.plan_digest {
            return Err(Problem::new(
                &code::CONFIRM_TOKEN_MISMATCH,
                "the plan has changed since it was confirmed",
            )
            .with("reason_code", "plan_changed")
            .with(
                "confirmed_plan_digest",
                token.purpose.plan_digest.to_string(),
            )
            .with("current_plan_digest", plan_digest.to_string())
            .next(format!("call {} and review what differs", self.plan_name)));
        }
        let lines = plan.lines();
        Ok(ProposedRun {
            title: format!("{} {}", plan.operation, plan.target),
            files: plan.files(),
            subject: ChangeSubject {
                operation: plan.operation.clone(),
                targets: vec![plan.target],
                effect: plan.effect,
                lines,
                yes: fields.yes,
            },
            plan_digest: Some(plan_digest),
            token: Some(token),
            idempotency_key: fields.idempotency_key.clone(),
            bound_to: Some(bound),
            ..ProposedRun::new(&plan.operation, plan.effect, &self.kind, plan.payload)
        })
    }
}

fn take_apply_fields(input: &mut Value) -> Result<ApplyFields, Problem> {
    let Some(map) = input.as_object_mut() else {
        return Err(Problem::invalid("", "type", "the input must be an object"));
    };
    let mut fields = serde_json::Map::new();
    for key in ["confirm_token", "yes", "idempotency_key", "wait_seconds"] {
        if let Some(value) = map.remove(key) {
            fields.insert(key.to_owned(), value);
        }
    }
    serde_json::from_value(Value::Object(fields))
        .map_err(|error| Problem::invalid("", "shape", error.to_string()))
}

fn parse_input<I: DeserializeOwned>(info: &OperationInfo, input: Value) -> Result<I, Problem> {
    serde_json::from_value(input)
        .map_err(|error| Problem::invalid("", "shape", format!("{}: {error}", info.name)))
}
