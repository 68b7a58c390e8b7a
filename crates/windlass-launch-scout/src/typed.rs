//! What a statement says about the product's version, its licence and the runtimes it needs at
//! least, as values that can be compared. Two statements about one of these need share no other
//! word to contradict each other.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use regex::Regex;

/// How the product is called in a normalised text.
const PRODUCT: &str = "{product_name}";

/// The typed values of one statement; empty where it is about something else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Typed {
    /// The product's own version.
    pub version: Option<String>,
    /// Runtimes with the lowest version that will do.
    pub runtimes: BTreeMap<String, String>,
    /// Licences, each by a short name.
    pub licenses: BTreeSet<&'static str>,
}

impl Typed {
    /// Reads a normalised statement.
    pub(crate) fn of(text: &str) -> Self {
        Self {
            version: version(text),
            runtimes: runtimes(text),
            licenses: licenses(text),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.version.is_none() && self.runtimes.is_empty() && self.licenses.is_empty()
    }

    /// Why two statements cannot both hold, the better source first.
    pub(crate) fn contradicts(&self, other: &Self) -> Option<String> {
        if let (Some(left), Some(right)) = (&self.version, &other.version)
            && !is_same_version(left, right)
        {
            return Some(format!("they name different versions: {left} and {right}"));
        }
        let needs = self.runtimes.iter().find_map(|(runtime, left)| {
            let right = other.runtimes.get(runtime)?;
            (left != right)
                .then(|| format!("they need different versions of {runtime}: {left} and {right}"))
        });
        if needs.is_some() {
            return needs;
        }
        let known = |name: &&&str| {
            let like = |own: &&str| own.starts_with(**name) || name.starts_with(own);
            self.licenses.iter().any(like)
        };
        let differs = !self.licenses.is_empty() && !other.licenses.iter().all(|name| known(&name));
        let list = |names: &BTreeSet<&str>| names.iter().copied().collect::<Vec<_>>().join(" or ");
        differs.then(|| {
            let (left, right) = (list(&self.licenses), list(&other.licenses));
            format!("they name different licences: {left} and {right}")
        })
    }
}

/// `4.0` and `4.0.2` do not contradict each other; `4.1` and `4.0.2` do.
fn is_same_version(left: &str, right: &str) -> bool {
    let parts = |version: &str| -> Vec<String> { version.split('.').map(str::to_owned).collect() };
    let (left, right) = (parts(left), parts(right));
    left.iter().zip(&right).all(|(left, right)| left == right)
}

fn without_zeros(version: &str) -> &str {
    let mut version = version;
    while let Some(shorter) = version.strip_suffix(".0") {
        version = shorter;
    }
    version
}

static NUMBER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:^|[\s`(v])(\d+(?:\.\d+)+)").ok());

static CURRENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b(current|latest|newest)\b|\bis (now )?at version\b|\bcurrently at\b").ok()
});

/// The product's version, where a statement says which one is current. It must name the product
/// and hold exactly one version, or else it may be about something else.
fn version(text: &str) -> Option<String> {
    let mentions = ["version", "release", "current"]
        .iter()
        .any(|word| text.contains(word));
    if !mentions || !text.contains(PRODUCT) || !CURRENT.as_ref()?.is_match(text) {
        return None;
    }
    let of_runtimes: Vec<&str> = RUNTIME
        .as_ref()?
        .captures_iter(text)
        .filter_map(|found| Some(found.get(2)?.as_str()))
        .collect();
    let mut found = NUMBER
        .as_ref()?
        .captures_iter(text)
        .filter_map(|found| Some(found.get(1)?.as_str()))
        .filter(|number| !of_runtimes.contains(number));
    match (found.next(), found.next()) {
        (Some(only), None) => Some(only.to_owned()),
        _ => None,
    }
}

static RUNTIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\b(python|node(?:\.js)?|java|jdk|rust|go|ruby|php)\b[^0-9.;]{0,24}?v?(\d+(?:\.\d+)*)",
    )
    .ok()
});

static NEEDS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b(requires?|needs?)\b").ok());

static WORKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b(supports?|works? (with|on)|runs? (on|with)|compatible with|minimum|at least)\b")
        .ok()
});

static OPEN_END: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^`?(\+|,? ?(or|and) (newer|later|higher|above|up|greater|onwards?)\b)").ok()
});

