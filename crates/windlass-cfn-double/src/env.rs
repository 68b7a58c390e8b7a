//! Everything around stacks: time, names that are taken, exports, buckets, secrets, faults.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::clock;
use crate::faults::{Durations, Faults};
use crate::ids::Ids;
use crate::services::parameters::Parameters;
use crate::services::s3::Buckets;
use crate::services::secrets::Secrets;
use crate::stack::{Output, Resource, Stack};
use crate::template::eval::scalar;

#[derive(Clone, Debug)]
pub struct Env {
    pub now: u64,
    pub account: String,
    pub ids: Ids,
    pub durations: Durations,
    pub faults: Faults,
    pub buckets: Buckets,
    pub secrets: Secrets,
    pub parameters: Parameters,
    /// Whether a function's code must be in the asset store.
    pub verify_code: bool,
    /// Logical ids for which `Conditional` means replacement.
    pub conditional_replacements: BTreeSet<String>,
    /// Physical resources that outlived their stack: retained, or as a snapshot.
    pub kept: Vec<Kept>,
    /// (region, export) → value and exporting stack.
    exports: BTreeMap<(String, String), (String, String)>,
    /// Stack → exports it reads.
    imports: BTreeMap<String, BTreeSet<String>>,
    /// (region, type, physical id) → stack.
    names: BTreeMap<(String, String, String), String>,
}

#[derive(Clone, Debug)]
pub struct Kept {
    pub stack: String,
    pub logical_id: String,
    pub kind: String,
    pub physical_id: String,
    pub how: &'static str,
}

impl Env {
    pub fn new(account: &str, seed: u64) -> Env {
        Env {
            now: clock::START,
            account: account.to_owned(),
            ids: Ids::new(seed),
            durations: Durations::default(),
            faults: Faults::default(),
            buckets: Buckets::default(),
            secrets: Secrets::default(),
            parameters: Parameters::default(),
            verify_code: true,
            conditional_replacements: BTreeSet::new(),
            kept: Vec::new(),
            exports: BTreeMap::new(),
            imports: BTreeMap::new(),
            names: BTreeMap::new(),
        }
    }

    pub fn export(&self, region: &str, name: &str) -> Option<String> {
        self.exports
            .get(&(region.to_owned(), name.to_owned()))
            .map(|(value, _)| value.clone())
    }

    /// (name, value, exporting stack) of a region.
    pub fn exports(&self, region: &str) -> Vec<(String, String, String)> {
        self.exports
            .iter()
            .filter(|((of, _), _)| of == region)
            .map(|((_, name), (value, stack))| (name.clone(), value.clone(), stack.clone()))
            .collect()
    }

    /// The stacks that read an export.
    pub fn importers(&self, export: &str) -> Vec<String> {
        self.imports
            .iter()
            .filter(|(_, names)| names.contains(export))
            .map(|(stack, _)| stack.clone())
            .collect()
    }

    pub fn set_imports(&mut self, stack: &str, names: BTreeSet<String>) {
        self.imports.insert(stack.to_owned(), names);
    }

    /// An export that others read must stay as it is; a name belongs to one stack.
    pub fn check_exports(&self, stack: &Stack, outputs: &[Output]) -> Result<(), String> {
        for ((region, name), (value, owner)) in &self.exports {
            if *region != stack.region {
                continue;
            }
            let wanted = outputs
                .iter()
                .find(|output| output.export.as_ref() == Some(name));
            if *owner != stack.id {
                if wanted.is_some() {
                    return Err(format!(
                        "Export with name {name} is already exported by stack {}",
                        stack_name(owner)
                    ));
                }
                continue;
            }
            let importers = self.importers(name);
            let verb = match wanted {
                Some(output) if output.value == *value => continue,
                Some(_) => "updated",
                None => "deleted",
            };
            if let Some(importer) = importers.first() {
                return Err(format!(
                    "Export {name} cannot be {verb} as it is in use by {}",
                    stack_name(importer)
                ));
            }
        }
        Ok(())
    }

    pub fn publish(&mut self, stack: &Stack, outputs: &[Output]) {
        self.exports.retain(|_, (_, owner)| *owner != stack.id);
        for output in outputs {
            if let Some(name) = &output.export {
                self.exports.insert(
                    (stack.region.clone(), name.clone()),
                    (output.value.clone(), stack.id.clone()),
                );
            }
        }
    }

    pub fn unpublish(&mut self, stack_id: &str) {
        self.exports.retain(|_, (_, owner)| owner != stack_id);
        self.imports.remove(stack_id);
    }

    pub fn replaces_conditionally(&self, logical_id: &str) -> bool {
        self.conditional_replacements.contains(logical_id)
    }

    /// The stack that has a physical resource of this name.
    pub fn owner(&self, region: &str, kind: &str, id: &str) -> Option<String> {
        if kind == "AWS::S3::Bucket" && self.buckets.exists(id) {
            let owner = self
                .names
                .iter()
                .find(|((_, k, n), _)| k == kind && n == id);
            return Some(owner.map_or_else(|| "(none)".to_owned(), |(_, stack)| stack.clone()));
        }
        self.names
            .get(&(region.to_owned(), kind.to_owned(), id.to_owned()))
            .cloned()
    }

    /// Physical ids of everything that exists in any stack or was left behind.
    #[cfg(test)]
    pub fn taken_names(&self) -> Vec<String> {
        self.names.keys().map(|(_, _, id)| id.clone()).collect()
    }

