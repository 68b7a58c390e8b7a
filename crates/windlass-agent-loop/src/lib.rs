//! The order of an agent's session as a pure state machine.
//!
//! [`Session::handle`] takes what happened and says what to do next; it does nothing itself. Time,
//! randomness, prices and decisions come in as data, so that the same events always lead to the
//! same requests: a session is resumed by handing it its recorded events again. Not here: who may
//! do what (windlass-policy), how a tool works (windlass-agent-tools), how an effect is made
//! durable (windlass-agent).

mod budget;
mod effect;
mod event;
mod limits;
mod notice;
mod session;
mod turn;

pub use budget::{Budget, Price, Reservation, Spent};
pub use effect::{Ask, Effect, Outcome, Run};
pub use event::{Answer, AnswerFailure, Event, HumanDecision, ToolOutcome, UserMessage, Verdict};
pub use limits::{MOST_CONTINUATIONS, MOST_FORCED_CUTS};
pub use notice::{FinishedTurn, Notice, ProposedCall};
pub use session::{Entry, Phase, Session, Settings};
