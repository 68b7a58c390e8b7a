//! The pack screen on a real terminal: the binary behind a pseudo-terminal, keys in, cells out.

use std::{
    fs::File,
    io::{Read as _, Write as _},
    os::fd::OwnedFd,
    process::Stdio,
    sync::mpsc::{Receiver, channel},
};

use nix::{
    pty::{OpenptyResult, Winsize, openpty},
    sys::termios::{Termios, tcgetattr},
};

use super::place::PackPlace;
use crate::suite::support::binary::{Killed, READY};

const ROWS: u16 = 24;
const COLUMNS: u16 = 100;

/// The part of a terminal that a screen needs: moving, clearing, characters.
struct Cells {
    cells: Vec<Vec<char>>,
    row: usize,
    column: usize,
    /// Bytes of a sequence or character that has not ended yet.
    rest: Vec<u8>,
}

impl Cells {
    fn new() -> Self {
        Self {
            cells: vec![vec![' '; COLUMNS.into()]; ROWS.into()],
            row: 0,
            column: 0,
            rest: Vec::new(),
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        let rest = std::mem::take(&mut self.rest);
        let (text, cut) = match std::str::from_utf8(&rest) {
            Ok(text) => (text, rest.len()),
            Err(error) => {
                let cut = error.valid_up_to();
                (std::str::from_utf8(&rest[..cut]).unwrap(), cut)
            }
        };
        let mut text = text;
        while let Some(first) = text.chars().next() {
            if first != '\u{1b}' {
                if let Some(cell) = self
                    .cells
                    .get_mut(self.row)
                    .and_then(|row| row.get_mut(self.column))
                {
                    *cell = first;
                }
                self.column += 1;
                text = &text[first.len_utf8()..];
                continue;
            }
            let Some(end) = text
                .char_indices()
                .skip(2)
                .find(|(_, end)| end.is_ascii_alphabetic())
            else {
                break;
            };
            self.obey(&text[2..end.0], end.1);
            text = &text[end.0 + 1..];
        }
        self.rest = [text.as_bytes(), &rest[cut..]].concat();
    }

    fn obey(&mut self, arguments: &str, end: char) {
        match end {
            'H' => {
                let mut numbers = arguments.split(';').map(|text| text.parse().unwrap_or(1));
                let mut next = || numbers.next().unwrap_or(1_usize) - 1;
                (self.row, self.column) = (next(), next());
            }
            'J' => *self = Self::new(),
            _ => {}
        }
    }

    fn text(&self) -> String {
        let rows = self.cells.iter().map(|row| row.iter().collect::<String>());
        rows.collect::<Vec<_>>().join("\n")
    }
}

struct Screen {
    process: Killed,
    keyboard: File,
    output: Receiver<Vec<u8>>,
    cells: Cells,
    raw: Vec<u8>,
    terminal: OwnedFd,
    before: Termios,
}

impl Screen {
    fn open(place: &PackPlace) -> Self {
        let size = Winsize {
            ws_row: ROWS,
            ws_col: COLUMNS,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let OpenptyResult { master, slave } = openpty(&size, None).unwrap();
        let before = tcgetattr(&slave).unwrap();
        let end = || Stdio::from(slave.try_clone().unwrap());
        let child = place
            .command(&place.project())
            .args(["pack", "tui"])
            .env("NO_COLOR", "1")
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .unwrap();
        let keyboard = File::from(master);
        let mut reader = keyboard.try_clone().unwrap();
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = reader.read(&mut bytes) {
                if sender.send(bytes[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            process: Killed(child),
            keyboard,
            output,
            cells: Cells::new(),
            raw: Vec::new(),
            terminal: slave,
            before,
        }
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until the screen shows this.
    fn until(&mut self, wanted: &str) {
        while !self.cells.text().contains(wanted) {
            let Ok(bytes) = self.output.recv_timeout(READY) else {
                panic!("{wanted:?} did not come:\n{}", self.cells.text());
            };
            self.cells.write(&bytes);
            self.raw.extend(bytes);
        }
    }

    /// Waits for the end; the terminal must be as it was.
    fn end(mut self) -> Option<i32> {
        let status = self.process.0.wait().unwrap();
        // The state of the line, and the screen from before.
        assert_eq!(tcgetattr(&self.terminal).unwrap(), self.before);
        drop(self.terminal);
        self.raw.extend(self.output.iter().flatten());
        let said = String::from_utf8_lossy(&self.raw);
        assert!(said.contains("\u{1b}[?1049l"), "{said:?}");
        for colour in ["\u{1b}[31m", "\u{1b}[38;5;"] {
            assert!(!said.contains(colour), "NO_COLOR is set: {said:?}");
        }
        status.code()
    }
}

#[test]
fn a_plan_is_applied_and_undone_from_the_screen() {
    let place = PackPlace::new();
    let deployed = place.user().join(".codex/AGENTS.md");
    let mut screen = Screen::open(&place);
    screen.until("to create");
    screen.press("a");
    screen.until("y yes   N no");
    assert!(!deployed.exists());
    screen.press("y");
    screen.until("Applied");
    screen.until("Nothing to change: every target is as the repository says.");
    assert!(deployed.exists());
    screen.press("3");
    screen.until("in force");
    screen.press("u");
    screen.until("y yes   N no");
    screen.press("y");
    screen.until("Undone");
    assert!(!deployed.exists());
    screen.press("q");
    assert_eq!(screen.end(), Some(0));
}

#[test]
fn a_signal_restores_the_terminal() {
    let place = PackPlace::new();
    let mut screen = Screen::open(&place);
    screen.until("to create");
    let process = rustix::process::Pid::from_child(&screen.process.0);
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    assert_eq!(screen.end(), Some(0));
}

#[test]
fn without_a_terminal_nothing_is_drawn() {
    let place = PackPlace::new();
    let output = place
        .command(&place.project())
        .args(["pack", "tui"])
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("code: E_TTY_REQUIRED"), "{said}");
}
