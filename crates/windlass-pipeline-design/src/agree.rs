//! The analysis and the requirements brought in line: the requirements win.

use crate::model::analysis::Analysis;
use crate::model::{Requirements, Trace};

/// The analysis without behaviours that the requirements no longer have, and with their priorities.
pub(crate) fn agreed(analysis: &Analysis, requirements: &Requirements) -> Analysis {
    let mut analysis = analysis.clone();
    analysis.statements.retain_mut(|statement| {
        let requirement = requirements
            .functional
            .iter()
            .find(|requirement| requirement.id == statement.requirement);
        if let Some(requirement) = requirement {
            statement.priority = requirement.priority;
        }
        requirement.is_some()
    });
    analysis
}

/// Requirements to be met that no statement of the analysis stands for.
pub(crate) fn without_statement(analysis: &Analysis, requirements: &Requirements) -> Vec<Trace> {
    requirements
        .functional
        .iter()
        .filter(|requirement| {
            requirement.priority != crate::model::strategy::Priority::Wont
                && !analysis
                    .statements
                    .iter()
                    .any(|statement| statement.requirement == requirement.id)
        })
        .map(|requirement| Trace::requirement(&requirement.id))
        .collect()
}
