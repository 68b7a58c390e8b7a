//! Both designs as documents. Everything in them is in the typed outputs too.

mod architecture;
mod diagram;
mod markdown;
mod types;
mod ux;

pub use architecture::architecture_markdown;
pub use ux::ux_markdown;
