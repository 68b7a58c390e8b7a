//! What manifests say: what the product is, its version, its licence, what it needs, how it is
//! installed.

use std::collections::BTreeSet;

use windlass_launch_model::ClaimKind;

use super::{Collected, statement};
use crate::{
    addressed::gives_orders,
    claims::{Found, Origin, Purpose},
    input::ScoutInput,
    installs,
    kind::{depth, stem},
    license,
    manifests::{Located, Manifest, is_snapshot},
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
    let stated = installs::stated(tree, manifests, input);
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
        // What a document states counts; the manifest that names the package backs it.
        let counts = |command: &str| {
            stated.is_empty() || stated.iter().any(|install| install.command == command)
        };
        if let (Some(command), Some(name)) = (installs::plain(manifest), &manifest.name)
            && counts(command)
        {
            let text = format!("Install {product} with `{command}`.");
            found.push(composed(
                text,
                ClaimKind::Workflow,
                path,
                name,
                Purpose::Install,
            ));
        }
        for name in manifest.dependencies.iter().take(MOST_DEPENDENCIES) {
            if let Some(at) = tree.text(path).and_then(|text| dependency(text, name)) {
                let text = format!("{product} depends on `{name}`.");
                let kind = ClaimKind::Feature;
                found.push(composed(text, kind, path, &at, Purpose::Dependency));
            }
        }
        // One version is the product's: that of the outermost manifest which names one.
        if let Some(at) = &manifest.version
            && is_version(&at.text)
            && !is_snapshot(&at.text)
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
            // What builds a program is nothing that its users need.
            let builds_only = manifest.platform == "go" && tree.text("main.go").is_some();
            if builds_only || !needed.insert(requirement.runtime) {
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
    for install in stated {
        let text = format!("Install {product} with `{}`.", install.command);
        found.push(Found {
            kind: ClaimKind::Workflow,
            keys: install.command.split(' ').map(str::to_lowercase).collect(),
            purpose: Some(Purpose::Install),
            ..Found::quoted(
                text,
                Origin::ReadmeTechnical,
                &install.path,
                (install.line, install.line),
            )
        });
    }
    if !licensed && let Some((path, at)) = license_file(tree) {
        let text = format!("{product} is licensed under `{}`.", at.text);
        let mut claim = composed(text, ClaimKind::Feature, path, &at, Purpose::License);
        claim.keys = license::marks(&at.text);
        found.push(claim);
    }
}

/// More dependencies of one manifest are nothing a reader looks for.
const MOST_DEPENDENCIES: usize = 40;

/// The line of a manifest that names a dependency: after the word for them, where there is one.
fn dependency(text: &str, name: &str) -> Option<Located> {
    let is_part = |side: Option<char>| {
        side.is_some_and(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '@'))
    };
    let names = |line: &str| {
        line.match_indices(name).any(|(at, found)| {
            !is_part(line[..at].chars().next_back())
                && !is_part(line[at + found.len()..].chars().next())
        })
    };
    if name.is_empty() || name.contains('`') {
        return None;
    }
    let heads = |line: &str| {
        let line = line.to_lowercase();
        line.contains("depend") || line.contains("require")
    };
    let first = text.lines().position(heads).unwrap_or(0);
    let found = text
        .lines()
        .skip(first)
        .position(names)
        .map(|at| first + at);
    let index = found.or_else(|| text.lines().position(names))?;
    Some(Located {
        text: name.to_owned(),
        start: index as u64 + 1,
        end: index as u64 + 1,
    })
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
