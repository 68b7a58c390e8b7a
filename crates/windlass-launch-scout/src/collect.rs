//! Statements about a product, from everything that makes any: manifests, constants,
//! documentation comments, documents, READMEs.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::Regex;
use windlass_launch_model::ClaimKind;

use crate::{
    api::{Symbol, SymbolKind, summary},
    claims::{Found, Origin, Purpose, aliases, kind_of},
    formats,
    input::ScoutInput,
    kind::{Use, depth, extension, folder, is_readme, stem, use_of},
    license,
    manifests::{Located, Manifest},
    markdown::{blocks, from_rst},
    sentences::{Sentence, is_safe, sentences},
    tree::Tree,
    words::{content, words},
};

/// No more statements than this are made of documentation comments.
const MOST_COMMENTS: usize = 300;

/// Symbols by file.
pub(crate) type Symbols = BTreeMap<String, Vec<Symbol>>;

/// Every statement, in the order of its source.
pub(crate) fn collect(
    tree: &Tree,
    manifests: &[Manifest],
    symbols: &Symbols,
    input: &ScoutInput,
) -> Vec<Found> {
    let mut found = Vec::new();
    from_manifests(tree, manifests, input, &mut found);
    from_constants(tree, input, &mut found);
    from_comments(symbols, input, &mut found);
    from_documents(tree, manifests, input, &mut found);
    found
}

fn composed(text: String, kind: ClaimKind, path: &str, at: &Located, purpose: Purpose) -> Found {
    Found {
        kind,
        keys: vec![at.text.to_lowercase()],
        purpose: Some(purpose),
        ..Found::quoted(text, Origin::Manifest, path, (at.start, at.end))
    }
}

/// The manifests that speak for the product: of each platform, the outermost.
fn speaking(manifests: &[Manifest]) -> impl Iterator<Item = &Manifest> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for manifest in manifests.iter().filter(|manifest| manifest.name.is_some()) {
        seen.entry(manifest.platform)
            .or_insert_with(|| depth(&manifest.path));
    }
    manifests
        .iter()
        .filter(move |manifest| seen.get(manifest.platform) == Some(&depth(&manifest.path)))
}

