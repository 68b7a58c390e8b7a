//! What keeps a repository from running programs.
//!
//! A repository's own configuration can name programs: hooks, a file system monitor, filters,
//! drivers, helpers, an ssh command. The user's configuration can too, and is obeyed where it does
//! not act on the repository's behalf. So, unless the user has trusted the repository, settings of
//! the repository that could name a program are replaced by the user's own or by git's default, and
//! filters and hooks are off, in whichever file they are configured. Everything is passed in the environment of
//! the call, where it wins over every file.

use std::collections::{BTreeMap, BTreeSet};

/// Settings of every call about a repository that is not trusted. Nothing of it is executed and
/// nothing stays behind working on it.
const ALWAYS: [(&str, &str); 12] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("log.showSignature", "false"),
    ("merge.verifySignatures", "false"),
    ("push.gpgSign", "false"),
    ("push.recurseSubmodules", "no"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("diff.ignoreSubmodules", "dirty"),
    ("transfer.bundleURI", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
];

/// What a repository may say in words, by section and key; anything may be a yes, a no or a number.
/// Settings of git that name programs, or that are not known here, are not among them.
const WORDS: [(&str, &[&str]); 28] = [
    ("advice", &["*"]),
    ("author", &["name", "email"]),
    (
        "branch",
        &["remote", "merge", "rebase", "pushremote", "description"],
    ),
    ("color", &["*"]),
    ("column", &["*"]),
    ("commit", &["cleanup", "template"]),
    ("committer", &["name", "email"]),
    ("credential", &["username"]),
    (
        "core",
        &[
            "abbrev",
            "attributesfile",
            "autocrlf",
            "checkstat",
            "commentchar",
            "commentstring",
            "disambiguate",
            "eol",
            "excludesfile",
            "logallrefupdates",
            "precomposeunicode",
            "safecrlf",
            "sharedrepository",
            "whitespace",
            "worktree",
        ],
    ),
    (
        "diff",
        &[
            "algorithm",
            "colormoved",
            "ignoresubmodules",
            "orderfile",
            "renames",
            "submodule",
        ],
    ),
    ("extensions", &["*"]),
    ("fetch", &["parallel", "bundleuri", "negotiationalgorithm"]),
    (
        "gc",
        &["pruneexpire", "reflogexpire", "worktreepruneexpire"],
    ),
    (
        "http",
        &[
            "extraheader",
            "proxy",
            "sslcainfo",
            "sslcapath",
            "useragent",
            "version",
        ],
    ),
    ("i18n", &["*"]),
    ("init", &["defaultbranch"]),
    ("log", &["date", "decorate"]),
    (
        "merge",
        &["conflictstyle", "directoryrenames", "ff", "renames"],
    ),
    ("notes", &["*"]),
    ("pull", &["ff", "rebase"]),
    ("push", &["default"]),
    ("rebase", &["*"]),
    (
        "remote",
        &[
            "url",
            "pushurl",
            "fetch",
            "push",
            "tagopt",
            "proxy",
            "partialclonefilter",
            "followremotehead",
        ],
    ),
    ("status", &["*"]),
    ("submodule", &["url", "branch", "ignore"]),
    ("tag", &["sort"]),
    ("url", &["insteadof", "pushinsteadof"]),
    ("user", &["name", "email", "signingkey"]),
];

/// What git does without the setting, where an empty value would mean something else.
const DEFAULTS: [(&str, &str, &str); 5] = [
    ("gpg", "format", "openpgp"),
    ("core", "sshcommand", "ssh"),
    ("core", "alternaterefscommand", "true"),
    ("gpg", "program", "gpg"),
    // A merge that needs the driver is a conflict.
    ("merge", "driver", "false"),
];

/// Programs on the other side of a transfer, as options: of several settings git takes the first,
/// so that none can take the place of the repository's.
pub const UPLOAD_PACK: &str = "--upload-pack=git-upload-pack";
/// The same for what receives.
pub const RECEIVE_PACK: &str = "--receive-pack=git-receive-pack";

/// What a filter that is switched off means for the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfiltered {
    /// Content counts as it is.
    AsIs,
    /// The call fails: what it would write or commit is not what the repository means.
    Refused,
}