/// The runtimes a statement says are needed, each with its lowest version. "Requires 3.9" names
/// one; "supports 3.9" only with "or later", since it may be one of several.
fn runtimes(text: &str) -> BTreeMap<String, String> {
    let says = |pattern: &LazyLock<Option<Regex>>, text: &str| {
        pattern.as_ref().is_some_and(|found| found.is_match(text))
    };
    let needs = says(&NEEDS, text);
    let mut found = BTreeMap::new();
    if !needs && !says(&WORKS, text) {
        return found;
    }
    let Some(runtime) = RUNTIME.as_ref() else {
        return found;
    };
    for hit in runtime.captures_iter(text) {
        let (Some(whole), Some(version)) = (hit.get(0), hit.get(2)) else {
            continue;
        };
        let at_least = says(&OPEN_END, &text[whole.end()..])
            || whole.as_str().contains(">=")
            || text[..whole.start()].trim_end().ends_with("at least")
            || whole.as_str().contains("at least");
        if needs || at_least {
            let name = match &hit[1] {
                "node.js" => "node",
                "jdk" => "java",
                other => other,
            };
            found
                .entry(name.to_owned())
                .or_insert_with(|| without_zeros(version.as_str()).to_owned());
        }
    }
    found
}

/// Licences by what they are called; the first that fits a place counts.
const LICENSES: &[(&str, &str)] = &[
    ("agpl-3.0", r"\bagpl|\baffero general public"),
    ("lgpl", r"\blgpl|\blesser general public"),
    (
        "gpl-3.0",
        r"\bgpl[- ]?(v|version )?3|\bgnu general public license,? (v|version )?3",
    ),
    (
        "gpl-2.0",
        r"\bgpl[- ]?(v|version )?2|\bgnu general public license,? (v|version )?2",
    ),
    ("gpl", r"\bgpl\b|\bgnu general public"),
    ("apache-2.0", r"\bapache\b"),
    ("mit", r"\bmit\b"),
    (
        "bsd-3-clause",
        r"\bbsd[- ]3|\b3[- ]clause bsd|\bthree[- ]clause bsd",
    ),
    (
        "bsd-2-clause",
        r"\bbsd[- ]2|\b2[- ]clause bsd|\btwo[- ]clause bsd",
    ),
    ("bsd", r"\bbsd\b"),
    ("mpl-2.0", r"\bmpl\b|\bmozilla public"),
    ("epl", r"\bepl\b|\beclipse public"),
    ("isc", r"\bisc\b"),
    ("unlicense", r"\bunlicense\b"),
    ("bsl-1.0", r"\bboost software"),
    ("zlib", r"\bzlib licen[sc]e\b"),
    ("cc0-1.0", r"\bcc0\b"),
    ("proprietary", r"\bproprietary\b"),
];

static LICENSE: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    LICENSES
        .iter()
        .filter_map(|(name, pattern)| Some((*name, Regex::new(pattern).ok()?)))
        .collect()
});

static LICENSED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^(\{product_name\}|it\b|this\b|the (project|library|package|tool|code|software|source code|crate)\b).{0,40}\b(licen[sc]ed|released|distributed|available|published|free software)\b|^(dual[- ])?(licen[sc]ed|released|distributed) under\b|^(\{product_name\}|it) (is|uses|has) .{0,12}\blicen[sc]e\b|^(\{product_name\}|it) is \S+[- ]licen[sc]ed\b",
    )
    .ok()
});

