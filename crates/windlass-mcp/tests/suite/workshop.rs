//! The product's server over an engine on fakes: the runs domain, and one whose changes are
//! programs, so that a test says what a run does.

use std::{future::Future, sync::Arc};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use windlass_engine::{
    Domain, Engine, WeakEngine,
    operation::{CallContext, Change, ChangeInfo, Example, Operation, change_operations},
    run::RunKind,
};
use windlass_mcp::{McpHandler, ServerOptions, ToolEntry, ToolMode, handler};
use windlass_testkit::{
    Process, TestWorld, local,
    program::{self, Ledger, Op, ProgramDomain},
};
use windlass_types::{ChangeAction, EffectClass, Plan, Principal, Problem, RunId};

use super::support::{StdioClient, call, initialize, modern_meta};

/// Whatever the shop does is asked of the local user first.
pub const ASK: &str = r#"
version = 1
[[rule]]
decision = "allow"
reason = "tests"
[[rule]]
operation = "shop.*"
effect = "write"
decision = "ask"
approvers = ["local:ada"]
"#;

/// Changes that are programs: `shop.plan` and `shop.apply`.
struct Shop {
    ledger: Ledger,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct ShopInput {
    /// What the run does.
    program: Vec<Value>,
}

struct PlanProgram;

impl Change for PlanProgram {
    type Input = ShopInput;

    fn info(&self) -> ChangeInfo {
        ChangeInfo {
            toolset: "shop".to_owned(),
            plan_verb: "plan".to_owned(),
            apply_verb: "apply".to_owned(),
            title: "Execute a program".to_owned(),
            description: "Executes the steps of a program on a workbench.".to_owned(),
            effect: EffectClass::Write,
            kind: program::KIND.to_owned(),
            examples: vec![Example {
                title: "Nothing".to_owned(),
                input: json!({ "program": [] }),
                output: None,
            }],
        }
    }

    fn plan<'a>(
        &'a self,
        _: &'a CallContext,
        input: ShopInput,
    ) -> BoxFuture<'a, Result<Plan, Problem>> {
        Box::pin(async move {
            let change = windlass_types::Change {
                action: ChangeAction::Execute,
                target: "bench".to_owned(),
                summary: String::new(),
            };
            Ok(Plan {
                operation: "shop.apply".to_owned(),
                effect: EffectClass::Write,
                target: "bench".to_owned(),
                changes: vec![change],
                payload: json!({ "program": input.program }),
            })
        })
    }
}

impl Domain for Shop {
    fn kinds(&self, engine: &WeakEngine) -> Vec<Arc<dyn RunKind>> {
        ProgramDomain::new(&self.ledger).kinds(engine)
    }

    fn operations(&self, engine: &Engine) -> Vec<Arc<dyn Operation>> {
        change_operations(engine, PlanProgram)
    }
}

/// A driving process.
pub struct Workshop {
    pub world: TestWorld,
    pub process: Process,
}

impl Workshop {
    pub async fn new() -> Self {
        Self::under(None).await
    }

    pub async fn under(policy: Option<&str>) -> Self {
        let ledger = Ledger::default();
        let world = TestWorld::new(move || {
            vec![
                Box::new(Shop {
                    ledger: ledger.clone(),
                }) as Box<dyn Domain>,
                windlass_runs::domain(),
            ]
        });
        let world = match policy {
            Some(policy) => world.with_policy(policy),
            None => world,
        };
        let process = world.driving().await;
        Self { world, process }
    }

    pub fn handler(&self, options: ServerOptions) -> McpHandler {
        handler(self.process.catalogue().clone(), options).unwrap()
    }

    /// A client that the given caller sits at.
    pub fn client_of(&self, principal: Principal) -> StdioClient {
        let options = ServerOptions {
            principal: Some(principal),
            ..ServerOptions::default()
        };
        StdioClient::start(self.handler(options))
    }

    pub fn client(&self) -> StdioClient {
        self.client_of(local())
    }

    pub fn lean_client(&self) -> StdioClient {
        let options = ServerOptions {
            principal: Some(local()),
            tools: ToolMode::Lean,
            search: Some(find_tools),
            ..ServerOptions::default()
        };
        StdioClient::start(self.handler(options))
    }

    /// A client with an open session of the legacy era.
    pub async fn legacy_client(&self) -> StdioClient {
        let mut client = self.client();
        client.ask(&initialize("init", "2025-11-25")).await;
        client
    }

    /// Does the work while time goes on by itself.
    pub async fn run<T>(&self, work: impl Future<Output = T>) -> T {
        self.world.clock.run(work).await
    }

    /// Input that applies a plan made now.
    pub async fn confirmed(&self, steps: &[Op]) -> Value {
        self.confirmed_by(&local(), steps).await
    }

    /// Input that applies a plan made now.
    pub async fn confirmed_by(&self, principal: &Principal, steps: &[Op]) -> Value {
        let mut input = program::input(steps);
        let plan = self
            .process
            .call_as(principal.clone(), "shop.plan", input.clone())
            .await
            .unwrap()
            .output;
        input["confirm_token"] = plan["confirm_token"].clone();
        input
    }

    /// Starts a run by another surface.
    pub async fn started(&self, steps: &[Op]) -> RunId {
        let input = self.confirmed(steps).await;
        self.process
            .call("shop.apply", input)
            .await
            .unwrap()
            .run_id
            .unwrap()
    }

    pub async fn settled(&self, run_id: &RunId) -> String {
        self.process.settle(run_id).await.state.as_str().to_owned()
    }
}

/// The search of the product.
fn find_tools(tools: &[ToolEntry], question: &str) -> Vec<usize> {
    let entries: Vec<_> = tools
        .iter()
        .map(|tool| windlass_docs::FinderEntry {
            name: &tool.name,
            title: &tool.title,
            words: &tool.words,
            text: &tool.text,
        })
        .collect();
    windlass_docs::find(&entries, question)
}

/// A modern request with these client capabilities.
pub fn modern(mut request: Value, capabilities: Value) -> Value {
    request["params"]["_meta"] = modern_meta();
    request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities;
    request
}

/// A modern call of a tool.
pub fn modern_call(id: i64, tool: &str, arguments: Value, capabilities: Value) -> Value {
    modern(call(id, tool, arguments), capabilities)
}

/// The run an answer is about.
pub fn run_of(answer: &Value) -> RunId {
    let id = answer["result"]["structuredContent"]["run"]["run_id"].as_str();
    id.unwrap_or_else(|| panic!("no run in {answer}"))
        .parse()
        .unwrap()
}
