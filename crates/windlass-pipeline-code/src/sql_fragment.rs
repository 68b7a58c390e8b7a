//! SQL that an architecture brings along (defaults, policy expressions, function bodies), read just
//! closely enough to know that it stays within the place it is put into.
//!
//! This is no parser: whether the expression means something is PostgreSQL's to say.

use windlass_pipeline_design::model::InputProblem;

/// Refuses a fragment that could end the statement around it: a semicolon, a comment, a dollar
/// quote, an open string or a bracket too many.
pub(crate) fn check(fragment: &str, field: &str) -> Result<(), InputProblem> {
    let refuse = |what: &str| {
        Err(InputProblem::new(
            field,
            "sql",
            format!("{fragment:?} is not one SQL expression: {what}; write a single expression"),
        ))
    };
    if fragment.trim().is_empty() {
        return refuse("it is empty");
    }
    let mut depth = 0usize;
    let mut letters = fragment.chars().peekable();
    let mut before = ' ';
    while let Some(c) = letters.next() {
        let starts_word = !(before.is_alphanumeric() || before == '_');
        before = c;
        match c {
            // A doubled quote closes and opens again, which comes to the same.
            '\'' | '"' if !letters.by_ref().any(|next| next == c) => {
                return refuse("a quote is not closed");
            }
            'e' | 'E' if starts_word && letters.peek() == Some(&'\'') => {
                return refuse("it has a string with backslash escapes");
            }
            '(' => depth += 1,
            ')' if depth == 0 => return refuse("it closes a bracket that it did not open"),
            ')' => depth -= 1,
            ';' => return refuse("it has a semicolon"),
            '$' => return refuse("it has a dollar sign outside of a string"),
            '-' if letters.peek() == Some(&'-') => return refuse("it has a comment"),
            '/' if letters.peek() == Some(&'*') => return refuse("it has a comment"),
            '\\' | '\0' => return refuse("it has a character that SQL does not have"),
            _ => {}
        }
    }
    if depth > 0 {
        return refuse("a bracket is not closed");
    }
    Ok(())
}

/// Whether a word occurs in a fragment, strings left out.
pub(crate) fn mentions(fragment: &str, word: &str) -> bool {
    let mut rest = String::new();
    let mut in_string = false;
    for c in fragment.chars() {
        if c == '\'' {
            in_string = !in_string;
        } else if !in_string {
            rest.push(c);
        }
    }
    rest.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .any(|part| part == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_pass_and_statements_do_not() {
        for good in [
            "owner_id = (select auth.uid())",
            "public.has_role('it''s -- fine;')",
            "status in ('draft', 'a(b')",
            "true",
            "\"order\" > 3",
            "date'2026-01-01'",
        ] {
            assert_eq!(check(good, "f"), Ok(()), "{good}");
        }
        for bad in [
            "",
            " ",
            "true); drop table x; --",
            "true -- x",
            "true /* x",
            "'open",
            "(a",
            "a)",
            "$$x$$",
            "a;b",
            "\\",
            "E'\\' or 1=1 --'",
        ] {
            assert!(check(bad, "f").is_err(), "{bad}");
        }
    }

    #[test]
    fn words_are_found_outside_of_strings() {
        assert!(mentions("owner_id = (select auth.uid())", "owner_id"));
        assert!(!mentions("public.has_role('owner_id')", "owner_id"));
        assert!(!mentions("my_owner_id = 1", "owner_id"));
    }
}
