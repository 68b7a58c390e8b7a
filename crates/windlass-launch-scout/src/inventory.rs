//! `repo_inventory.json`: every file of the product repository and what it is as a whole.

use std::collections::{BTreeMap, BTreeSet};

use windlass_launch_model::{
    config::TargetPlatform,
    inventory::{Fingerprint, RepoInventory, RepoProfile},
};

use crate::{
    SCHEMA_VERSION,
    input::ScoutInput,
    kind::{
        Use, depth, folder, is_below, is_foreign, is_markdown, is_readme, language, name,
        names_docs, names_examples, stem, use_of,
    },
    manifests::Manifest,
    phantom::phantom_paths,
    platform::{Platform, archetype, product_type, source_roots},
    tree::Tree,
};

/// Describes a repository.
pub(crate) fn inventory(
    tree: &Tree,
    manifests: &[Manifest],
    platform: &Platform,
    input: &ScoutInput,
) -> RepoInventory {
    let listed = |wanted: &dyn Fn(&str) -> bool| -> Vec<String> {
        tree.files
            .keys()
            .filter(|path| wanted(path))
            .cloned()
            .collect()
    };
    let profile = profile(tree, manifests, platform, input);
    let phantom_paths = if input.config.ingestion.detect_phantom_paths {
        phantom_paths(tree, input)
    } else {
        Vec::new()
    };
    RepoInventory {
        schema_version: SCHEMA_VERSION.to_owned(),
        repo_url: input.config.github_repo_url.clone(),
        repo_sha: input.config.github_ref.clone(),
        fingerprint: Fingerprint {
            digest: tree.fingerprint().to_string(),
            default_branch: input.default_branch.clone(),
            latest_release_tag: input.latest_release_tag.clone(),
            license_path: license_path(tree),
            primary_languages: languages(tree),
        },
        paths: listed(&|_| true),
        doc_entrypoints: listed(&|path| {
            (is_readme(path) && depth(path) == 0)
                || (profile.doc_locator.iter().any(|root| is_below(path, root))
                    && is_markdown(path)
                    && (matches!(stem(path).as_str(), "index" | "_index") || is_readme(path)))
        }),
        example_paths: listed(&|path| use_of(path, input) == Use::Example),
        binary_assets: if input.config.ingestion.record_binary_files {
            listed(&|path| tree.files.get(path).is_some_and(|file| file.binary))
        } else {
            Vec::new()
        },
        phantom_paths,
        inferred_product_type: input
            .config
            .product_type
            .map(|named| named.as_str().to_owned())
            .unwrap_or_else(|| product_type(tree, manifests, input.product_name())),
        repo_profile: profile,
    }
}

fn profile(
    tree: &Tree,
    manifests: &[Manifest],
    platform: &Platform,
    input: &ScoutInput,
) -> RepoProfile {
    let sorted = |values: &mut dyn Iterator<Item = String>| -> Vec<String> {
        values.collect::<BTreeSet<_>>().into_iter().collect()
    };
    let hints = &input.config.repo_hints;
    let mut example_roots: BTreeSet<String> = folders_named(tree, &names_examples);
    example_roots.extend(known_folders(tree, input.example_folders()));
    let mut doc_roots: BTreeSet<String> = folders_named(tree, &names_docs);
    doc_roots.extend(known_folders(tree, hints.preferred_docs_roots.iter()));
    let preferred: Vec<String> = known_folders(tree, hints.preferred_source_roots.iter()).collect();
    let source_layout = if preferred.is_empty() {
        source_roots(tree, platform, manifests)
    } else {
        preferred
    };
    let tests = if hints.preferred_test_commands.is_empty() {
        sorted(&mut manifests.iter().filter_map(|m| m.test_command.clone()))
    } else {
        hints.preferred_test_commands.clone()
    };
    RepoProfile {
        platform_family: input
            .config
            .platform_family
            .or(input.config.target_platform.map(TargetPlatform::family))
            .map(|named| named.as_str().to_owned())
            .unwrap_or_else(|| platform.family.clone()),
        build_systems: sorted(&mut manifests.iter().map(|m| m.build_system.clone())),
        package_manifests: sorted(&mut manifests.iter().map(|m| m.path.clone())),
        recommended_test_commands: tests,
        example_locator: example_roots.into_iter().collect(),
        doc_locator: doc_roots.into_iter().collect(),
        public_api_entrypoints: entrypoints(tree, manifests, &source_layout),
        source_layout,
        repo_archetype: archetype(tree, platform, manifests),
    }
}

fn known_folders<'a>(
    tree: &'a Tree,
    folders: impl Iterator<Item = &'a String> + 'a,
) -> impl Iterator<Item = String> + 'a {
    folders
        .map(|folder| {
            folder
                .trim_start_matches("./")
                .trim_end_matches('/')
                .to_owned()
        })
        .filter(|folder| tree.has_folder(folder))
}

/// The outermost folders of such a name.
fn folders_named(tree: &Tree, wanted: &dyn Fn(&str) -> bool) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in tree.files.keys().filter(|path| !is_foreign(path)) {
        let mut end = 0;
        for part in folder(path).split('/').filter(|part| !part.is_empty()) {
            end += part.len();
            if wanted(part) {
                found.insert(path[..end].to_owned());
                break;
            }
            end += 1;
        }
    }
    found
}

/// Files that define what is public: what manifests name, else the usual ones.
fn entrypoints(tree: &Tree, manifests: &[Manifest], roots: &[String]) -> Vec<String> {
    let named = manifests
        .iter()
        .flat_map(|manifest| manifest.entrypoints.iter())
        .filter(|path| tree.files.contains_key(*path))
        .cloned();
    let usual = tree.files.keys().filter(|path| {
        matches!(
            name(path),
            "__init__.py" | "index.ts" | "index.js" | "lib.rs" | "module-info.java"
        ) && roots
            .iter()
            .any(|root| is_below(path, root) && depth(path) <= depth(root) + 2)
            && !is_foreign(path)
    });
    named
        .chain(usual.cloned())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

fn license_path(tree: &Tree) -> Option<String> {
    tree.files
        .keys()
        .find(|path| {
            depth(path) == 0 && matches!(stem(path).as_str(), "license" | "licence" | "copying")
        })
        .cloned()
}

/// Languages by bytes, most first; equals by name.
fn languages(tree: &Tree) -> Vec<String> {
    let mut sizes: BTreeMap<&str, u64> = BTreeMap::new();
    for (path, file) in &tree.files {
        if let Some(language) = language(path).filter(|_| !is_foreign(path) && !file.binary) {
            *sizes.entry(language).or_default() += file.size;
        }
    }
    let mut ordered: Vec<(&str, u64)> = sizes.into_iter().collect();
    ordered.sort_by(|left, right| (right.1, left.0).cmp(&(left.1, right.0)));
    ordered
        .into_iter()
        .map(|(language, _)| language.to_owned())
        .collect()
}
