//! JetBrains Junie: guidelines in the project's `.junie`.

use windlass_types::Problem;

use super::{Output, Site, Slots};

pub(super) fn slots(site: &Site<'_>, slots: &mut Slots) -> Result<(), Problem> {
    if let Some(project) = site.project()?
        && site.flag("write_guidelines", true)
    {
        let file = Output::Aggregate("guidelines.md");
        slots.project(project.join(".junie"), true, file);
    }
    Ok(())
}
