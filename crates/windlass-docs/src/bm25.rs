//! Okapi BM25 over one field of all chunks: how well a chunk fits a term.
//!
//! Not here: which fields there are and what each is worth (`index`).

use std::collections::HashMap;

/// How soon repeating a term stops counting.
const SATURATION: f32 = 1.2;
/// How much a long text counts less.
const LENGTH_PENALTY: f32 = 0.75;

/// One field of every chunk, in the order the chunks were added.
pub(crate) struct Field {
    /// For each term, the chunks that hold it and how often.
    chunks_with: HashMap<String, Vec<(usize, f32)>>,
    /// How many terms each chunk has.
    lengths: Vec<f32>,
    total: f32,
}

impl Field {
    pub(crate) fn new() -> Self {
        Self {
            chunks_with: HashMap::new(),
            lengths: Vec::new(),
            total: 0.0,
        }
    }

    /// Adds the next chunk.
    pub(crate) fn push(&mut self, terms: &[String]) {
        let chunk = self.lengths.len();
        for term in terms {
            let chunks = match self.chunks_with.get_mut(term) {
                Some(chunks) => chunks,
                None => self.chunks_with.entry(term.clone()).or_default(),
            };
            match chunks.last_mut() {
                Some((last, count)) if *last == chunk => *count += 1.0,
                _ => chunks.push((chunk, 1.0)),
            }
        }
        self.lengths.push(terms.len() as f32);
        self.total += terms.len() as f32;
    }

    /// The chunks that hold a term, each with its score.
    pub(crate) fn scores(&self, term: &str) -> impl Iterator<Item = (usize, f32)> {
        let found = self.chunks_with.get(term).map_or(&[][..], Vec::as_slice);
        let (all, with) = (self.lengths.len() as f32, found.len() as f32);
        let rarity = (1.0 + (all - with + 0.5) / (with + 0.5)).ln();
        let average = self.total / all;
        found.iter().map(move |(chunk, count)| {
            let relative_length = self.lengths[*chunk] / average;
            let norm = SATURATION * (1.0 - LENGTH_PENALTY + LENGTH_PENALTY * relative_length);
            let score = rarity * (1.0 + SATURATION) * count / (count + norm);
            (*chunk, score)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(texts: &[&str], term: &str) -> Vec<(usize, f32)> {
        let mut field = Field::new();
        for text in texts {
            let terms: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            field.push(&terms);
        }
        field.scores(term).collect()
    }

    #[test]
    fn rare_repeated_and_short_terms_weigh_more() {
        let texts = ["queue stack", "stack stack", "stack a b c d e"];
        let queue = scores(&texts, "queue")[0].1;
        let stack = scores(&texts, "stack");
        assert_eq!(
            stack.iter().map(|(chunk, _)| *chunk).collect::<Vec<_>>(),
            [0, 1, 2]
        );
        assert!(queue > stack[0].1, "rare");
        assert!(stack[1].1 > stack[0].1, "repeated");
        assert!(stack[0].1 > stack[2].1, "short");
        assert!(scores(&texts, "absent").is_empty());
    }

    #[test]
    fn the_score_is_that_of_the_formula() {
        // One of two chunks, once, of average length: ln(1 + 1.5 / 1.5) * 2.2 / 2.2.
        let found = scores(&["queue", "stack"], "queue");
        assert_eq!(found.len(), 1);
        assert!((found[0].1 - 2.0_f32.ln()).abs() < 1e-6, "{found:?}");
    }
}
