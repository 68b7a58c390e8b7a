//! The parameters of an AWS Query call: flat names that spell lists and records.
//!
//! `Tags.member.2.Key=a` is the key of the second tag.

use std::collections::BTreeMap;

use crate::error::ApiError;

#[derive(Clone, Debug, Default)]
pub struct Params(BTreeMap<String, String>);

impl Params {
    pub fn parse(form: &str) -> Params {
        Params(
            url::form_urlencoded::parse(form.as_bytes())
                .into_owned()
                .collect(),
        )
    }

    /// A value that is present and not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    pub fn required(&self, name: &str) -> Result<&str, ApiError> {
        self.get(name).ok_or_else(|| {
            ApiError::validation(format!(
                "1 validation error detected: Value null at '{}' failed to satisfy constraint: \
                 Member must not be null",
                lower_first(name)
            ))
        })
    }

    pub fn flag(&self, name: &str) -> bool {
        self.get(name) == Some("true")
    }

    pub fn number(&self, name: &str) -> Option<usize> {
        self.get(name).and_then(|value| value.parse().ok())
    }

    /// Whether anything of that name was sent, also as an empty list.
    pub fn has(&self, name: &str) -> bool {
        let nested = format!("{name}.");
        self.0.contains_key(name) || self.0.keys().any(|key| key.starts_with(&nested))
    }

    /// The texts of a list, in order.
    pub fn list(&self, name: &str) -> Vec<String> {
        self.records(name)
            .into_iter()
            .filter_map(|record| record.0.get("").cloned())
            .collect()
    }

    /// The records of a list, in order; a plain text is the record's value without a name.
    pub fn records(&self, name: &str) -> Vec<Params> {
        let prefix = format!("{name}.member.");
        let mut records: BTreeMap<usize, BTreeMap<String, String>> = BTreeMap::new();
        for (key, value) in &self.0 {
            let Some(rest) = key.strip_prefix(&prefix) else {
                continue;
            };
            let (index, field) = rest.split_once('.').unwrap_or((rest, ""));
            if let Ok(index) = index.parse() {
                records
                    .entry(index)
                    .or_default()
                    .insert(field.to_owned(), value.clone());
            }
        }
        records.into_values().map(Params).collect()
    }
}

/// The service names members in camel case.
fn lower_first(name: &str) -> String {
    let mut characters = name.chars();
    match characters.next() {
        Some(first) => first.to_ascii_lowercase().to_string() + characters.as_str(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_records_are_read_in_order() {
        let params = Params::parse(
            "Capabilities.member.2=B&Capabilities.member.1=A&Tags.member.10.Key=j&\
             Tags.member.2.Key=b&Tags.member.2.Value=x%26y&Empty=&NotificationARNs=",
        );
        assert_eq!(params.list("Capabilities"), ["A", "B"]);
        let keys: Vec<_> = params
            .records("Tags")
            .iter()
            .map(|tag| {
                (
                    tag.get("Key").unwrap().to_owned(),
                    tag.get("Value").map(str::to_owned),
                )
            })
            .collect();
        assert_eq!(
            keys,
            [
                ("b".to_owned(), Some("x&y".to_owned())),
                ("j".to_owned(), None)
            ]
        );
        assert_eq!(params.get("Empty"), None);
        assert!(params.has("NotificationARNs") && params.has("Tags") && !params.has("Tag"));
        assert!(
            params
                .required("StackName")
                .unwrap_err()
                .message
                .contains("at 'stackName'")
        );
    }
}