/// The settings of every call.
pub fn always() -> Vec<(String, String)> {
    ALWAYS
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

/// The settings that take the place of those in `listed`, the output of
/// `git config --list --show-scope -z`. `submodules` is that of `.gitmodules`, without scopes.
pub fn instead_of(
    listed: &[u8],
    submodules: &[u8],
    unfiltered: Unfiltered,
) -> Vec<(String, String)> {
    let mut replaced = Replaced::default();
    let mut fields = listed.split(|byte| *byte == 0);
    while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
        replaced.see(matches!(scope, b"local" | b"worktree"), entry);
    }
    for entry in submodules.split(|byte| *byte == 0) {
        let entry = String::from_utf8_lossy(entry);
        if let Some((section, Some(name), _)) = split(&entry)
            && section == "submodule"
        {
            replaced.submodules.insert(name.to_owned());
        }
    }
    replaced.settings(unfiltered)
}

#[derive(Default)]
struct Replaced {
    filters: BTreeSet<String>,
    submodules: BTreeSet<String>,
    hooks: BTreeSet<String>,
    /// Settings of the repository that may not stand.
    refused: BTreeSet<String>,
    /// What the user's own files say.
    own: BTreeMap<String, Vec<String>>,
}

impl Replaced {
    /// Notes one setting: `key`, newline, `value`; a key without a value is a yes.
    fn see(&mut self, is_of_repository: bool, entry: &[u8]) {
        let entry = String::from_utf8_lossy(entry);
        let (key, value) = match entry.split_once('\n') {
            Some((key, value)) => (key, Some(value)),
            None => (&*entry, None),
        };
        let Some((section, name, last)) = split(key) else {
            return;
        };
        match (section, name) {
            // What is included is listed on its own.
            ("include" | "includeif", _) => return,
            // Options of the call say it.
            ("remote", Some(_)) if matches!(last, "uploadpack" | "receivepack") => return,
            ("filter", Some(name)) => {
                self.filters.insert(name.to_owned());
                return;
            }
            ("submodule", Some(name)) if is_of_repository => {
                self.submodules.insert(name.to_owned());
            }
            ("hook", Some(name)) if is_of_repository => {
                self.hooks.insert(name.to_owned());
            }
            _ => {}
        }
        if !is_of_repository {
            let own = self.own.entry(key.to_owned()).or_default();
            own.push(value.unwrap_or("true").to_owned());
        } else if !value.is_none_or(is_plain) && !is_word(section, last) {
            self.refused.insert(key.to_owned());
        }
    }

    fn settings(self, unfiltered: Unfiltered) -> Vec<(String, String)> {
        let mut settings = Vec::new();
        let mut set = |key: String, value: &str| settings.push((key, value.to_owned()));
        let is_required = match unfiltered {
            Unfiltered::AsIs => "false",
            Unfiltered::Refused => "true",
        };
        for name in &self.filters {
            for part in ["clean", "smudge", "process"] {
                set(format!("filter.{name}.{part}"), "");
            }
            set(format!("filter.{name}.required"), is_required);
        }
        for name in &self.submodules {
            set(format!("submodule.{name}.ignore"), "dirty");
        }
        for name in &self.hooks {
            set(format!("hook.{name}.enabled"), "false");
        }
        let mut has_helpers = false;
        for key in &self.refused {
            let Some((section, _, last)) = split(key) else {
                continue;
            };
            if section == "credential" && last == "helper" {
                has_helpers = true;
                continue;
            }
            let own = self.own.get(key).and_then(|values| values.last());
            let default = DEFAULTS
                .iter()
                .find(|(of, name, _)| *of == section && *name == last)
                .map_or("", |(_, _, value)| value);
            set(key.clone(), own.map_or(default, String::as_str));
        }
        if has_helpers {
            // An empty helper forgets those before it, whatever address they are for.
            set("credential.helper".to_owned(), "");
            for (key, values) in &self.own {
                if key.starts_with("credential.") && key.ends_with(".helper") {
                    for value in values {
                        set(key.clone(), value);
                    }
                }
            }
        }
        settings
    }
}

