//! What documents and READMEs say, sentence by sentence.

use std::sync::LazyLock;

use regex::Regex;
use windlass_launch_model::{ClaimKind, claim::normalise};

use super::{Collected, statement};
use crate::{
    addressed::{gives_orders, is_for_programs},
    claims::{Found, Origin, Purpose, aliases, kind_of},
    input::ScoutInput,
    kind::{Use, extension, folder, is_readme, use_of},
    manifests::Manifest,
    markdown::{Block, BlockKind, blocks, from_rst},
    sentences::{Sentence, sentences},
    tree::Tree,
    typed::Typed,
    words::words,
};

/// Headings by what the sentences under them are about.
fn heading_is(heading: &str, names: &[&str]) -> bool {
    let heading = heading.to_lowercase();
    names.iter().any(|name| heading.contains(name))
}

const INSTALL: &[&str] = &["install", "setup", "set up"];
const QUICKSTART: &[&str] = &[
    "quick start",
    "quickstart",
    "getting started",
    "get started",
];
const USAGE: &[&str] = &[
    "usage", "how to", "guide", "tutorial", "example", "workflow", "using",
];
const FEATURES: &[&str] = &[
    "feature",
    "what it does",
    "capabilit",
    "highlights",
    "supported",
];
const TECHNICAL: &[&str] = &[
    "api",
    "requirement",
    "compatib",
    "limitation",
    "known issue",
    "caveat",
    "configuration",
    "option",
    "format",
    "support",
    "reference",
];
const COMPATIBILITY: &[&str] = &["requirement", "compatib", "prerequisite", "platform"];
/// What describes the project, not the product.
const PROJECT: &[&str] = &[
    "contribut",
    "sponsor",
    "credit",
    "acknowledg",
    "author",
    "roadmap",
    "changelog",
    "release note",
    "support us",
    "community",
    "development",
    "building from",
    "testing",
    "faq",
    "badge",
    "table of contents",
];

/// Where the licence is named.
const LICENSE: &[&str] = &["license", "licence", "licensing", "copying"];

/// What documents say.
pub(super) fn collect(
    tree: &Tree,
    manifests: &[&Manifest],
    input: &ScoutInput,
    collected: &mut Collected,
) {
    let repo_name = input
        .config
        .github_repo_url
        .trim_end_matches('/')
        .trim_end_matches(".git")
        .rsplit('/')
        .next()
        .unwrap_or_default();
    let names = aliases(
        [input.product_name(), repo_name].into_iter().chain(
            manifests
                .iter()
                .filter_map(|m| Some(m.name.as_ref()?.text.as_str())),
        ),
    );
    for (path, text) in tree.texts() {
        let usage = use_of(path, input);
        if !matches!(usage, Use::Readme | Use::Docs) {
            continue;
        }
        let text = if extension(path) == "rst" {
            from_rst(text)
        } else {
            text.into()
        };
        for block in blocks(&text) {
            if is_for_programs(&block.heading) || block_gives_orders(&block) {
                let line = block.lines.first().map_or(1, |(number, _)| *number);
                collected.orders.insert((path.to_owned(), line));
                continue;
            }
            for sentence in sentences(&block) {
                let about = sentence.heading.as_str();
                if heading_is(about, PROJECT) {
                    continue;
                }
                let Some(text) = statement(&sentence.text) else {
                    continue;
                };
                let kind = kind_of(&text, about);
                let typed = Typed::of(&normalise(&text, input.product_name()));
                let is_license = !typed.licenses.is_empty();
                // A licence section describes the project; only which licence it is counts.
                if heading_is(about, LICENSE) && !is_license {
                    continue;
                }
                if !is_license && !is_about_product(&sentence, kind, &names) {
                    continue;
                }
                let mut claim = Found::quoted(
                    text,
                    origin(usage, path, about),
                    path,
                    (sentence.start, sentence.end),
                );
                claim.kind = kind;
                claim.purpose = if is_license {
                    Some(Purpose::License)
                } else if typed.version.is_some() {
                    Some(Purpose::Version)
                } else {
                    purpose(about, &claim.text, &names)
                };
                claim.heading = sentence.heading.clone();
                collected.found.push(claim);
            }
        }
    }
}

