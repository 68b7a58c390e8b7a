//! FrontmatterContract: front matter is there, parses, and has the keys its section has.

use windlass_launch_model::markdown::{Document, frontmatter::is_type};

use crate::gates::{
    finding::{Checked, Finding, Limit},
    input::GateInput,
    outside::GateFault,
    run::Gate,
};

/// There is none.
pub const MISSING: &str = "GATE_FRONTMATTER_MISSING";
/// It does not parse.
pub const SYNTAX: &str = "GATE_FRONTMATTER_INVALID_SYNTAX";
/// A required key is not there.
pub const REQUIRED: &str = "GATE_FRONTMATTER_REQUIRED_FIELD_MISSING";
/// A value is of the wrong type.
pub const TYPE: &str = "GATE_FRONTMATTER_TYPE_MISMATCH";

/// The gate.
pub struct FrontmatterContract;

impl Gate for FrontmatterContract {
    fn name(&self) -> &'static str {
        "FrontmatterContract"
    }

    fn limit(&self) -> Limit {
        Limit::Total(60, 120)
    }

    fn check(&self, input: &GateInput) -> Result<Checked, GateFault> {
        let findings = input
            .changed_pages()
            .flat_map(|(path, document)| faults(input, path, document))
            .collect();
        Ok(Checked::Ran(findings))
    }
}

fn faults(input: &GateInput, path: &str, document: &Document) -> Vec<Finding> {
    let contract = input.section_contract(path);
    if document.front.is_none() {
        if contract.required_keys.is_empty() {
            return Vec::new();
        }
        let message = format!(
            "The page has no front matter. Its section needs {}.",
            contract.required_keys.join(", ")
        );
        return vec![Finding::file(MISSING, path, "", message)];
    }
    let keys = match &document.keys {
        Ok(keys) => keys,
        Err(why) => {
            let why = why.to_string();
            let message = format!("The front matter cannot be read: {why}.");
            return vec![Finding::file(SYNTAX, path, &why, message)];
        }
    };
    let missing = contract
        .required_keys
        .iter()
        .filter(|key| keys.get(*key).is_none_or(serde_json::Value::is_null));
    let mut findings: Vec<Finding> = missing
        .map(|key| {
            let message =
                format!("The front matter has no {key}, which every page of its section has.");
            Finding::file(REQUIRED, path, key, message)
        })
        .collect();
    for (key, expected) in &contract.key_types {
        let Some(value) = keys.get(key).filter(|value| !value.is_null()) else {
            continue;
        };
        if !is_type(value, expected) {
            let message =
                format!("{key} in the front matter is {value}, and must be of type {expected}.");
            findings.push(Finding::file(TYPE, path, key, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::sample::{GUIDE, codes, subject, with_text};

    #[test]
    fn pages_keep_the_contract() {
        let cases: [(&str, &[&str]); 8] = [
            ("---\ntitle: A\nweight: 1\n---\nBody\n", &[]),
            ("+++\ntitle = \"A\"\nweight = 1\n+++\nBody\n", &[]),
            ("{\"title\": \"A\", \"weight\": 1}\nBody\n", &[]),
            ("# A\n\nBody\n", &[MISSING]),
            ("---\ntitle: [A\n---\nBody\n", &[SYNTAX]),
            ("---\ntitle: A\n\nBody\n", &[SYNTAX]),
            ("---\nweight: 1\n---\nBody\n", &[REQUIRED]),
            ("---\ntitle: A\nweight: heavy\n---\nBody\n", &[TYPE]),
        ];
        for (text, expected) in cases {
            assert_eq!(
                codes(&FrontmatterContract, with_text(GUIDE, text)),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn a_site_without_front_matter_needs_none() {
        let mut subject = with_text(GUIDE, "# A\n");
        for contract in subject.contract.sections.values_mut() {
            contract.required_keys.clear();
        }
        assert!(codes(&FrontmatterContract, subject).is_empty());
    }

    #[test]
    fn a_section_without_samples_needs_a_title() {
        let mut subject = subject();
        subject.contract.sections.clear();
        subject.site.insert(GUIDE, "---\nweight: x\n---\nBody\n");
        assert_eq!(codes(&FrontmatterContract, subject), [REQUIRED]);
    }
}
