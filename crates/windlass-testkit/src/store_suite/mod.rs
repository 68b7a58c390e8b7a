//! What every store must do, as tests that run on any of them.
//!
//! `store_suite!(make)` in a test file generates one `#[test]` per case; `make()` gives a
//! factory for an empty home, and opening it twice gives two processes on that home.

mod claims;
mod conditions;
mod content;
mod due;
mod holds;
mod indexes;
mod journals;
mod outbox;
mod processes;
mod sample;

pub use claims::*;
pub use conditions::*;
pub use content::*;
pub use due::*;
pub use holds::*;
pub use indexes::*;
pub use journals::*;
pub use outbox::*;
pub use processes::*;

use std::sync::Arc;

use windlass_ports::{BlobStore, BoxFuture, Lease, RunStore, StoreMaintenance};

/// Opens the same home, again and again.
pub trait StoreFactory: Send + Sync {
    /// A process's hold on the home.
    fn open(&self) -> Stores;
}

impl<F: Fn() -> Stores + Send + Sync> StoreFactory for F {
    fn open(&self) -> Stores {
        self()
    }
}

/// One process's hold on a home.
#[derive(Clone)]
pub struct Stores {
    /// The journals.
    pub runs: Arc<dyn RunStore>,
    /// The contents.
    pub blobs: Arc<dyn BlobStore>,
    /// The right to drive.
    pub lease: Arc<dyn Lease>,
    /// Care of the store.
    pub maintenance: Arc<dyn StoreMaintenance>,
}

impl Stores {
    /// All ports of one value.
    pub fn of<T: RunStore + BlobStore + Lease + StoreMaintenance>(store: T) -> Self {
        let store = Arc::new(store);
        Self {
            runs: Arc::clone(&store) as _,
            blobs: Arc::clone(&store) as _,
            lease: Arc::clone(&store) as _,
            maintenance: store,
        }
    }
}

/// Runs one case on a runtime of its own.
pub fn run<F, C>(factory: F, case: C)
where
    F: StoreFactory,
    C: for<'a> FnOnce(&'a dyn StoreFactory) -> BoxFuture<'a, ()>,
{
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(case(&factory));
}

/// Generates one `#[test]` per case for the stores that `$make()` makes.
#[macro_export]
macro_rules! store_suite {
    ($make:expr) => {
        $crate::store_suite! { @tests $make;
            events_are_chained_and_read_back
            journals_are_read_in_pages
            events_of_unknown_types_are_kept
            unreadable_events_are_refused
            the_feed_has_everything_in_order
            a_commit_is_all_or_nothing
            new_means_new
            states_are_conditions
            a_run_is_created_once_and_first
            idempotency_keys_are_per_principal_and_kind
            confirm_tokens_are_redeemed_once
            the_idempotency_key_is_looked_at_before_the_token
            one_commit_cannot_claim_twice
            sixty_four_callers_have_one_winner
            quotas_are_per_principal_and_kind
            sixty_four_callers_stay_within_the_quota
            records_are_folds_of_their_journals
            runs_are_listed_newest_first
            unfinished_runs_are_counted
            artifacts_are_the_latest_of_each_name
            keys_come_from_the_key_journal_only
            keys_know_when_they_were_last_used
            deliveries_follow_their_attempts
            gone_receivers_get_only_what_is_asked_for_by_hand
            imports_keep_their_hashes
            broken_imports_are_refused
            imports_bring_no_deliveries_and_no_keys
            contents_are_what_was_put
            checks_count_everything_and_find_nothing
            backups_are_made_while_in_use
            prunes_take_old_ended_runs_only
            runs_kept_for_a_time_go_when_it_is_over
            ended_runs_go_by_themselves
            imports_claim_no_idempotency_key
            old_epochs_are_fenced
            a_lease_is_held_by_one
            leases_end
            departures_are_noticed
            a_run_is_followed_alone
            names_are_held_by_one_run
            names_are_given_in_the_order_of_creation
            a_rollback_needs_its_names_again
            due_runs_are_found_without_the_others
            what_was_committed_is_there_after_reopening
            changes_are_noticed_by_all_processes
        }
    };
    (@tests $make:expr; $($case:ident)*) => {
        $(
            #[test]
            fn $case() {
                $crate::store_suite::run($make(), |factory| Box::pin($crate::store_suite::$case(factory)));
            }
        )*
    };
}
