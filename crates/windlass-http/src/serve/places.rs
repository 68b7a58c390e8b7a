//! Places for connections: how many there are, in total and per address, and which one gives way.
//!
//! A connection that waits for its client, before a request or with half of one, keeps its place
//! only while nobody else needs it. Where every place is taken by a request under way, a few more
//! connections are taken for probes, so that `/v1/health` and `/v1/ready` are answered by a server
//! that is full.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::SeqCst},
    },
    time::Instant,
};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Connections beyond the limit that may only ask for health and readiness.
const PROBE_PLACES: usize = 16;

/// A connection without a request is over after so long when the server stops.
const QUIET_MILLIS: u64 = 250;

const IDLE: u8 = 0;
const BUSY: u8 = 1;
const EVICTED: u8 = 2;

/// What is known of one connection.
pub(crate) struct Activity {
    state: AtomicU8,
    /// When its client last sent a request or took a part of an answer, in milliseconds since the
    /// server started.
    moved: AtomicU64,
    started: Instant,
    /// Whether its client may still be sending what nobody reads.
    sends_on: AtomicBool,
    /// Cancelled when it has to give way.
    pub(crate) evicted: CancellationToken,
}

impl Activity {
    /// Notes that the client takes part.
    pub(crate) fn touch(&self) {
        self.moved.store(self.now(), SeqCst);
    }

    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Notes that a request was refused before all of it was read.
    pub(crate) fn refused_early(&self) {
        self.sends_on.store(true, SeqCst);
    }

    /// Whether the client may still be sending what nobody reads.
    pub(crate) fn sends_on(&self) -> bool {
        self.sends_on.load(SeqCst)
    }

    /// Ends a connection on which nothing has happened for a while; says whether it has ended.
    pub(crate) fn end_if_quiet(&self) -> bool {
        let quiet = self.now().saturating_sub(self.moved.load(SeqCst));
        quiet >= QUIET_MILLIS && self.evict()
    }

    /// Begins a request; `None` when the connection has just had to give way.
    pub(crate) fn begin(self: &Arc<Self>) -> Option<Busy> {
        self.touch();
        let begun = self.state.compare_exchange(IDLE, BUSY, SeqCst, SeqCst);
        (begun != Err(EVICTED)).then(|| Busy(Arc::clone(self)))
    }

    fn evict(&self) -> bool {
        let evicted = self
            .state
            .compare_exchange(IDLE, EVICTED, SeqCst, SeqCst)
            .is_ok();
        if evicted {
            self.evicted.cancel();
        }
        evicted
    }
}

/// A request under way; its connection does not give way.
pub(crate) struct Busy(Arc<Activity>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.touch();
        self.0.state.store(IDLE, SeqCst);
    }
}

/// What a connection may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Anything.
    Any,
    /// One question about health or readiness.
    Probe,
}

struct Entry {
    address: Option<IpAddr>,
    usage: Use,
    activity: Arc<Activity>,
}

/// The places of one server.
pub(crate) struct Places {
    most: usize,
    most_per_address: usize,
    started: Instant,
    open: Mutex<HashMap<u64, Entry>>,
    freed: Notify,
    next: AtomicU64,
}

/// The place of one connection, given back when dropped.
pub(crate) struct Place {
    places: Arc<Places>,
    id: u64,
    pub(crate) usage: Use,
    pub(crate) activity: Arc<Activity>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.lock().remove(&self.id);
        self.places.freed.notify_one();
    }
}

