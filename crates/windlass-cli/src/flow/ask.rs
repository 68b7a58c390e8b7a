//! Asking a person. Only where a terminal is at both ends.

use std::io::{self, BufRead as _, IsTerminal as _};

use windlass_types::{Problem, code};

use crate::{
    output::{Printer, Tone},
    session::Session,
};

/// Whether there is a person to ask.
pub(crate) fn can_ask(printer: &Printer) -> bool {
    printer.sees_questions() && io::stdin().is_terminal()
}

/// Asks yes or no. Anything but a clear yes is a no.
pub(crate) async fn confirm(session: &Session, question: &str) -> Result<bool, Problem> {
    let answer = read_line(session, &format!("{question} [y/N]")).await?;
    Ok(answer.is_some_and(|line| is_yes(&line)))
}

/// Asks for a word to be typed.
pub(super) async fn type_exactly(
    session: &Session,
    question: &str,
    word: &str,
) -> Result<bool, Problem> {
    let answer = read_line(session, question).await?;
    Ok(answer.is_some_and(|line| line.trim() == word))
}

/// A line that is typed; `None` where the terminal is closed or cannot be read.
pub(crate) async fn read_line(
    session: &Session,
    question: &str,
) -> Result<Option<String>, Problem> {
    let question = session.printer.notice_paint().text(Tone::Strong, question);
    session.printer.question(&format!("{question} "));
    let answer = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line);
        read.is_ok_and(|bytes| bytes > 0).then_some(line)
    });
    tokio::select! {
        answer = answer => Ok(answer.ok().flatten()),
        () = session.interrupt.wait() => {
            Err(Problem::new(&code::INTERRUPTED, "interrupted before an answer; nothing was changed"))
        }
    }
}

fn is_yes(line: &str) -> bool {
    matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_a_yes() {
        for (line, expected) in [
            ("y\n", true),
            ("YES\n", true),
            ("\n", false),
            ("", false),
            ("yep", false),
            ("n", false),
        ] {
            assert_eq!(is_yes(line), expected, "{line:?}");
        }
    }
}
