//! The layer rule: surface → domain → engine → port ← adapter, never up or sideways.
//!
//! Not here: whether a manifest is well formed (`manifests`). Dependencies between
//! crates of this workspace only.

use super::{Crate, DependencyKind, Violation};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layer {
    Port,
    Engine,
    Domain,
    Surface,
    Adapter,
    Binary,
    Tool,
}

const NAMES: [(&str, Layer); 7] = [
    ("port", Layer::Port),
    ("engine", Layer::Engine),
    ("domain", Layer::Domain),
    ("surface", Layer::Surface),
    ("adapter", Layer::Adapter),
    ("binary", Layer::Binary),
    ("tool", Layer::Tool),
];

/// The one crate that composes the other engine crates (policy, secrets, telemetry).
const ENGINE: &str = "windlass-engine";
/// Must build when nothing else does.
const XTASK: &str = "windlass-xtask";

/// Reports crates without a layer and edges that the layers forbid.
pub fn check(crates: &[Crate]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for from in crates {
        let place = format!("crates/{}/Cargo.toml", from.folder);
        let Some(from_layer) = layer_of(from) else {
            let known: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            let found = match &from.layer {
                Some(layer) => format!("`{layer}` is not a layer"),
                None => "the crate names no layer".to_owned(),
            };
            violations.push(Violation::new(
                place,
                format!(
                    "{found}; set [package.metadata.windlass] layer to one of {}",
                    known.join(", ")
                ),
            ));
            continue;
        };
        for dependency in &from.dependencies {
            let Some(to) = crates.iter().find(|other| other.name == dependency.name) else {
                continue;
            };
            // A target without a layer is reported once, at its own manifest.
            let Some(to_layer) = layer_of(to) else {
                continue;
            };
            let allowed = match dependency.kind {
                DependencyKind::Shipped => may_use(from, from_layer, to, to_layer),
                DependencyKind::Test => {
                    may_use(from, from_layer, to, to_layer)
                        || may_test_with(from, from_layer, to_layer)
                }
            };
            if !allowed {
                violations.push(Violation::new(
                    place.clone(),
                    format!(
                        "{} ({}) must not {} {} ({})",
                        from.name,
                        name_of(from_layer),
                        match dependency.kind {
                            DependencyKind::Shipped => "depend on",
                            DependencyKind::Test => "test with",
                        },
                        to.name,
                        name_of(to_layer),
                    ),
                ));
            }
        }
    }
    violations
}

fn may_use(from: &Crate, from_layer: Layer, to_crate: &Crate, to: Layer) -> bool {
    match from_layer {
        // Types, settings and traits build on each other; Cargo itself refuses a cycle.
        Layer::Port | Layer::Adapter => to == Layer::Port,
        Layer::Engine => to == Layer::Port || (to == Layer::Engine && from.name == ENGINE),
        Layer::Domain => {
            matches!(to, Layer::Port | Layer::Engine)
                || (to == Layer::Domain && is_same_domain(from, to_crate))
        }
        Layer::Surface => matches!(to, Layer::Port | Layer::Engine | Layer::Domain),
        Layer::Binary => to != Layer::Tool,
        Layer::Tool => to != Layer::Binary && from.name != XTASK,
    }
}

/// A large domain may be split into parts named after it: `windlass-pack` and `windlass-pack-*`.
/// The parts may use each other; none uses the crate that puts them together.
fn is_same_domain(from: &Crate, to: &Crate) -> bool {
    let domain = |name: &str| name.split('-').take(2).collect::<Vec<_>>().join("-");
    let is_part = to.name.split('-').count() > 2;
    is_part && domain(&from.name) == domain(&to.name)
}

/// Tests may also use the test tools, put a real adapter behind a port, and mount a real surface
/// on the one that serves it.
fn may_test_with(from: &Crate, from_layer: Layer, to: Layer) -> bool {
    let mounts = from_layer == Layer::Surface && to == Layer::Surface;
    from.name != XTASK && (mounts || matches!(to, Layer::Tool | Layer::Adapter))
}

fn layer_of(package: &Crate) -> Option<Layer> {
    let name = package.layer.as_deref()?;
    NAMES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, layer)| *layer)
}

