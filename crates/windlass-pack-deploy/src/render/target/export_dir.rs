//! A directory for any other tool: instructions, skills, prompts and commands side by side.

use windlass_pack_model::{RootScope, fault};
use windlass_types::Problem;

use super::{Output, Site, Slot, Slots};

pub(super) fn slots(site: &Site<'_>, slots: &mut Slots) -> Result<(), Problem> {
    let Some(root) = site.config.text("root") else {
        return Err(fault::config_invalid(
            "target export_dir needs options.root: the directory to export to",
        )
        .with("target", "export_dir")
        .with("option", "root"));
    };
    let mut root = site.places().expand(root);
    if !root.is_absolute() {
        root = site.project_dir()?.join(root);
    }
    let scan_extras = site.flag("scan_extras", true);
    let scope = site.config.scope;
    let scopes = [
        (RootScope::User, scope.has_user(), "user"),
        (RootScope::Project, scope.has_project(), "project"),
    ];
    let apart = scope.has_user() && scope.has_project();
    for (scope, _, name) in scopes.into_iter().filter(|(_, wanted, _)| *wanted) {
        let root = if apart { root.join(name) } else { root.clone() };
        for (below, output) in [
            (None, Output::Aggregate("AGENTS.md")),
            (Some("prompts"), Output::Prompts),
            (Some("skills"), Output::Skills),
            (Some("commands"), Output::Commands),
        ] {
            slots.list.push(Slot {
                root: root.clone(),
                scope,
                scan_extras,
                below,
                output,
            });
        }
    }
    Ok(())
}
