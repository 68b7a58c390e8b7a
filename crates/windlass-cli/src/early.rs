//! What the arguments say about printing, before they are understood: a usage error must be
//! printed the way its reader asked for.

use std::ffi::OsString;

use clap::ValueEnum as _;

use crate::output::{ColorChoice, Mode, Options};

/// Reads the printing flags and nothing else; stops at `--`.
pub(crate) fn printing(args: &[OsString]) -> Options {
    let mut options = Options::default();
    let mut words = words(args).into_iter();
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

/// Whether nothing but the version is asked for. Answered without the argument tree, which takes
/// longer to build than everything else a start does.
pub(crate) fn asks_version(args: &[OsString]) -> bool {
    matches!(args, [_, flag] if flag == "--version" || flag == "-V")
}

/// Flags that take the next word.
const WITH_VALUE: [&str; 3] = ["--home", "--color", "--log-format"];

/// The words behind the program's name, up to `--`.
pub(crate) fn words(args: &[OsString]) -> Vec<&str> {
    let words = args.iter().skip(1).filter_map(|arg| arg.to_str());
    words.take_while(|word| *word != "--").collect()
}

/// The command the arguments begin with, known or not, and the words behind it.
pub(crate) fn command<'a, 'b>(words: &'b [&'a str]) -> Option<(&'a str, &'b [&'a str])> {
    let first = first_word(words, &WITH_VALUE)?;
    Some((words[first], &words[first + 1..]))
}

/// Where the first word that is no flag and no value of one stands.
pub(crate) fn first_word(words: &[&str], with_value: &[&str]) -> Option<usize> {
    let mut index = 0;
    while let Some(word) = words.get(index) {
        if !word.starts_with('-') {
            return Some(index);
        }
        index += if with_value.contains(word) { 2 } else { 1 };
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
            let words = words(&args);
            let found = command(&words).map(|(word, _)| word);
            assert_eq!(found, expected, "{line}");
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
