//! Zed: `.rules` in the project.

use windlass_types::Problem;

use super::{Output, Site, Slots};

pub(super) fn slots(site: &Site<'_>, slots: &mut Slots) -> Result<(), Problem> {
    if let Some(project) = site.project()?
        && site.flag("write_rules", true)
    {
        slots.project(project.to_owned(), false, Output::Aggregate(".rules"));
    }
    Ok(())
}
