//! Configs as users have them, faults as users see them.

#[path = "suite/world.rs"]
mod world;

#[path = "suite/accepted.rs"]
mod accepted;
#[path = "suite/directives.rs"]
mod directives;
#[path = "suite/faults.rs"]
mod faults;
#[path = "suite/programs.rs"]
mod programs;
#[path = "suite/properties.rs"]
mod properties;
