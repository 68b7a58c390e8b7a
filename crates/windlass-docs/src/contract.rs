//! Questions to the documentation: the answer itself, or an answer that says what is wrong. The
//! output has no `ok` and no `code`, so the code is in the text.

use serde_json::{Value, json};
use windlass_engine::contract::{Contract, EnvelopeContext};
use windlass_types::{Code, Problem};

/// The form of answers, with the number and the code names of the contract that the tool is
/// part of.
#[derive(Clone, Copy, Debug)]
pub struct DocsContract<C>(pub C);

impl<C: Contract> Contract for DocsContract<C> {
    fn number(&self) -> Option<&'static str> {
        self.0.number()
    }

    fn failure(&self, _context: EnvelopeContext<'_>, problem: &Problem) -> Value {
        let code = self.code_name(problem.code());
        json!({
            "answer": format!("{code}: {}", problem.message()),
            "references": [],
        })
    }

    fn code_name(&self, code: &'static Code) -> &'static str {
        self.0.code_name(code)
    }

    fn failure_schema(&self) -> Value {
        json!({ "type": "object" })
    }
}
