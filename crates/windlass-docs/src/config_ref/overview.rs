//! The page that lists every resource type.

use std::fmt::Write as _;

use super::{BANNER, FOLDER, facts::Type};

/// Path and text.
pub(super) fn page(mut types: Vec<&Type>) -> (String, String) {
    types.sort_by(|left, right| left.name.cmp(&right.name));
    let mut text = format!(
        "---\ndocType: config-ref\ntitle: Resource types\ntags: [resource types, overview, list]\npriority: 3\n\
         source: generated\n---\n\n{BANNER}\n\n# Resource types\n\n\
         Every `type` that a resource of a config can have. Each page has an example, all properties, \
         parameters and what is created. Types without support are listed in \
         [unsupported features](../concept/unsupported-features.md).\n\n\
         | type | what it is | in CloudFormation |\n| --- | --- | --- |\n"
    );
    for facts in types {
        let _ = writeln!(
            text,
            "| [`{name}`]({name}.md) | {about} | {creates} |",
            name = facts.name,
            about = cell(first_sentence(&facts.about)),
            creates = cell(&facts.creates),
        );
    }
    (format!("{FOLDER}/README.md"), text)
}

fn first_sentence(text: &str) -> &str {
    let text = text.trim();
    text.find(". ")
        .or_else(|| text.find(".\n"))
        .map_or(text, |end| &text[..=end])
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_the_first_sentence() {
        for (text, expected) in [
            ("\nA queue. Slow.\n", "A queue."),
            ("A queue.\nSlow.", "A queue."),
            ("A queue of v1.2 messages.", "A queue of v1.2 messages."),
            ("No stop", "No stop"),
        ] {
            assert_eq!(first_sentence(text), expected);
        }
    }
}