/// Section, name and last part of a key: `remote.origin.url`.
fn split(key: &str) -> Option<(&str, Option<&str>, &str)> {
    let key = key.split('\n').next()?;
    let (section, rest) = key.split_once('.')?;
    Some(match rest.rsplit_once('.') {
        Some((name, last)) => (section, Some(name), last),
        None => (section, None, rest),
    })
}

/// Whether a value is a yes, a no or a number, and so names no program.
fn is_plain(value: &str) -> bool {
    let number = value.trim_end_matches(['k', 'm', 'g', 'K', 'M', 'G']);
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let words = [
        "", "true", "false", "yes", "no", "on", "off", "always", "auto", "never",
    ];
    is_number || words.iter().any(|word| value.eq_ignore_ascii_case(word))
}

fn is_word(section: &str, last: &str) -> bool {
    WORDS
        .iter()
        .find(|(of, _)| *of == section)
        .is_some_and(|(_, keys)| keys.contains(&"*") || keys.contains(&last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(entries: &[(&str, &str)]) -> Vec<u8> {
        let entries = entries.iter();
        entries
            .flat_map(|(scope, entry)| {
                format!("{scope}\0{}\0", entry.replace('=', "\n")).into_bytes()
            })
            .collect()
    }

    fn shown(settings: &[(String, String)]) -> Vec<String> {
        let settings = settings.iter();
        settings
            .map(|(key, value)| format!("{key}={value}"))
            .collect()
    }

    #[test]
    fn what_a_repository_names_is_the_users_again() {
        let list = listed(&[
            ("global", "core.sshcommand=ssh -i mine"),
            ("global", "credential.helper=store"),
            ("global", "credential.https://h.helper=own"),
            ("global", "filter.lfs.process=git-lfs filter-process"),
            ("local", "core.sshcommand=evil"),
            ("local", "core.bare=false"),
            ("local", "core.eol=lf"),
            ("local", "core.worktree=../x"),
            ("local", "remote.a.b.url=https://h/x"),
            ("local", "remote.a.b.uploadpack=evil"),
            ("local", "credential.https://h.helper=!evil"),
            ("local", "filter.x.y.clean=evil"),
            ("worktree", "gpg.program=evil"),
            ("worktree", "some.new=evil"),
            ("local", "hook.x.command=evil"),
            ("local", "merge.x.driver=evil"),
            ("local", "http.sslengine=evil"),
            ("local", "core.packedgitlimit=1m"),
            ("local", "core.flag"),
        ]);
        let modules = b"submodule.a.path\nx\0submodule.b.url\ny\0";
        let settings = instead_of(&list, modules, Unfiltered::Refused);
        assert_eq!(
            shown(&settings),
            [
                "filter.lfs.clean=",
                "filter.lfs.smudge=",
                "filter.lfs.process=",
                "filter.lfs.required=true",
                "filter.x.y.clean=",
                "filter.x.y.smudge=",
                "filter.x.y.process=",
                "filter.x.y.required=true",
                "submodule.a.ignore=dirty",
                "submodule.b.ignore=dirty",
                "hook.x.enabled=false",
                "core.sshcommand=ssh -i mine",
                "gpg.program=gpg",
                "hook.x.command=",
                "http.sslengine=",
                "merge.x.driver=false",
                "some.new=",
                "credential.helper=",
                "credential.helper=store",
                "credential.https://h.helper=own",
            ]
        );
        assert_eq!(instead_of(b"", b"", Unfiltered::AsIs), Vec::new());
    }

    #[test]
    fn only_yes_no_and_numbers_name_no_program() {
        for value in ["", "true", "NO", "12", "8k", "auto"] {
            assert!(is_plain(value), "{value}");
        }
        for value in ["/bin/true", "k", "1 2", "evil", "./1", "-1"] {
            assert!(!is_plain(value), "{value}");
        }
    }
}
