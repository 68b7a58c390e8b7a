//! The sandbox in this binary: this program again as its stages, and the address policy of
//! everything that goes out as the judge of its proxy.

use std::{ffi::OsStr, net::IpAddr, sync::Arc};

use windlass_ports::{
    Sandbox,
    sandbox::{AddressGuard, AddressKind},
};
use windlass_sandbox::KernelSandbox;

/// The sandbox of this machine.
pub(crate) fn of_this_machine(path: Option<&OsStr>) -> Arc<dyn Sandbox> {
    let program = std::env::current_exe().unwrap_or_else(|_| "windlass".into());
    Arc::new(KernelSandbox::of_this_machine(&program, path))
}

/// Judges addresses as webhooks and every other call to the outside do.
pub(crate) struct Addresses;

impl AddressGuard for Addresses {
    fn kind(&self, address: IpAddr) -> AddressKind {
        match windlass_net::address_is_public(address) {
            true => AddressKind::Public,
            false => AddressKind::Inner,
        }
    }
}
