//! The operations: one file per command, each a function from its arguments to the `data` of
//! the contract's envelope.

mod bootstrap;
mod deploy;
mod doctor;
mod evolve;
mod explain;
mod history;
mod manifest;
mod overlay;
mod plan;
mod policy;
mod record;
mod remote;
mod rollback;
mod sources;
mod status;

use std::{future::Future, sync::Arc};

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use windlass_engine::{
    Engine,
    operation::{Answer, CallContext, Operation, OperationBuilder, Reply, operation},
};
use windlass_types::{EffectClass, Problem};

use crate::{
    apply::{blocking, targets},
    arguments::{Common, read},
    contract::PackContract,
    workspace::{Moment, Pack},
};

/// The toolset.
pub(crate) const TOOLSET: &str = "pack";

/// What an operation gives: its data, or the run that will have it.
pub(crate) type Outcome = Result<Reply, Problem>;

/// Every operation of the toolset.
pub(crate) fn operations(pack: &Arc<Pack>, engine: &Engine) -> Vec<Arc<dyn Operation>> {
    let shop = Shop {
        pack: Arc::clone(pack),
        engine: engine.clone(),
    };
    [
        plan::operations(&shop),
        deploy::operations(&shop),
        status::operations(&shop),
        rollback::operations(&shop),
        explain::operations(&shop),
        evolve::operations(&shop),
        doctor::operations(&shop),
        manifest::operations(&shop),
        sources::operations(&shop),
        bootstrap::operations(&shop),
        overlay::operations(&shop),
        history::operations(&shop),
        remote::operations(&shop),
        record::operations(&shop),
        policy::operations(&shop),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What operations are made with.
#[derive(Clone)]
pub(crate) struct Shop {
    pub(crate) pack: Arc<Pack>,
    pub(crate) engine: Engine,
}

impl Shop {
    /// Asks the gate about the repository that a call works with. Only then does the call do
    /// anything, so a rule about a repository holds however it is named.
    fn judge(&self, context: &CallContext, input: &Value) -> Result<(), Problem> {
        let common = Common {
            repo: input.get("repo").and_then(Value::as_str).map(str::to_owned),
            ..Common::default()
        };
        let repo = self.pack.repo(&common, &Moment::of(&self.engine, context));
        context.require_targets(&targets(&repo, &[]))
    }

    /// The definition with the places that its calls name.
    pub(crate) fn named(&self, builder: OperationBuilder) -> OperationBuilder {
        let pack = Arc::clone(&self.pack);
        builder.places(move |context, input| pack.named_places(context, input))
    }

    /// Begins a tool of the contract, which answers for bad arguments itself.
    fn tool(&self, verb: &str, tool: &str, schema: Value) -> OperationBuilder {
        self.named(operation(TOOLSET, verb))
            .contract(&PackContract)
            .tool(tool)
            .found_by(search_words(tool))
            .input_schema(schema)
            .validates_itself()
            .judged_by_plan()
    }

    /// A tool that reads: its work is done off the async threads.
    fn reading<F>(&self, builder: OperationBuilder, work: F) -> Arc<dyn Operation>
    where
        F: Fn(&Pack, Moment, Value) -> Result<Value, Problem> + Clone + Send + Sync + 'static,
    {
        let shop = self.clone();
        builder.handle_json(move |context: CallContext, input: Value| {
            let (shop, work) = (shop.clone(), work.clone());
            async move {
                shop.judge(&context, &input)?;
                let moment = Moment::of(&shop.engine, &context);
                let data = blocking(move || work(&shop.pack, moment, input)).await?;
                Ok((data, None))
            }
        })
    }

    /// A command that reads, for the command line.
    fn query<I, F>(&self, verb: &str, title: &str, description: &str, work: F) -> Arc<dyn Operation>
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(&Pack, &Moment, I) -> Result<Value, Problem> + Clone + Send + Sync + 'static,
    {
        self.command(self.begin(verb, title, description), work)
    }

    /// A command that writes to the config repository, for the command line.
    fn change<I, F>(
        &self,
        verb: &str,
        title: &str,
        description: &str,
        work: F,
    ) -> Arc<dyn Operation>
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(&Pack, &Moment, I) -> Result<Value, Problem> + Clone + Send + Sync + 'static,
    {
        let builder = self
            .begin(verb, title, description)
            .command(EffectClass::Write);
        self.command(builder, work)
    }

    fn begin(&self, verb: &str, title: &str, description: &str) -> OperationBuilder {
        self.named(operation(TOOLSET, verb))
            .contract(&PackContract)
            .not_a_tool()
            .describe(title, description)
    }

    fn command<I, F>(&self, builder: OperationBuilder, work: F) -> Arc<dyn Operation>
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(&Pack, &Moment, I) -> Result<Value, Problem> + Clone + Send + Sync + 'static,
    {
        let shop = self.clone();
        builder.judged_by_plan().input::<I>().handle_json(
            move |context: CallContext, input: Value| {
                let (shop, work) = (shop.clone(), work.clone());
                async move {
                    shop.judge(&context, &input)?;
                    let input: I = read(input)?;
                    let moment = Moment::of(&shop.engine, &context);
                    let data = blocking(move || work(&shop.pack, &moment, input)).await?;
                    Ok((data, None))
                }
            },
        )
    }

    /// A command that may propose a run, for the command line.
    fn proposing<I, F, Fut>(&self, builder: OperationBuilder, work: F) -> Arc<dyn Operation>
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(Shop, CallContext, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Outcome> + Send + 'static,
    {
        let shop = self.clone();
        builder.judged_by_plan().input::<I>().handle_reply(
            move |context: CallContext, input: Value| {
                let read: Result<I, Problem> = read(input);
                let outcome = read.map(|input| work(shop.clone(), context, input));
                async move { outcome?.await }
            },
        )
    }

    /// A tool that writes.
    fn writing<F, Fut>(
        &self,
        builder: OperationBuilder,
        effect: EffectClass,
        work: F,
    ) -> Arc<dyn Operation>
    where
        F: Fn(Shop, CallContext, Value) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Outcome> + Send + 'static,
    {
        let shop = self.clone();
        builder
            .command(effect)
            .confirmed_by_call()
            .handle_reply(move |context, input| work(shop.clone(), context, input))
    }
}

/// Data as JSON.
pub(crate) fn value<T: Serialize>(data: &T) -> Result<Value, Problem> {
    serde_json::to_value(data).map_err(|error| Problem::internal("pack data", error))
}

/// Data as a reply.
pub(crate) fn done(data: Value) -> Outcome {
    Ok(Answer::plain(data).into())
}

/// Puts warnings where the envelope finds them.
pub(crate) fn with_warnings(mut data: Value, warnings: Vec<String>) -> Value {
    if !warnings.is_empty() {
        data["warnings"] = json!(warnings);
    }
    data
}

/// What people say when they want a tool, in words that its description does not have.
const fn search_words(tool: &str) -> &'static [&'static str] {
    match tool.as_bytes() {
        b"plan" => &["what would be installed", "dry run"],
        b"diff" => &["what differs from the repository"],
        b"preview" => &["see the new content before it is written"],
        b"deploy" => &[
            "install or sync prompts, skills and agent configuration",
            "set up Claude Code, Cursor, Codex, VS Code",
        ],
        b"deploy_apply" => &["write the files of the reviewed plan", "confirm"],
        b"status" => &[
            "were deployed files edited by hand",
            "are the deployed files still what they should be",
        ],
        b"doctor" => &["is the setup healthy", "installation problems"],
        b"rollback" => &[
            "undo or revert the last deployment",
            "go back to the configuration of yesterday",
        ],
        b"evolve_propose" => &[
            "keep edits made by hand in a deployed file",
            "local tweaks that survive the next deploy",
        ],
        b"evolve_restore" => &["bring back a deleted file"],
        b"explain" => &["where does a line or file come from", "why is it there"],
        _ => &[],
    }
}
