//! Stated words, each once, with all its places.

use std::collections::HashMap;

use crate::model::analysis::Stated;

/// Stated words in the order they are first met.
#[derive(Default)]
pub struct Collected {
    /// The words.
    pub items: Vec<Stated>,
    index: HashMap<String, usize>,
}

impl Collected {
    /// Adds a word, or another place of it.
    pub fn add(&mut self, text: &str, id: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let at = *self.index.entry(text.to_owned()).or_insert_with(|| {
            self.items.push(Stated {
                text: text.to_owned(),
                spans: Vec::new(),
            });
            self.items.len() - 1
        });
        let spans = &mut self.items[at].spans;
        if spans.last().is_none_or(|last| last != id) {
            spans.push(id.to_owned());
        }
    }
}
