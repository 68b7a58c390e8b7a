//! Lines about a run on a screen, in a pipe or as NDJSON.

use crate::{
    output::{LogLevel, Mode, Paint, Printer, Progress, Tone, duration, one_line},
    session::Session,
};

use super::{
    event_lines::{EventLines, Line, LineKind},
    follow::Channel,
};

/// The columns of a summary where the terminal does not say.
const USUAL_COLUMNS: usize = 80;

/// Shows lines as they come.
pub(super) struct Renderer<'a> {
    session: &'a Session,
    channel: Channel,
    progress: Progress,
    /// Whether a summary stands in for the moving line.
    has_summary: bool,
}

impl<'a> Renderer<'a> {
    pub(super) fn new(session: &'a Session, channel: Channel, has_summary: bool) -> Self {
        let progress = if has_summary {
            Progress::board(&session.printer)
        } else {
            Progress::new(&session.printer)
        };
        Self {
            session,
            channel,
            progress,
            has_summary,
        }
    }

    /// Shows the state of the run.
    pub(super) fn show_summary(&self, lines: &dyn EventLines) {
        let printer = &self.session.printer;
        if self.has_summary && printer.animates() {
            // The spinner and a blank stand before the first line.
            let columns = printer
                .notice_width()
                .unwrap_or(USUAL_COLUMNS)
                .saturating_sub(3);
            let now = self.session.engine().now();
            let summary = lines.summary(printer.notice_paint(), columns, now);
            self.progress.message(&self.session.redact(&summary));
        }
    }

    /// Shows one line of a run at that depth below the followed one.
    pub(super) fn show(&mut self, source: &str, depth: usize, line: &Line) {
        let source = line.source.as_deref().unwrap_or(source);
        // Texts come from inputs and from outside: neither a secret nor an escape sequence
        // may reach the terminal.
        let text = one_line(&self.session.redact(&line.text));
        let printer = &self.session.printer;
        match printer.mode() {
            Mode::Json => {}
            Mode::Agent => print_for_agent(printer, source, line, &text),
            Mode::Human => {
                if let Some(percent) = line.percent.filter(|_| depth == 0) {
                    self.progress.percent(percent);
                }
                if line.kind == LineKind::Passing {
                    if !self.has_summary {
                        self.progress.message(&text);
                    }
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
    let (symbol, tone) = match line.kind {
        LineKind::Done => ("✓", Tone::Good),
        LineKind::Failed => ("✗", Tone::Bad),
        LineKind::Begun | LineKind::Passing => ("▸", Tone::Active),
        LineKind::Paused => ("⏸", Tone::Warn),
        LineKind::Undone => ("↶", Tone::Warn),
        LineKind::Note => ("·", Tone::Dim),
        LineKind::Caution => ("!", Tone::Warn),
    };
    let indent = "  ".repeat(depth);
    let took = match line.took {
        Some(took) => paint.text(Tone::Dim, &format!("  {}", duration(took))),
        None => String::new(),
    };
    let text = if line.kind == LineKind::Note {
        paint.text(Tone::Dim, text)
    } else {
        text.to_owned()
    };
    format!("{indent}{} {text}{took}", paint.text(tone, symbol))
}

fn print_for_agent(printer: &Printer, source: &str, line: &Line, text: &str) {
    let text = match line.took {
        Some(took) => format!("{text} ({})", duration(took)),
        None => text.to_owned(),
    };
    match line.kind {
        LineKind::Failed => printer
            .ndjson()
            .log(source, LogLevel::Error, &text, line.at),
        LineKind::Paused => {
            printer
                .ndjson()
                .progress(&line.phase, &text, line.at, line.percent);
            printer.ndjson().log(source, LogLevel::Warn, &text, line.at);
        }
        LineKind::Note => printer.ndjson().log(source, LogLevel::Info, &text, line.at),
        LineKind::Caution => printer.ndjson().log(source, LogLevel::Warn, &text, line.at),
        LineKind::Done | LineKind::Begun | LineKind::Undone | LineKind::Passing => {
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

    fn line(kind: LineKind, text: &str) -> Line {
        Line {
            took: (kind == LineKind::Done).then(|| Duration::from_millis(12)),
            ..Line::new(kind, text.to_owned(), "applying", Timestamp::EPOCH)
        }
    }

    #[test]
    fn symbols_for_people() {
        let captured = Captured::new(Mode::Human);
        let kinds = [
            LineKind::Begun,
            LineKind::Done,
            LineKind::Note,
            LineKind::Paused,
            LineKind::Failed,
            LineKind::Undone,
        ];
        let shown: Vec<String> = kinds
            .into_iter()
            .enumerate()
            .map(|(depth, kind)| {
                human(
                    captured.printer.paint(),
                    depth / 4,
                    &line(kind, "write a.txt"),
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
        for kind in [
            LineKind::Passing,
            LineKind::Done,
            LineKind::Failed,
            LineKind::Paused,
            LineKind::Note,
        ] {
            print_for_agent(&captured.printer, "demo", &line(kind, "x"), "x");
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
