//! Asking a person yes or no. Only where a terminal is at both ends; everything else is a no.

use std::io::{self, BufRead as _, IsTerminal as _};

use windlass_types::{Problem, code};

use crate::{output::Tone, session::Session};

/// Asks; `None` when there is nobody to ask.
pub(crate) async fn confirm(session: &Session, question: &str) -> Result<Option<bool>, Problem> {
    let answer = ask(session, &format!("{question} [y/N]")).await?;
    Ok(answer.map(|line| is_yes(&line)))
}

/// Asks for a word to be typed; `None` when there is nobody to ask.
pub(crate) async fn type_exactly(
    session: &Session,
    question: &str,
    word: &str,
) -> Result<Option<bool>, Problem> {
    let answer = ask(session, question).await?;
    Ok(answer.map(|line| line.trim() == word))
}

/// A line somebody types; empty where the terminal cannot be read.
async fn ask(session: &Session, question: &str) -> Result<Option<String>, Problem> {
    if !session.printer.sees_questions() || !io::stdin().is_terminal() {
        return Ok(None);
    }
    let question = session.printer.notice_paint().text(Tone::Strong, question);
    session.printer.question(&format!("{question} "));
    let answer = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).map(|_| line)
    });
    tokio::select! {
        answer = answer => match answer {
            Ok(Ok(line)) => Ok(Some(line)),
            // A terminal that cannot be read has not said yes.
            Ok(Err(_)) | Err(_) => Ok(Some(String::new())),
        },
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
