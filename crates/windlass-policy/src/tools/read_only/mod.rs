//! The built-in rules: commands that only read.
//!
//! A command is covered when its name, every option and every operand are known to be harmless;
//! what it may read is the work tree and a few files of the system. Rules of the user may be
//! stricter.

mod filters;
mod table;

use std::{collections::HashMap, sync::LazyLock};

use regex::Regex;
use windlass_shell::{Kind, Word};

use filters::{covers_filter, covers_find};

use super::{
    Redirects, Site,
    paths::Where,
    rule::{is_certain, may_redirect},
};

/// Files of the system that anybody reads.
const READABLE: [&str; 22] = [
    "/dev/null",
    "/dev/stdin",
    "/etc/os-release",
    "/etc/lsb-release",
    "/etc/debian_version",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/resolv.conf",
    "/etc/timezone",
    "/etc/issue",
    "/etc/shells",
    "/etc/nsswitch.conf",
    "/proc/cpuinfo",
    "/proc/diskstats",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/mounts",
    "/proc/net/dev",
    "/proc/stat",
    "/proc/swaps",
    "/proc/uptime",
    "/proc/version",
];

/// Variables that may be set for them.
const VARIABLES: [&str; 4] = ["LANG", "LANGUAGE", "NO_COLOR", "COLUMNS"];

/// What operands may be.
#[derive(Debug)]
enum Operands {
    None,
    Any,
    Paths,
    /// One path: a second one would be written.
    First,
    /// A pattern, then paths.
    Text,
    /// Anything, known or not.
    Dynamic,
    /// Each fits.
    Fits(Regex),
    /// Nothing but the option for the version.
    Version,
}

/// One line of the table.
#[derive(Debug)]
struct Entry {
    name: &'static str,
    subcommand: &'static str,
    /// Options are whole words with one dash.
    has_words: bool,
    flags: String,
    valued: String,
    long: Vec<&'static str>,
    long_valued: Vec<&'static str>,
    operands: Operands,
    /// Whether none of its options does harm, so that a pattern may become any name.
    is_harmless: bool,
}

/// Entries by the name of the program. A line that is not understood is left out, which a test
/// notices.
static ENTRIES: LazyLock<HashMap<&'static str, Vec<Entry>>> = LazyLock::new(|| {
    let mut entries: HashMap<&'static str, Vec<Entry>> = HashMap::new();
    for line in table::TABLE.lines() {
        for entry in read(line).into_iter().flatten() {
            entries.entry(entry.name).or_default().push(entry);
        }
    }
    entries
});

/// The entries that a line stands for.
fn read(line: &'static str) -> Option<Vec<Entry>> {
    let mut fields = line.splitn(3, " : ");
    let heads = fields.next()?.trim();
    let middle = fields.next()?;
    let (options, operands) = match fields.next() {
        Some(operands) => (middle, operands.trim()),
        // No options: `name : : operands`.
        None => ("", middle.trim_start_matches(": ").trim()),
    };
    let mut words = heads.split_whitespace();
    let names = words.next()?;
    let path: Vec<&str> = words.collect();
    // `git stash list|show` has two words after the name.
    let (fixed, last) = match path.as_slice() {
        [] => ("", ""),
        [last] => ("", *last),
        [fixed, last] => (*fixed, *last),
        _ => return None,
    };
    let mut entries = Vec::new();
    for name in names.split('|') {
        for subcommand in last.split('|') {
            let subcommand = match fixed {
                "" => subcommand,
                _ => heads_join(fixed, subcommand)?,
            };
            entries.push(entry(name, subcommand, options, operands)?);
        }
    }
    Some(entries)
}

/// `stash list` as it stands in the table's vocabulary.
fn heads_join(fixed: &str, last: &str) -> Option<&'static str> {
    const JOINED: [&str; 13] = [
        "stash list",
        "stash show",
        "worktree list",
        "remote get-url",
        "rollout status",
        "rollout history",
        "auth can-i",
        "auth whoami",
        "config current-context",
        "config get-contexts",
        "config get-clusters",
        "config get-users",
        "config view",
    ];
    JOINED
        .into_iter()
        .find(|joined| joined.split_once(' ') == Some((fixed, last)))
}

