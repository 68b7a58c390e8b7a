//! Names to addresses, with the policy between lookup and connection.

use std::{
    collections::HashMap,
    io,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use windlass_ports::{BoxFuture, OutboundError};

use crate::OutboundPolicy;

/// Looks names up.
pub trait Lookup: Send + Sync + 'static {
    /// Every address of a name.
    fn lookup(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The operating system's lookup.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let host = host.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// Names remembered with their addresses before all are forgotten.
const REMEMBERED: usize = 1024;

/// Where names were last found, for explaining why nothing answered there.
#[derive(Clone, Default)]
pub(crate) struct Found(Arc<Mutex<HashMap<String, Vec<IpAddr>>>>);

impl Found {
    pub(crate) fn addresses(&self, name: &str) -> Vec<IpAddr> {
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.get(name).cloned().unwrap_or_default()
    }

    fn note(&self, name: &str, addresses: &[IpAddr]) {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if found.len() >= REMEMBERED {
            found.clear();
        }
        found.insert(name.to_owned(), addresses.to_vec());
    }
}

/// The lookup of every connection: what it returns has passed, and is what is connected to.
pub(crate) struct GuardedResolver {
    pub policy: OutboundPolicy,
    pub lookup: Arc<dyn Lookup>,
    pub found: Found,
}

/// Judges every address a name has. One private address among public ones is an attack or a
/// mistake; either way the name is not to be trusted.
pub(crate) fn check_all(
    policy: &OutboundPolicy,
    name: &str,
    addresses: &[IpAddr],
) -> Result<(), OutboundError> {
    for address in addresses {
        policy
            .check_address(*address)
            .map_err(|error| match error {
                OutboundError::Forbidden(reason) => {
                    OutboundError::Forbidden(format!("{name} resolves to it: {reason}"))
                }
                other => other,
            })?;
    }
    Ok(())
}

/// Carries a refusal through the HTTP client's errors.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Refused(pub String);

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = self.policy.clone();
        let answer = self.lookup.lookup(name.as_str());
        let found = self.found.clone();
        Box::pin(async move {
            let addresses = answer.await?;
            found.note(name.as_str(), &addresses);
            check_all(&policy, name.as_str(), &addresses).map_err(|error| match error {
                OutboundError::Forbidden(reason) => Refused(reason),
                other => Refused(other.to_string()),
            })?;
            let sockets: Addrs = Box::new(addresses.into_iter().map(|address| (address, 0).into()));
            Ok(sockets)
        })
    }
}
