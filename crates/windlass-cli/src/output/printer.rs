//! The printer: the only code of the command line that writes to standard output and error.
//!
//! Human output is silent under `--json` and `--agent`, so commands print for people without
//! asking in which mode they run, and hand the machine-readable form to the dispatcher.

use std::{
    io::{self, IsTerminal as _, Write},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use rustix::event::{PollFd, PollFlags, Timespec};
use serde_json::Value;
use windlass_config::Environment;
use windlass_types::Problem;

use super::{
    colour::{ColorChoice, Terminal, may_animate},
    lines::Lines,
    ndjson::NdjsonWriter,
    paint::{Paint, Tone},
    problem::render_problem,
    table::Table,
    text::one_line,
};

/// Who reads the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A person.
    #[default]
    Human,
    /// A program that wants one document.
    Json,
    /// A program that wants a stream of events.
    Agent,
}

/// How to print.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    pub(crate) mode: Mode,
    pub(crate) quiet: bool,
    pub(crate) color: ColorChoice,
}

/// Owns the output streams. Cloning is cheap; clones share the streams.
#[derive(Clone)]
pub(crate) struct Printer(Arc<Inner>);

struct Inner {
    mode: Mode,
    quiet: bool,
    animate: bool,
    out: Stream,
    err: Stream,
    result_written: AtomicBool,
    /// What the event stream has said.
    lines: Mutex<Lines>,
    /// Whether `out` is the process's own standard output, which can be looked at.
    watches_stdout: bool,
}

struct Stream {
    writer: Mutex<Box<dyn Write + Send>>,
    paint: Paint,
    terminal: Terminal,
    closed: AtomicBool,
}

impl Stream {
    fn write(&self, text: &str) {
        if self.closed.load(Ordering::Relaxed) {
            return;
        }
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // Flushed at once: a reader of a pipe sees each line when it happens.
        if writer
            .write_all(text.as_bytes())
            .and_then(|()| writer.flush())
            .is_err()
        {
            // A closed pipe, or a full disk behind a redirection: there is nowhere to report it.
            self.closed.store(true, Ordering::Relaxed);
        }
    }

    fn write_line(&self, text: &str) {
        self.write(&format!("{text}\n"));
    }
}

impl Inner {
    fn new(
        options: Options,
        environment: &Environment,
        (out, out_terminal): (Box<dyn Write + Send>, Terminal),
        (err, err_terminal): (Box<dyn Write + Send>, Terminal),
    ) -> Self {
        let stream = |writer, terminal| Stream {
            writer: Mutex::new(writer),
            paint: Paint {
                colour: options.color.applies(terminal, environment),
            },
            terminal,
            closed: AtomicBool::new(false),
        };
        Self {
            mode: options.mode,
            quiet: options.quiet,
            animate: options.mode == Mode::Human
                && !options.quiet
                && may_animate(err_terminal, environment),
            out: stream(out, out_terminal),
            err: stream(err, err_terminal),
            result_written: AtomicBool::new(false),
            lines: Mutex::default(),
            watches_stdout: false,
        }
    }
}

impl Printer {
    /// A printer to this process's own streams.
    pub(crate) fn to_process(options: Options, environment: &Environment) -> Self {
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let out = terminal_of(stdout.is_terminal(), &stdout);
        let err = terminal_of(stderr.is_terminal(), &stderr);
        let mut inner = Inner::new(
            options,
            environment,
            (Box::new(stdout), out),
            (Box::new(stderr), err),
        );
        inner.watches_stdout = true;
        Self(Arc::new(inner))
    }

    /// Who reads.
    pub(crate) fn mode(&self) -> Mode {
        self.0.mode
    }

    /// Whether a person reads.
    pub(crate) fn is_human(&self) -> bool {
        self.0.mode == Mode::Human
    }

    /// Whether a person sees standard error and may be asked there.
    pub(crate) fn sees_questions(&self) -> bool {
        self.is_human() && self.0.err.terminal.is_terminal
    }

    /// Whether spinners and bars may be shown.
    pub(crate) fn animates(&self) -> bool {
        self.0.animate
    }