fn name_of(layer: Layer) -> &'static str {
    NAMES
        .iter()
        .find(|(_, known)| *known == layer)
        .map_or("", |(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::super::sample::messages;
    use super::super::{Crate, Dependency};
    use super::*;

    /// `name:layer` and, for the edge, whether it is shipped or used by tests.
    fn edge(from: &str, to: &str, kind: DependencyKind) -> Vec<String> {
        let make = |spec: &str| {
            let (name, layer) = spec.split_once(':').unwrap();
            Crate {
                name: name.into(),
                folder: name.into(),
                layer: Some(layer.into()),
                manifest: String::new(),
                dependencies: Vec::new(),
            }
        };
        let mut from = make(from);
        let to = make(to);
        from.dependencies.push(Dependency {
            name: to.name.clone(),
            kind,
        });
        messages(&check(&[from, to]))
    }

    #[test]
    fn shipped_edges_point_down() {
        let cases = [
            ("windlass-config:port", "windlass-types:port", true),
            ("windlass-ports:port", "windlass-engine:engine", false),
            ("windlass-ports:port", "windlass-store:adapter", false),
            ("windlass-engine:engine", "windlass-ports:port", true),
            ("windlass-engine:engine", "windlass-policy:engine", true),
            ("windlass-policy:engine", "windlass-secrets:engine", false),
            ("windlass-policy:engine", "windlass-engine:engine", false),
            ("windlass-engine:engine", "windlass-store:adapter", false),
            ("windlass-engine:engine", "windlass-runs:domain", false),
            ("windlass-runs:domain", "windlass-engine:engine", true),
            ("windlass-runs:domain", "windlass-demo:domain", false),
            ("windlass-runs:domain", "windlass-mcp:surface", false),
            ("windlass-runs:domain", "windlass-store:adapter", false),
            ("windlass-mcp:surface", "windlass-runs:domain", true),
            ("windlass-mcp:surface", "windlass-http:surface", false),
            ("windlass-mcp:surface", "windlass-store:adapter", false),
            ("windlass-store:adapter", "windlass-ports:port", true),
            ("windlass-store:adapter", "windlass-engine:engine", false),
            ("windlass-store:adapter", "windlass-net:adapter", false),
            ("windlass:binary", "windlass-mcp:surface", true),
            ("windlass:binary", "windlass-store:adapter", true),
            ("windlass:binary", "windlass-testkit:tool", false),
            ("windlass-engine:engine", "windlass-testkit:tool", false),
            ("windlass-testkit:tool", "windlass-engine:engine", true),
            ("windlass-bench:tool", "windlass-testkit:tool", true),
            ("windlass-bench:tool", "windlass:binary", false),
            ("windlass-xtask:tool", "windlass-types:port", false),
        ];
        for (from, to, allowed) in cases {
            let found = edge(from, to, DependencyKind::Shipped);
            assert_eq!(found.is_empty(), allowed, "{from} -> {to}: {found:?}");
        }
    }

    #[test]
    fn tests_may_use_tools_and_adapters_but_nothing_above() {
        let cases = [
            ("windlass-engine:engine", "windlass-testkit:tool", true),
            ("windlass-engine:engine", "windlass-store:adapter", true),
            ("windlass-engine:engine", "windlass-runs:domain", false),
            ("windlass-runs:domain", "windlass-demo:domain", false),
            ("windlass-mcp:surface", "windlass-demo:domain", true),
            ("windlass-mcp:surface", "windlass:binary", false),
            ("windlass-xtask:tool", "windlass-testkit:tool", false),
        ];
        for (from, to, allowed) in cases {
            let found = edge(from, to, DependencyKind::Test);
            assert_eq!(found.is_empty(), allowed, "{from} -> {to}: {found:?}");
        }
    }

    #[test]
    fn the_message_names_both_ends() {
        assert_eq!(
            edge(
                "windlass-mcp:surface",
                "windlass-http:surface",
                DependencyKind::Shipped
            ),
            [
                "crates/windlass-mcp/Cargo.toml: windlass-mcp (surface) must not depend on \
                 windlass-http (surface)"
            ]
        );
    }

    #[test]
    fn a_crate_needs_a_known_layer() {
        for (layer, start) in [
            (None, "the crate names no layer; "),
            (Some("middle".to_owned()), "`middle` is not a layer; "),
        ] {
            let lost = Crate {
                name: "windlass-lost".into(),
                folder: "windlass-lost".into(),
                layer,
                manifest: String::new(),
                dependencies: Vec::new(),
            };
            let found = check(&[lost]);
            assert_eq!(found.len(), 1);
            assert!(found[0].message.starts_with(start), "{}", found[0]);
        }
    }
}
