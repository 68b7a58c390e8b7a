//! Files that are deleted or written where they should not be.

use windlass_shell::{RedirectKind, Word};

use super::{Found, Guard, is_harmless_device};
use crate::tools::{
    Place, Site,
    paths::{Where, is_below, plain},
};

/// Files that start programs when others use the directory, wherever they are.
const PROTECTED_FILES: [&str; 17] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".inputrc",
    ".gitconfig",
    ".gitmodules",
    ".envrc",
    "authorized_keys",
];

const PROTECTED_DIRECTORIES: [&str; 5] = [".ssh", ".aws", ".gnupg", ".kube", ".windlass"];

/// Whether writing this file may start programs later or give access.
pub(crate) fn is_protected(path: &str) -> bool {
    let segments: Vec<&str> = path
        .split('/')
        .filter(|segment| !segment.is_empty())
        .collect();
    let is_git = |pair: &[&str]| {
        let [directory, name] = pair else {
            return false;
        };
        is(directory, ".git")
            && (is(name, "hooks")
                || is(name, "config")
                || is(name, "config.worktree")
                || is(name, "info"))
    };
    segments.windows(2).any(is_git)
        || segments
            .last()
            .is_some_and(|name| PROTECTED_FILES.iter().any(|one| is(name, one)))
        || segments
            .iter()
            .any(|name| PROTECTED_DIRECTORIES.iter().any(|one| is(name, one)))
        || path.starts_with("/etc/cron")
        || path.starts_with("/var/spool/cron")
}

/// File systems that ignore case exist, so names are compared without it.
fn is(name: &str, wanted: &str) -> bool {
    name.eq_ignore_ascii_case(wanted)
}

/// Whether it is below Windlass's own directory.
pub(crate) fn is_own(path: &str, place: Place<'_>) -> bool {
    path == plain(place.own_home) || is_below(path, place.own_home)
}

/// What a command does to files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Delete,
    Write,
}

pub(crate) fn find(site: &Site<'_>, place: Place<'_>, found: &mut Found) {
    for (does, word) in changed(site) {
        judge(site, place, does, &word, site.is_elsewhere, found);
    }
    // What a program only runs has its redirections, too, and is what rules are about.
    let redirects = match site.is_only_runner {
        true => &[][..],
        false => &site.command.redirects,
    };
    for redirect in redirects {
        let writes = matches!(redirect.kind, RedirectKind::Write | RedirectKind::Append);
        if writes && !is_harmless_device(&redirect.target) {
            judge(site, place, Does::Write, &redirect.target, false, found);
        }
    }
    if site.command.has_unknown_arguments && deletes(&site.name()) {
        found.add(Guard::DeleteOutside, "it deletes what its input names");
    }
    let is_clean = site.name() == "git" && site.verbs().first() == Some(&"clean");
    if is_clean && site.has_option(&["--force"], "fdxX") {
        found.add(Guard::BlastRadius, "git clean deletes every untracked file");
    }
}

fn judge(
    site: &Site<'_>,
    place: Place<'_>,
    does: Does,
    word: &Word,
    is_elsewhere: bool,
    found: &mut Found,
) {
    let text = &word.text;
    let (guard, verb) = match does {
        Does::Delete => (Guard::DeleteOutside, "deletes"),
        Does::Write => (Guard::WriteOutside, "writes"),
    };
    if is_elsewhere {
        return found.add(guard, format!("it {verb} {text} on another machine"));
    }
    if is_disk(text) {
        return found.add(Guard::Disk, format!("it overwrites {text}"));
    }
    match site.paths.find(word) {
        Where::Inside(path) => {
            if is_protected(&path) {
                found.add(Guard::ProtectedFiles, format!("{text} may start programs"));
            }
            let is_git = path.split('/').next_back() == Some(".git");
            let is_everything = matches!(text.as_str(), "*" | "./*" | ".*" | "**")
                || path == plain(place.work_tree);
            if does == Does::Delete && (is_git || is_everything) {
                found.add(Guard::BlastRadius, format!("it deletes {text}"));
            }
        }
        Where::Root => {
            if does == Does::Delete {
                found.add(Guard::BlastRadius, "it deletes the work tree");
            }
        }
        Where::Outside(path) if is_protected(&path) || is_own(&path, place) => {
            found.add(Guard::ProtectedFiles, format!("{text} is protected"));
        }
        Where::Outside(_) => found.add(guard, format!("it {verb} {text}, outside the work tree")),
        Where::Unknown => found.add(guard, format!("it {verb} {text}, wherever that is")),
    }
}

fn deletes(name: &str) -> bool {
    matches!(
        name,
        "rm" | "rmdir" | "unlink" | "shred" | "srm" | "trash" | "del"
    )
}

/// A whole disk or a part of one.
fn is_disk(path: &str) -> bool {
    let Some(device) = path.strip_prefix("/dev/") else {
        return false;
    };
    [
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "md", "dm-", "loop",
        "mem", "kmem", "port",
    ]
    .iter()
    .any(|start| device.starts_with(start))
}

