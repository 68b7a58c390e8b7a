//! Which requests of one connection wait for an answer, and which answers belong together.
//!
//! Pure bookkeeping: no IO, no clock. The stdio transport asks it before a request goes in
//! and tells it when an answer comes out.

use std::collections::HashMap;

use rmcp::model::RequestId;
use serde::Serialize;
use serde_json::value::RawValue;

/// Names one batch on this connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BatchKey(u64);

/// What is to be written once a request is answered.
#[derive(Debug)]
pub enum Release {
    /// The answer, by itself.
    Alone,
    /// Nothing yet: the batch has more to come.
    Held,
    /// The answers of a whole batch.
    Batch(Vec<Box<RawValue>>),
    /// Nothing at all: nobody waits for this id, it was cancelled.
    Unwanted,
}

/// The requests in flight.
#[derive(Debug, Default)]
pub struct Flight {
    waiting: HashMap<RequestId, Option<BatchKey>>,
    batches: HashMap<BatchKey, Batch>,
    next_batch: u64,
}

#[derive(Debug, Default)]
struct Batch {
    missing: usize,
    answers: Vec<Box<RawValue>>,
}

impl Flight {
    /// How many requests wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none does.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether a request with this id waits.
    pub fn contains(&self, id: &RequestId) -> bool {
        self.waiting.contains_key(id)
    }

    /// Notes a request.
    pub fn begin(&mut self, id: RequestId, batch: Option<BatchKey>) {
        if let Some(batch) = batch.and_then(|key| self.batches.get_mut(&key)) {
            batch.missing += 1;
        }
        self.waiting.insert(id, batch);
    }

    /// Opens a batch that has these answers already. It is complete only after `seal`.
    pub fn open_batch(&mut self) -> BatchKey {
        let key = BatchKey(self.next_batch);
        self.next_batch += 1;
        // One place is kept by the batch itself until it is sealed.
        self.batches.insert(
            key,
            Batch {
                missing: 1,
                answers: Vec::new(),
            },
        );
        key
    }

    /// Adds an answer that needed no request, a refusal for example.
    pub fn add_answer(&mut self, key: BatchKey, answer: &impl Serialize) {
        if let Some(batch) = self.batches.get_mut(&key)
            && let Ok(answer) = serde_json::value::to_raw_value(answer)
        {
            batch.answers.push(answer);
        }
    }

    /// All requests of the batch are noted; gives its answers if they are all there.
    pub fn seal(&mut self, key: BatchKey) -> Option<Vec<Box<RawValue>>> {
        self.fill(key)
    }

    /// The request is answered.
    pub fn end(&mut self, id: &RequestId, answer: &impl Serialize) -> Release {
        match self.waiting.remove(id) {
            None => Release::Unwanted,
            Some(None) => Release::Alone,
            Some(Some(key)) => {
                self.add_answer(key, answer);
                self.fill(key).map_or(Release::Held, Release::Batch)
            }
        }
    }

    /// The request was cancelled and will not be answered. May complete its batch.
    pub fn cancel(&mut self, id: &RequestId) -> Option<Vec<Box<RawValue>>> {
        let key = self.waiting.remove(id)??;
        self.fill(key)
    }

    fn fill(&mut self, key: BatchKey) -> Option<Vec<Box<RawValue>>> {
        let batch = self.batches.get_mut(&key)?;
        batch.missing -= 1;
        if batch.missing > 0 {
            return None;
        }
        let answers = self.batches.remove(&key).map(|batch| batch.answers)?;
        // A batch of notifications gets no answer at all, not an empty list.
        (!answers.is_empty()).then_some(answers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: i64) -> RequestId {
        RequestId::Number(number)
    }

    fn texts(answers: Vec<Box<RawValue>>) -> Vec<String> {
        answers
            .iter()
            .map(|answer| answer.get().to_owned())
            .collect()
    }

    #[test]
    fn a_single_request_is_answered_alone_and_once() {
        let mut flight = Flight::default();
        flight.begin(id(1), None);
        assert!(flight.contains(&id(1)));
        assert!(matches!(flight.end(&id(1), &1), Release::Alone));
        assert!(matches!(flight.end(&id(1), &1), Release::Unwanted));
        assert!(flight.is_empty());
    }

    #[test]
    fn a_batch_is_released_with_its_last_answer() {
        let mut flight = Flight::default();
        let key = flight.open_batch();
        flight.begin(id(1), Some(key));
        flight.begin(id(2), Some(key));
        flight.add_answer(key, &"refused");
        assert!(flight.seal(key).is_none());
        assert!(matches!(flight.end(&id(2), &"two"), Release::Held));
        let Release::Batch(answers) = flight.end(&id(1), &"one") else {
            panic!("not complete")
        };
        assert_eq!(texts(answers), ["\"refused\"", "\"two\"", "\"one\""]);
    }

    #[test]
    fn a_batch_answered_before_it_is_sealed_waits_for_the_seal() {
        let mut flight = Flight::default();
        let key = flight.open_batch();
        flight.begin(id(1), Some(key));
        assert!(matches!(flight.end(&id(1), &"one"), Release::Held));
        assert_eq!(
            flight.seal(key).map(texts),
            Some(vec!["\"one\"".to_owned()])
        );
    }

    #[test]
    fn cancelling_the_last_request_completes_the_batch() {
        let mut flight = Flight::default();
        let key = flight.open_batch();
        flight.begin(id(1), Some(key));
        flight.begin(id(2), Some(key));
        assert!(flight.seal(key).is_none());
        assert!(matches!(flight.end(&id(1), &"one"), Release::Held));
        assert_eq!(
            flight.cancel(&id(2)).map(texts),
            Some(vec!["\"one\"".to_owned()])
        );
        assert!(flight.cancel(&id(2)).is_none());
    }

    #[test]
    fn a_batch_without_answers_is_silent() {
        let mut flight = Flight::default();
        let key = flight.open_batch();
        assert!(flight.seal(key).is_none());
    }
}