fn from_manifests(tree: &Tree, manifests: &[Manifest], input: &ScoutInput, found: &mut Vec<Found>) {
    let product = input.product_name();
    let mut licensed = false;
    for manifest in speaking(manifests) {
        let path = &manifest.path;
        if let Some(at) = &manifest.description
            && let Some(text) = statement(&at.text)
        {
            let mut claim = Found::quoted(text, Origin::Manifest, path, (at.start, at.end));
            claim.purpose = Some(Purpose::Positioning);
            found.push(claim);
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
        for requirement in &manifest.runtimes {
            let spec = &requirement.spec;
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

/// The licence file of the root, if its licence is known.
pub(crate) fn license_file(tree: &Tree) -> Option<(&str, Located)> {
    tree.texts()
        .filter(|(path, _)| {
            depth(path) == 0 && matches!(stem(path).as_str(), "license" | "licence" | "copying")
        })
        .find_map(|(path, text)| Some((path, license::of_text(text)?)))
}

fn from_constants(tree: &Tree, input: &ScoutInput, found: &mut Vec<Found>) {
    for (path, text) in tree.texts() {
        if use_of(path, input) != Use::Source {
            continue;
        }
        for list in formats::constants(text) {
            let names = enumerate(&list.formats);
            let verb = match list.constant.to_lowercase() {
                name if name.contains("input") || name.contains("read") => "reads",
                name if name.contains("output") || name.contains("write") => "writes",
                _ => "supports",
            };
            let noun = if list.formats.len() == 1 {
                "format"
            } else {
                "formats"
            };
            found.push(Found {
                kind: ClaimKind::Format,
                keys: list.keys,
                ..Found::quoted(
                    format!("{} {verb} the {names} {noun}.", input.product_name()),
                    Origin::Source,
                    path,
                    (list.start, list.end),
                )
            });
        }
    }
}

fn enumerate(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

fn from_comments(symbols: &Symbols, input: &ScoutInput, found: &mut Vec<Found>) {
    let before = found.len();
    for (path, symbols) in symbols {
        let usage = use_of(path, input);
        for symbol in symbols {
            let counts = match usage {
                Use::Source => symbol.is_public && !symbol.is_test,
                Use::Test => symbol.is_test,
                _ => false,
            };
            let Some((doc, said)) = symbol
                .doc
                .as_ref()
                .filter(|_| counts && symbol.kind != SymbolKind::Module)
                .and_then(|doc| Some((doc, summary(doc)?)))
            else {
                continue;
            };
            let Some(said) = statement(&said) else {
                continue;
            };
            if found.len() - before >= MOST_COMMENTS {
                return;
            }
            let (first, last) = doc.first_range();
            let origin = if usage == Use::Test {
                Origin::Test
            } else {
                Origin::ImplementationDoc
            };
            let mut claim = Found::quoted(
                said,
                origin,
                path,
                (first.min(symbol.line), last.max(symbol.line)),
            );
            if usage == Use::Source {
                let own_name = symbol.name.rsplit(['.', ':']).next().unwrap_or_default();
                claim.keys.push(own_name.to_lowercase());
                claim.text = format!("`{}`: {}", symbol.name, claim.text);
                claim.kind = if is_missing(&claim.text) {
                    ClaimKind::Limitation
                } else {
                    ClaimKind::Api
                };
            }
            found.push(claim);
        }
    }
}

static MISSING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(not (yet |currently )?(supported|implemented|available)|unsupported|no support|experimental|deprecated)\b").ok()
});

/// Whether a comment says that a symbol is of limited use. A mere "not" does not: comments are
/// full of what a value is not.
fn is_missing(text: &str) -> bool {
    MISSING
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(text))
}

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
/// What speaks of the project, not the product.
const PROJECT: &[&str] = &[
    "contribut",
    "license",
    "licence",
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

fn from_documents(tree: &Tree, manifests: &[Manifest], input: &ScoutInput, found: &mut Vec<Found>) {
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
            for sentence in sentences(&block) {
                let about = sentence.heading.as_str();
                if heading_is(about, PROJECT) {
                    continue;
                }
                let Some(text) = statement(&sentence.text) else {
                    continue;
                };
                let kind = kind_of(&text, about);
                if !is_about_product(&sentence, kind, &names) {
                    continue;
                }
                let mut claim = Found::quoted(
                    text,
                    origin(usage, path, about),
                    path,
                    (sentence.start, sentence.end),
                );
                claim.kind = kind;
                claim.purpose = purpose(about, &claim.text, &names);
                claim.heading = sentence.heading.clone();
                found.push(claim);
            }
        }
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

/// A text as a statement a page can hold; `None` if it is none.
pub(crate) fn statement(text: &str) -> Option<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.trim_end_matches([',', ';']).trim();
    let count = text.split_whitespace().count();
    if !(2..=45).contains(&count) || text.len() > 400 || text.ends_with([':', '?', '…']) {
        return None;
    }
    if text.ends_with("...") || text.contains("://") || !is_safe(text) {
        return None;
    }
    let first: Vec<String> = words(text).take(1).collect();
    let opening = first.first().map_or("", String::as_str);
    if matches!(
        opening,
        "we" | "i" | "our" | "please" | "see" | "click" | "todo" | "fixme" | "note"
    ) {
        return None;
    }
    if words(text).any(|word| matches!(word.as_str(), "we" | "our" | "i'm" | "we're" | "todo")) {
        return None;
    }
    if content(text).len() < 2 {
        return None;
    }
    let mut said = String::with_capacity(text.len() + 1);
    let mut characters = text.chars();
    said.extend(characters.next().into_iter().flat_map(char::to_uppercase));
    said.push_str(characters.as_str());
    if !said.ends_with(['.', '!']) && !said.ends_with(".)") && !said.ends_with(".\"") {
        said.push('.');
    }
    Some(said)
}

#[cfg(test)]
#[path = "collect_tests.rs"]
mod tests;
