//! The Cursor form: a generated frontmatter before a module's instructions, and the way back.

const OPEN: &str = "---\ndescription: ";
const CLOSE: &str = "\nglobs: []\nalwaysApply: true\n---\n\n";
const DESCRIPTION: &str = "agentpack: ";

/// A rule file for one module's instructions.
pub fn wrap_cursor_rule(module_id: &str, body: &str) -> String {
    let description = serde_json::Value::from(format!("{DESCRIPTION}{module_id}"));
    let mut rule = format!("{OPEN}{description}{CLOSE}{body}");
    if !rule.ends_with('\n') {
        rule.push('\n');
    }
    rule
}

/// The instructions in a rule file; nothing when the generated frontmatter is not there as it
/// was written. A body without a newline at its end comes back with one.
pub fn unwrap_cursor_rule(text: &str) -> Option<&str> {
    let (description, body) = text.strip_prefix(OPEN)?.split_once(CLOSE)?;
    let description: String = serde_json::from_str(description).ok()?;
    description.starts_with(DESCRIPTION).then_some(body)
}

/// The module a generated rule file was made of.
pub fn cursor_rule_id(text: &str) -> Option<String> {
    let (description, _) = text.strip_prefix(OPEN)?.split_once(CLOSE)?;
    let description: String = serde_json::from_str(description).ok()?;
    description.strip_prefix(DESCRIPTION).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_frontmatter_is_generated() {
        insta::assert_snapshot!(wrap_cursor_rule("instructions:\"q\"", "# Base"), @r#"
        ---
        description: "agentpack: instructions:\"q\""
        globs: []
        alwaysApply: true
        ---

        # Base
        "#);
    }

    #[test]
    fn a_changed_frontmatter_cannot_be_captured() {
        let rule = wrap_cursor_rule("a", "body\n");
        assert_eq!(unwrap_cursor_rule(&rule), Some("body\n"));
        assert_eq!(unwrap_cursor_rule(&rule.replace("true", "false")), None);
        assert_eq!(
            unwrap_cursor_rule(&rule.replace("agentpack: ", "mine: ")),
            None
        );
        assert_eq!(unwrap_cursor_rule("body\n"), None);
    }

    proptest! {
        #[test]
        fn unwrapping_restores_the_source(id in "\\PC{1,20}", body in "(?s).{0,200}") {
            let rule = wrap_cursor_rule(&id, &body);
            let expected = if body.ends_with('\n') || body.is_empty() {
                body
            } else {
                format!("{body}\n")
            };
            prop_assert_eq!(unwrap_cursor_rule(&rule), Some(expected.as_str()));
        }
    }
}
