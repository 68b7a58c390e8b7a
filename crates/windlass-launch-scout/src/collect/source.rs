//! What sources say: lists of formats in public constants, and documentation comments.

use std::sync::LazyLock;

use regex::Regex;
use windlass_launch_model::ClaimKind;

use super::{Collected, Symbols, statement};
use crate::{
    addressed::gives_orders,
    api::{SymbolKind, summary},
    claims::{Found, Origin},
    formats::{self, Direction},
    input::ScoutInput,
    kind::{Use, language, use_of},
    tree::Tree,
};

/// No more statements than this are made of documentation comments.
const MOST_COMMENTS: usize = 300;

/// What public constants list as formats.
pub(super) fn constants(tree: &Tree, input: &ScoutInput, collected: &mut Collected) {
    for (path, text) in tree.texts() {
        let Some(language) = language(path).filter(|_| use_of(path, input) == Use::Source) else {
            continue;
        };
        for list in formats::constants(language, text) {
            let names = enumerate(&list.formats);
            let verb = match formats::direction(&list.constant) {
                Some(Direction::In) => "reads",
                Some(Direction::Out) => "writes",
                None => "supports",
            };
            let noun = if list.formats.len() == 1 {
                "format"
            } else {
                "formats"
            };
            collected.found.push(Found {
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

/// What documentation comments say of public symbols, and of tests.
pub(super) fn comments(symbols: &Symbols, input: &ScoutInput, collected: &mut Collected) {
    let found = &mut collected.found;
    let before = found.len();
    for (path, symbols) in symbols {
        let usage = use_of(path, input);
        for symbol in symbols {
            let counts = match usage {
                Use::Source => symbol.is_public && !symbol.is_test,
                Use::Test => symbol.is_test,
                _ => false,
            };
            let doc = symbol
                .doc
                .as_ref()
                .filter(|_| counts && symbol.kind != SymbolKind::Module);
            let Some(doc) = doc else {
                continue;
            };
            if gives_orders(&doc.text()) {
                collected.orders.insert((path.clone(), doc.first_range().0));
                continue;
            }
            let Some(said) = summary(doc) else {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_like_lists() {
        let items =
            |names: &[&str]| enumerate(&names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
        assert_eq!(items(&["A"]), "A");
        assert_eq!(items(&["A", "B"]), "A and B");
        assert_eq!(items(&["A", "B", "C"]), "A, B and C");
    }
}
