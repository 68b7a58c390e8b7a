//! The template while it is made: parts, who they belong to, what was refused on the way.
//!
//! Not here: what a part consists of; that is in `types`, `events` and their siblings.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use windlass_stack_config::Config;
use windlass_stack_config::model::{Resource, ResourceKind};

use crate::cf;
use crate::compiled::{CompiledScript, Output, SecretUse, SyncedBucket};
use crate::facts::Facts;
use crate::name;
use crate::refusal::{Refusal, Remark};

/// The template while it is made.
pub(crate) struct Stack<'a> {
    pub config: &'a Config,
    pub facts: &'a Facts,
    pub parts: BTreeMap<String, Part>,
    pub outputs: BTreeMap<String, (Value, Output)>,
    pub refusals: Vec<Refusal>,
    pub warnings: Vec<Remark>,
    pub secrets: BTreeSet<SecretUse>,
    pub parameters: BTreeSet<String>,
    pub synced_buckets: Vec<SyncedBucket>,
    pub scripts: Vec<CompiledScript>,
    /// The resource that is being compiled.
    owner: Option<String>,
}

/// One resource of the template.
#[derive(Debug)]
pub(crate) struct Part {
    pub cf_type: String,
    pub properties: Value,
    pub owner: Option<String>,
    /// Everything besides type and properties.
    pub attributes: Map<String, Value>,
    depends_on: BTreeSet<String>,
    /// Where in the config it comes from, for people.
    origin: String,
}

impl Part {
    /// It comes after another one, though it does not mention it.
    pub fn after(&mut self, id: impl Into<String>) -> &mut Self {
        self.depends_on.insert(id.into());
        self
    }

    /// What happens when the stack lets go of it, and when it is replaced.
    pub fn on_removal(&mut self, policy: &str) -> &mut Self {
        self.with("DeletionPolicy", policy)
            .with("UpdateReplacePolicy", policy)
    }

    pub fn with(&mut self, key: &str, value: impl Into<Value>) -> &mut Self {
        self.attributes.insert(key.to_owned(), value.into());
        self
    }

    pub fn is_retained(&self) -> bool {
        self.attributes
            .get("DeletionPolicy")
            .is_some_and(|policy| policy == "Retain" || policy == "RetainExceptOnCreate")
    }

    /// Ids of parts that must be there first.
    pub fn prerequisites(&self) -> Vec<String> {
        let written: Vec<String> = match self.attributes.get("DependsOn") {
            Some(Value::String(id)) => vec![id.clone()],
            Some(Value::Array(ids)) => ids
                .iter()
                .filter_map(|id| id.as_str().map(str::to_owned))
                .collect(),
            _ => Vec::new(),
        };
        self.depends_on.iter().cloned().chain(written).collect()
    }

    /// As CloudFormation writes it.
    pub fn into_template(self) -> Value {
        let mut object = self.attributes;
        object.insert("Type".to_owned(), Value::String(self.cf_type));
        let is_empty = self.properties.as_object().is_some_and(Map::is_empty);
        if !is_empty {
            object.insert("Properties".to_owned(), self.properties);
        }
        if !self.depends_on.is_empty() {
            object.insert(
                "DependsOn".to_owned(),
                self.depends_on.into_iter().collect(),
            );
        }
        Value::Object(object)
    }
}

impl<'a> Stack<'a> {
    pub fn new(config: &'a Config, facts: &'a Facts) -> Self {
        Self {
            config,
            facts,
            parts: BTreeMap::new(),
            outputs: BTreeMap::new(),
            refusals: Vec::new(),
            warnings: Vec::new(),
            secrets: BTreeSet::new(),
            parameters: BTreeSet::new(),
            synced_buckets: Vec::new(),
            scripts: Vec::new(),
            owner: None,
        }
    }

    /// From here on parts and refusals belong to this resource.
    pub fn enter(&mut self, owner: Option<&str>) {
        self.owner = owner.map(str::to_owned);
    }

    /// Adds a part. Two parts with one id are an error that names both.
    pub fn add(&mut self, id: impl Into<String>, cf_type: &str, properties: Value) -> &mut Part {
        let id = id.into();
        let origin = self.origin(cf_type);
        if let Some(other) = self.parts.get(&id).map(|part| part.origin.clone()) {
            self.refuse(
                "",
                format!("{origin} and {other} have the same logical id \"{id}\""),
                Some("rename one of them"),
            );
        }
        let part = Part {
            cf_type: cf_type.to_owned(),
            properties: cf::without_nulls(properties),
            owner: self.owner.clone(),
            attributes: Map::new(),
            depends_on: BTreeSet::new(),
            origin,
        };
        self.parts.entry(id).or_insert(part)
    }

    /// Adds a part that several resources share, once. It belongs to none of them.
    pub fn share(
        &mut self,
        id: &str,
        cf_type: &str,
        properties: impl FnOnce(&mut Self) -> Value,
    ) -> String {
        if !self.parts.contains_key(id) {
            let owner = self.owner.take();
            let properties = properties(self);
            self.add(id, cf_type, properties);
            self.owner = owner;
        }
        id.to_owned()
    }

    fn origin(&self, cf_type: &str) -> String {
        match &self.owner {
            Some(owner) => format!("the {cf_type} of \"{owner}\""),
            None => format!("a {cf_type} of the stack"),
        }
    }

    /// The path of a property of the resource that is being compiled.
    fn path(&self, property: &str) -> Vec<String> {
        let mut path: Vec<String> = match &self.owner {
            Some(owner) => ["resources", owner, "properties"].map(str::to_owned).into(),
            None => Vec::new(),
        };
        path.extend(
            property
                .split('.')
                .filter(|key| !key.is_empty())
                .map(str::to_owned),
        );
        path
    }

    /// Something that cannot be, at a property of the resource that is being compiled.
    pub fn refuse(&mut self, property: &str, message: impl Into<String>, help: Option<&str>) {
        self.refusals.push(Refusal {
            path: self.path(property),
            message: message.into(),
            suggestion: help.map(str::to_owned),
        });
    }

    /// Something to know, at a property of the resource that is being compiled.
    pub fn warn(&mut self, property: &str, message: impl Into<String>) {
        let remark = Remark {
            path: self.path(property),
            message: message.into(),
        };
        if !self.warnings.contains(&remark) {
            self.warnings.push(remark);
        }
    }

    /// A resource of the config.
    pub fn find(&self, name: &str) -> Option<&'a ResourceKind> {
        let config: &'a Config = self.config;
        config.resources.get(name).map(|resource| &resource.kind)
    }

    /// Every resource of the config.
    pub fn each(&self) -> impl Iterator<Item = (&'a str, &'a ResourceKind)> + use<'a> {
        let config: &'a Config = self.config;
        config
            .resources
            .iter()
            .map(|(name, resource): (&String, &Resource)| (name.as_str(), &resource.kind))
    }

    /// The physical name of a resource, within a limit.
    pub fn physical(&self, resource: &str, limit: usize) -> String {
        name::bounded(&format!("{}-{resource}", self.facts.stack_name()), limit)
    }

    /// The same in lower case with hyphens only, for services that are strict.
    pub fn physical_plain(&self, resource: &str, limit: usize) -> String {
        let name = name::plain(&format!("{}-{resource}", self.facts.stack_name()));
        name::bounded(&name, limit)
    }

    /// The name of a log group.
    pub fn log_group_name(&self, family: &str, resource: &str, part: &str) -> String {
        let stack = self.facts.stack_name();
        name::bounded(
            &format!("/windlass/{stack}/{family}/{resource}/{part}"),
            512,
        )
    }
}