/// The licences a statement says the product has. "MIT or Apache" names both.
fn licenses(text: &str) -> BTreeSet<&'static str> {
    let mentions = LICENSED.as_ref().is_some_and(|said| said.is_match(text));
    if !mentions || crate::words::is_negated(text) {
        return BTreeSet::new();
    }
    let mut rest = text.to_owned();
    let mut found = BTreeSet::new();
    for (name, pattern) in LICENSE.iter() {
        if pattern.is_match(&rest) {
            found.insert(*name);
            // "GNU Lesser General Public" names no other licence besides.
            rest = pattern.replace_all(&rest, " ").into_owned();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_where_a_statement_says_which_is_current() {
        for (text, version) in [
            ("{product_name} is at version `2.3.1`.", Some("2.3.1")),
            (
                "{product_name} 2.1.0 is the current release.",
                Some("2.1.0"),
            ),
            ("version 0.8.0 of {product_name} is current.", Some("0.8.0")),
            ("the latest version of {product_name} is 4.1.", Some("4.1")),
            ("the latest release is v4.1.", None),
            ("{product_name} 2.0 renamed the option.", None),
            ("the latest {product_name} release needs rust 1.70.", None),
            (
                "{product_name} reads version 1.4 and 1.7 of the current format.",
                None,
            ),
        ] {
            assert_eq!(Typed::of(text).version.as_deref(), version, "{text}");
        }
    }

    #[test]
    fn runtimes_are_read_where_a_statement_says_what_is_needed() {
        for (text, expected) in [
            ("{product_name} requires python `>=3.9`.", "python 3.9"),
            ("{product_name} needs node.js 14 or later.", "node 14"),
            ("{product_name} supports rust 1.65 and later.", "rust 1.65"),
            ("{product_name} runs on python 3.8+.", "python 3.8"),
            ("{product_name} works with at least java 17.", "java 17"),
            ("requires python 3.8.0 or later.", "python 3.8"),
            ("{product_name} supports python 3.8 and 3.9.", ""),
            ("{product_name} is tested with python 3.12.", ""),
        ] {
            let found: Vec<String> = Typed::of(text)
                .runtimes
                .iter()
                .map(|(name, version)| format!("{name} {version}"))
                .collect();
            assert_eq!(found.join(", "), expected, "{text}");
        }
    }

    #[test]
    fn licences_are_read_where_a_statement_says_so() {
        for (text, expected) in [
            (
                "{product_name} is licensed under `apache-2.0`.",
                "apache-2.0",
            ),
            (
                "{product_name} is licensed under `mit or apache-2.0`.",
                "apache-2.0 mit",
            ),
            ("{product_name} is released under the mit license.", "mit"),
            ("{product_name} is licensed under gpl-3.0.", "gpl-3.0"),
            (
                "licensed under the gnu lesser general public license.",
                "lgpl",
            ),
            (
                "this project is available under bsd-3-clause.",
                "bsd-3-clause",
            ),
            ("{product_name} is mit-licensed.", "mit"),
            ("{product_name} is not released under the gpl.", ""),
            ("{product_name} reads the mit license of a package.", ""),
            ("its parser is licensed under gpl-3.0.", ""),
        ] {
            let found = Typed::of(text).licenses;
            let found: Vec<&str> = found.into_iter().collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn what_contradicts() {
        for (left, right, contradicts) in [
            (
                "{product_name} is at version `4.0.2`.",
                "the latest version of {product_name} is 4.1.",
                true,
            ),
            (
                "{product_name} is at version `4.0.2`.",
                "the latest version of {product_name} is 4.0.",
                false,
            ),
            (
                "{product_name} requires rust `1.78`.",
                "{product_name} supports rust 1.65 and later.",
                true,
            ),
            (
                "{product_name} requires rust `1.78`.",
                "{product_name} requires python 3.8.",
                false,
            ),
            (
                "{product_name} is licensed under `mit`.",
                "{product_name} is licensed under gpl-3.0.",
                true,
            ),
            (
                "{product_name} is licensed under `mit or apache-2.0`.",
                "it is licensed under mit.",
                false,
            ),
            (
                "{product_name} is licensed under `mit`.",
                "it is licensed under mit or apache-2.0.",
                true,
            ),
            (
                "{product_name} is licensed under `gpl-3.0-only`.",
                "it is released under the gpl.",
                false,
            ),
            (
                "{product_name} is licensed under `mit`.",
                "{product_name} is fast.",
                false,
            ),
        ] {
            let found = Typed::of(left).contradicts(&Typed::of(right));
            assert_eq!(found.is_some(), contradicts, "{left} / {right}: {found:?}");
        }
    }
}