fn entry(
    name: &'static str,
    subcommand: &'static str,
    options: &'static str,
    operands: &'static str,
) -> Option<Entry> {
    let mut entry = Entry {
        name,
        subcommand,
        has_words: false,
        flags: String::new(),
        valued: String::new(),
        long: Vec::new(),
        long_valued: Vec::new(),
        is_harmless: matches!(operands, "paths+" | "text+"),
        operands: match operands {
            "none" => Operands::None,
            "any" => Operands::Any,
            "paths" | "paths+" => Operands::Paths,
            "first" => Operands::First,
            "text" | "text+" => Operands::Text,
            "dynamic" => Operands::Dynamic,
            "version" => Operands::Version,
            pattern => Operands::Fits(Regex::new(pattern.strip_prefix('~')?).ok()?),
        },
    };
    for option in options.split_whitespace() {
        match option.strip_prefix("--") {
            _ if option == "words" => entry.has_words = true,
            _ if entry.has_words => entry.long.push(option),
            Some(long) => match long.strip_suffix('=') {
                Some(long) => entry.long_valued.push(long),
                None => entry.long.push(long),
            },
            None => {
                let letters = option.strip_prefix('-')?;
                match letters.strip_suffix('=') {
                    // In `-aAn=` only the last letter has a value.
                    Some(letters) => {
                        let mut letters = letters.chars();
                        entry.valued.extend(letters.next_back());
                        entry.flags.extend(letters);
                    }
                    None => entry.flags.push_str(letters),
                }
            }
        }
    }
    Some(entry)
}

/// The entry that covers a command, as `name subcommand`.
pub(crate) fn covers(site: &Site<'_>, reads_anywhere: bool) -> Option<String> {
    let command = site.command;
    let name = command.words.first();
    let Some(name) = name else {
        return covers_assignment(site);
    };
    let name = name.literal()?;
    let is_here = !site.is_elsewhere
        && command.via.iter().all(windlass_shell::Via::is_transparent)
        && command.role == windlass_shell::Role::Plain
        && !command.has_unknown_arguments;
    let is_set = command.assignments.iter().all(|assignment| {
        let name = assignment.name.as_str();
        let is_known = VARIABLES.contains(&name) || name.starts_with("LC_");
        is_known && assignment.value.kind == Kind::Literal
    });
    let may_redirect = |redirect| {
        may_redirect(redirect, site, Redirects::None)
            || (redirect.kind == windlass_shell::RedirectKind::Read
                && is_readable(&redirect.target, site, reads_anywhere))
    };
    if !is_here || !is_set || !command.redirects.iter().all(may_redirect) {
        return None;
    }
    if name == "find" || name == "/usr/bin/find" {
        return covers_find(site, reads_anywhere).then(|| "find".to_owned());
    }
    if name == "awk" || name == "sed" {
        return covers_filter(site, name, reads_anywhere).then(|| name.to_owned());
    }
    let base = name.rsplit('/').next().unwrap_or(name);
    let prefix = [vec![base.to_owned()]];
    if !site.certainly_starts_with(&prefix) {
        return None;
    }
    let entries = ENTRIES.get(base)?;
    let written: Vec<&Word> = command.arguments().iter().collect();
    let found = find_entry(entries, &written, site, reads_anywhere);
    let entry = found.or_else(|| {
        // Options of the program itself have to be harmless, and after `git -C` paths are elsewhere.
        let subcommand = site.subcommand();
        let is_harmless = subcommand.is_plain && site.is_at_home();
        is_harmless
            .then(|| find_entry(entries, &subcommand.words, site, reads_anywhere))
            .flatten()
    })?;
    Some(format!("{base} {}", entry.subcommand).trim().to_owned())
}

