//! The world programs act on: cells, and a memory of what was done to them.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::json;
use windlass_types::Digest;

/// Cells. Recognises a repeated effect by its idempotency key, as a good service does.
/// Clones share everything.
#[derive(Clone, Debug, Default)]
pub struct Ledger(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    cells: BTreeMap<String, i64>,
    /// What a cell was before, by the key of the effect that changed it.
    done: HashMap<String, Option<i64>>,
    /// Every change that was made, in order.
    changes: Vec<String>,
    calls: HashMap<String, u32>,
}

impl Ledger {
    /// An empty ledger.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a cell once per key; what it was before.
    pub fn set(&self, key: &str, cell: &str, value: i64) -> Option<i64> {
        let mut state = self.lock();
        if let Some(before) = state.done.get(key) {
            return *before;
        }
        let before = state.cells.insert(cell.to_owned(), value);
        state.done.insert(key.to_owned(), before);
        state.changes.push(format!("{cell}={value}"));
        before
    }

    /// Restores a cell unless it was changed since. Harmless when repeated.
    pub fn restore(&self, cell: &str, value: i64, before: Option<i64>) {
        let mut state = self.lock();
        if state.cells.get(cell) != Some(&value) {
            return;
        }
        match before {
            Some(before) => state.cells.insert(cell.to_owned(), before),
            None => state.cells.remove(cell),
        };
    }

    /// Counts the calls of a key, to refuse the first few.
    pub fn call(&self, key: &str) -> u32 {
        let mut state = self.lock();
        let calls = state.calls.entry(key.to_owned()).or_insert(0);
        *calls += 1;
        *calls
    }

    /// A cell's value.
    pub fn get(&self, cell: &str) -> Option<i64> {
        self.lock().cells.get(cell).copied()
    }

    /// Every cell.
    pub fn cells(&self) -> BTreeMap<String, i64> {
        self.lock().cells.clone()
    }

    /// Every change that was made, in order; repetitions that were recognised are not here.
    pub fn changes(&self) -> Vec<String> {
        self.lock().changes.clone()
    }

    /// The digest of all cells.
    pub fn hash(&self) -> Digest {
        Digest::of_json(&json!(self.cells()))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
