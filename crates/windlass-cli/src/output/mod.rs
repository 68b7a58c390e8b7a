//! Everything a person or a program reads from the command line leaves through here.
//!
//! One `Printer` owns standard output and standard error; data goes to the first, everything
//! else to the second. Not here: what is said (commands, flow).

mod colour;
mod lines;
mod ndjson;
mod paint;
mod printer;
mod problem;
mod progress;
mod table;
mod text;

pub(crate) use colour::ColorChoice;
pub(crate) use ndjson::LogLevel;
pub(crate) use paint::{Paint, Tone};
pub(crate) use printer::{Mode, Options, Printer};
pub(crate) use progress::Progress;
pub(crate) use table::Table;
pub(crate) use text::{age, bytes, counted, counts, duration, one_line, shorten};

#[cfg(test)]
pub(crate) use printer::Captured;
