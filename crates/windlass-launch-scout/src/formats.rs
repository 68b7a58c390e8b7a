//! File formats: which names are formats, and the lists of them in public source constants.
//!
//! Well-known formats are known by name. Others count where a sentence or a constant says that
//! they are formats: "reads OFX and QIF statements".

use std::{collections::BTreeSet, sync::LazyLock};

use regex::Regex;

/// Formats that are written in capitals, or as a file's ending.
const FORMATS: &[&str] = &[
    "3MF", "7Z", "AVI", "AVRO", "BMP", "CSV", "DICOM", "DOC", "DOCX", "DWG", "DXF", "EML", "EPUB",
    "FBX", "FLAC", "GEOJSON", "GIF", "GLTF", "GPX", "GZIP", "HTML", "ICO", "ICS", "INI", "JPEG",
    "JPG", "JSON", "KML", "LATEX", "MARKDOWN", "MBOX", "MKV", "MP3", "MP4", "MSG", "OBJ", "ODP",
    "ODS", "ODT", "OGG", "ORC", "PARQUET", "PDF", "PNG", "PPT", "PPTX", "PROTOBUF", "PSD", "RAR",
    "RTF", "SHP", "SQLITE", "STL", "SVG", "TAR", "TEX", "TIFF", "TOML", "TSV", "TXT", "USD", "VCF",
    "WAV", "WEBP", "XLS", "XLSX", "XML", "XPS", "YAML", "YML", "ZIP",
];

/// Formats whose names are ordinary words when capitalised.
const MIXED: &[&str] = &[
    "Markdown", "Parquet", "Avro", "LaTeX", "GeoJSON", "glTF", "Protobuf", "SQLite",
];

/// Capitals that are moved around and are no formats.
const NOT_FORMATS: &[&str] = &[
    "ACL", "AI", "API", "APIS", "ASCII", "AWS", "CI", "CLI", "CPU", "DB", "DNS", "ENV", "GPU",
    "GUI", "HTTP", "HTTPS", "ID", "IDS", "IO", "ISO", "JVM", "LLM", "OS", "RAM", "REST", "SDK",
    "SQL", "SSH", "TCP", "TLS", "UI", "UNIX", "URI", "URL", "URLS", "UTC", "UTF", "UUID", "VM",
];

static STATED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"\b(?:[Rr]ead|[Ww]rite|[Ii]mport|[Ee]xport|[Oo]pen|[Ll]oad|[Ss]ave|[Pp]arse|[Ss]upport|[Cc]onvert)s?\s+(?:the\s+)?((?:[A-Z][A-Z0-9]{1,7})(?:(?:,\s*(?:and\s+|or\s+)?|\s+and\s+|\s+or\s+)[A-Z][A-Z0-9]{1,7})*)\s+(?:files?|formats?|documents?|archives?|statements?|images?|workbooks?|spreadsheets?|tables?|messages?|feeds?|streams?|videos?|models?|drawings?|calendars?|containers?)\b",
    )
    .ok()
});

/// The formats a text names, in capitals, sorted.
pub(crate) fn named(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for token in text.split(|c: char| !(c.is_alphanumeric() || c == '.')) {
        let token = token.trim_end_matches('.');
        let bare = token.trim_start_matches('.');
        let upper = bare.to_uppercase();
        let counts = bare == upper || token.starts_with('.') || MIXED.contains(&bare);
        if counts && FORMATS.contains(&upper.as_str()) {
            found.insert(upper);
        }
    }
    if let Some(stated) = STATED.as_ref() {
        found.extend(
            stated
                .captures_iter(text)
                .filter_map(|hit| hit.get(1))
                .flat_map(|list| list.as_str().split(|c: char| !c.is_ascii_alphanumeric()))
                .filter(|name| name.len() >= 2 && name.bytes().all(|b| !b.is_ascii_lowercase()))
                .filter(|name| !NOT_FORMATS.contains(name))
                .map(str::to_owned),
        );
    }
    found
}

/// Which way data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    In,
    Out,
}

/// Which way a statement says that data goes; `None` for both or neither.
pub(crate) fn direction(text: &str) -> Option<Direction> {
    let lower = text.to_lowercase();
    let says = |verbs: &[&str]| {
        lower
            .split(|c: char| !c.is_alphabetic())
            .any(|word| verbs.contains(&word.trim_end_matches('s')))
    };
    let reads = says(&["read", "import", "open", "load", "parse", "input"]);
    let writes = says(&["write", "export", "save", "render", "output", "emit"]);
    match (reads, writes) {
        (true, false) => Some(Direction::In),
        (false, true) => Some(Direction::Out),
        _ => None,
    }
}

/// A list of formats in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FormatList {
    pub constant: String,
    /// In capitals, in the order of the source.
    pub formats: Vec<String>,
    /// As the source has them, lower-case.
    pub keys: Vec<String>,
    pub start: u64,
    pub end: u64,
}