/// The files that a command deletes and writes, as far as its words say.
fn changed(site: &Site<'_>) -> Vec<(Does, Word)> {
    let name = site.name();
    let operands = site.operands();
    let all = |does: Does| {
        operands
            .iter()
            .map(|word| (does, (*word).clone()))
            .collect::<Vec<_>>()
    };
    let after = |count: usize| {
        operands
            .iter()
            .skip(count)
            .map(|word| (Does::Write, (*word).clone()))
            .collect::<Vec<_>>()
    };
    match name.as_str() {
        _ if deletes(&name) => all(Does::Delete),
        "mv" | "rename" => {
            let mut files = all(Does::Delete);
            if let Some(last) = files.last_mut() {
                last.0 = Does::Write;
            }
            files.extend(
                values(site, &["-t", "--target-directory"]).map(|word| (Does::Write, word)),
            );
            files
        }
        "cp" | "install" | "ln" | "scp" | "rsync" => {
            let does = if site.has_option(
                &[
                    "--delete",
                    "--delete-after",
                    "--delete-before",
                    "--delete-during",
                    "--delete-excluded",
                    "--del",
                    "--remove-source-files",
                ],
                "",
            ) {
                Does::Delete
            } else {
                Does::Write
            };
            let last = operands.last().map(|word| (does, (*word).clone()));
            let targets =
                values(site, &["-t", "--target-directory"]).map(|word| (Does::Write, word));
            last.into_iter().chain(targets).collect()
        }
        "truncate" | "touch" | "mkdir" | "tee" | "mkfifo" | "mknod" => all(Does::Write),
        "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" => after(1),
        "sed" | "gsed" | "perl" if site.has_option(&["--in-place"], "i") => {
            // With `-e` the first operand is a file, too.
            match site.has_option(&[], "e") {
                true => all(Does::Write),
                false => after(1),
            }
        }
        "sort" | "tree" => values(site, &["-o", "--output"])
            .map(|word| (Does::Write, word))
            .collect(),
        "curl" | "wget" => {
            let options = &[
                "-o",
                "--output",
                "-O",
                "--output-document",
                "-P",
                "--directory-prefix",
                "--output-dir",
            ];
            let files = values(site, options);
            // With curl, `-O` has no value.
            files
                .filter(|word| !(word.text.contains("://") || word.text == "-"))
                .map(|word| (Does::Write, word))
                .collect()
        }
        "tar" | "bsdtar" => {
            let extracts = site.has_option(&["--extract", "--get"], "x")
                || operands
                    .first()
                    .is_some_and(|word| word.text.contains('x') && !word.text.contains(['.', '/']));
            let options: &'static [&'static str] = if extracts {
                &["-C", "--directory"]
            } else {
                &["-f", "--file", "-cf", "-czf", "-cjf", "-cJf"]
            };
            values(site, options)
                .map(|word| (Does::Write, word))
                .collect()
        }
        "unzip" => values(site, &["-d"])
            .map(|word| (Does::Write, word))
            .collect(),
        "find" | "gfind" => {
            let deletes = site
                .command
                .arguments()
                .iter()
                .any(|word| word.text == "-delete");
            let roots = operands
                .iter()
                .take_while(|word| !matches!(word.text.as_str(), "(" | "!"));
            let files = values(site, &["-fprint", "-fprint0", "-fprintf", "-fls"]);
            let files = files.map(|word| (Does::Write, word));
            let roots = roots
                .filter(|_| deletes)
                .map(|word| (Does::Delete, (*word).clone()));
            // Values of tests look like roots; the first operand is one, or the tree itself.
            roots.take(1).chain(files).collect()
        }
        "dd" => {
            let target = site.command.arguments().iter().find_map(|word| {
                Some(Word {
                    text: word.text.strip_prefix("of=")?.to_owned(),
                    kind: word.kind,
                })
            });
            target.map(|word| (Does::Write, word)).into_iter().collect()
        }
        "git" => git(site, &operands),
        _ => Vec::new(),
    }
}

/// Where git writes outside its own directory.
fn git(site: &Site<'_>, operands: &[&Word]) -> Vec<(Does, Word)> {
    let verbs = site.verbs();
    let verb = |index: usize| verbs.get(index).copied().unwrap_or_default();
    let last = || operands.last().map(|word| (Does::Write, (*word).clone()));
    let creates = match verb(0) {
        "clone" => verbs.len() > 2,
        "init" => verbs.len() > 1,
        "worktree" => verb(1) == "add",
        _ => false,
    };
    let mut files: Vec<(Does, Word)> = values(site, &["--output"])
        .map(|word| (Does::Write, word))
        .collect();
    files.extend(creates.then(last).flatten());
    if verb(0) == "clean" {
        let elsewhere = values(site, &["-C"]);
        files.extend(elsewhere.map(|word| (Does::Delete, word)));
    }
    files
}

/// The values of options: the next word, or what is attached to the option.
fn values(site: &Site<'_>, options: &'static [&'static str]) -> impl Iterator<Item = Word> {
    let words = site.command.arguments();
    let mut found = Vec::new();
    for (index, word) in words.iter().enumerate() {
        for option in options {
            let Some(rest) = word.text.strip_prefix(option) else {
                continue;
            };
            let attached = match rest.strip_prefix('=') {
                Some(value) if option.starts_with("--") => Some(value),
                _ if option.starts_with("--") || option.len() > 2 => None,
                _ => Some(rest),
            };
            match attached {
                _ if rest.is_empty() => found.extend(words.get(index + 1).cloned()),
                Some(value) => found.push(Word {
                    text: value.to_owned(),
                    kind: word.kind,
                }),
                None => {}
            }
        }
    }
    found.into_iter()
}