fn block_gives_orders(block: &Block) -> bool {
    let said: Vec<&str> = block.lines.iter().map(|(_, line)| line.as_str()).collect();
    match block.kind {
        // Code is judged where it is collected.
        BlockKind::Fence(_) => false,
        BlockKind::Paragraph | BlockKind::Item => gives_orders(&said.join("\n")),
    }
}

fn origin(usage: Use, path: &str, heading: &str) -> Origin {
    let is_technical = [INSTALL, QUICKSTART, USAGE, TECHNICAL]
        .iter()
        .any(|names| heading_is(heading, names));
    let folder = folder(path).to_lowercase();
    let inside = |names: &[&str]| folder.split('/').any(|part| names.contains(&part));
    match usage {
        Use::Readme if is_technical => Origin::ReadmeTechnical,
        Use::Readme => Origin::ReadmeMarketing,
        _ if inside(&["adr", "design", "architecture", "internals"]) => Origin::ImplementationDoc,
        _ if is_readme(path) => Origin::ReadmeTechnical,
        _ => Origin::ApiDoc,
    }
}

fn purpose(
    heading: &str,
    text: &str,
    names: &std::collections::BTreeSet<String>,
) -> Option<Purpose> {
    if heading_is(heading, INSTALL) {
        Some(Purpose::Install)
    } else if heading_is(heading, QUICKSTART) {
        Some(Purpose::Quickstart)
    } else if heading_is(heading, COMPATIBILITY) || is_requirement(text) {
        Some(Purpose::Compatibility)
    } else {
        let lower = text.to_lowercase();
        let introduces = names.iter().any(|name| {
            [" is a ", " is an ", " is the ", " provides "]
                .iter()
                .any(|verb| lower.starts_with(&format!("{name}{verb}")))
        });
        introduces.then_some(Purpose::Positioning)
    }
}

static REQUIREMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(requires?|needs?|works? with|runs? on|compatible with|supports?) (at least |version )?(python|node(\.js)?|java|jdk|rust|go|ruby|php|\.net|windows|linux|macos)\b")
        .ok()
});

fn is_requirement(text: &str) -> bool {
    REQUIREMENT
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(text))
}

/// Whether a sentence says something of the product: it names it, begins with "it" or "this
/// library", stands in a list of features, or is a step where steps are given.
fn is_about_product(
    sentence: &Sentence,
    kind: ClaimKind,
    names: &std::collections::BTreeSet<String>,
) -> bool {
    let lower = sentence.text.to_lowercase();
    let opening: Vec<String> = words(&lower).take(2).collect();
    let opening: Vec<&str> = opening.iter().map(String::as_str).collect();
    let names_it = names.iter().any(|name| lower.contains(name.as_str()));
    let points_at_it = matches!(opening.as_slice(), ["it", ..])
        || matches!(
            opening.as_slice(),
            [
                "this" | "the",
                "library"
                    | "package"
                    | "tool"
                    | "project"
                    | "sdk"
                    | "crate"
                    | "module"
                    | "cli"
                    | "plugin"
                    | "service"
                    | "client"
                    | "server"
                    | "api"
            ]
        );
    let about = sentence.heading.as_str();
    names_it
        || points_at_it
        || (sentence.in_item && heading_is(about, FEATURES))
        || (heading_is(about, COMPATIBILITY) && is_requirement(&sentence.text))
        || (kind == ClaimKind::Limitation
            && heading_is(
                about,
                &["limitation", "known issue", "caveat", "not supported"],
            ))
        || (kind == ClaimKind::Workflow
            && [INSTALL, QUICKSTART, USAGE]
                .iter()
                .any(|names| heading_is(about, names)))
        || (matches!(kind, ClaimKind::Api) && heading_is(about, &["api", "reference"]))
}
