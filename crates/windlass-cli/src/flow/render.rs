//! Lines of the story on a screen, in a pipe or as NDJSON.

use crate::{
    output::{LogLevel, Mode, Paint, Printer, Progress, Tone, duration, one_line},
    session::Session,
};

use super::{
    follow::Channel,
    narrate::{Line, Weight},
};

/// Shows lines as they come.
pub(crate) struct Renderer<'a> {
    session: &'a Session,
    channel: Channel,
    progress: Progress,
}

impl<'a> Renderer<'a> {
    pub(super) fn new(session: &'a Session, channel: Channel) -> Self {
        Self {
            session,
            channel,
            progress: Progress::new(&session.printer),
        }
    }

    /// The same, with lines of the caller's own in the place of the moving one.
    pub(crate) fn with_board(session: &'a Session, channel: Channel) -> Self {
        Self {
            session,
            channel,
            progress: Progress::board(&session.printer),
        }
    }

    /// Says where things stand.
    pub(crate) fn board(&self, text: &str) {
        self.progress.message(text);
    }

    /// Shows one line of a run at that depth below the followed one.
    pub(crate) fn show(&mut self, source: &str, depth: usize, line: &Line) {
        let source = line.source.as_deref().unwrap_or(source);
        // Texts come from inputs and from outside: neither a secret nor an escape sequence
        // may reach the terminal.
        let text = one_line(&self.session.redact(&line.text));
        let printer = &self.session.printer;
        match printer.mode() {
            Mode::Json => {}
            Mode::Agent => tell_agent(printer, source, line, &text),
            Mode::Human => {
                if let Some(percent) = line.percent.filter(|_| depth == 0) {
                    self.progress.percent(percent);
                }
                if line.weight == Weight::Passing {
                    self.progress.message(&text);
                    return;
                }
                let paint = match self.channel {
                    Channel::Data => printer.paint(),
                    Channel::Notice => printer.notice_paint(),
                };
                let text = match &line.source {
                    Some(source) => format!("{}: {text}", one_line(source)),
                    None => text,
                };
                let shown = human(paint, depth, line, &text);
                self.progress.around(|| match self.channel {
                    Channel::Data => printer.data(&shown),
                    Channel::Notice => printer.notice(&shown),
                });
            }
        }
    }
}

fn human(paint: Paint, depth: usize, line: &Line, text: &str) -> String {
    let (symbol, tone) = match line.weight {
        Weight::Done => ("✓", Tone::Good),
        Weight::Failed => ("✗", Tone::Bad),
        Weight::Begun | Weight::Passing => ("▸", Tone::Active),
        Weight::Paused => ("⏸", Tone::Warn),
        Weight::Undone => ("↶", Tone::Warn),
        Weight::Note => ("·", Tone::Dim),
        Weight::Caution => ("!", Tone::Warn),
    };
    let indent = "  ".repeat(depth);
    let took = match line.took {
        Some(took) => paint.text(Tone::Dim, &format!("  {}", duration(took))),
        None => String::new(),
    };
    let text = if line.weight == Weight::Note {
        paint.text(Tone::Dim, text)
    } else {
        text.to_owned()
    };
    format!("{indent}{} {text}{took}", paint.text(tone, symbol))
}

fn tell_agent(printer: &Printer, source: &str, line: &Line, text: &str) {
    let text = match line.took {
        Some(took) => format!("{text} ({})", duration(took)),
        None => text.to_owned(),
    };
    match line.weight {
        Weight::Failed => printer
            .ndjson()
            .log(source, LogLevel::Error, &text, line.at),
        Weight::Paused => {
            printer
                .ndjson()
                .progress(&line.phase, &text, line.at, line.percent);
            printer.ndjson().log(source, LogLevel::Warn, &text, line.at);
        }
        Weight::Note => printer.ndjson().log(source, LogLevel::Info, &text, line.at),
        Weight::Caution => printer.ndjson().log(source, LogLevel::Warn, &text, line.at),
        Weight::Done | Weight::Begun | Weight::Undone | Weight::Passing => {
            printer
                .ndjson()
                .progress(&line.phase, &text, line.at, line.percent);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use windlass_types::Timestamp;

    use super::*;
    use crate::output::Captured;

    fn line(weight: Weight, text: &str) -> Line {
        Line {
            weight,
            text: text.to_owned(),
            took: (weight == Weight::Done).then(|| Duration::from_millis(12)),
            phase: "applying".to_owned(),
            percent: None,
            at: Timestamp::EPOCH,
            source: None,
        }
    }

    #[test]
    fn symbols_for_people() {
        let captured = Captured::new(Mode::Human);
        let weights = [
            Weight::Begun,
            Weight::Done,
            Weight::Note,
            Weight::Paused,
            Weight::Failed,
            Weight::Undone,
        ];
        let shown: Vec<String> = weights
            .into_iter()
            .enumerate()
            .map(|(depth, weight)| {
                human(
                    captured.printer.paint(),
                    depth / 4,
                    &line(weight, "write a.txt"),
                    "write a.txt",
                )
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        ▸ write a.txt
        ✓ write a.txt  12 ms
        · write a.txt
        ⏸ write a.txt
          ✗ write a.txt
          ↶ write a.txt
        ");
    }

    #[test]
    fn kinds_of_line_for_machines() {
        let captured = Captured::new(Mode::Agent);
        for weight in [
            Weight::Passing,
            Weight::Done,
            Weight::Failed,
            Weight::Paused,
            Weight::Note,
        ] {
            tell_agent(&captured.printer, "demo", &line(weight, "x"), "x");
        }
        let kinds: Vec<String> = captured
            .stdout()
            .lines()
            .map(|line| {
                let line: serde_json::Value = serde_json::from_str(line).unwrap();
                format!(
                    "{} {}",
                    line["type"].as_str().unwrap(),
                    line["level"].as_str().unwrap_or_default()
                )
            })
            .collect();
        insta::assert_snapshot!(kinds.join(", "), @"progress , progress , log error, progress , log warn, log info");
    }
}
