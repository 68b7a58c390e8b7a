//! Operations are made when one of their domain is first asked for, and what is wrong with their
//! names is found by the check.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};
use windlass_engine::{
    Domain, Engine, WeakEngine,
    operation::{Operation, operation},
    run::RunKind,
};
use windlass_testkit::TestWorld;
use windlass_types::Problem;

/// A domain of one toolset that counts how often its operations are made.
#[derive(Clone)]
struct Counted {
    toolset: &'static str,
    /// Toolset, verb and tool name of each operation.
    operations: &'static [(&'static str, &'static str, &'static str)],
    made: Arc<AtomicUsize>,
}

impl Counted {
    fn new(
        toolset: &'static str,
        operations: &'static [(&'static str, &'static str, &'static str)],
    ) -> Self {
        Self {
            toolset,
            operations,
            made: Arc::default(),
        }
    }

    fn made(&self) -> usize {
        self.made.load(Ordering::SeqCst)
    }
}

impl Domain for Counted {
    fn kinds(&self, _: &WeakEngine) -> Vec<Arc<dyn RunKind>> {
        Vec::new()
    }

    fn toolset(&self) -> Option<&'static str> {
        Some(self.toolset)
    }

    fn operations(&self, _: &Engine) -> Vec<Arc<dyn Operation>> {
        self.made.fetch_add(1, Ordering::SeqCst);
        let make = |(toolset, verb, tool): &(&str, &str, &str)| {
            operation(toolset, verb)
                .tool(tool)
                .describe("Say", "Says it.")
                .handle(|_, input: Value| async move { Ok::<Value, Problem>(input) })
        };
        self.operations.iter().map(make).collect()
    }
}

fn world(domains: &[&Counted]) -> TestWorld {
    let domains: Vec<Counted> = domains.iter().map(|domain| (*domain).clone()).collect();
    TestWorld::new(move || {
        let boxed = |domain: &Counted| Box::new(domain.clone()) as Box<dyn Domain>;
        domains.iter().map(boxed).collect()
    })
}

#[tokio::test]
async fn a_call_makes_the_operations_of_one_domain() {
    let apples = Counted::new("apples", &[("apples", "count", "apples_count")]);
    let pears = Counted::new("pears", &[("pears", "count", "weigh_pears")]);
    let process = world(&[&pears, &apples]).process();
    let catalogue = process.catalogue();
    assert_eq!(catalogue.toolsets(), ["apples", "pears"]);
    assert_eq!((apples.made(), pears.made()), (0, 0));

    process.call("apples.count", json!({})).await.unwrap();
    process.call("apples.count", json!({})).await.unwrap();
    assert_eq!((apples.made(), pears.made()), (1, 0));

    // A tool name does not say whose it is.
    process.call("weigh_pears", json!({})).await.unwrap();
    let names: Vec<_> = catalogue.operations().map(|info| &info.name).collect();
    assert_eq!(names, ["apples.count", "pears.count"]);
    assert_eq!((apples.made(), pears.made()), (1, 1));
    catalogue.check().unwrap();
}

#[tokio::test]
async fn defects_in_names_are_found_by_the_check() {
    let twice = Counted::new("a", &[("a", "b", "a_b"), ("a", "b", "a_c")]);
    let tools = Counted::new("a", &[("a", "b", "tool"), ("a", "c", "tool")]);
    let foreign = Counted::new("a", &[("b", "c", "b_c")]);
    for (domain, expected) in [
        (&twice, "two operations are called a.b"),
        (&tools, "two operations are called tool"),
        (&foreign, "b.c is not in the toolset of its domain"),
    ] {
        let process = world(&[domain]).process();
        let checked = process.catalogue().check();
        assert_eq!(checked.unwrap_err().to_string(), expected);
    }
}
