//! Product pipelines from outside: contract 001 over the real binary, through every door.

mod access;
mod approval;
mod contract;
mod doors;
mod fault_kill;
mod fault_webhook;
mod held;
mod invalid;
mod limits;
mod passing;
mod products;
mod shapes;
mod site;
