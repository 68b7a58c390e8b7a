//! Commands that run text: interpreters with inline code, shells and interpreters that read their
//! program, built-ins that evaluate.

use crate::{
    model::{Command, ConcernKind, Input, Word},
    variables::is_risky_variable,
};

/// Shells whose `-c` this crate reads.
pub(crate) const SHELLS: [&str; 8] = ["sh", "bash", "zsh", "dash", "ash", "ksh", "mksh", "rbash"];

/// Interpreters, and the letters and words that give them code on the command line.
const INTERPRETERS: [(&str, &str, &[&str]); 24] = [
    ("python", "c", &[]),
    ("pypy", "c", &[]),
    ("ipython", "c", &[]),
    ("perl", "eEM", &[]),
    ("ruby", "er", &[]),
    (
        "node",
        "epr",
        &["--eval", "--print", "--require", "--import"],
    ),
    (
        "nodejs",
        "epr",
        &["--eval", "--print", "--require", "--import"],
    ),
    ("bun", "e", &["--eval", "--print", "--preload", "repl"]),
    ("deno", "", &["eval", "repl"]),
    ("tsx", "e", &["--eval"]),
    ("php", "rBRE", &["--run"]),
    ("lua", "e", &[]),
    ("luajit", "e", &[]),
    ("rscript", "e", &[]),
    ("osascript", "e", &[]),
    ("julia", "eE", &["--eval"]),
    ("elixir", "e", &["--eval"]),
    ("groovy", "e", &[]),
    ("scala", "e", &[]),
    ("ghc", "e", &[]),
    ("pwsh", "c", &["-command", "-encodedcommand", "-ec"]),
    ("powershell", "c", &["-command", "-encodedcommand", "-ec"]),
    ("tclsh", "", &[]),
    ("expect", "c", &[]),
];

/// Shells that are not read.
const OTHER_SHELLS: [&str; 6] = ["fish", "csh", "tcsh", "nu", "xonsh", "elvish"];

/// The name without a version: `python3.12` is `python`.
fn unversioned(name: &str) -> String {
    let name = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    name.trim_end_matches('-').to_ascii_lowercase()
}

/// Whether a program of this name runs code it is given: shells and interpreters.
pub fn is_interpreter(name: &str) -> bool {
    let name = unversioned(name.rsplit('/').next().unwrap_or(name));
    let name = name.as_str();
    SHELLS.contains(&name)
        || OTHER_SHELLS.contains(&name)
        || INTERPRETERS.iter().any(|(known, ..)| *known == name)
        || matches!(
            name,
            "awk" | "gawk" | "mawk" | "nawk" | "busybox" | "toybox"
        )
}

/// What is uncertain about a command because it runs text.
pub(crate) fn concerns(command: &Command) -> Vec<(ConcernKind, String)> {
    let Some(name) = command.name() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let about = || command.text();
    let mut add = |kind: ConcernKind| found.push((kind, about()));
    let arguments = command.arguments();
    let first = arguments.first().and_then(Word::literal);
    match name {
        "eval" | "source" | "." | "alias" | "unalias" | "enable" | "mapfile" | "readarray"
        | "bind" | "complete" | "compgen" | "fc" | "hash" => add(ConcernKind::Evaluates),
        "trap" if !matches!(first, None | Some("-p" | "-l")) => add(ConcernKind::Evaluates),
        "let" | "declare" | "typeset"
            if name == "let" && arguments.iter().any(|word| !is_number(word)) =>
        {
            add(ConcernKind::Arithmetic);
        }
        "test" | "["
            if arguments
                .iter()
                .any(|word| word.text.contains("[") && word.text != "[") =>
        {
            add(ConcernKind::Arithmetic);
        }
        "printf" if first.is_some_and(|word| word.starts_with("-v")) => add(ConcernKind::Variable),
        "read" | "getopts" => {
            let mut names = arguments.iter().filter(|word| !word.text.starts_with('-'));
            if names.any(|word| word.literal().is_none_or(is_risky_name)) {
                add(ConcernKind::Variable);
            }
        }
        "set" if !arguments.iter().all(is_harmless_setting) => add(ConcernKind::Evaluates),
        "awk" | "gawk" | "mawk" | "nawk" if !has_plain_awk_program(arguments) => {
            add(ConcernKind::InlineCode);
        }
        "sed" | "gsed" if !has_plain_sed_program(arguments) => add(ConcernKind::InlineCode),
        _ => {
            if let Some(kind) = interpreter(command, &unversioned(name)) {
                add(kind);
            }
        }
    }
    found
}