static CONSTANT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b([a-z_]*(?:formats|extensions|file_types|filetypes))\b[^=\n]{0,80}=\s*(?:\[\]\w+)?[^\[({\n]{0,40}[\[({]",
    )
    .ok()
});

/// Whether a constant is part of what a product offers, by the line that defines it. A language
/// whose rules are not known here offers nothing.
fn is_public(language: &str, before: &str, name: &str) -> bool {
    let says = |word: &str| before.split_whitespace().any(|part| part == word);
    match language {
        // In capitals, and not within a function.
        "python" => !name.starts_with('_') && name == name.to_uppercase() && before.len() <= 4,
        "rust" => before.trim_start().starts_with("pub ") && (says("const") || says("static")),
        "javascript" | "typescript" | "tsx" => says("export"),
        "go" => name.starts_with(|c: char| c.is_uppercase()),
        "java" | "csharp" | "kotlin" | "swift" => says("public"),
        "ruby" | "php" => name == name.to_uppercase(),
        _ => false,
    }
}

/// The public constants of a source file that list formats as quoted texts.
pub(crate) fn constants(language: &str, text: &str) -> Vec<FormatList> {
    const MOST_LINES: usize = 60;
    let Some(constant) = CONSTANT.as_ref() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        let Some(start) = constant.captures(line) else {
            continue;
        };
        let Some(whole) = start.get(0) else {
            continue;
        };
        // Within quotes it is a text about code, not code.
        let before = &line[..whole.start()];
        if before.contains(['"', '\'', '`']) || !is_public(language, before, &start[1]) {
            continue;
        }
        let mut formats = Vec::new();
        let mut keys = Vec::new();
        let mut end = index;
        for (offset, next) in lines[index..].iter().take(MOST_LINES).enumerate() {
            let part = if offset == 0 {
                &next[whole.end()..]
            } else {
                next
            };
            let closing = part.find([']', '}']).or_else(|| part.find(')'));
            for quoted in part[..closing.unwrap_or(part.len())]
                .split(['"', '\''])
                .skip(1)
                .step_by(2)
            {
                let upper = quoted.trim_start_matches('.').to_uppercase();
                let is_name = (2..=8).contains(&upper.len())
                    && upper.bytes().all(|b| b.is_ascii_alphanumeric());
                if is_name && !formats.contains(&upper) {
                    keys.push(quoted.to_lowercase());
                    formats.push(upper);
                }
            }
            end = index + offset;
            if closing.is_some() {
                break;
            }
        }
        if !formats.is_empty() {
            found.push(FormatList {
                constant: start[1].to_owned(),
                formats,
                keys,
                start: index as u64 + 1,
                end: end as u64 + 1,
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_distinguished_from_words() {
        for (text, formats) in [
            ("Reads DOCX and .odt files.", vec!["DOCX", "ODT"]),
            ("Writes Markdown.", vec!["MARKDOWN"]),
            ("Sends a msg to the doc.", vec![]),
            ("Exports PDF.", vec!["PDF"]),
            (
                "Reads CSV, OFX and QIF statements.",
                vec!["CSV", "OFX", "QIF"],
            ),
            ("Cairn reads CRN and TAR archives.", vec!["CRN", "TAR"]),
            ("Supports the CRN format.", vec!["CRN"]),
            ("Reads API documents.", vec![]),
            ("Reads from OFX.", vec![]),
            ("Times are in UTC.", vec![]),
        ] {
            let found: Vec<String> = named(text).into_iter().collect();
            assert_eq!(found, formats, "{text}");
        }
    }

    #[test]
    fn lists_in_sources_are_read_over_several_lines() {
        let text =
            "x = 1\nSUPPORTED_FORMATS = [\n    \"pdf\",  # first\n    '.docx',\n    'qif',\n]\n";
        let found = constants("python", text);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].constant, "SUPPORTED_FORMATS");
        assert_eq!(found[0].formats, ["PDF", "DOCX", "QIF"]);
        assert_eq!((found[0].start, found[0].end), (2, 6));
        assert_eq!(constants("python", "text = 'FORMATS = [\"pdf\"]'"), []);
    }

    #[test]
    fn only_public_constants_count() {
        for (language, line, counts) in [
            ("python", "READ_FORMATS = (\"csv\", \"ofx\")", true),
            ("python", "_READ_FORMATS = (\"csv\", \"ofx\")", false),
            ("python", "        formats = [\"csv\"]", false),
            (
                "rust",
                "pub const READ_FORMATS: [&str; 1] = [\"crn\"];",
                true,
            ),
            ("rust", "const READ_FORMATS: [&str; 1] = [\"crn\"];", false),
            (
                "rust",
                "pub(crate) const READ_FORMATS: [&str; 1] = [\"crn\"];",
                false,
            ),
            (
                "typescript",
                "export const EXPORT_FORMATS = [\"html\"] as const;",
                true,
            ),
            (
                "typescript",
                "const EXPORT_FORMATS = [\"html\"] as const;",
                false,
            ),
            ("go", "var Formats = []string{\"csv\"}", true),
            ("go", "var formats = []string{\"csv\"}", false),
            (
                "java",
                "public static final List<String> FORMATS = List.of(\"csv\");",
                true,
            ),
            (
                "java",
                "private static final List<String> FORMATS = List.of(\"csv\");",
                false,
            ),
            ("c", "const char *formats[] = {\"csv\"};", false),
        ] {
            assert_eq!(!constants(language, line).is_empty(), counts, "{line}");
        }
    }

    #[test]
    fn directions() {
        for (text, expected) in [
            ("Reads CSV.", Some(Direction::In)),
            ("Marlin exports PDF files.", Some(Direction::Out)),
            ("READ_FORMATS", Some(Direction::In)),
            ("Supports CSV.", None),
            ("Reads and writes CSV.", None),
        ] {
            assert_eq!(direction(text), expected, "{text}");
        }
    }
}
