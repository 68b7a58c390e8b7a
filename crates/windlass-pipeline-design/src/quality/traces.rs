//! Everything that has a reason, and where the reasons end.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::Trace;
use crate::model::trace::rule;
use crate::quality::outputs::Outputs;

/// Something that has a reason.
pub(crate) struct Item<'a> {
    /// `req:FR-1`, `endpoint:GET /api/quizzes`, `file:src/app/page.tsx`: as traces name it.
    pub(crate) id: String,
    pub(crate) trace: &'a [Trace],
    /// Whether the caller brought it.
    pub(crate) given: bool,
}

/// All items, in the order of the outputs.
pub(crate) fn items<'a>(outputs: &Outputs<'a>) -> Vec<Item<'a>> {
    let mut items = Vec::new();
    let mut add = |id: String, trace: &'a [Trace], given: bool| {
        items.push(Item { id, trace, given });
    };
    let requirements = outputs.requirements;
    let given = outputs.given;
    for one in &requirements.functional {
        add(format!("req:{}", one.id), &one.trace, given.requirements);
    }
    for one in &requirements.non_functional {
        add(format!("req:{}", one.id), &one.trace, given.requirements);
    }
    for one in &requirements.constraints {
        add(format!("req:{}", one.id), &one.trace, given.requirements);
    }
    if let Some(architecture) = outputs.architecture {
        let given = given.architecture;
        for entity in &architecture.data_model.entities {
            add(format!("entity:{}", entity.name), &entity.trace, given);
            for field in &entity.fields {
                let id = format!("field:{}.{}", entity.name, field.name);
                add(id, &field.trace, given);
            }
        }
        for one in &architecture.data_model.relationships {
            add(
                format!("relationship:{}-{}", one.from, one.to),
                &one.trace,
                given,
            );
        }
        for one in &architecture.api_design.endpoints {
            add(
                format!("endpoint:{} {}", one.method, one.path),
                &one.trace,
                given,
            );
        }
        for one in &architecture.security.policies {
            let id = format!("policy:{}/{}/{}", one.table, one.command, one.role);
            add(id, &one.trace, given);
        }
        for one in &architecture.security.functions {
            add(format!("function:{}", one.name), &one.trace, given);
        }
    }
    if let Some(ux) = outputs.ux {
        for one in &ux.pages {
            add(format!("page:{}", one.name), &one.trace, given.ux);
        }
        for one in &ux.user_flows {
            add(format!("flow:{}", one.name), &one.trace, given.ux);
        }
        for one in &ux.design_tokens.stated {
            add(format!("token:{}", one.role), &one.trace, given.ux);
        }
    }
    for file in outputs.files.unwrap_or_default() {
        add(format!("file:{}", file.path), &file.trace, false);
    }
    items
}

/// What every item comes from, however far away.
pub(crate) struct Reasons {
    /// By item: everything that is met on the way, itself left out.
    behind: BTreeMap<String, BTreeSet<String>>,
    /// Traces that name nothing: item and trace.
    pub(crate) dangling: Vec<(String, String)>,
    /// Items whose reasons do not end at a span or a default.
    pub(crate) untraced: Vec<String>,
}

impl Reasons {
    pub(crate) fn of(outputs: &Outputs<'_>, items: &[Item<'_>]) -> Self {
        let spans: BTreeSet<String> = outputs
            .analysis
            .spans
            .iter()
            .map(|span| format!("spec:{}", span.id))
            .collect();
        let defaults: BTreeSet<String> = rule::ALL
            .iter()
            .map(|rule| format!("default:{rule}"))
            .collect();
        let mut direct: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for item in items {
            direct
                .entry(&item.id)
                .or_default()
                .extend(item.trace.iter().map(Trace::as_str));
        }
        let is_end = |id: &str| spans.contains(id) || defaults.contains(id);
        // What the caller brought without a reason is a reason by itself.
        let given: BTreeSet<&str> = items
            .iter()
            .filter(|item| item.given && item.trace.is_empty())
            .map(|item| item.id.as_str())
            .collect();
        let mut reasons = Self {
            behind: BTreeMap::new(),
            dangling: Vec::new(),
            untraced: Vec::new(),
        };
        for item in items {
            for trace in item.trace {
                let id = trace.as_str();
                if !is_end(id) && !direct.contains_key(id) {
                    reasons.dangling.push((item.id.clone(), id.to_owned()));
                }
            }
            if reasons.behind.contains_key(&item.id) {
                continue;
            }
            let mut behind: BTreeSet<String> = BTreeSet::new();
            let mut open: Vec<&str> = direct
                .get(item.id.as_str())
                .into_iter()
                .flatten()
                .copied()
                .collect();
            while let Some(id) = open.pop() {
                if behind.contains(id) {
                    continue;
                }
                behind.insert(id.to_owned());
                open.extend(direct.get(id).into_iter().flatten().copied());
            }
            let ends = behind
                .iter()
                .any(|id| is_end(id) || given.contains(id.as_str()));
            if !ends && !given.contains(item.id.as_str()) {
                reasons.untraced.push(item.id.clone());
            }
            reasons.behind.insert(item.id.clone(), behind);
        }
        reasons
    }

    /// Everything an item comes from.
    pub(crate) fn behind(&self, item: &str) -> impl Iterator<Item = &str> {
        self.behind
            .get(item)
            .into_iter()
            .flatten()
            .map(String::as_str)
    }
}
