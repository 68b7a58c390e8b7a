//! What a product pipeline is made of, as plain values: what a spec says (`analysis`), and the
//! outputs of the four phases in the shapes of contract 001, with our additive fields.
//!
//! Nothing here reads, decides or writes.

pub mod analysis;
pub mod architecture;
pub mod code;
pub mod coverage;
pub mod naming;
pub mod phase;
pub mod preset;
pub mod problem;
pub mod quality;
pub mod strategy;
pub mod trace;
pub mod ux;
pub mod versions;

pub use analysis::Analysis;
pub use architecture::{Architecture, ArchitectureOutput};
pub use code::{CodeOutput, GeneratedFile};
pub use coverage::Coverage;
pub use phase::{Generator, Phase};
pub use preset::Preset;
pub use problem::InputProblem;
pub use quality::QualityReport;
pub use strategy::{Requirements, StrategyOutput};
pub use trace::Trace;
pub use ux::{UxOutput, UxSpec};
