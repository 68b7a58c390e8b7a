//! Streams that are open, in total and per caller.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use windlass_types::{Problem, code};

/// How soon a refused stream may be tried again.
const RETRY_SECONDS: u64 = 5;

/// The open streams of one server.
#[derive(Debug)]
pub(crate) struct Streams {
    most: usize,
    most_per_caller: usize,
    open: Arc<Mutex<HashMap<String, usize>>>,
}

/// A stream that is open; counted until this is dropped.
#[derive(Debug)]
pub(crate) struct StreamPlace {
    caller: String,
    open: Arc<Mutex<HashMap<String, usize>>>,
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.caller) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.caller);
            }
        }
    }
}

impl Streams {
    pub(crate) fn new(most: usize, most_per_caller: usize) -> Self {
        Self {
            most,
            most_per_caller,
            open: Arc::default(),
        }
    }

    /// Counts a stream, or says why there may be no further one.
    pub(crate) fn open(&self, caller: &str) -> Result<StreamPlace, Problem> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let own = open.get(caller).copied().unwrap_or(0);
        let message = if own >= self.most_per_caller {
            format!(
                "this caller has {own} open streams, as many as one may have; close one of them"
            )
        } else if open.values().sum::<usize>() >= self.most {
            "the server has as many open streams as it may have; try again, or ask without a stream"
                .to_owned()
        } else {
            open.insert(caller.to_owned(), own + 1);
            return Ok(StreamPlace {
                caller: caller.to_owned(),
                open: Arc::clone(&self.open),
            });
        };
        Err(Problem::new(&code::RATE_LIMITED, message)
            .with("limit", "streams")
            .with("retry_after_seconds", RETRY_SECONDS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_counted_per_caller_and_in_total() {
        let streams = Streams::new(3, 2);
        let first = streams.open("key:a").unwrap();
        let _second = streams.open("key:a").unwrap();
        assert!(
            streams
                .open("key:a")
                .unwrap_err()
                .message()
                .contains("this caller")
        );
        let _third = streams.open("key:b").unwrap();
        assert!(
            streams
                .open("key:c")
                .unwrap_err()
                .message()
                .contains("the server")
        );
        drop(first);
        assert!(streams.open("key:c").is_ok());
    }
}
