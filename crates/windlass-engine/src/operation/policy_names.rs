//! What a policy file names has to exist: operations, and the scopes of approvers. Asked once, when an
//! installation is opened.

use windlass_types::{Problem, code};

use super::Catalogue;
use crate::access::nearest;

impl Catalogue {
    /// Refuses a policy with a rule for an operation that does not exist: it would protect
    /// nothing, and nobody would know.
    pub fn check_policy(&self) -> Result<(), Problem> {
        let engine = self.engine();
        for (place, pattern, fits) in engine.policy.named_operations() {
            // Only a pattern needs the names of all operations, which cost time to make.
            let is_known = match pattern.contains('*') {
                true => self.operations().any(|info| fits(&info.name)),
                false => self.find(pattern).is_some() || engine.kinds().get(pattern).is_some(),
            };
            if is_known {
                continue;
            }
            let names = self.operations().map(|info| info.name.as_str());
            let near = nearest(pattern, names);
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            let problem = Problem::new(
                &code::CONFIG_INVALID,
                format!("{place}: no operation is called `{pattern}`{hint}"),
            );
            return Err(problem.with("rule", place).next("windlass ops list"));
        }
        for (place, scope) in engine.policy.named_scopes() {
            // Most name this one; the others cost time to make.
            if scope == "approve" {
                continue;
            }
            let known = engine.scopes()?;
            if !known.contains(scope) {
                let near = nearest(scope, known.iter().map(String::as_str));
                let hint =
                    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                let message = format!("{place}: no scope is called `{scope}`{hint}");
                return Err(Problem::new(&code::CONFIG_INVALID, message).with("rule", place));
            }
        }
        Ok(())
    }
}
