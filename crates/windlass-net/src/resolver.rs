//! Names to addresses, with the policy between lookup and connection.

use std::{io, net::IpAddr, sync::Arc};

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

/// The lookup of every connection: what it returns has passed, and is what is connected to.
pub(crate) struct GuardedResolver {
    pub policy: OutboundPolicy,
    pub lookup: Arc<dyn Lookup>,
}

/// Carries a refusal through the HTTP client's errors.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Refused(pub String);

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = self.policy.clone();
        let found = self.lookup.lookup(name.as_str());
        Box::pin(async move {
            let addresses = found.await?;
            for address in &addresses {
                // One private address among public ones is an attack or a mistake; either
                // way the name is not to be trusted.
                policy
                    .check_address(*address)
                    .map_err(|error| match error {
                        OutboundError::Forbidden(reason) => {
                            Refused(format!("{} resolves to it: {reason}", name.as_str()))
                        }
                        other => Refused(other.to_string()),
                    })?;
            }
            let sockets: Addrs = Box::new(addresses.into_iter().map(|address| (address, 0).into()));
            Ok(sockets)
        })
    }
}
