//! Contract 000, questions to the documentation: the output has no `ok` and no `code`.

use serde_json::{Value, json};
use windlass_types::Problem;

pub(super) fn failure(problem: &Problem) -> Value {
    let code = super::stack::code_name(problem.code());
    json!({
        "answer": format!("{code}: {}", problem.message()),
        "references": [],
    })
}
