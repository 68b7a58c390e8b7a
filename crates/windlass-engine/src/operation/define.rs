//! Makes an operation out of a typed async function and a description.

use std::{future::Future, marker::PhantomData, path::PathBuf, sync::Arc};

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use windlass_policy::WithoutRule;
use windlass_types::{EffectClass, Problem, RunId};

use super::{
    Answer, CallContext, CallPlan, Example, Flow, LazySchema, Operation, OperationInfo, Reply,
    input_schema_of, output_schema_of,
};
use crate::contract::{Contract, Plain};

/// Starts the definition of `<toolset>.<verb>`, a query until told otherwise.
pub fn operation(toolset: &str, verb: &str) -> OperationBuilder {
    OperationBuilder {
        info: OperationInfo {
            name: format!("{toolset}.{verb}"),
            tool: format!("{toolset}_{verb}"),
            toolset: toolset.to_owned(),
            title: String::new(),
            description: String::new(),
            effect: EffectClass::Read,
            flow: Flow::Query,
            scope: toolset.to_owned(),
            input_schema: LazySchema::from(Value::Null),
            output_schema: LazySchema::from(Value::Null),
            examples: Vec::new(),
            discloses: Vec::new(),
            is_content: false,
            shows_secret: false,
            target_inputs: Vec::new(),
            secret_inputs: Vec::new(),
            is_tool: true,
            reaches_out: false,
            search_words: Vec::new(),
            without_rule: WithoutRule::ByEffect,
            answers_approval: false,
            is_judged_by_plan: false,
            validates_itself: false,
            contract: &Plain,
        },
        has_own_input: false,
        has_own_output: false,
        plan: None,
        places: None,
    }
}

type PlanOfCall = dyn Fn(&CallContext, &Value) -> Result<CallPlan, Problem> + Send + Sync;

type PlacesOfCall = dyn Fn(&CallContext, &Value) -> Vec<PathBuf> + Send + Sync;

/// A definition under way.
pub struct OperationBuilder {
    info: OperationInfo,
    has_own_input: bool,
    has_own_output: bool,
    plan: Option<Box<PlanOfCall>>,
    places: Option<Box<PlacesOfCall>>,
}

impl OperationBuilder {
    /// A few words for people, and what it does and when to use it.
    #[must_use]
    pub fn describe(mut self, title: &str, description: &str) -> Self {
        self.info.title = title.to_owned();
        self.info.description = description.to_owned();
        self
    }

    /// A word to a run.
    #[must_use]
    pub const fn signal(mut self) -> Self {
        self.info.flow = Flow::Signal;
        self.info.effect = EffectClass::Write;
        self
    }

    /// A command with that effect.
    #[must_use]
    pub const fn command(mut self, effect: EffectClass) -> Self {
        self.info.flow = Flow::Command;
        self.info.effect = effect;
        self
    }

    /// Another flow and effect.
    #[must_use]
    pub const fn flow(mut self, flow: Flow, effect: EffectClass) -> Self {
        self.info.flow = flow;
        self.info.effect = effect;
        self
    }

    /// Another scope than the toolset's.
    #[must_use]
    pub fn scope(mut self, scope: &str) -> Self {
        self.info.scope = scope.to_owned();
        self
    }

    /// The tool name a contract prescribes.
    #[must_use]
    pub fn tool(mut self, tool: &str) -> Self {
        self.info.tool = tool.to_owned();
        self
    }

    /// The contract of the toolset.
    #[must_use]
    pub const fn contract(mut self, contract: &'static dyn Contract) -> Self {
        self.info.contract = contract;
        self
    }

    /// Not for MCP clients: the contract of the toolset names its tools, and this is none.
    #[must_use]
    pub const fn not_a_tool(mut self) -> Self {
        self.info.is_tool = false;
        self
    }

    /// Calls services outside this machine: a cloud, a code host.
    #[must_use]
    pub const fn reaches_out(mut self) -> Self {
        self.info.reaches_out = true;
        self
    }

    /// What people say when they want it, in words that title and description do not have.
    #[must_use]
    pub fn found_by(mut self, words: &[&str]) -> Self {
        let words = words.iter().map(|words| (*words).to_owned());
        self.info.search_words.extend(words);
        self
    }

