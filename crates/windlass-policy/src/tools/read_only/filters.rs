//! `find`, `awk` and `sed`, whose words are programs of their own.

use windlass_shell::Kind;

use super::{Site, is_readable};

/// Tests of `find` with a value.
const FIND_VALUED: [&str; 29] = [
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-regextype",
    "-type",
    "-xtype",
    "-maxdepth",
    "-mindepth",
    "-size",
    "-mtime",
    "-mmin",
    "-ctime",
    "-cmin",
    "-atime",
    "-amin",
    "-user",
    "-group",
    "-perm",
    "-links",
    "-inum",
    "-printf",
    "-fstype",
    "-newermt",
    "-lname",
];

/// Tests and actions of `find` without one.
const FIND_FLAGS: [&str; 27] = [
    "-print",
    "-print0",
    "-ls",
    "-prune",
    "-o",
    "-or",
    "-a",
    "-and",
    "-not",
    "-empty",
    "-depth",
    "-d",
    "-mount",
    "-xdev",
    "-follow",
    "-L",
    "-H",
    "-P",
    "-nouser",
    "-nogroup",
    "-readable",
    "-writable",
    "-executable",
    "-true",
    "-false",
    "-quit",
    "-daystart",
];

pub(super) fn covers_find(site: &Site<'_>, reads_anywhere: bool) -> bool {
    let mut words = site.command.arguments().iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if word.kind == Kind::Literal && FIND_VALUED.contains(&text) {
            if words
                .next()
                .is_none_or(|value| value.kind == Kind::Expansion)
            {
                return false;
            }
        } else if word.kind == Kind::Literal
            && (FIND_FLAGS.contains(&text) || matches!(text, "!" | "(" | ")" | ","))
        {
            continue;
        } else if text.starts_with('-') || !is_readable(word, site, reads_anywhere) {
            return false;
        }
    }
    true
}

/// `awk` and `sed` with a program that only prints; whether it does is a concern of the parser.
pub(super) fn covers_filter(site: &Site<'_>, name: &str, reads_anywhere: bool) -> bool {
    let in_place = name == "sed" && site.has_option(&["--in-place"], "i");
    let mut words = site.command.arguments().iter();
    let mut has_program = false;
    while let Some(word) = words.next() {
        let Some(text) = word.literal() else {
            if !has_program || !is_readable(word, site, reads_anywhere) {
                return false;
            }
            continue;
        };
        if name == "awk" && text == "-F" {
            words.next();
        } else if text.starts_with('-') && text.len() > 1 {
            continue;
        } else if !has_program {
            has_program = true;
        } else if !is_readable(word, site, reads_anywhere) {
            return false;
        }
    }
    has_program && !in_place
}
