//! The same work on several items at once: git waits for the network most of the time.

use std::{
    num::NonZero,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use windlass_types::Problem;

/// More connections than this at once are rude to servers.
const LIMIT: NonZero<usize> = NonZero::new(6).unwrap();

/// Does the work on every item and keeps the order. Of several failures the first item's is
/// given; after one, nothing new is begun.
pub(crate) fn try_map<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R, Problem> + Sync,
) -> Result<Vec<R>, Problem> {
    if items.len() < 2 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    std::thread::scope(|scope| {
        for _ in 0..LIMIT.get().min(items.len()) {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else {
                        return;
                    };
                    let result = work(item);
                    if result.is_err() {
                        stop.store(true, Ordering::Relaxed);
                    }
                    done.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push((index, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_pack_model::fault;

    #[test]
    fn results_keep_their_order_and_the_first_failure_is_reported() {
        let items: Vec<u32> = (0..50).collect();
        let doubled = try_map(&items, |item| Ok(item * 2)).unwrap();
        assert_eq!(
            doubled,
            items.iter().map(|item| item * 2).collect::<Vec<_>>()
        );
        let failed = try_map(&items, |item| match item {
            3 => Err(fault::config_invalid("three")),
            _ => Ok(()),
        });
        assert_eq!(failed.unwrap_err().message(), "three");
    }
}