    /// Confirmed by the call where no rule says otherwise, as its contract prescribes.
    #[must_use]
    pub const fn confirmed_by_call(mut self) -> Self {
        self.info.without_rule = WithoutRule::ConfirmedByCall;
        self
    }

    /// Judged by the plan that the call makes: it proposes a run, or asks the gate itself once it
    /// knows its target.
    #[must_use]
    pub const fn judged_by_plan(mut self) -> Self {
        self.info.is_judged_by_plan = true;
        self
    }

    /// Answers an approval, so that a call never waits for one itself.
    #[must_use]
    pub const fn answers_approval(mut self) -> Self {
        self.info.answers_approval = true;
        self
    }

    /// Answers for bad input itself.
    #[must_use]
    pub const fn validates_itself(mut self) -> Self {
        self.info.validates_itself = true;
        self
    }

    /// An output field that is shown as it is: a secret meant to be seen once, a list that
    /// cannot hold any and may be long, or content that the caller asked for.
    #[must_use]
    pub fn discloses(mut self, field: &str) -> Self {
        self.info.discloses.push(field.to_owned());
        self
    }

    /// The whole output is content that the caller asked for: delivered as it was made.
    #[must_use]
    pub const fn delivers_content(mut self) -> Self {
        self.info.is_content = true;
        self
    }

    /// An output field with a secret that is shown once, when the call is answered.
    #[must_use]
    pub fn shows_once(mut self, field: &str) -> Self {
        self.info.shows_secret = true;
        self.discloses(field)
    }

    /// An input field that names what the operation acts on.
    #[must_use]
    pub fn target(mut self, field: &str) -> Self {
        self.info.target_inputs.push(field.to_owned());
        self
    }

    /// An input field with a secret. A call that has it cannot wait for an approval.
    #[must_use]
    pub fn takes_secret(mut self, field: &str) -> Self {
        self.info.secret_inputs.push(field.to_owned());
        self
    }

    /// An input that works.
    #[must_use]
    pub fn example(mut self, title: &str, input: Value) -> Self {
        self.info.examples.push(Example {
            title: title.to_owned(),
            input,
            output: None,
        });
        self
    }

    /// What the example before may give, before the envelope.
    #[must_use]
    pub fn gives(mut self, output: Value) -> Self {
        if let Some(example) = self.info.examples.last_mut() {
            example.output = Some(output);
        }
        self
    }

    /// An input schema other than the one derived from the input type, for contracts that
    /// print theirs. The type must accept all that the schema accepts.
    #[must_use]
    pub fn input_schema(mut self, schema: Value) -> Self {
        self.info.input_schema = LazySchema::from(schema);
        self.has_own_input = true;
        self
    }