fn find_entry<'e>(
    entries: &'e [Entry],
    words: &[&Word],
    site: &Site<'_>,
    reads_anywhere: bool,
) -> Option<&'e Entry> {
    entries.iter().find(|entry| {
        let mut rest = words.iter();
        let starts = entry
            .subcommand
            .split_whitespace()
            .all(|part| rest.next().and_then(|word| word.literal()) == Some(part));
        starts && entry.covers(rest.as_slice(), site, reads_anywhere)
    })
}

/// `name=value` alone: whether other programs see it is a concern of its own.
fn covers_assignment(site: &Site<'_>) -> Option<String> {
    let command = site.command;
    let is_only = !command.assignments.is_empty()
        && command.redirects.is_empty()
        && !site.is_elsewhere
        && command.via.iter().all(windlass_shell::Via::is_transparent);
    is_only.then(|| "assignment".to_owned())
}

impl Site<'_> {
    /// Whether no option moves the program to another directory outside the work tree.
    fn is_at_home(&self) -> bool {
        let mut words = self.command.arguments().iter();
        while let Some(word) = words.next() {
            if word.text == "-C" {
                let Some(directory) = words.next() else {
                    return false;
                };
                if !self.paths.find(directory).is_inside() {
                    return false;
                }
            }
        }
        true
    }
}

fn is_readable(word: &Word, site: &Site<'_>, reads_anywhere: bool) -> bool {
    if word.text == "-" || READABLE.contains(&word.text.as_str()) {
        return true;
    }
    if !is_certain(word) {
        return false;
    }
    match site.paths.find(word) {
        Where::Inside(_) | Where::Root => true,
        Where::Outside(_) => reads_anywhere,
        Where::Unknown => false,
    }
}

impl Entry {
    fn covers(&self, words: &[&Word], site: &Site<'_>, reads_anywhere: bool) -> bool {
        // Commands after a `cd` work where it leads.
        let reads_anywhere = reads_anywhere && self.name != "cd";
        // A template from a file is printed.
        if self.name == "kubectl" && words.iter().any(|word| word.text.contains("-file")) {
            return false;
        }
        if let Operands::Dynamic = self.operands {
            return true;
        }
        let Some(operands) = self.options_are_known(words) else {
            return false;
        };
        let is_local_pattern = |word: &Word| {
            self.is_harmless && word.kind == Kind::Glob && site.paths.find(word).is_inside()
        };
        let readable = |words: &[&Word]| {
            words
                .iter()
                .all(|word| is_local_pattern(word) || is_readable(word, site, reads_anywhere))
        };
        let is_known = |word: &&Word| is_certain(word);
        match &self.operands {
            Operands::None => operands.is_empty() && !self.shows_everything(words),
            Operands::Version => operands.is_empty() && words.len() == 1,
            Operands::Dynamic => true,
            Operands::Any => {
                let is_path = |word: &&&Word| {
                    let text = &word.text;
                    self.name == "git"
                        && (text.starts_with(['/', '~'])
                            || text.split('/').any(|part| part == ".."))
                };
                operands.iter().all(is_known)
                    && operands
                        .iter()
                        .filter(is_path)
                        .all(|word| is_readable(word, site, reads_anywhere))
                    && self.any_is_harmless(&operands, words)
            }
            Operands::Paths => readable(&operands),
            Operands::First => operands.len() <= 1 && readable(&operands),
            Operands::Text => {
                let has_pattern = words.iter().any(|word| {
                    word.text == "-e" || word.text.starts_with("--regexp") || word.text == "--files"
                });
                let (text, paths) = match (has_pattern, operands.split_first()) {
                    (false, Some((text, paths))) => (Some(text), paths),
                    _ => (None, operands.as_slice()),
                };
                let is_plain =
                    text.is_none_or(|text| text.kind == Kind::Literal || is_certain(text));
                // A program of jq prints the environment with `env` and `$ENV`.
                let is_jq = self.name == "jq"
                    && text.is_none_or(|text| {
                        ["env", "ENV", "input_filename", "import", "include", "$__"]
                            .iter()
                            .any(|word| text.text.contains(word))
                    });
                is_plain && !is_jq && readable(paths)
            }
            Operands::Fits(pattern) => {
                let fits = |word: &&Word| {
                    word.literal().is_some_and(|text| {
                        pattern.is_match(text) && !(self.name == "kubectl" && names_secrets(text))
                    })
                };
                // An assignment's value may be anything.
                let is_assignment =
                    |word: &&Word| self.name_is_declaration() && pattern.is_match(&word.text);
                operands
                    .iter()
                    .all(|word| fits(word) || is_assignment(word))
                    && (!self.name_is_declaration() || !operands.is_empty())
            }
        }
    }

