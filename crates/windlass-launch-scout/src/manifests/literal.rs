//! Literal values in manifests that are programs: `name = "value"`, `name="value"`,
//! `name: "value"`. Anything computed is not found, and is not guessed.

use regex::Regex;

/// The value given to a name as one quoted text.
pub(super) fn quoted(text: &str, name: &str) -> Option<String> {
    let pattern = format!(
        r#"(?m)(?:^|[\s,(.]){}\s*(?::|=>?)?\s*["']([^"'\n]{{1,400}})["']"#,
        regex::escape(name)
    );
    let found = Regex::new(&pattern).ok()?.captures(text)?;
    Some(found[1].to_owned())
}

/// The quoted texts of the first bracket after a name.
pub(super) fn list(text: &str, name: &str) -> Vec<String> {
    let pattern = format!(
        r"(?:^|[\s,(]){}\s*[:=]\s*\[([^\]]{{0,8000}})\]",
        regex::escape(name)
    );
    let Some(found) = Regex::new(&pattern)
        .ok()
        .and_then(|pattern| pattern.captures(text))
    else {
        return Vec::new();
    };
    let Ok(item) = Regex::new(r#"["']([^"'\n]{1,200})["']"#) else {
        return Vec::new();
    };
    item.captures_iter(&found[1])
        .map(|item| item[1].to_owned())
        .collect()
}
