//! Two applies of one token at the same time, the second of which plans after the first has
//! changed the world: it is told that the token was used, not that its plan is another.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use windlass_engine::{
    Domain, Engine, WeakEngine,
    operation::{CallContext, Change, ChangeInfo, Operation, change_operations},
    run::{RunContext, RunError, RunKind},
};
use windlass_ports::BoxFuture;
use windlass_testkit::TestWorld;
use windlass_types::{ChangeAction, EffectClass, Plan, Problem, plan};

/// A change that can be made once; planning it waits for the test.
#[derive(Clone)]
struct Once {
    done: Arc<AtomicBool>,
    begun: Arc<Semaphore>,
    go_on: Arc<Semaphore>,
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Nothing {}

impl Change for Once {
    type Input = Nothing;

    fn info(&self) -> ChangeInfo {
        ChangeInfo {
            toolset: "once".to_owned(),
            plan_verb: "plan".to_owned(),
            apply_verb: "apply".to_owned(),
            title: "Once".to_owned(),
            description: "Does it.".to_owned(),
            effect: EffectClass::Write,
            kind: "once".to_owned(),
            examples: Vec::new(),
        }
    }

    fn plan<'a>(&'a self, _: &'a CallContext, _: Nothing) -> BoxFuture<'a, Result<Plan, Problem>> {
        Box::pin(async move {
            self.begun.add_permits(1);
            self.go_on.acquire().await.unwrap().forget();
            let is_done = self.done.load(Ordering::SeqCst);
            Ok(Plan {
                operation: "once.apply".to_owned(),
                effect: EffectClass::Write,
                target: "it".to_owned(),
                changes: vec![plan::Change {
                    action: ChangeAction::Create,
                    target: "it".to_owned(),
                    summary: String::new(),
                }],
                payload: json!({ "is_done": is_done }),
            })
        })
    }
}

impl RunKind for Once {
    fn name(&self) -> &str {
        "once"
    }

    fn run<'a>(
        &'a self,
        _: &'a dyn RunContext,
        _: Value,
    ) -> BoxFuture<'a, Result<Value, RunError>> {
        self.done.store(true, Ordering::SeqCst);
        Box::pin(async { Ok(Value::Null) })
    }
}

impl Domain for Once {
    fn kinds(&self, _: &WeakEngine) -> Vec<Arc<dyn RunKind>> {
        vec![Arc::new(self.clone())]
    }

    fn operations(&self, engine: &Engine) -> Vec<Arc<dyn Operation>> {
        change_operations(engine, self.clone())
    }
}

#[tokio::test]
async fn the_later_twin_is_told_that_the_token_was_used() {
    for key in [None, Some("the same call")] {
        let once = Once {
            done: Arc::default(),
            begun: Arc::new(Semaphore::new(0)),
            go_on: Arc::new(Semaphore::new(1)),
        };
        let domain = once.clone();
        let world = TestWorld::new(move || vec![Box::new(domain.clone()) as Box<dyn Domain>]);
        let process = world.driving().await;
        let planned = process.call("once.plan", json!({})).await.unwrap();
        let mut input = json!({ "confirm_token": planned.output["confirm_token"] });
        if let Some(key) = key {
            input["idempotency_key"] = key.into();
        }
        once.begun.acquire().await.unwrap().forget();

        let late = process.call("once.apply", input.clone());
        let early = async {
            // The late one has opened the token and plans.
            once.begun.acquire().await.unwrap().forget();
            let early = process.call("once.apply", input.clone());
            let one_at_a_time = async {
                once.begun.acquire().await.unwrap().forget();
                // Both wait; whichever planned first is the early one.
                once.go_on.add_permits(1);
            };
            let (early, ()) = tokio::join!(early, one_at_a_time);
            early
        };
        let release = async {
            while !once.done.load(Ordering::SeqCst) {
                tokio::task::yield_now().await;
            }
            once.go_on.add_permits(1);
        };
        let (late, early, ()) = tokio::join!(late, early, release);
        let mut answers = [late, early];
        answers.sort_by_key(Result::is_err);
        let [good, other] = answers;
        let run_id = good.unwrap().run_id.unwrap();
        match (key, other) {
            (Some(_), other) => assert_eq!(other.unwrap().run_id, Some(run_id)),
            (None, other) => {
                let problem = other.unwrap_err();
                assert_eq!(problem.code().name, "CONFIRM_TOKEN_USED", "{problem}");
            }
        }
        process.stop().await;
    }
}
