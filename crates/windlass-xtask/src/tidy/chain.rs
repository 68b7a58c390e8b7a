//! The chain rule: from the binary down, no chain of crates is longer than a reader can hold.
//!
//! Not here: which crate may use which (`layers`). Dependencies that are shipped only.

use std::collections::BTreeMap;

use super::{Crate, DependencyKind, Violation};

/// The most crates on the way from the binary to a crate that uses no other.
const LONGEST: usize = 7;

/// Reports the longest chain when it is too long.
pub fn check(crates: &[Crate]) -> Vec<Violation> {
    let mut known = BTreeMap::new();
    crates
        .iter()
        .filter(|package| package.layer.as_deref() == Some("binary"))
        .filter_map(|binary| {
            let chain = longest(&binary.name, crates, &mut known);
            let count = chain.len();
            (count > LONGEST).then(|| {
                Violation::new(
                    format!("crates/{}/Cargo.toml", binary.folder),
                    format!(
                        "a chain of {count} crates, {LONGEST} at most: {}; remove an edge or \
                         merge two of them",
                        chain.join(" → ")
                    ),
                )
            })
        })
        .collect()
}

/// The longest chain from a crate down; Cargo has refused cycles.
fn longest<'a>(
    name: &'a str,
    crates: &'a [Crate],
    known: &mut BTreeMap<&'a str, Vec<&'a str>>,
) -> Vec<&'a str> {
    if let Some(chain) = known.get(name) {
        return chain.clone();
    }
    let mut below = Vec::new();
    let dependencies = crates
        .iter()
        .filter(|package| package.name == name)
        .flat_map(|package| &package.dependencies)
        .filter(|dependency| dependency.kind == DependencyKind::Shipped);
    for dependency in dependencies {
        let chain = longest(&dependency.name, crates, known);
        if chain.len() > below.len() {
            below = chain;
        }
    }
    let mut chain = vec![name];
    chain.append(&mut below);
    known.insert(name, chain.clone());
    chain
}

#[cfg(test)]
mod tests {
    use super::super::sample::messages;
    use super::super::{Crate, Dependency};
    use super::*;

    /// Crates `c0`, the binary, to `c<count - 1>`, each of which uses the next.
    fn line(count: usize, last: DependencyKind) -> Vec<Crate> {
        (0..count)
            .map(|at| Crate {
                name: format!("c{at}"),
                folder: format!("c{at}"),
                layer: Some(if at == 0 { "binary" } else { "port" }.to_owned()),
                manifest: String::new(),
                dependencies: (at + 1 < count)
                    .then(|| Dependency {
                        name: format!("c{}", at + 1),
                        kind: if at + 2 == count {
                            last
                        } else {
                            DependencyKind::Shipped
                        },
                    })
                    .into_iter()
                    .collect(),
            })
            .collect()
    }

    #[test]
    fn a_chain_that_is_too_long_is_shown() {
        assert!(check(&line(7, DependencyKind::Shipped)).is_empty());
        assert!(check(&line(8, DependencyKind::Test)).is_empty());
        assert_eq!(
            messages(&check(&line(8, DependencyKind::Shipped))),
            ["crates/c0/Cargo.toml: a chain of 8 crates, 7 at most: \
                 c0 → c1 → c2 → c3 → c4 → c5 → c6 → c7; remove an edge or merge two of them"]
        );
    }

    #[test]
    fn a_detour_counts_by_its_longest() {
        let mut crates = line(8, DependencyKind::Shipped);
        crates[0].dependencies.insert(
            0,
            Dependency {
                name: "c7".to_owned(),
                kind: DependencyKind::Shipped,
            },
        );
        assert_eq!(check(&crates).len(), 1);
        crates[3].dependencies.clear();
        assert!(check(&crates).is_empty());
    }
}