    /// Whether the reader of standard output has gone away, as far as writing showed.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.out.closed.load(Ordering::Relaxed)
    }

    /// The same, also when nothing has been written since: for commands that wait long.
    pub(crate) fn look_for_reader(&self) -> bool {
        if self.0.watches_stdout && has_no_reader(&io::stdout()) {
            self.0.out.closed.store(true, Ordering::Relaxed);
        }
        !self.is_closed()
    }

    /// Whether standard output is painted.
    pub(crate) fn colours_data(&self) -> bool {
        self.0.out.paint.colour
    }

    /// Whether standard error is painted.
    pub(crate) fn colours_notices(&self) -> bool {
        self.0.err.paint.colour
    }

    /// Whether a person sees standard output.
    pub(crate) fn data_is_seen(&self) -> bool {
        self.0.out.terminal.is_terminal
    }

    /// The columns of the terminal that data goes to.
    pub(crate) fn data_width(&self) -> Option<usize> {
        self.0.out.terminal.width
    }

    /// The columns of the terminal that notices go to.
    pub(crate) fn notice_width(&self) -> Option<usize> {
        self.0.err.terminal.width
    }

    /// Paints for standard output.
    pub(crate) fn paint(&self) -> Paint {
        self.0.out.paint
    }

    /// Paints for standard error.
    pub(crate) fn notice_paint(&self) -> Paint {
        self.0.err.paint
    }

    /// The event stream of `--agent`.
    pub(crate) fn ndjson(&self) -> NdjsonWriter<'_> {
        NdjsonWriter(self)
    }

    /// A line of data for people.
    pub(crate) fn data(&self, text: &str) {
        if self.is_human() {
            self.0.out.write_line(text);
        }
    }

    /// Names and values, aligned; empty values are left out.
    pub(crate) fn fields(&self, fields: &[(&str, String)]) {
        let width = fields.iter().map(|(name, _)| name.len()).max().unwrap_or(0) + 2;
        for (name, value) in fields.iter().filter(|(_, value)| !value.is_empty()) {
            let name = self.0.out.paint.text(Tone::Dim, &format!("{name:<width$}"));
            self.data(&format!("{name}{}", one_line(value)));
        }
    }

    /// A table of data for people.
    pub(crate) fn table(&self, table: &Table) {
        if self.is_human() {
            self.0
                .out
                .write(&table.render(self.0.out.paint, self.0.out.terminal.width));
        }
    }

    /// A table apart from the data, for people.
    pub(crate) fn notice_table(&self, table: &Table) {
        if self.is_human() && !self.0.quiet {
            self.0
                .err
                .write(&table.render(self.0.err.paint, self.0.err.terminal.width));
        }
    }

    /// A line apart from the data, for people.
    pub(crate) fn notice(&self, text: &str) {
        if self.is_human() && !self.0.quiet {
            self.0.err.write_line(text);
        }
    }

    /// What to type next.
    pub(crate) fn hint(&self, text: &str) {
        self.notice(&format!(
            "{} {text}",
            self.0.err.paint.text(Tone::Active, "hint:")
        ));
    }

    /// A question without a line break behind it.
    pub(crate) fn question(&self, text: &str) {
        self.0.err.write(text);
    }

    /// A failure, for people.
    pub(crate) fn problem(&self, problem: &Problem) {
        self.0.err.write(&render_problem(problem, self.0.err.paint));
    }

    /// Text exactly as it is, on standard output, in every mode: documents that are the answer.
    pub(crate) fn raw(&self, text: &str) {
        self.0.out.write(text);
    }

    /// Bytes exactly as they are, on standard output.
    pub(crate) fn raw_bytes(&self, bytes: &[u8]) {
        let mut writer = self
            .0
            .out
            .writer
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if writer
            .write_all(bytes)
            .and_then(|()| writer.flush())
            .is_err()
        {
            self.0.out.closed.store(true, Ordering::Relaxed);
        }
    }

    /// Text exactly as it is, on standard error, in every mode.
    pub(crate) fn raw_notice(&self, text: &str) {
        self.0.err.write(text);
    }

    /// One document on standard output.
    pub(crate) fn json(&self, value: &Value) {
        self.0.out.write_line(&format!("{value:#}"));
    }

    /// What the event stream has said so far.
    pub(super) fn lines(&self) -> MutexGuard<'_, Lines> {
        self.0.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn agent_line(&self, line: &str, is_result: bool) {
        if self.0.mode != Mode::Agent {
            return;
        }
        let written = if is_result {
            self.0.result_written.swap(true, Ordering::Relaxed)
        } else {
            self.0.result_written.load(Ordering::Relaxed)
        };
        if !written {
            self.0.out.write_line(line);
        }
    }
}

