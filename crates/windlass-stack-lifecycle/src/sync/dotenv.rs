//! The file a build reads its values from: ours are written, lines of others stay.

use std::collections::BTreeMap;

/// The text of a `.env` file with these values.
pub(crate) fn merged(before: &str, values: &BTreeMap<String, String>) -> String {
    let mut text = String::new();
    for line in before.lines() {
        let name = line.trim_start().trim_start_matches("export ");
        let name = name.split_once('=').map(|(name, _)| name.trim());
        if name.is_none_or(|name| !values.contains_key(name)) {
            text.push_str(line);
            text.push('\n');
        }
    }
    for (name, value) in values {
        text.push_str(&format!("{name}={}\n", quoted(value)));
    }
    text
}

/// A value as every reader of such files takes it.
fn quoted(value: &str) -> String {
    if !value.contains(['\'', '\n', '\r']) {
        return format!("'{value}'");
    }
    let escaped = value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('$', "\\$")
        .replace('\n', "\\n")
        .replace('\r', "\\r");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ours_replace_their_lines_and_others_stay() {
        let values = BTreeMap::from([
            ("API".to_owned(), "https://x?a=$1".to_owned()),
            ("TEXT".to_owned(), "it's\n\"two\" $lines".to_owned()),
        ]);
        let before = "# note\nOTHER=1\nAPI=old\nexport TEXT='old'";
        assert_eq!(
            merged(before, &values),
            "# note\nOTHER=1\nAPI='https://x?a=$1'\nTEXT=\"it's\\n\\\"two\\\" \\$lines\"\n"
        );
    }

    proptest! {
        #[test]
        fn writing_twice_is_writing_once(before in "([A-Z]{1,3}=[a-z']{0,4}\n|# x\n){0,5}", value in "[a-z'\"$\n]{0,8}") {
            let values = BTreeMap::from([("AB".to_owned(), value)]);
            let once = merged(&before, &values);
            prop_assert_eq!(merged(&once, &values), once);
        }
    }
}
