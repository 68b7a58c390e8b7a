//! What manifests say: what the product is, its version, its licence, what it needs, how it is
//! installed.

use std::collections::BTreeSet;

use windlass_launch_model::ClaimKind;

use super::{Collected, statement};
use crate::{
    addressed::gives_orders,
    claims::{Found, Origin, Purpose},
    input::ScoutInput,
    kind::{depth, stem},
    license,
    manifests::{Located, Manifest},
    sentences::is_safe,
    tree::Tree,
};

fn composed(text: String, kind: ClaimKind, path: &str, at: &Located, purpose: Purpose) -> Found {
    Found {
        kind,
        keys: vec![at.text.to_lowercase()],
        purpose: Some(purpose),
        ..Found::quoted(text, Origin::Manifest, path, (at.start, at.end))
    }
}

/// What the manifests that describe the product say.
pub(super) fn collect(
    tree: &Tree,
    manifests: &[&Manifest],
    input: &ScoutInput,
    collected: &mut Collected,
) {
    let product = input.product_name();
    let found = &mut collected.found;
    let mut licensed = false;
    let mut has_version = false;
    let mut needed = BTreeSet::new();
    for manifest in manifests {
        let path = &manifest.path;
        match &manifest.description {
            Some(at) if gives_orders(&at.text) => {
                collected.orders.insert((path.clone(), at.start));
            }
            Some(at) => found.extend(statement(&at.text).map(|text| Found {
                purpose: Some(Purpose::Positioning),
                ..Found::quoted(text, Origin::Manifest, path, (at.start, at.end))
            })),
            None => {}
        }
        if let (Some(command), Some(name)) = (&manifest.install, &manifest.name) {
            let text = format!("Install {product} with `{command}`.");
            let mut claim = composed(text, ClaimKind::Workflow, path, name, Purpose::Install);
            // Maven's coordinates stand in several elements; each of them must be there.
            let named = command.rsplit(['=', ' ']).next().unwrap_or_default();
            if manifest.method == "maven" {
                claim.keys = named.split(':').map(str::to_lowercase).collect();
            }
            found.push(claim);
        }
        // One version is the product's: that of the outermost manifest which names one.
        if let Some(at) = &manifest.version
            && is_version(&at.text)
            && !has_version
        {
            has_version = true;
            let text = format!("{product} is at version `{}`.", at.text);
            found.push(composed(
                text,
                ClaimKind::Feature,
                path,
                at,
                Purpose::Version,
            ));
        }
        for requirement in &manifest.runtimes {
            let spec = &requirement.spec;
            if !needed.insert(requirement.runtime) {
                continue;
            }
            if spec.text.contains('`') || !is_safe(&format!("`{}`", spec.text)) {
                continue;
            }
            let text = format!(
                "{product} requires {} `{}`.",
                requirement.runtime, spec.text
            );
            found.push(composed(
                text,
                ClaimKind::Feature,
                path,
                spec,
                Purpose::Compatibility,
            ));
        }
        if let Some(at) = &manifest.license
            && at.text.len() <= 100
            && !at.text.contains(['`', '\n'])
            && !licensed
        {
            licensed = true;
            let text = format!("{product} is licensed under `{}`.", at.text);
            found.push(composed(
                text,
                ClaimKind::Feature,
                path,
                at,
                Purpose::License,
            ));
        }
    }
    if !licensed && let Some((path, at)) = license_file(tree) {
        let text = format!("{product} is licensed under `{}`.", at.text);
        let mut claim = composed(text, ClaimKind::Feature, path, &at, Purpose::License);
        claim.keys = license::marks(&at.text);
        found.push(claim);
    }
}

/// `1.4.0`, `2.0.0-rc.1`; not a placeholder of a release script.
fn is_version(text: &str) -> bool {
    let digits = text.trim_start_matches('v');
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.contains('.')
        && digits.len() <= 40
        && digits
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+'))
        && !digits.starts_with("0.0.0")
}

/// The licence file of the root, if its licence is known.
pub(crate) fn license_file(tree: &Tree) -> Option<(&str, Located)> {
    tree.texts()
        .filter(|(path, _)| {
            depth(path) == 0 && matches!(stem(path).as_str(), "license" | "licence" | "copying")
        })
        .find_map(|(path, text)| Some((path, license::of_text(text)?)))
}