    /// What a function that reads JSON itself takes.
    #[must_use]
    pub fn input<I: JsonSchema + 'static>(mut self) -> Self {
        self.info.input_schema = LazySchema::new(input_schema_of::<I>);
        self.has_own_input = true;
        self
    }

    /// What a function that writes JSON itself answers with.
    #[must_use]
    pub fn output<O: JsonSchema + 'static>(mut self) -> Self {
        self.info.output_schema = LazySchema::new(output_schema_of::<O>);
        self.has_own_output = true;
        self
    }

    /// What a person is asked about before the call is made. For functions of `handle`.
    #[must_use]
    pub fn plan_of_call(
        mut self,
        plan: impl Fn(&CallContext, &Value) -> Result<CallPlan, Problem> + Send + Sync + 'static,
    ) -> Self {
        self.plan = Some(Box::new(plan));
        self
    }

    /// The files and directories that an input names. For functions that write JSON themselves.
    #[must_use]
    pub fn places(
        mut self,
        places: impl Fn(&CallContext, &Value) -> Vec<PathBuf> + Send + Sync + 'static,
    ) -> Self {
        self.places = Some(Box::new(places));
        self
    }

    /// Finishes the definition with the function behind it.
    pub fn handle<I, O, F, Fut>(self, function: F) -> Arc<dyn Operation>
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
        F: Fn(CallContext, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<O, Problem>> + Send + 'static,
    {
        self.handle_run(move |context, input| {
            let output = function(context, input);
            async move { Ok((output.await?, None)) }
        })
    }

    /// Like `handle`, for operations that start or touch a run.
    pub fn handle_run<I, O, F, Fut>(mut self, function: F) -> Arc<dyn Operation>
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
        F: Fn(CallContext, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(O, Option<RunId>), Problem>> + Send + 'static,
    {
        if !self.has_own_input {
            self.info.input_schema = LazySchema::new(input_schema_of::<I>);
        }
        self.info.output_schema = LazySchema::new(output_schema_of::<O>);
        Arc::new(Defined {
            info: self.info,
            plan: self.plan,
            function,
            types: PhantomData::<fn(I) -> O>,
        })
    }
}

impl OperationBuilder {
    /// Finishes the definition with an operation of another make.
    pub fn by<O: Operation>(self, make: impl FnOnce(OperationInfo) -> O) -> Arc<dyn Operation> {
        Arc::new(make(self.info))
    }

    /// Like `handle_run`, for functions that read and write JSON themselves: nothing is copied,
    /// which matters where an answer is large.
    pub fn handle_json<F, Fut>(self, function: F) -> Arc<dyn Operation>
    where
        F: Fn(CallContext, Value) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(Value, Option<RunId>), Problem>> + Send + 'static,
    {
        self.handle_reply(move |context, input| {
            let output = function(context, input);
            async move {
                let (output, run_id) = output.await?;
                Ok(Answer { output, run_id }.into())
            }
        })
    }

    /// For functions that may propose a run.
    pub fn handle_reply<F, Fut>(mut self, function: F) -> Arc<dyn Operation>
    where
        F: Fn(CallContext, Value) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Reply, Problem>> + Send + 'static,
    {
        if !self.has_own_output {
            self.info.output_schema = LazySchema::new(output_schema_of::<Value>);
        }
        Arc::new(Json {
            info: self.info,
            places: self.places,
            function,
        })
    }
}

struct Json<F> {
    info: OperationInfo,
    places: Option<Box<PlacesOfCall>>,
    function: F,
}

impl<F, Fut> Operation for Json<F>
where
    F: Fn(CallContext, Value) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Reply, Problem>> + Send + 'static,
{
    fn info(&self) -> &OperationInfo {
        &self.info
    }

    fn places(&self, context: &CallContext, input: &Value) -> Result<Vec<PathBuf>, Problem> {
        let places = self.places.as_ref();
        Ok(places.map_or_else(Vec::new, |places| places(context, input)))
    }

    fn call<'a>(
        &'a self,
        context: CallContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Reply, Problem>> {
        Box::pin(async move { (self.function)(context, input).await })
    }
}

struct Defined<I, O, F> {
    info: OperationInfo,
    plan: Option<Box<PlanOfCall>>,
    function: F,
    types: PhantomData<fn(I) -> O>,
}

impl<I, O, F, Fut> Operation for Defined<I, O, F>
where
    I: DeserializeOwned + Send + 'static,
    O: Serialize + Send + 'static,
    F: Fn(CallContext, I) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(O, Option<RunId>), Problem>> + Send + 'static,
{
    fn info(&self) -> &OperationInfo {
        &self.info
    }

    fn plan_of_call(
        &self,
        context: &CallContext,
        input: &Value,
    ) -> Result<Option<CallPlan>, Problem> {
        let plan = self.plan.as_ref();
        plan.map(|plan| plan(context, input)).transpose()
    }

    fn call<'a>(
        &'a self,
        context: CallContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Reply, Problem>> {
        Box::pin(async move {
            let input: I = serde_json::from_value(input).map_err(|error| {
                Problem::invalid("", "shape", format!("{}: {error}", self.info.name))
            })?;
            let (output, run_id) = (self.function)(context, input).await?;
            let output = serde_json::to_value(output)
                .map_err(|error| Problem::internal("operation output", error))?;
            Ok(Answer { output, run_id }.into())
        })
    }
}