    fn name_is_declaration(&self) -> bool {
        matches!(
            self.name,
            "export" | "local" | "readonly" | "declare" | "typeset"
        )
    }

    /// `set` without anything prints every variable; `mount` with options mounts.
    fn shows_everything(&self, words: &[&Word]) -> bool {
        self.name == "set" && words.is_empty()
    }

    fn any_is_harmless(&self, operands: &[&Word], words: &[&Word]) -> bool {
        match self.name {
            "set" => !words.is_empty(),
            // `git log -- .env` names a path; credentials are looked for by their guard.
            "git" if self.subcommand == "reflog" => {
                let verb = operands.first().map_or("show", |word| word.text.as_str());
                !matches!(verb, "expire" | "delete" | "drop" | "write")
            }
            _ => true,
        }
    }

    /// The operands, where every option is listed.
    fn options_are_known<'w>(&self, words: &[&'w Word]) -> Option<Vec<&'w Word>> {
        let mut operands = Vec::new();
        let mut rest = words.iter().copied();
        while let Some(word) = rest.next() {
            let Some(text) = word.literal() else {
                operands.push(word);
                continue;
            };
            if text == "--" {
                operands.extend(rest.by_ref());
                break;
            }
            if self.has_words && self.long.contains(&text) {
                continue;
            }
            if !text.starts_with('-') || text == "-" {
                operands.push(word);
                continue;
            }
            if self.has_words {
                return None;
            }
            if let Some(long) = text.strip_prefix("--") {
                let (name, has_value) = match long.split_once('=') {
                    Some((name, _)) => (name, true),
                    None => (long, false),
                };
                if self.long_valued.contains(&name) {
                    if !has_value {
                        rest.next()?.literal()?;
                    }
                } else if !self.long.contains(&name) {
                    return None;
                }
                continue;
            }
            let letters = text.get(1..)?;
            if self.flags.contains('#') && letters.bytes().all(|byte| byte.is_ascii_digit()) {
                continue;
            }
            for (index, letter) in letters.char_indices() {
                if self.valued.contains(letter) {
                    if index + letter.len_utf8() == letters.len() {
                        rest.next()?.literal()?;
                    }
                    break;
                }
                if letter == '#' || !self.flags.contains(letter) {
                    return None;
                }
            }
        }
        Some(operands)
    }
}

/// `secret`, `secrets/db`, `pods,secrets`, `secret.v1`.
fn names_secrets(text: &str) -> bool {
    text.split([',', '/', '.'])
        .any(|part| matches!(part.to_ascii_lowercase().as_str(), "secret" | "secrets"))
        || text.to_ascii_lowercase().contains("secret")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line that does not parse would silently cover nothing.
    #[test]
    fn every_line_of_the_table_is_understood() {
        let lines: Vec<&str> = table::TABLE
            .lines()
            .filter(|line| !line.is_empty() && read(line).is_none())
            .collect();
        assert!(lines.is_empty(), "{lines:#?}");
        assert!(ENTRIES.len() > 100, "{}", ENTRIES.len());
    }
}
