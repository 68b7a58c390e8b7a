//! The aggregate form: several modules' instructions in one file, each between its markers, and
//! the way back.

const START: &str = "<!-- agentpack:module=";
const START_END: &str = " -->";
const END: &str = "<!-- /agentpack -->";
const BETWEEN: &str = "\n\n---\n\n";

/// One file of several modules' texts. A single module's text stands as it is.
pub fn aggregate(parts: &[(&str, &str)]) -> String {
    if let [(_, text)] = parts {
        return (*text).to_owned();
    }
    let mut joined = String::with_capacity(
        parts
            .iter()
            .map(|(id, text)| id.len() + text.len() + 64)
            .sum(),
    );
    for (index, (id, text)) in parts.iter().enumerate() {
        if index > 0 {
            joined.push_str(BETWEEN);
        }
        joined.push_str(START);
        joined.push_str(id);
        joined.push_str(START_END);
        joined.push('\n');
        joined.push_str(text);
        if !text.ends_with('\n') {
            joined.push('\n');
        }
        joined.push_str(END);
    }
    joined
}

/// The modules of an aggregate with their texts, in the order of the file; nothing when the
/// markers are not intact. Text outside the sections belongs to no module and is left out.
///
/// A text that ends without a newline comes back with one: the file does not record it.
pub fn split_aggregate(text: &str) -> Option<Vec<(String, String)>> {
    let mut sections: Vec<(String, String)> = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        if bare == END {
            // Without a section this is a marker out of place: where sections end is unsure.
            sections.push(open.take()?);
        } else if let Some(id) = started(bare) {
            if open.is_some() || sections.iter().any(|(known, _)| known == id) {
                return None;
            }
            open = Some((id.to_owned(), String::new()));
        } else if let Some((_, section)) = &mut open {
            section.push_str(line);
        }
    }
    (open.is_none() && !sections.is_empty()).then_some(sections)
}

fn started(line: &str) -> Option<&str> {
    let id = line.strip_prefix(START)?.strip_suffix("-->")?.trim();
    (!id.is_empty()).then_some(id)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_module_is_written_unchanged() {
        assert_eq!(
            aggregate(&[("a", "text without newline")]),
            "text without newline"
        );
        assert_eq!(split_aggregate("text without newline"), None);
    }

    #[test]
    fn several_modules_have_markers() {
        insta::assert_snapshot!(aggregate(&[("instructions:a", "one\n"), ("instructions:b", "two")]), @r"
        <!-- agentpack:module=instructions:a -->
        one
        <!-- /agentpack -->

        ---

        <!-- agentpack:module=instructions:b -->
        two
        <!-- /agentpack -->
        ");
        assert!(!aggregate(&[("a", ""), ("b", "")]).ends_with('\n'));
    }

    #[test]
    fn edits_inside_and_outside_sections() {
        let sections = |text: &str| split_aggregate(text);
        let start = |id: &str| format!("<!-- agentpack:module={id} -->\n");
        let end = "<!-- /agentpack -->\n";
        assert_eq!(
            sections(&format!(
                "note\n{}a\r\n{end}more\n{}b{end}",
                start("x"),
                start("y")
            )),
            None,
            "the last end marker is not on its own line"
        );
        assert_eq!(
            sections(&format!(
                "note\n{}a\n{end}more\n{}{end}after",
                start("x"),
                start("y")
            )),
            Some(vec![
                ("x".into(), "a\n".into()),
                ("y".into(), String::new())
            ])
        );
        for (broken, why) in [
            (format!("{}a\n", start("x")), "no end"),
            (format!("a\n{end}"), "no start"),
            (format!("{}{}{end}", start("x"), start("y")), "nested"),
            (format!("{}{end}{}{end}", start("x"), start("x")), "twice"),
            (
                format!("{}a\n{end}b\n{end}", start("x")),
                "a marker in the text",
            ),
            (String::new(), "nothing"),
        ] {
            assert_eq!(sections(&broken), None, "{why}");
        }
    }

    fn source() -> impl Strategy<Value = String> {
        // Anything but the markers themselves; separators and comments are fair game.
        proptest::collection::vec(
            prop_oneof![
                "[ -~]{0,20}",
                Just("---".to_owned()),
                Just(String::new()),
                Just("<!-- agentpack -->".to_owned()),
                "\\PC{0,8}",
            ],
            0..6,
        )
        .prop_map(|lines| lines.join("\n"))
        .prop_filter("holds a marker", |text| {
            text.lines()
                .all(|line| line.trim() != END && started(line.trim()).is_none())
        })
    }

    proptest! {
        #[test]
        fn splitting_restores_the_sources(
            sources in proptest::collection::btree_map("[a-z]{1,8}:[a-z0-9_-]{1,12}", source(), 2..6)
        ) {
            let parts: Vec<(&str, &str)> = sources
                .iter()
                .map(|(id, text)| (id.as_str(), text.as_str()))
                .collect();
            let sections = split_aggregate(&aggregate(&parts)).expect("markers are intact");
            prop_assert_eq!(sections.len(), parts.len());
            for ((id, text), (found, section)) in parts.iter().zip(&sections) {
                prop_assert_eq!(*id, found.as_str());
                let mut expected = (*text).to_owned();
                if !expected.ends_with('\n') {
                    expected.push('\n');
                }
                prop_assert_eq!(&expected, section);
            }
        }

        #[test]
        fn splitting_never_fails(text in "\\PC{0,200}") {
            let _ = split_aggregate(&text);
        }
    }
}
