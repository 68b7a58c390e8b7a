//! The program that the tests start: enters the stages, and tries inside what must not work.
//!
//! `try WHAT [ARGUMENT…]` makes system calls directly and prints `done` or the name of the error.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::explicit_write,
    reason = "a program of tests: what goes wrong ends it, and its output is what tests read"
)]

#[cfg(target_os = "linux")]
mod calls;

use std::{ffi::OsString, net::IpAddr, process::ExitCode};

use windlass_ports::sandbox::{AddressGuard, AddressKind};

struct Guard;

impl AddressGuard for Guard {
    fn kind(&self, address: IpAddr) -> AddressKind {
        let is_inner = match address {
            IpAddr::V4(address) => {
                address.is_loopback() || address.is_private() || address.is_link_local()
            }
            IpAddr::V6(address) => address.is_loopback(),
        };
        if is_inner {
            AddressKind::Inner
        } else {
            AddressKind::Public
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let [first, second, rest @ ..] = arguments.as_slice()
        && windlass_sandbox::ENTRY == [&**first, &**second]
    {
        return windlass_sandbox::enter(rest, &Guard);
    }
    #[cfg(target_os = "linux")]
    return calls::run(&arguments);
    #[cfg(not(target_os = "linux"))]
    ExitCode::FAILURE
}
