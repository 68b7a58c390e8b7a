//! `stack.docs`: the documentation tool of contract 000 as an operation.
//!
//! The index is made by the first question, on a thread that may block, and kept. Not here: what an
//! answer is made of.

use std::sync::{Arc, OnceLock};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use windlass_engine::{
    Domain, Engine, WeakEngine,
    contract::Contract,
    operation::{
        Answer as Answered, CallContext, Operation, OperationInfo, Reply, input_schema_of,
        operation,
    },
    run::RunKind,
};
use windlass_types::Problem;

use crate::{asked, contract::DocsContract, docs::Docs, query::Answer, query::Query};

const DESCRIPTION: &str = "\
Search Stacktape documentation for configuration help, resource types, deployment patterns, and \
troubleshooting.

Use this tool when:
- User mentions Stacktape, deploying to AWS, or cloud infrastructure
- The project has a stacktape.ts, stacktape.yml, or stacktape.yaml file
- User needs help with Stacktape configuration, resource types, or deployment commands
- User asks about AWS Lambda, ECS, RDS, S3, DynamoDB, or similar AWS services in a deployment context";

/// The documentation domain: one operation, no runs.
///
/// The tool belongs to a contract of another domain, which the caller names.
pub fn domain<C: Contract>(contract: &'static DocsContract<C>) -> Box<dyn Domain> {
    Box::new(DocsDomain(contract))
}

struct DocsDomain(&'static dyn Contract);

impl Domain for DocsDomain {
    fn kinds(&self, _engine: &WeakEngine) -> Vec<Arc<dyn RunKind>> {
        Vec::new()
    }

    fn toolset(&self) -> Option<&'static str> {
        Some("stack")
    }

    fn operations(&self, _engine: &Engine) -> Vec<Arc<dyn Operation>> {
        vec![ask(self.0)]
    }
}

/// The operation.
pub(crate) fn ask(contract: &'static dyn Contract) -> Arc<dyn Operation> {
    operation("stack", "docs")
        .tool("stacktape_docs")
        .describe("Search the documentation", DESCRIPTION)
        .found_by(&[
            "how do I",
            "help with an error message",
            "what a config file looks like",
        ])
        .contract(contract)
        .validates_itself()
        .input_schema(input_schema_of::<Query>())
        .output::<Answer>()
        .example(
            "How to let a function use a database",
            json!({ "query": "connect a function to postgres", "resourceType": "function" }),
        )
        .gives(json!({
            "answer": "Resources the function uses: it gets permissions, network access and \
                variables. [stack/config-ref/function.md#connectto]",
            "references": [{
                "title": "function",
                "path": "stack/config-ref/function.md",
                "docType": "config-ref",
            }],
            "snippets": [{ "language": "yaml", "code": "connectTo:\n  - db\n" }],
            "nextQueries": ["relational-database accessibility"],
        }))
        .example(
            "A config to start from",
            json!({ "query": "queue with a dead letter queue", "mode": "snippet", "maxItems": 2 }),
        )
        .by(|info| Ask {
            info,
            docs: Arc::default(),
        })
}

struct Ask {
    info: OperationInfo,
    docs: Arc<OnceLock<Docs<'static>>>,
}

impl Operation for Ask {
    fn info(&self) -> &OperationInfo {
        &self.info
    }

    fn targets(
        &self,
        _context: &CallContext,
        input: &Value,
    ) -> Result<Option<Vec<String>>, Problem> {
        asked::read(input).map(|_| Some(Vec::new()))
    }

    fn call<'a>(
        &'a self,
        _context: CallContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Reply, Problem>> {
        Box::pin(async move {
            let query = asked::read(&input)?;
            let docs = Arc::clone(&self.docs);
            let answer = tokio::task::spawn_blocking(move || answer(&docs, &query))
                .await
                .map_err(|error| Problem::internal("docs", error))??;
            let output = serde_json::to_value(answer)
                .map_err(|error| Problem::internal("docs answer", error))?;
            Ok(Answered::plain(output).into())
        })
    }
}

fn answer(docs: &OnceLock<Docs<'static>>, query: &Query) -> Result<Answer, Problem> {
    if let Some(docs) = docs.get() {
        return docs.query(query);
    }
    // Two first questions at once may both read the pages; one of them is kept.
    let embedded = Docs::embedded()?;
    docs.get_or_init(|| embedded).query(query)
}

#[cfg(test)]
#[path = "operation_tests.rs"]
mod tests;
