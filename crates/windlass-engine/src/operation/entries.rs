//! The operations of every domain. A domain's are made when one of them is first asked for: most
//! commands need the operations of one domain, and a process starts for every command.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use super::{CatalogueError, Operation, OperationInfo, validate::InputValidator};
use crate::{Domain, Engine};

/// An operation and what checks its input.
pub(super) struct Entry {
    pub operation: Arc<dyn Operation>,
    pub validator: InputValidator,
}

impl Entry {
    fn new(operation: Arc<dyn Operation>) -> Self {
        let validator = InputValidator::new(operation.info().input_schema.clone());
        Self {
            operation,
            validator,
        }
    }

    pub(super) fn info(&self) -> &OperationInfo {
        self.operation.info()
    }
}

/// One domain and its operations.
struct Part {
    domain: Box<dyn Domain>,
    made: OnceLock<Vec<Entry>>,
}

impl Part {
    fn entries(&self, engine: &Engine) -> &[Entry] {
        self.made.get_or_init(|| {
            let operations = self.domain.operations(engine);
            operations.into_iter().map(Entry::new).collect()
        })
    }

    /// Whether an operation of the toolset can be in it.
    fn may_have(&self, toolset: &str) -> bool {
        self.domain.toolset().is_none_or(|own| own == toolset)
    }
}

/// Where an entry is: its part, and its place there.
type Place = (usize, usize);

/// All operations: sorted by name, and by name or tool name.
struct Index {
    sorted: Vec<Place>,
    by_name: HashMap<String, Place>,
    defect: Option<CatalogueError>,
}

/// Every operation of this process.
pub(super) struct Entries {
    engine: Engine,
    parts: Vec<Part>,
    index: OnceLock<Index>,
}

impl Entries {
    pub(super) fn new(engine: &Engine, domains: Vec<Box<dyn Domain>>) -> Self {
        let part = |domain| Part {
            domain,
            made: OnceLock::new(),
        };
        Self {
            engine: engine.clone(),
            parts: domains.into_iter().map(part).collect(),
            index: OnceLock::new(),
        }
    }

    /// The operation of that name or tool name.
    pub(super) fn find(&self, name: &str) -> Option<&Entry> {
        let of_toolset = || {
            let (toolset, _) = name.split_once('.')?;
            let mut parts = self.parts.iter().filter(|part| part.may_have(toolset));
            parts.find_map(|part| {
                let mut entries = part.entries(&self.engine).iter();
                entries.find(|entry| entry.info().name == name)
            })
        };
        of_toolset().or_else(|| self.at(*self.index().by_name.get(name)?))
    }

    /// Every operation, sorted by name.
    pub(super) fn all(&self) -> impl Iterator<Item = &Entry> {
        let sorted = self.index().sorted.iter();
        sorted.filter_map(|place| self.at(*place))
    }

    /// The toolsets, sorted.
    pub(super) fn toolsets(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for part in &self.parts {
            match part.domain.toolset() {
                Some(own) => names.push(own),
                None => {
                    let entries = part.entries(&self.engine).iter();
                    names.extend(entries.map(|entry| entry.info().toolset.as_str()));
                }
            }
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    /// What is wrong with the names.
    pub(super) fn check(&self) -> Result<(), CatalogueError> {
        match &self.index().defect {
            Some(defect) => Err(defect.clone()),
            None => Ok(()),
        }
    }

    fn at(&self, (part, place): Place) -> Option<&Entry> {
        self.parts.get(part)?.entries(&self.engine).get(place)
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let mut defect = None;
            let mut named = Vec::new();
            for (number, part) in self.parts.iter().enumerate() {
                for (place, entry) in part.entries(&self.engine).iter().enumerate() {
                    let info = entry.info();
                    if !part.may_have(&info.toolset) {
                        defect = Some(CatalogueError::Toolset(info.name.clone()));
                    }
                    named.push((info, (number, place)));
                }
            }
            named.sort_by(|(left, _), (right, _)| left.name.cmp(&right.name));
            let mut by_name = HashMap::new();
            for (info, place) in &named {
                let tool = Some(&info.tool).filter(|tool| **tool != info.name);
                for name in [Some(&info.name), tool].into_iter().flatten() {
                    if by_name.insert(name.clone(), *place).is_some() {
                        defect = Some(CatalogueError::Duplicate(name.clone()));
                    }
                }
            }
            Index {
                sorted: named.into_iter().map(|(_, place)| place).collect(),
                by_name,
                defect,
            }
        })
    }
}
