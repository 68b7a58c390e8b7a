//! Both designs as documents. Everything in them is in the typed outputs too.

mod architecture;
mod diagram;
mod markdown;
mod quality;
mod types;
mod ux;

pub use architecture::architecture_markdown;
pub use quality::{quality_markdown, verdict_name, works_line};
pub use ux::ux_markdown;

use crate::model::Trace;

/// The requirements among traces, as a list of their ids.
fn ids(list: &[Trace]) -> String {
    let ids: Vec<&str> = list
        .iter()
        .filter_map(|trace| match trace.parts() {
            Some(("req", id)) => Some(id),
            _ => None,
        })
        .collect();
    ids.join(", ")
}
