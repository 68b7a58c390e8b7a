//! Requirements in the shape of contract 001.

use std::collections::BTreeSet;

use crate::model::{
    Analysis, Requirements, Trace,
    strategy::{Constraint, Functional, NonFunctional},
};
use crate::spec::acceptance;

/// The requirements of an analysis, ids as it has them, in its order.
pub fn requirements(analysis: &Analysis) -> Requirements {
    let mut seen = BTreeSet::new();
    // A given requirement that the spec does not state has no span; it was given, and says so.
    let trace = |spans: &[String]| {
        if spans.is_empty() {
            return vec![Trace::default_rule("given-requirement")];
        }
        spans
            .iter()
            .map(|span| Trace::spec(span))
            .collect::<Vec<_>>()
    };
    Requirements {
        functional: analysis
            .statements
            .iter()
            .filter(|statement| seen.insert(statement.requirement.clone()))
            .map(|statement| Functional {
                id: statement.requirement.clone(),
                description: statement.text.clone(),
                priority: statement.priority,
                acceptance: vec![acceptance::of(statement)],
                trace: trace(&statement.spans),
            })
            .collect(),
        non_functional: analysis
            .qualities
            .iter()
            .map(|quality| NonFunctional {
                id: quality.requirement.clone(),
                description: quality.text.clone(),
                category: quality.category,
                metric: quality.metric.clone(),
                trace: trace(&quality.spans),
            })
            .collect(),
        constraints: analysis
            .bounds
            .iter()
            .map(|bound| Constraint {
                id: bound.requirement.clone(),
                description: bound.text.clone(),
                kind: Some(bound.kind),
                trace: trace(&bound.spans),
            })
            .collect(),
    }
}
