//! Licence files: which licence a text is, by the words it is known for.

use crate::manifests::Located;

/// A licence and what its text begins with, the more special ones first.
const KNOWN: &[(&str, &[&str])] = &[
    (
        "AGPL-3.0-only",
        &["gnu affero general public license", "version 3"],
    ),
    (
        "LGPL-3.0-only",
        &["gnu lesser general public license", "version 3"],
    ),
    (
        "LGPL-2.1-only",
        &["gnu lesser general public license", "version 2.1"],
    ),
    ("GPL-3.0-only", &["gnu general public license", "version 3"]),
    ("GPL-2.0-only", &["gnu general public license", "version 2"]),
    ("Apache-2.0", &["apache license", "version 2.0"]),
    ("MPL-2.0", &["mozilla public license", "2.0"]),
    ("BSL-1.0", &["boost software license", "version 1.0"]),
    ("BSD-3-Clause", &["bsd 3-clause"]),
    ("BSD-2-Clause", &["bsd 2-clause"]),
    ("ISC", &["isc license"]),
    ("Unlicense", &["free and unencumbered software"]),
    ("MIT", &["mit license"]),
];

/// How far from the beginning a licence says what it is.
const HEAD_LINES: usize = 12;

/// The SPDX name of a licence text, and the lines that say so.
pub(crate) fn of_text(text: &str) -> Option<Located> {
    let lines: Vec<String> = text
        .lines()
        .take(HEAD_LINES)
        .map(str::to_lowercase)
        .collect();
    for (name, marks) in KNOWN {
        let at: Option<Vec<usize>> = marks
            .iter()
            .map(|mark| lines.iter().position(|line| line.contains(mark)))
            .collect();
        if let Some(at) = at
            && let (Some(first), Some(last)) = (at.iter().min(), at.iter().max())
        {
            return Some(Located {
                text: (*name).to_owned(),
                start: *first as u64 + 1,
                end: *last as u64 + 1,
            });
        }
    }
    None
}

/// The words a licence's lines must hold.
pub(crate) fn marks(name: &str) -> Vec<String> {
    KNOWN
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, marks)| marks.iter().map(|mark| (*mark).to_owned()).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_are_recognised_by_their_first_lines() {
        for (text, name) in [
            ("MIT License\n\nCopyright", Some("MIT")),
            (
                "   Apache License\n  Version 2.0, January 2004",
                Some("Apache-2.0"),
            ),
            (
                "GNU LESSER GENERAL PUBLIC LICENSE\nVersion 3",
                Some("LGPL-3.0-only"),
            ),
            ("All rights reserved.", None),
        ] {
            let found = of_text(text).map(|found| found.text);
            assert_eq!(found.as_deref(), name, "{text}");
        }
    }
}
