//! Renders a repository: selected modules, composed once, into every slot of every target.

use std::collections::HashSet;

use windlass_pack_model::{
    Desired, Module, ModuleType, Target, TargetRoot, fault,
    selection::{ALL_TARGETS, select_modules, select_targets},
};
use windlass_types::Problem;

use crate::render::{
    RenderInput,
    compose::{Composed, compose},
    desired::{Collected, order_roots, refuse_names_alike},
    output::{Filler, Part},
    overlay::Overlays,
    source::Sources,
    target::{Site, Slots},
    unmerged::{self, Unmerged},
};

/// The files and keys every selected target should hold.
pub fn render(input: &RenderInput<'_>) -> Result<Desired, Problem> {
    let modules = select_modules(input.manifest, input.profile)?;
    let targets = slots_of_targets(input, &modules)?;
    let composed = compose_needed(input, &modules, &targets)?;

    let mut collected = Collected::default();
    let mut roots = Vec::new();
    let mut warnings: Vec<String> = composed
        .iter()
        .flatten()
        .flat_map(|composed| composed.warnings.iter().cloned())
        .collect();
    for (target, slots) in targets {
        warnings.extend(slots.warnings);
        let parts: Vec<Part<'_>> = modules
            .iter()
            .zip(&composed)
            .filter(|(module, _)| module.is_for(target))
            .filter_map(|(module, composed)| {
                Some(Part {
                    module,
                    composed: composed.as_ref()?,
                })
            })
            .collect();
        let mut filler = Filler {
            target,
            parts: &parts,
            into: &mut collected,
            whole: None,
        };
        for slot in &slots.list {
            filler.fill(slot)?;
            roots.push(slot.target_root(target));
        }
    }
    let (files, keys) = collected.finish()?;
    let roots = order_roots(roots);
    refuse_names_alike(&files, &roots)?;
    Ok(Desired {
        roots,
        files,
        keys,
        warnings,
    })
}

/// The roots that are switched on, by (target, path). Reads no module.
pub fn roots(input: &RenderInput<'_>) -> Result<Vec<TargetRoot>, Problem> {
    let modules = select_modules(input.manifest, input.profile)?;
    let roots = slots_of_targets(input, &modules)?
        .iter()
        .flat_map(|(target, slots)| slots.list.iter().map(|slot| slot.target_root(*target)))
        .collect();
    Ok(order_roots(roots))
}

fn slots_of_targets(
    input: &RenderInput<'_>,
    modules: &[&Module],
) -> Result<Vec<(Target, Slots)>, Problem> {
    let filter = input.target.map_or(ALL_TARGETS, Target::as_str);
    select_targets(input.manifest, filter)?
        .into_iter()
        .map(|target| {
            let config = input.manifest.targets.get(&target).ok_or_else(|| {
                fault::config_invalid(format!("the target {target} is not configured"))
            })?;
            let slots = Site::new(input, target, config, modules).slots()?;
            Ok((target, slots))
        })
        .collect()
}

/// The modules some slot takes, each composed once, at their places in the list.
fn compose_needed(
    input: &RenderInput<'_>,
    modules: &[&Module],
    targets: &[(Target, Slots)],
) -> Result<Vec<Option<Composed>>, Problem> {
    let taken: HashSet<(Target, ModuleType)> = targets
        .iter()
        .flat_map(|(target, slots)| slots.list.iter().map(|slot| (*target, slot.output.takes())))
        .collect();
    let sources = Sources::new(input)?;
    let overlays = Overlays::find(input)?;
    let composed: Vec<Option<Composed>> = modules
        .iter()
        .map(|module| {
            let needed = targets.iter().any(|(target, _)| {
                module.is_for(*target) && taken.contains(&(*target, module.module_type))
            });
            needed
                .then(|| compose(input, &sources, &overlays, module))
                .transpose()
        })
        .collect::<Result<_, Problem>>()?;
    // All of them at once, so that they are resolved in one go.
    let files = composed.iter().flatten();
    let unmerged: Vec<Unmerged> = files.flat_map(|module| module.unmerged.clone()).collect();
    unmerged::refuse(&unmerged)?;
    Ok(composed)
}
