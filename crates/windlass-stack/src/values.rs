//! Values of secrets on their way to AWS: in the memory of the process that was given them, and
//! nowhere else.
//!
//! A run knows its value by a random name. The value is here from the call until the run has ended;
//! a process that starts later has none.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use windlass_types::Secret;

/// The values this process holds.
#[derive(Clone, Default)]
pub struct SecretValues(Arc<Mutex<HashMap<String, SecretArgument>>>);

/// The argument that a value came in: `secretValue`, or `secretFile` with the file that has it.
#[derive(Clone)]
pub struct SecretArgument {
    name: &'static str,
    content: Secret<String>,
}

impl SecretArgument {
    /// Where a call may have it.
    pub(crate) const FIELDS: [&str; 2] = ["secretFile", "secretValue"];

    /// A value as it was given.
    pub fn value(value: Secret<String>) -> Self {
        Self {
            name: "secretValue",
            content: value,
        }
    }

    /// Takes it out of the arguments of a call, so that nothing of it is kept with them.
    pub(crate) fn take(arguments: &mut Map<String, Value>) -> Option<Self> {
        let mut taken = None;
        for name in Self::FIELDS {
            if let Some(Value::String(content)) = arguments.remove(name) {
                let content = Secret::new(content);
                taken = Some(Self { name, content });
            }
        }
        taken
    }

    /// Puts it back, for the one call that needs it.
    pub(crate) fn put(&self, arguments: &mut Map<String, Value>) {
        let content = self.content.expose_secret().as_str();
        arguments.insert(self.name.to_owned(), Value::from(content));
    }
}

impl SecretValues {
    /// Holds a value until the guard goes.
    pub fn hold(&self, slot: &str, argument: SecretArgument) -> HeldValue {
        self.all().insert(slot.to_owned(), argument);
        HeldValue {
            values: self.clone(),
            slot: slot.to_owned(),
        }
    }

    /// The value of that name, where this process is the one that was given it.
    pub(crate) fn get(&self, slot: &str) -> Option<SecretArgument> {
        self.all().get(slot).cloned()
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, SecretArgument>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A value that is held.
pub struct HeldValue {
    values: SecretValues,
    slot: String,
}

impl Drop for HeldValue {
    fn drop(&mut self) {
        self.values.all().remove(&self.slot);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_held_as_long_as_its_guard() {
        let mut arguments = json!({ "secretName": "key", "secretValue": "canary" });
        let arguments = arguments.as_object_mut().unwrap();
        let values = SecretValues::default();
        let held = values.hold("one", SecretArgument::take(arguments).unwrap());
        assert_eq!(
            Value::Object(arguments.clone()),
            json!({ "secretName": "key" })
        );
        let mut given = Map::new();
        values.get("one").unwrap().put(&mut given);
        assert_eq!(Value::Object(given), json!({ "secretValue": "canary" }));
        assert!(values.get("two").is_none());
        drop(held);
        assert!(values.get("one").is_none());
    }
}
