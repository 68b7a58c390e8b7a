//! A stack on this machine: functions under a Lambda Runtime API of our own, gateways and load
//! balancers on loopback, services as processes or containers, databases of the session's own.
//!
//! One process, the manager ([`DevManager`]), holds a session; any other process finds it by the
//! session file and calls its HTTP API ([`client`]). Nothing here calls AWS: what needs it is
//! handed in. Not here: reading the config (windlass-stack-config), how operations are exposed
//! (windlass-stack).

mod agent;
mod assemble;
mod bundle;
pub mod client;
mod code;
mod container;
mod database;
pub mod emulators;
pub mod envelope;
pub mod environment;
mod function;
mod gateway;
mod identity;
mod ledger;
mod local_values;
mod lock;
pub mod log;
mod manager;
mod outside;
mod place;
mod plan;
mod ports;
mod process;
mod routes;
mod runtime_api;
pub mod session;
mod stack;
mod status;
mod supervise;
mod watch;
mod website;

pub use container::engine_environment;
pub use envelope::Envelope;
pub use environment::{
    ConfigEnvironment, LocalParams, Variable, WorkloadEnvironment, connect_to_name,
};
pub use identity::ProcessIdentity;
pub use local_values::{
    LOCAL_VALUES_FILE, LocalValues, missing_value, output_variable, variable_of,
};
pub use manager::DevManager;
pub use outside::{CloudCalls, Emulated, Outside, Programs, Provisioned};
pub use plan::{AGENT_PORTS, DevPlan, FIRST_AGENT_PORT, Places, dev_folder};
pub use session::{Phase, Session};
pub use status::{Condition, Role};
