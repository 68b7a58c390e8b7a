//! File formats: which names are formats, and the lists of them in source constants.

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
    found
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
        r"(?i)\b([a-z_]*(?:formats|extensions|file_types|filetypes))\b[^=\n]{0,80}=\s*[^\[({\n]{0,40}[\[({]",
    )
    .ok()
});

/// The constants of a source file that list formats as quoted texts.
pub(crate) fn constants(text: &str) -> Vec<FormatList> {
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
        if line[..whole.start()].contains(['"', '\'', '`']) {
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
                if FORMATS.contains(&upper.as_str()) && !formats.contains(&upper) {
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
    fn formats_are_told_from_words() {
        for (text, formats) in [
            ("Reads DOCX and .odt files.", vec!["DOCX", "ODT"]),
            ("Writes Markdown.", vec!["MARKDOWN"]),
            ("Sends a msg to the doc.", vec![]),
            ("Exports PDF.", vec!["PDF"]),
        ] {
            let found: Vec<String> = named(text).into_iter().collect();
            assert_eq!(found, formats, "{text}");
        }
    }

    #[test]
    fn lists_in_sources_are_read_over_several_lines() {
        let text = "x = 1\nSUPPORTED_FORMATS = [\n    \"pdf\",  # first\n    '.docx',\n]\n\
                    const extensions: &[&str] = &[\"csv\"];\n";
        let found = constants(text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].constant, "SUPPORTED_FORMATS");
        assert_eq!(found[0].formats, ["PDF", "DOCX"]);
        assert_eq!((found[0].start, found[0].end), (2, 5));
        assert_eq!(found[1].formats, ["CSV"]);
        assert_eq!(constants("text = 'FORMATS = [\"pdf\"]'"), []);
    }
}
