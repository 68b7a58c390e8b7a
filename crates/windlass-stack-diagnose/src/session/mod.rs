//! Sessions with machines of a stack over Systems Manager.
//!
//! A data channel carries numbered messages that are acknowledged and sent again (channel.rs).
//! Over it: the output of one command ([`listen`]), a script on a bastion ([`Bastion::run`]), and
//! TCP connections through a bastion ([`Tunnel`]). Nothing of this goes through the SDK; addresses
//! and tokens of channels come from AWS's own calls. Not here: which resource is the bastion and
//! what is run (`through`, scripts in windlass-stack-lifecycle), the sockets (a port).

mod bastion;
mod channel;
mod command;
mod failure;
mod forward;
mod frame;
mod lines;
mod listen;
mod marker;
mod message;
mod opened;
mod terminal;
mod tunnel;

pub use bastion::{Bastion, GROUP_TYPE, Reach};
pub use channel::Session;
pub use command::Ending;
pub use listen::{Heard, listen};
pub use marker::{Marker, quoted};
pub use terminal::plain;
pub use tunnel::Tunnel;
