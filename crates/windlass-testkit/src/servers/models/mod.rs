//! Models' servers on this machine, one for each wire format, which answer as a test says.
//!
//! Written from the providers' public documents and not from the code under test. A request that
//! the real server would refuse is refused here, with the same status and the same kind of words;
//! an answer comes in pieces of any size. The same double answers over a socket and without one.

mod chat;
mod double;
mod gemini;
mod messages;
mod responses;
mod script;
mod strict;
mod tcp;

pub use double::{ModelDouble, SeenRequest};
pub use script::{Ended, ModelTurn, Said, Scripted, Trouble};
pub use tcp::ModelServer;
