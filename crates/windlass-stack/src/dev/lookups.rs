//! What directives of the config ask when a session is started, or a script runs with one.
//!
//! Local values go first. AWS is asked only where the session uses deployed resources; without,
//! the account is a placeholder and an output nobody gave a value to is noted.

use std::cell::RefCell;

use serde_json::Value;
use windlass_stack_config::{CustomCall, GitInfo, Lookups};
use windlass_stack_dev::{LocalValues, missing_value, output_variable};
use windlass_types::Problem;

/// The variable that names the account to local configs.
const ACCOUNT_VARIABLE: &str = "AWS_ACCOUNT_ID";
/// The account of a session that knows none.
const NO_ACCOUNT: &str = "000000000000";

pub(crate) struct LocalLookups<'a> {
    values: &'a LocalValues,
    /// Answers by git, programs and AWS.
    questions: &'a dyn Lookups,
    /// Whether AWS may be asked.
    asks_aws: bool,
    missing: RefCell<Option<Problem>>,
}

impl<'a> LocalLookups<'a> {
    pub fn new(values: &'a LocalValues, questions: &'a dyn Lookups, asks_aws: bool) -> Self {
        Self {
            values,
            questions,
            asks_aws,
            missing: RefCell::new(None),
        }
    }

    /// The first value that nobody knew.
    pub fn into_missing(self) -> Option<Problem> {
        self.missing.into_inner()
    }
}

impl Lookups for LocalLookups<'_> {
    fn require_trust(&self, what: &str) -> Result<(), Problem> {
        self.questions.require_trust(what)
    }

    fn account_id(&self) -> Result<String, Problem> {
        match self.values.get(ACCOUNT_VARIABLE)? {
            Some(account) => Ok(account),
            None if self.asks_aws => self.questions.account_id(),
            None => Ok(NO_ACCOUNT.to_owned()),
        }
    }

    fn git(&self) -> Result<GitInfo, Problem> {
        self.questions.git()
    }

    fn stack_output(
        &self,
        stack: &str,
        output: &str,
        region: Option<&str>,
    ) -> Result<Value, Problem> {
        let variable = output_variable(stack, output);
        if let Some(value) = self.values.get(&variable)? {
            return Ok(Value::String(value));
        }
        if self.asks_aws {
            return self.questions.stack_output(stack, output, region);
        }
        // Whether AWS may be asked is known once the config is read; the value is not used before.
        let directive = format!("$StackOutput('{stack}', '{output}')");
        self.missing
            .borrow_mut()
            .get_or_insert_with(|| missing_value(&directive, &variable));
        Ok(Value::String(String::new()))
    }

    fn custom_directive(&self, call: &CustomCall) -> Result<Value, Problem> {
        self.questions.custom_directive(call)
    }
}