fn is_number(word: &Word) -> bool {
    word.literal()
        .is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_risky_name(name: &str) -> bool {
    // A number is a limit of `read -n 3`, a text without letters its prompt.
    let is_name = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    !is_name || (!name.starts_with(|first: char| first.is_ascii_digit()) && is_risky_variable(name))
}

fn is_harmless_setting(word: &Word) -> bool {
    word.literal().is_some_and(|text| {
        matches!(text, "pipefail" | "errexit" | "nounset" | "xtrace")
            || text
                .strip_prefix(['-', '+'])
                .is_some_and(|letters| letters.bytes().all(|letter| b"euxo".contains(&letter)))
    })
}

fn interpreter(command: &Command, name: &str) -> Option<ConcernKind> {
    let arguments = command.arguments();
    if OTHER_SHELLS.contains(&name) {
        let is_code = arguments.iter().any(|word| word.text.starts_with("-c"));
        return (is_code || arguments.is_empty()).then_some(ConcernKind::InlineCode);
    }
    let (_, letters, words) = INTERPRETERS.iter().find(|(known, ..)| *known == name)?;
    let mut has_program = false;
    for word in arguments {
        let text = word.text.as_str();
        let lower = text.to_ascii_lowercase();
        let key = lower.split('=').next().unwrap_or(&lower);
        if words.contains(&key) {
            return Some(ConcernKind::InlineCode);
        }
        let Some(option) = text.strip_prefix('-') else {
            has_program = true;
            break;
        };
        if option.is_empty() {
            break;
        }
        if option.starts_with('-') {
            // `--version` runs nothing.
            has_program |= matches!(option, "-version" | "-help");
            continue;
        }
        if matches!(option, "V" | "h" | "v" | "VV") {
            has_program = true;
            continue;
        }
        // The module that `python -m` names is a program.
        if option.starts_with('m') && matches!(name, "python" | "pypy") {
            has_program = true;
            break;
        }
        if option.contains(|letter| letters.contains(letter)) {
            return Some(ConcernKind::InlineCode);
        }
    }
    let runs_input = !has_program;
    runs_input.then_some(match command.input {
        Input::Text(_) => ConcernKind::InlineCode,
        _ => ConcernKind::RunsInput,
    })
}

/// Whether an awk program only compares, computes and prints: no files, no programs, no includes.
fn has_plain_awk_program(arguments: &[Word]) -> bool {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.literal() else {
            return false;
        };
        match text {
            // A separator, as one word or two.
            "-F" => {
                if words.next().and_then(Word::literal).is_none() {
                    return false;
                }
            }
            _ if text.starts_with("-F") => {}
            _ if text.starts_with('-') => return false,
            program => {
                let is_plain = |letter: char| {
                    letter.is_ascii_alphanumeric()
                        || " \t\n{}()$,;:+*/%.\"'_-=!~^[]#&?".contains(letter)
                };
                let calls = [
                    "system", "getline", "close", "printf(", "print(", "@", "ENVIRON", "fflush",
                ];
                return program.chars().all(is_plain)
                    && !calls.iter().any(|call| program.contains(call));
            }
        }
    }
    false
}

/// Whether a sed program only prints lines or substitutes text: no files, no programs.
fn has_plain_sed_program(arguments: &[Word]) -> bool {
    let mut programs = Vec::new();
    let mut operands = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.text.strip_prefix('-') {
            Some("e") => programs.extend(words.next()),
            // Options may come after operands, so each of them has to be known.
            Some(option) => {
                let is_plain = matches!(
                    option,
                    "n" | "E"
                        | "r"
                        | "s"
                        | "u"
                        | "z"
                        | "nE"
                        | "En"
                        | "nr"
                        | "i"
                        | "-quiet"
                        | "-silent"
                        | "-regexp-extended"
                        | "-in-place"
                );
                if !is_plain {
                    return false;
                }
            }
            None => operands.push(word),
        }
    }
    if programs.is_empty() {
        programs.extend(operands.first().copied());
    }
    !programs.is_empty()
        && programs
            .iter()
            .all(|program| program.literal().is_some_and(is_plain_sed))
}

/// `12p`, `1,5p`, `$p`, `/text/p`, `/text/d`, `3q`, and one `s/a/b/` with harmless flags.
fn is_plain_sed(program: &str) -> bool {
    let program = program.trim();
    if let Some(rest) = program.strip_prefix('s') {
        let Some(delimiter) = rest.chars().next() else {
            return false;
        };
        if !delimiter.is_ascii_punctuation() || delimiter == '\\' || program.contains('\n') {
            return false;
        }
        // An escaped delimiter makes more parts, which is refused.
        let parts: Vec<&str> = rest.split(delimiter).collect();
        let flags = parts.get(3).copied().unwrap_or_default();
        return parts.len() == 4 && flags.chars().all(|flag| "gpiI0123456789".contains(flag));
    }
    let Some(address) = program.strip_suffix(['p', 'd', 'q', '=']) else {
        return false;
    };
    let is_line = |text: &str| {
        let text = text.trim().trim_end_matches('!');
        text == "$" || text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_pattern = |text: &str| {
        text.len() >= 2
            && text.starts_with('/')
            && text.ends_with('/')
            && !text
                .get(1..text.len() - 1)
                .unwrap_or_default()
                .contains(['/', '\n', ';', '{'])
    };
    address
        .split(',')
        .all(|part| is_line(part) || is_pattern(part.trim()))
}
