//! Agent-configuration packs: contract 003 as a domain.
//!
//! Puts the parts together: operations for every command, and the run that applies a plan.
