//! What the arguments say about printing, before they are understood: a usage error must be
//! printed the way its reader asked for.

use std::ffi::OsString;

use clap::ValueEnum as _;

use crate::output::{ColorChoice, Mode, Options};

/// Reads the printing flags and nothing else; stops at `--`.
pub(crate) fn printing(args: &[OsString]) -> Options {
    let mut options = Options::default();
    let mut words = args
        .iter()
        .skip(1)
        .filter_map(|arg| arg.to_str())
        .take_while(|arg| *arg != "--");
    while let Some(word) = words.next() {
        match word {
            "--json" => options.mode = Mode::Json,
            "--agent" => options.mode = Mode::Agent,
            "--color" => options.color = color(words.next().unwrap_or_default()),
            _ => {
                if let Some(value) = word.strip_prefix("--color=") {
                    options.color = color(value);
                }
            }
        }
    }
    options
}

/// Flags that take the next word.
const WITH_VALUE: [&str; 3] = ["--home", "--color", "--log-format"];

/// The command the arguments begin with, known or not.
pub(crate) fn command(args: &[OsString]) -> Option<&str> {
    let mut words = args.iter().skip(1).filter_map(|arg| arg.to_str());
    while let Some(word) = words.next() {
        if WITH_VALUE.contains(&word) {
            words.next();
        } else if !word.starts_with('-') {
            return Some(word);
        }
    }
    None
}

fn color(text: &str) -> ColorChoice {
    ColorChoice::from_str(text, false).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_the_first_word() {
        for (line, expected) in [
            ("windlass", None),
            ("windlass --agent stack deploy", Some("stack")),
            ("windlass --home stack -v pack", Some("pack")),
            ("windlass --color=never stack", Some("stack")),
        ] {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(command(&args), expected, "{line}");
        }
    }

    #[test]
    fn printing_flags_are_found_anywhere() {
        let cases: &[(&str, Mode, ColorChoice)] = &[
            ("windlass", Mode::Human, ColorChoice::Auto),
            ("windlass runs lst --json", Mode::Json, ColorChoice::Auto),
            ("windlass --agent nope", Mode::Agent, ColorChoice::Auto),
            ("windlass --color never x", Mode::Human, ColorChoice::Never),
            (
                "windlass --color=always x",
                Mode::Human,
                ColorChoice::Always,
            ),
            ("windlass --color", Mode::Human, ColorChoice::Auto),
            ("windlass x -- --json", Mode::Human, ColorChoice::Auto),
        ];
        for (line, mode, color) in cases {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let options = printing(&args);
            assert_eq!((options.mode, options.color), (*mode, *color), "{line}");
        }
    }
}
