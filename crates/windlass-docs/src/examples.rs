//! The documentation's own examples of asking the documentation.
//!
//! They hold questions about anything, such as one that has no answer, and would be found by those
//! very questions.

/// A text without the commands that ask the documentation, and without what they print.
pub(crate) fn without_questions(code: &str) -> String {
    let mut kept = String::with_capacity(code.len());
    let mut asks = false;
    for line in code.lines() {
        match line.trim_start().strip_prefix("$ ") {
            Some(command) => asks = asks_documentation(command),
            None if asks_documentation(line) => continue,
            None => {}
        }
        if !asks {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// A question is an argument in quotes; a synopsis has none.
fn asks_documentation(command: &str) -> bool {
    let is_command = ["windlass docs ", "windlass stack docs "]
        .iter()
        .any(|name| command.contains(name));
    let is_call = command.contains("stacktape_docs") || command.contains("stack.docs");
    (is_command && command.contains(['"', '\''])) || (is_call && command.contains("query"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_ask_are_left_out_with_their_answers() {
        let code = "\
$ windlass runs list
none
$ windlass docs \"best pizza in naples\"
Nothing answers this question.
$ windlass stack docs --mode snippet 'queue worker'
…
$ windlass stack deploy
";
        assert_eq!(
            without_questions(code),
            "$ windlass runs list\nnone\n$ windlass stack deploy\n"
        );
        for kept in [
            "windlass stack docs [OPTIONS] QUESTION\n",
            "resources:\n  docs:\n    type: bucket\n",
        ] {
            assert_eq!(without_questions(kept), kept);
        }
        assert_eq!(
            without_questions("windlass docs \"who are you\"\nwindlass serve"),
            "windlass serve\n"
        );
    }
}