/// Whether a pipe's other end is closed. Anything else always counts as read.
fn has_no_reader(stream: &impl std::os::fd::AsFd) -> bool {
    let mut watched = [PollFd::new(stream, PollFlags::empty())];
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    rustix::event::poll(&mut watched, Some(&now)).is_ok()
        && watched[0].revents().contains(PollFlags::ERR)
}

fn terminal_of(is_terminal: bool, stream: &impl std::os::fd::AsFd) -> Terminal {
    let width = is_terminal
        .then(|| rustix::termios::tcgetwinsize(stream).ok())
        .flatten()
        .map(|size| usize::from(size.ws_col))
        .filter(|columns| *columns > 0);
    Terminal { is_terminal, width }
}

#[cfg(test)]
pub(crate) use tests::Captured;

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A printer whose streams a test reads back.
    pub(crate) struct Captured {
        pub(crate) printer: Printer,
        out: Shared,
        err: Shared,
    }

    impl Captured {
        pub(crate) fn new(mode: Mode) -> Self {
            Self::with(Options {
                mode,
                ..Options::default()
            })
        }

        pub(crate) fn with(options: Options) -> Self {
            let (out, err) = (Shared::default(), Shared::default());
            let printer = printer(
                options,
                &Environment::default(),
                (Box::new(out.clone()), Terminal::default()),
                (Box::new(err.clone()), Terminal::default()),
            );
            Self { printer, out, err }
        }

        pub(crate) fn stdout(&self) -> String {
            String::from_utf8(self.out.0.lock().unwrap().clone()).unwrap()
        }

        pub(crate) fn stderr(&self) -> String {
            String::from_utf8(self.err.0.lock().unwrap().clone()).unwrap()
        }
    }

    fn printer(
        options: Options,
        environment: &Environment,
        out: (Box<dyn Write + Send>, Terminal),
        err: (Box<dyn Write + Send>, Terminal),
    ) -> Printer {
        Printer(Arc::new(Inner::new(options, environment, out, err)))
    }

    struct Broken;

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn say_everything(printer: &Printer) {
        printer.data("data");
        printer.notice("notice");
        printer.hint("windlass runs list");
        printer.problem(&Problem::invalid("dir", "required", "\"dir\" is required"));
    }

    #[test]
    fn data_goes_to_stdout_and_the_rest_to_stderr() {
        let captured = Captured::new(Mode::Human);
        say_everything(&captured.printer);
        assert_eq!(captured.stdout(), "data\n");
        insta::assert_snapshot!(captured.stderr(), @r#"
        notice
        hint: windlass runs list
        error: "dir" is required
          code: INVALID_INPUT
        hint: windlass errors INVALID_INPUT
        "#);
    }

    #[test]
    fn machines_get_no_prose_and_quiet_leaves_only_failures() {
        for mode in [Mode::Json, Mode::Agent] {
            let captured = Captured::new(mode);
            captured.printer.data("data");
            captured.printer.notice("notice");
            captured.printer.hint("hint");
            assert_eq!(
                (captured.stdout(), captured.stderr()),
                (String::new(), String::new())
            );
        }
        let captured = Captured::with(Options {
            quiet: true,
            ..Options::default()
        });
        say_everything(&captured.printer);
        assert_eq!(captured.stdout(), "data\n");
        assert!(
            captured.stderr().starts_with("error: "),
            "{}",
            captured.stderr()
        );
    }

    #[test]
    fn colour_only_when_asked_for() {
        let captured = Captured::with(Options {
            color: ColorChoice::Always,
            ..Options::default()
        });
        captured.printer.hint("x");
        assert_eq!(captured.stderr(), "\u{1b}[36mhint:\u{1b}[0m x\n");
    }

    #[test]
    fn a_closed_pipe_is_noticed_and_silent() {
        let err = Shared::default();
        let printer = printer(
            Options::default(),
            &Environment::default(),
            (Box::new(Broken), Terminal::default()),
            (Box::new(err.clone()), Terminal::default()),
        );
        assert!(!printer.is_closed());
        printer.data("lost");
        assert!(printer.is_closed());
        assert!(err.0.lock().unwrap().is_empty());
    }

    #[test]
    fn a_closed_pipe_is_noticed_without_writing() {
        let (reader, writer) = io::pipe().unwrap();
        assert!(!has_no_reader(&writer));
        drop(reader);
        assert!(has_no_reader(&writer));
    }
}