impl Places {
    pub(crate) fn new(most: usize, most_per_address: usize) -> Arc<Self> {
        Arc::new(Self {
            most: most.max(1),
            most_per_address: most_per_address.max(1),
            started: Instant::now(),
            open: Mutex::default(),
            freed: Notify::new(),
            next: AtomicU64::new(0),
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Entry>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a connection from this address. Waits while there is none.
    pub(crate) async fn take(self: &Arc<Self>, peer: IpAddr) -> Place {
        loop {
            if let Some(place) = self.try_take(peer) {
                return place;
            }
            self.freed.notified().await;
        }
    }

    fn try_take(self: &Arc<Self>, peer: IpAddr) -> Option<Place> {
        // A proxy on this machine brings the connections of everyone.
        let address = (!peer.is_loopback()).then(|| network(peer));
        let mut open = self.lock();
        let from_there = |entry: &Entry| address.is_some() && entry.address == address;
        let any = |entry: &Entry| entry.usage == Use::Any;
        let usage = if address.is_some()
            && open.values().filter(|entry| from_there(entry)).count() >= self.most_per_address
            && !evict(&mut open, from_there)
        {
            Use::Probe
        } else if open.values().filter(|entry| any(entry)).count() < self.most
            || evict(&mut open, any)
        {
            Use::Any
        } else {
            Use::Probe
        };
        let probes = |entry: &Entry| entry.usage == Use::Probe;
        if usage == Use::Probe
            && open.values().filter(|entry| probes(entry)).count() >= PROBE_PLACES
            && !evict(&mut open, probes)
        {
            return None;
        }
        let id = self.next.fetch_add(1, SeqCst);
        let activity = Arc::new(Activity {
            state: AtomicU8::new(IDLE),
            moved: AtomicU64::new(0),
            started: self.started,
            sends_on: AtomicBool::new(false),
            evicted: CancellationToken::new(),
        });
        activity.touch();
        let entry = Entry {
            address,
            usage,
            activity: Arc::clone(&activity),
        };
        open.insert(id, entry);
        drop(open);
        Some(Place {
            places: Arc::clone(self),
            id,
            usage,
            activity,
        })
    }
}

/// Lets the connection go that has waited longest for its client, of those that fit.
fn evict(open: &mut HashMap<u64, Entry>, fits: impl Fn(&Entry) -> bool) -> bool {
    let mut waiting: Vec<(u64, u64)> = open
        .iter()
        .filter(|(_, entry)| fits(entry) && entry.activity.state.load(SeqCst) == IDLE)
        .map(|(id, entry)| (entry.activity.moved.load(SeqCst), *id))
        .collect();
    waiting.sort_unstable();
    for (_, id) in waiting {
        if open.get(&id).is_some_and(|entry| entry.activity.evict()) {
            open.remove(&id);
            return true;
        }
    }
    false
}

/// The address, or the network of an IPv6 address, since one machine has as many of those as it
/// likes.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
    const THERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    const ELSEWHERE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2));

    #[test]
    fn who_waits_longest_gives_way_and_who_works_does_not() {
        let places = Places::new(2, 2);
        let first = places.try_take(HERE).unwrap();
        let second = places.try_take(HERE).unwrap();
        let request = first.activity.begin().unwrap();
        let third = places.try_take(HERE).unwrap();
        assert!(second.activity.evicted.is_cancelled());
        assert!(second.activity.begin().is_none(), "it has given way");
        assert!(!first.activity.evicted.is_cancelled());
        assert_eq!(third.usage, Use::Any);
        drop(request);
        let _fourth = places.try_take(HERE).unwrap();
        assert!(first.activity.evicted.is_cancelled() || third.activity.evicted.is_cancelled());
    }

    #[test]
    fn a_full_server_has_places_for_probes() {
        let places = Places::new(1, 8);
        let only = places.try_take(HERE).unwrap();
        let _request = only.activity.begin().unwrap();
        let mut probes = Vec::new();
        for _ in 0..PROBE_PLACES {
            let place = places.try_take(HERE).unwrap();
            assert_eq!(place.usage, Use::Probe);
            let busy = place.activity.begin().unwrap();
            probes.push((busy, place));
        }
        assert!(places.try_take(HERE).is_none());
        drop(probes.pop());
        assert!(places.try_take(HERE).is_some());
    }

    #[test]
    fn one_address_does_not_take_every_place() {
        let places = Places::new(8, 2);
        let held: Vec<_> = (0..2)
            .map(|_| {
                let place = places.try_take(THERE).unwrap();
                (place.activity.begin().unwrap(), place)
            })
            .collect();
        assert_eq!(places.try_take(THERE).unwrap().usage, Use::Probe);
        assert_eq!(places.try_take(ELSEWHERE).unwrap().usage, Use::Any);
        drop(held);
        assert_eq!(places.try_take(THERE).unwrap().usage, Use::Any);
    }
}
