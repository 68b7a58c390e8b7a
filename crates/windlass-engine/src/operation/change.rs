//! Plan → confirm → apply as two operations made from one planner.
//!
//! `<toolset>.plan` plans and seals a token; `<toolset>.apply` plans again, redeems the token
//! and starts the run, which receives exactly the plan that was hashed. A domain writes the
//! planner and the run; neither the token nor the policy is its business.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use windlass_types::{Digest, EffectClass, Plan, Problem, RunId, Timestamp};

use super::{
    Answer, CallContext, Example, Flow, LazySchema, Operation, OperationInfo, input_schema_of,
    output_schema_of,
};
use crate::{
    Engine,
    confirm::{ApplyRequest, Opened, OpenedToken, PolicyView},
    envelope::Envelope,
    run::RunView,
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

/// What applying answers: the run, which goes on by itself.
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
                plan_schema,
                LazySchema::new(output_schema_of::<PlanAnswer>),
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
                apply_schema,
                LazySchema::new(output_schema_of::<ApplyAnswer>),
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
    input: LazySchema,
    output: LazySchema,
) -> OperationInfo {
    let (effect, description) = match flow {
        Flow::Apply => (
            info.effect,
            format!(
                "{} Applies the plan that {}.{} returned: pass the same input and its confirm_token. \
                 Starts a durable run and returns its id.",
                info.description, info.toolset, info.plan_verb
            ),
        ),
        _ => (
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
        title: format!("{} ({verb})", info.title),
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
        is_tool: true,
        is_confirmed_by_call: false,
        validates_itself: false,
        envelope: Envelope::Plain,
    }
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
    ) -> BoxFuture<'a, Result<Answer, Problem>> {
        Box::pin(async move {
            let input = parse_input(&self.info, input)?;
            let plan = self.change.plan(&context, input).await?;
            let sealed = self.engine.seal(&context.principal, &plan)?;
            let policy = self.engine.foresee(&context, &plan);
            let next_actions = if plan.is_empty() {
                vec!["nothing to do".to_owned()]
            } else {
                vec![format!(
                    "review the plan, then call {} with the confirm_token",
                    self.apply_name
                )]
            };
            let answer = PlanAnswer {
                plan_digest: sealed.plan_digest,
                confirm_token: sealed.token,
                confirm_token_expires_at: sealed.expires_at,
                plan,
                policy,
                next_actions,
            };
            to_answer(&answer, None)
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

impl<C: Change> Operation for ApplyOperation<C> {
    fn info(&self) -> &OperationInfo {
        &self.info
    }

    fn call<'a>(
        &'a self,
        context: CallContext,
        mut input: Value,
    ) -> BoxFuture<'a, Result<Answer, Problem>> {
        Box::pin(async move {
            let fields = take_apply_fields(&mut input)?;
            let request = ApplyRequest {
                operation: &self.info.name,
                plan_operation: &self.plan_name,
                kind: &self.kind,
                context: &context,
                confirm_token: fields.confirm_token.as_deref(),
                yes: fields.yes,
                idempotency_key: fields.idempotency_key.as_deref(),
            };
            let opened = match self.engine.open_token(&request).await? {
                Opened::Fresh(opened) => opened,
                Opened::Repeated(run_id) => {
                    return self.answer(&run_id, fields.wait_seconds).await;
                }
            };
            let run_id = match self.start(&request, opened, input).await {
                Ok(run_id) => run_id,
                // The same call may have been applied meanwhile, and the world changed by it:
                // then that is the answer, not that the plan came out differently.
                Err(problem) => match self.engine.open_token(&request).await? {
                    Opened::Repeated(run_id) => run_id,
                    Opened::Fresh(_) => return Err(problem),
                },
            };
            self.answer(&run_id, fields.wait_seconds).await
        })
    }
}

impl<C: Change> ApplyOperation<C> {
    /// Plans again and starts the run.
    async fn start(
        &self,
        request: &ApplyRequest<'_>,
        opened: OpenedToken,
        input: Value,
    ) -> Result<RunId, Problem> {
        let input = parse_input(&self.info, input)?;
        let plan = self.change.plan(request.context, input).await?;
        self.engine.apply(request, opened, plan).await
    }

    async fn answer(&self, run_id: &RunId, wait_seconds: u64) -> Result<Answer, Problem> {
        let record = self
            .engine
            .settle(run_id, Duration::from_secs(wait_seconds))
            .await?;
        let run = RunView::from(record);
        let next_actions = run.next_actions();
        to_answer(&ApplyAnswer { run, next_actions }, Some(run_id.clone()))
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

fn to_answer<T: Serialize>(value: &T, run_id: Option<RunId>) -> Result<Answer, Problem> {
    let output = serde_json::to_value(value)
        .map_err(|error| Problem::internal("operation output", error))?;
    Ok(Answer {
        output,
        run_id,
        ticket: None,
    })
}
