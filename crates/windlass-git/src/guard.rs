//! What keeps a repository from running programs.
//!
//! A repository's own configuration can name programs: hooks, a file system monitor, filters,
//! drivers, helpers, an ssh command. The user's configuration can too, and is obeyed where it does
//! not act on the repository's behalf. So, unless the user has trusted the repository, settings of
//! the repository that could name a program are replaced by the user's own or by git's default, and
//! filters and hooks are off, in whichever file they are configured. Everything is passed in the environment of
//! the call, where it wins over every file.

use std::collections::{BTreeMap, BTreeSet};
use std::str;

use windlass_ports::git::Refused;

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
    ("http", &["extraheader", "useragent", "version"]),
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
const DEFAULTS: [(&str, &str, &str); 6] = [
    ("http", "sslverify", "true"),
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
/// The same where that is a repository of this machine: git takes the settings of a call away from
/// it, so they are part of the program's name. Hooks and a work tree's filters stay off.
pub const RECEIVE_PACK_HERE: &str = "--receive-pack=git -c core.hooksPath=/dev/null \
     -c core.fsmonitor=false -c core.alternateRefsCommand=true -c receive.denyCurrentBranch=refuse \
     -c receive.autogc=false receive-pack";

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
) -> Result<Vec<(String, String)>, Refused> {
    let mut replaced = Replaced::default();
    let mut fields = listed.split(|byte| *byte == 0);
    while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
        replaced.see(matches!(scope, b"local" | b"worktree"), entry)?;
    }
    for entry in submodules.split(|byte| *byte == 0) {
        let (key, _) = parts(entry)?;
        if let Some((section, Some(name), _)) = split(key)
            && section == "submodule"
        {
            replaced.submodules.insert(name.to_owned());
        }
    }
    Ok(replaced.settings(unfiltered))
}

/// Key and value of an entry: `key`, newline, `value`. A setting takes the place of another only
/// under the very same name, so a name that cannot be written back is refused.
fn parts(entry: &[u8]) -> Result<(&str, Option<&[u8]>), Refused> {
    let mut halves = entry.splitn(2, |byte| *byte == b'\n');
    let key = halves.next().unwrap_or_default();
    let key = str::from_utf8(key).map_err(|_| Refused {
        what: "git setting",
        value: String::from_utf8_lossy(key).into_owned(),
        rule: "its name is not UTF-8, and its repository is not trusted",
    })?;
    Ok((key, halves.next()))
}

/// The filters that settings of [`instead_of`] switch off.
pub fn filters(settings: &[(String, String)]) -> Vec<String> {
    let names = settings.iter().filter_map(|(key, _)| {
        let name = key.strip_prefix("filter.")?.strip_suffix(".required")?;
        Some(name.to_owned())
    });
    names.collect()
}

/// The folder of hooks that settings name, and programs that the repository names: its own filters
/// and those its attributes ask for, the file system monitor. `listed` as for [`instead_of`].
pub fn programs(listed: &[u8], attributes: &str) -> (Option<String>, Vec<String>) {
    let asked: BTreeSet<&str> = attributes
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("filter="))
        .collect();
    let (mut hooks, mut programs) = (None, BTreeSet::new());
    let mut fields = listed.split(|byte| *byte == 0);
    while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
        // What the guard itself set says nothing.
        if scope == b"command" {
            continue;
        }
        let is_of_repository = matches!(scope, b"local" | b"worktree");
        let entry = String::from_utf8_lossy(entry);
        let value = entry.split_once('\n').map_or("", |it| it.1);
        match split(&entry) {
            Some(("core", None, "hookspath")) => hooks = Some(value.to_owned()),
            Some(("core", None, "fsmonitor")) if is_of_repository && !is_plain(value) => {
                programs.insert("core.fsmonitor".to_owned());
            }
            Some(("filter", Some(name), "clean" | "smudge" | "process"))
                if is_of_repository || asked.contains(name) =>
            {
                programs.insert(format!("filter {name}"));
            }
            _ => {}
        }
    }
    (hooks, programs.into_iter().collect())
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
    /// Notes one setting; a key without a value is a yes.
    fn see(&mut self, is_of_repository: bool, entry: &[u8]) -> Result<(), Refused> {
        let (key, value) = parts(entry)?;
        let value = value.map(String::from_utf8_lossy);
        let Some((section, name, last)) = split(key) else {
            return Ok(());
        };
        match (section, name) {
            // What is included is listed on its own.
            ("include" | "includeif", _) => return Ok(()),
            // Options of the call say it.
            ("remote", Some(_)) if matches!(last, "uploadpack" | "receivepack") => {
                return Ok(());
            }
            ("filter", Some(name)) => {
                self.filters.insert(name.to_owned());
                return Ok(());
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
            own.push(value.as_deref().unwrap_or("true").to_owned());
        } else if !value.is_none_or(|value| is_plain(&value)) && !is_word(section, last)
            || (section, last) == ("http", "sslverify")
        {
            self.refused.insert(key.to_owned());
        }
        Ok(())
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
        let settings = instead_of(&list, modules, Unfiltered::Refused).unwrap();
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
        assert_eq!(instead_of(b"", b"", Unfiltered::AsIs), Ok(Vec::new()));
    }

    #[test]
    fn names_that_cannot_be_written_back_are_refused() {
        for key in [
            "filter.x?.clean",
            "merge.x?.driver",
            "diff.x?.command",
            "credential.x?.helper",
            "hook.x?.command",
            "submodule.x?.update",
        ] {
            let mut list = listed(&[("local", &format!("{key}=evil"))]);
            let at = list.iter().position(|byte| *byte == b'?').unwrap();
            list[at] = 0xff;
            let refused = instead_of(&list, b"", Unfiltered::AsIs).unwrap_err();
            assert_eq!(refused.what, "git setting", "{key}");
        }
        let modules = b"submodule.a\xff.path\nx\0";
        assert!(instead_of(b"", modules, Unfiltered::AsIs).is_err());
    }

    #[test]
    fn a_repository_cannot_weaken_transfers() {
        let list = listed(&[
            ("global", "http.proxy=http://mine"),
            ("local", "http.proxy=http://evil"),
            ("local", "http.https://h.sslverify=false"),
            ("local", "http.sslcainfo=/evil.pem"),
            ("local", "remote.origin.proxy=http://evil"),
        ]);
        let settings = instead_of(&list, b"", Unfiltered::AsIs).unwrap();
        assert_eq!(
            shown(&settings),
            [
                "http.https://h.sslverify=true",
                "http.proxy=http://mine",
                "http.sslcainfo=",
                "remote.origin.proxy=",
            ]
        );
    }

    #[test]
    fn programs_that_are_off_are_known_by_name() {
        let list = listed(&[
            ("global", "core.hookspath=/mine"),
            ("global", "filter.lfs.process=git-lfs"),
            ("global", "filter.crypt.clean=git-crypt"),
            ("local", "core.hookspath=tools/hooks"),
            ("local", "core.fsmonitor=evil"),
            ("local", "filter.x.smudge=evil"),
            ("local", "filter.y.required=true"),
        ]);
        let (hooks, found) = programs(&list, "*.bin filter=lfs -text\n");
        assert_eq!(hooks.as_deref(), Some("tools/hooks"));
        assert_eq!(found, ["core.fsmonitor", "filter lfs", "filter x"]);
        let settings = instead_of(&list, b"", Unfiltered::Refused).unwrap();
        assert_eq!(filters(&settings), ["crypt", "lfs", "x", "y"]);
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
