//! Which files make which platform and archetype.

use super::*;
use crate::{manifests, tree::File};

fn tree(files: &[(&str, &str)]) -> Tree {
    let mut tree = Tree::default();
    for (path, text) in files {
        tree.files.insert(
            (*path).to_owned(),
            File {
                size: text.len() as u64,
                digest: windlass_types::Digest::ZERO,
                binary: false,
                text: Some((*text).into()),
            },
        );
    }
    tree
}

#[test]
fn scores_and_ties() {
    for (paths, family, target) in [
        (&["pyproject.toml"][..], "python", "python"),
        (&["requirements.txt"], "unknown", "other"),
        (&["requirements.txt", "tox.ini"], "python", "python"),
        (
            &["requirements.txt", "tox.ini", "yarn.lock", "tsconfig.json"],
            "python",
            "python",
        ),
        (&["go.sum", "go.work", "Gemfile"], "go", "go"),
        (&["package.json", "pyproject.toml"], "multi", "python"),
        (&["package.json", "src/a.ts"], "node", "typescript"),
        (&["package.json", "src/a.js"], "node", "javascript"),
        (&["pyproject.toml", "docs/package.json"], "python", "python"),
        (&["pyproject.toml", "web/package.json"], "python", "python"),
        (&["src/Acme/Acme.csproj"], "dotnet", "dotnet"),
        (
            &["build.gradle.kts", "src/main/kotlin/A.kt"],
            "java",
            "kotlin",
        ),
        (&["Cargo.toml", "Cargo.lock"], "rust", "rust"),
        (&["README.md"], "unknown", "other"),
        (&["node_modules/x/package.json"], "unknown", "other"),
    ] {
        let files: Vec<(&str, &str)> = paths.iter().map(|path| (*path, "")).collect();
        let found = platform(&tree(&files));
        assert_eq!(
            (found.family.as_str(), found.target.as_str()),
            (family, target),
            "{paths:?}"
        );
    }
}

#[test]
fn archetypes() {
    let python = "[project]\nname = \"a\"\n";
    let node = "{\"name\":\"a\"}";
    for (files, expected) in [
        (
            &[("pyproject.toml", python), ("src/a/x.py", "")][..],
            "python_src_pyproject",
        ),
        (
            &[("pyproject.toml", python), ("a/x.py", "")],
            "python_flat_pyproject",
        ),
        (
            &[("setup.py", "setup(name='a')"), ("a.py", "")],
            "python_flat_setup_py",
        ),
        (
            &[
                ("package.json", "{\"workspaces\":[\"p/*\"]}"),
                ("p/a/package.json", node),
            ],
            "monorepo_multi_package",
        ),
        (
            &[("p/a/package.json", node), ("p/b/package.json", node)],
            "monorepo_multi_package",
        ),
        (&[("README.md", ""), ("docs/a.md", "")], "docs_only"),
        (&[("a.bin", "")], "mixed_unknown"),
        (&[("a.py", "")], "mixed_unknown"),
        (
            &[("Cargo.toml", "[package]\nname=\"a\""), ("src/lib.rs", "")],
            "rust_src_cargo",
        ),
    ] {
        let tree = tree(files);
        let (manifests, _) = manifests::all(&tree);
        let found = archetype(&tree, &platform(&tree), &manifests);
        assert_eq!(found, expected, "{files:?}");
    }
}

#[test]
fn product_types() {
    for (files, name, expected) in [
        (
            &[("Cargo.toml", "[package]\nname=\"a\"\n[[bin]]\nname=\"a\"")][..],
            "Acme",
            "cli",
        ),
        (
            &[("Cargo.toml", "[package]\nname=\"a\"")],
            "Acme",
            "library",
        ),
        (
            &[("Cargo.toml", "[package]\nname=\"a\"")],
            "Acme SDK",
            "sdk",
        ),
        (&[("Dockerfile", "")], "Acme", "service"),
        (&[("README.md", "")], "Acme", "other"),
    ] {
        let tree = tree(files);
        let (manifests, _) = manifests::all(&tree);
        assert_eq!(product_type(&tree, &manifests, name), expected, "{files:?}");
    }
}