    /// A physical resource came into being.
    pub fn born(&mut self, stack_id: &str, region: &str, resource: &Resource) {
        let Some(physical) = &resource.physical else {
            return;
        };
        self.names.insert(
            (
                region.to_owned(),
                resource.kind.clone(),
                physical.id.clone(),
            ),
            stack_id.to_owned(),
        );
        match resource.kind.as_str() {
            "AWS::S3::Bucket" => {
                let status = resource
                    .properties
                    .pointer("/VersioningConfiguration/Status");
                let is_versioned = status.map(scalar).as_deref() == Some("Enabled");
                self.buckets
                    .create(&physical.id, region, is_versioned, self.now);
            }
            "AWS::SecretsManager::Secret" => {
                let value = resource
                    .properties
                    .get("SecretString")
                    .map_or_else(|| "generated".to_owned(), scalar);
                let id = self.ids.uuid();
                self.secrets.put_existing(
                    region,
                    &physical.name,
                    &physical.arn,
                    &value,
                    &id,
                    self.now,
                );
            }
            _ => {}
        }
    }

    /// A physical resource ceased to be.
    pub fn gone(&mut self, region: &str, resource: &Resource) {
        let Some(physical) = &resource.physical else {
            return;
        };
        self.names.remove(&(
            region.to_owned(),
            resource.kind.clone(),
            physical.id.clone(),
        ));
        match resource.kind.as_str() {
            "AWS::S3::Bucket" => self.buckets.remove(&physical.id),
            "AWS::SecretsManager::Secret" => self.secrets.remove(region, &physical.name),
            _ => {}
        }
    }

    /// Why a physical resource cannot be deleted as it is.
    pub fn undeletable(&self, resource: &Resource) -> Option<String> {
        let is_full = resource.kind == "AWS::S3::Bucket"
            && resource
                .physical_id()
                .is_some_and(|id| self.buckets.has_objects(id));
        if is_full {
            return Some(
                "The bucket you tried to delete is not empty. You must delete all versions in the \
                 bucket. (Service: S3, Status Code: 409)"
                    .to_owned(),
            );
        }
        let is_protected = resource.properties.get("DeletionProtection").map(scalar);
        (resource.kind.starts_with("AWS::RDS::") && is_protected.as_deref() == Some("true")).then(
            || {
                "Cannot delete protected DB Instance, please disable deletion protection and try \
                 again. (Service: Rds, Status Code: 400)"
                    .to_owned()
            },
        )
    }

    pub fn keep(&mut self, stack: &str, resource: &Resource, how: &'static str) {
        self.kept.push(Kept {
            stack: stack.to_owned(),
            logical_id: resource.logical_id.clone(),
            kind: resource.kind.clone(),
            physical_id: resource.physical_id().unwrap_or_default().to_owned(),
            how,
        });
    }

    /// Something the properties refer to that does not exist: a secret, a parameter, code.
    pub fn missing(&self, region: &str, kind: &str, properties: &Value) -> Option<String> {
        let mut texts = Vec::new();
        collect_texts(properties, &mut texts);
        for text in texts {
            for (service, name) in dynamic_references(text) {
                match service {
                    "secretsmanager" if !self.secrets.exists(region, name) => {
                        return Some(format!(
                            "Could not resolve dynamic reference to {name}: Secrets Manager can't \
                             find the specified secret. (Service: AWSSecretsManager; Status Code: \
                             400; Error Code: ResourceNotFoundException)"
                        ));
                    }
                    "ssm" | "ssm-secure" if !self.parameters.exists(region, name) => {
                        return Some(format!(
                            "Parameters [{name}] referenced by template have not been found."
                        ));
                    }
                    _ => {}
                }
            }
        }
        if kind != "AWS::Lambda::Function" || !self.verify_code {
            return None;
        }
        let place = |key: &str| properties.pointer(&format!("/Code/{key}")).map(scalar);
        let (bucket, key) = (place("S3Bucket")?, place("S3Key")?);
        (!self.buckets.has_object(&bucket, &key)).then(|| {
            "Resource handler returned message: \"Error occurred while GetObject. S3 Error Code: \
             NoSuchKey. S3 Error Message: The specified key does not exist. (Service: Lambda, \
             Status Code: 400)\" (HandlerErrorCode: InvalidRequest)"
                .to_owned()
        })
    }
}

fn stack_name(id: &str) -> &str {
    id.split('/').nth(1).unwrap_or(id)
}

fn collect_texts<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|value| collect_texts(value, texts)),
        Value::Object(fields) => fields
            .values()
            .for_each(|value| collect_texts(value, texts)),
        _ => {}
    }
}

/// `{{resolve:service:name…}}` → (service, name); a secret may be named by its ARN.
fn dynamic_references(text: &str) -> Vec<(&str, &str)> {
    text.match_indices("{{resolve:")
        .filter_map(|(at, opening)| {
            let (inside, _) = text[at + opening.len()..].split_once("}}")?;
            let (service, rest) = inside.split_once(':')?;
            let colons = if rest.starts_with("arn:") { 6 } else { 0 };
            let end = rest
                .match_indices(':')
                .nth(colons)
                .map_or(rest.len(), |(end, _)| end);
            Some((service, &rest[..end]))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::dynamic_references;

    #[test]
    fn dynamic_references_are_found_by_name_and_by_arn() {
        assert_eq!(
            dynamic_references(
                "a{{resolve:secretsmanager:db:SecretString:password}}b{{resolve:ssm:/x/y:1}}\
                 {{resolve:secretsmanager:arn:aws:secretsmanager:eu-west-1:1:secret:db-abcdef:SecretString}}{{resolve:"
            ),
            [
                ("secretsmanager", "db"),
                ("ssm", "/x/y"),
                (
                    "secretsmanager",
                    "arn:aws:secretsmanager:eu-west-1:1:secret:db-abcdef"
                ),
            ]
        );
    }
}
