//! Confines programs with what the Linux kernel offers, or refuses.
//!
//! Two stages, both this program executed again: the outer one makes namespaces (with bubblewrap
//! where it is installed, else itself) and stays as supervisor and proxy; the inner one drops what
//! is left of privileges, installs Landlock and a seccomp filter, and becomes the program. Where
//! namespaces are not available, Landlock and seccomp enforce what they can express, and the rest is
//! refused. Not here: who is confined to what (`windlass-ports` has the data; callers choose).
//!
//! The only crate of the workspace with `unsafe` code: system calls that have no safe wrapper, all
//! of them in `sys.rs`.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod environment;
#[cfg(target_os = "linux")]
mod features;
#[cfg(target_os = "linux")]
mod layout;
#[cfg(target_os = "linux")]
mod prepare;
#[cfg(target_os = "linux")]
mod proxy;
#[cfg(target_os = "linux")]
mod spec;
#[cfg(target_os = "linux")]
mod stage;
#[cfg(target_os = "linux")]
mod stand_ins;
#[cfg(target_os = "linux")]
mod sys;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::{KernelSandbox, enter};
#[cfg(target_os = "linux")]
pub use prepare::KernelSandbox;
#[cfg(target_os = "linux")]
pub use stage::enter;

/// What the program that a prepared command starts is called with first; the rest of its arguments
/// belongs to [`enter`].
pub const ENTRY: [&str; 2] = ["internal", "sandbox-stage"];
