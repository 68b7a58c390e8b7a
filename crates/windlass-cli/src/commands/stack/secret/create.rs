//! `windlass stack secret create`. The value comes from a file, from standard input or from a
//! prompt that does not show it; on the command line other users could see it.

use std::io::{self, BufRead as _, IsTerminal as _};

use clap::Args;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use windlass_types::{Problem, Secret, code};

use super::Named;
use crate::{
    commands::{
        ops::read_stdin,
        stack::{
            arguments::{Request, usage},
            call,
            command::{StackCall, Work},
            report,
            show::{Screen, text},
        },
    },
    output::Printer,
    session::Session,
};

#[derive(Args, Debug)]
pub(crate) struct CreateArgs {
    #[command(flatten)]
    secret: Named,
    /// The value, or `-` to read it from standard input. Other users of this machine can see
    /// what stands on a command line: prefer a file, `-` or the prompt.
    #[arg(
        long,
        aliases = ["secret-value", "secretValue"],
        value_name = "VALUE",
        value_parser = secret,
        allow_hyphen_values = true,
        conflicts_with = "value_file"
    )]
    value: Option<Secret<String>>,
    /// The file whose content is the value.
    #[arg(long, aliases = ["secret-file", "secretFile", "valueFile"], value_name = "FILE")]
    value_file: Option<String>,
    /// Make a new version of a secret that exists, or bring one back that is being deleted.
    #[arg(long, alias = "forceUpdate")]
    force_update: bool,
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "clap's value parsers return a result"
)]
fn secret(text: &str) -> Result<Secret<String>, std::convert::Infallible> {
    Ok(Secret::new(text.to_owned()))
}

impl CreateArgs {
    fn request_with(&self, value: Option<&Secret<String>>) -> Result<Request, Problem> {
        let file = self.value_file.as_deref().map(absolute).transpose()?;
        let value = value.map(|value| value.expose_secret().as_str());
        Ok(self
            .secret
            .input()?
            .text("secretValue", value)
            .text("secretFile", file.as_deref())
            .flag("forceUpdate", self.force_update)
            .request("stack.secret_create"))
    }
}

impl StackCall for CreateArgs {
    /// The request, with a value that was given on the command line or stands in a file.
    fn request(&self) -> Result<Request, Problem> {
        self.request_with(self.value.as_ref())
    }

    fn run<'a>(&'a self, session: &'a Session) -> Work<'a> {
        Box::pin(async move {
            let read = match &self.value {
                Some(value) if value.expose_secret() == "-" => {
                    Some(Secret::new(without_line_end(read_stdin()?)))
                }
                Some(_) => {
                    session.printer.notice(
                        "warning: a value on the command line can be seen by other users and \
                         stays in the shell's history; use --value-file, --value - or the prompt",
                    );
                    None
                }
                None if self.value_file.is_none() => Some(prompted(session).await?),
                None => None,
            };
            let request = self.request_with(read.as_ref().or(self.value.as_ref()))?;
            let output = call::call(session, request).await?;
            Screen::data(&session.printer).line(&format!(
                "{} {}",
                text(&output, "name"),
                text(&output, "versionId")
            ));
            Ok(report(session, output))
        })
    }
}

/// The operation may work elsewhere; the file is meant from here.
fn absolute(path: &str) -> Result<String, Problem> {
    let path = std::path::absolute(path)
        .map_err(|error| usage(format!("{path} is not a usable path: {error}")))?;
    Ok(path.to_string_lossy().into_owned())
}

/// Editors and `echo` add a line break at the end that is not part of the value.
fn without_line_end(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    text
}

/// Asks for the value without showing it.
async fn prompted(session: &Session) -> Result<Secret<String>, Problem> {
    if !session.printer.sees_questions() || !io::stdin().is_terminal() {
        return Err(usage(
            "the secret needs a value: --value-file FILE, or --value - for standard input",
        ));
    }
    let printer = session.printer.clone();
    let read = tokio::task::spawn_blocking(move || hidden_line(&printer));
    let line = tokio::select! {
        line = read => line
            .map_err(|error| Problem::internal("prompt", error))?
            .map_err(|error| Problem::internal("terminal", error))?,
        () = session.interrupt.wait() => {
            show_typing();
            return Err(Problem::new(&code::INTERRUPTED, "interrupted before a value was given")
                .with("reason", "interrupted"));
        }
    };
    session.printer.notice("");
    let value = without_line_end(line);
    if value.is_empty() {
        return Err(usage("the value is empty"));
    }
    Ok(Secret::new(value))
}

/// The terminal is silent before the question is there: what is typed ahead is not shown either.
fn hidden_line(printer: &Printer) -> io::Result<String> {
    let stdin = io::stdin();
    let before = tcgetattr(&stdin)?;
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&stdin, OptionalActions::Now, &silent)?;
    printer.question("Value (not shown): ");
    let mut line = String::new();
    let read = stdin.lock().read_line(&mut line);
    tcsetattr(&stdin, OptionalActions::Now, &before)?;
    read.map(|_| line)
}

/// Puts the terminal back as people expect it.
fn show_typing() {
    let stdin = io::stdin();
    if let Ok(mut modes) = tcgetattr(&stdin) {
        modes.local_modes.insert(LocalModes::ECHO);
        // A terminal that is gone needs no repair.
        let _ = tcsetattr(&stdin, OptionalActions::Now, &modes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_end_is_not_part_of_the_value() {
        for (text, value) in [
            ("a\n", "a"),
            ("a\r\n", "a"),
            ("a\n\n", "a\n"),
            ("a", "a"),
            ("", ""),
        ] {
            assert_eq!(without_line_end(text.to_owned()), value);
        }
    }
}
