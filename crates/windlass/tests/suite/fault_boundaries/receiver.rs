//! A webhook receiver on loopback that remembers who sent what, by path.

use crate::suite::support::loopback::Loopback;

/// A delivery, as received.
#[derive(Clone, Debug)]
pub(super) struct Received {
    pub(super) id: String,
    pub(super) body: String,
}

/// The receiver.
pub(super) struct Receiver(Loopback);

impl Receiver {
    pub(super) fn start() -> Self {
        Self(Loopback::start(|_| (200, Vec::new(), String::new())))
    }

    /// The address of one sender.
    pub(super) fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.0.address)
    }

    pub(super) fn received(&self, name: &str) -> Vec<Received> {
        let received = self.0.received().into_iter();
        received
            .filter(|request| request.path == format!("/{name}"))
            .map(|request| Received {
                id: request.header("webhook-id").to_owned(),
                body: request.body,
            })
            .collect()
    }
}
