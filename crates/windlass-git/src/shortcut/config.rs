//! git's configuration, as far as its plainest form goes.
//!
//! A repository's own file is read by line. In the user's and the machine's file it only
//! matters that nothing there could have a say about remotes.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::Certainty;
use super::discover::Repository;
use crate::environment::Environment;

/// The settings of one file, in order; section and key names in lower case.
pub struct Config(Vec<Setting>);

struct Setting {
    section: String,
    /// The quoted part of `[section "name"]`.
    name: Option<String>,
    /// `None` for the section's own line.
    key: Option<String>,
    value: String,
}

impl Config {
    /// `None` when a line is not in the form that git itself writes.
    pub fn read(text: &str) -> Option<Self> {
        // Continued lines, escapes and foreign line ends.
        if text.contains(['\\', '\r', '\0']) {
            return None;
        }
        let mut settings: Vec<Setting> = Vec::new();
        let mut current: Option<(String, Option<String>)> = None;
        for line in text.split('\n').map(str::trim) {
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            let (key, value) = if let Some(header) = line.strip_prefix('[') {
                current = Some(section(header)?);
                (None, "")
            } else {
                let (key, value) = line.split_once('=').unwrap_or((line, ""));
                let key = key.trim().to_ascii_lowercase();
                if !is_word(&key) {
                    return None;
                }
                (Some(key), value.trim())
            };
            let (section, name) = current.clone()?;
            settings.push(Setting {
                section,
                name,
                key,
                value: value.to_owned(),
            });
        }
        Some(Self(settings))
    }

    /// Whether nothing moves the repository, its work tree or its configuration elsewhere.
    pub fn is_plain(&self) -> bool {
        self.0.iter().all(|setting| {
            let elsewhere = ["include", "includeif", "extensions", "url"];
            let key = setting.key.as_deref();
            match (setting.section.as_str(), key) {
                ("core", Some("worktree")) => false,
                ("core", Some("bare")) => setting.value == "false",
                ("core", Some("repositoryformatversion")) => setting.value == "0",
                (section, _) => !elsewhere.contains(&section),
            }
        })
    }
}

/// What follows `[`: `core]` or `remote "origin"]`.
fn section(header: &str) -> Option<(String, Option<String>)> {
    let header = header.strip_suffix(']')?;
    let (section, name) = match header.split_once(' ') {
        None => (header, None),
        Some((section, quoted)) => {
            let name = quoted.strip_prefix('"')?.strip_suffix('"')?;
            if name.contains('"') {
                return None;
            }
            (section, Some(name.to_owned()))
        }
    };
    let section = section.to_ascii_lowercase();
    is_word(&section).then_some((section, name))
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// The address of a remote by the repository's own file.
pub fn remote_url(repository: &Repository, remote: &str) -> Certainty<Option<String>> {
    let of_remote: Vec<&Setting> = repository
        .config
        .0
        .iter()
        .filter(|setting| setting.section == "remote" && setting.name.as_deref() == Some(remote))
        .collect();
    if of_remote.is_empty() {
        // The forms of remotes that git had before its configuration file.
        let old_forms =
            ["remotes", "branches"].map(|folder| repository.git_dir.join(folder).join(remote));
        return if old_forms.iter().any(|path| path.symlink_metadata().is_ok()) {
            Certainty::Unsure
        } else {
            Certainty::Certain(None)
        };
    }
    let mut urls = of_remote
        .iter()
        .filter(|setting| setting.key.as_deref() == Some("url"));
    match (urls.next(), urls.next()) {
        (Some(Setting { value, .. }), None) if is_literal(value) => {
            Certainty::Certain(Some(value.clone()))
        }
        _ => Certainty::Unsure,
    }
}

/// Whether git reads a value as it stands: no quotes, no comment, no blanks to interpret.
fn is_literal(value: &str) -> bool {
    !value.is_empty() && !value.contains(['"', '#', ';', '\t']) && !value.contains("  ")
}

/// Whether neither the user's nor the machine's configuration can say anything about remotes.
pub fn others_are_silent(environment: &Environment, program: &Path) -> bool {
    let Some(files) = other_files(environment, program) else {
        return false;
    };
    files.iter().all(|file| match fs_err::read_to_string(file) {
        Ok(text) => is_silent(&text),
        Err(error) => error.kind() == ErrorKind::NotFound,
    })
}

fn is_silent(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let words = ["include", "insteadof", "[remote", "[ ", "[\t"];
    !words.iter().any(|word| text.contains(word))
}

/// The files that git may read besides the repository's; `None` when that is not known.
fn other_files(environment: &Environment, program: &Path) -> Option<Vec<PathBuf>> {
    let home = environment.path("HOME")?;
    let xdg = match environment.get("XDG_CONFIG_HOME") {
        Some(value) if !value.is_empty() => environment.path("XDG_CONFIG_HOME")?,
        _ => home.join(".config"),
    };
    let mut files = system_files(program)?;
    files.extend([xdg.join("git/config"), home.join(".gitconfig")]);
    Some(files)
}

/// Where the machine's file is, is compiled into git. On Linux a git in `/usr/bin` has it in
/// `/etc`, and one in `/usr/local/bin` there or in `/usr/local/etc`. Other places have other
/// rules, and a script that is called git may do anything.
fn system_files(program: &Path) -> Option<Vec<PathBuf>> {
    let program = program.canonicalize().ok()?;
    if !cfg!(target_os = "linux") || !starts_like_a_binary(&program)? {
        return None;
    }
    let folders: &[&str] = match program.to_str()? {
        "/usr/bin/git" => &["/etc"],
        "/usr/local/bin/git" => &["/etc", "/usr/local/etc"],
        _ => return None,
    };
    let file = |folder: &&str| Path::new(folder).join("gitconfig");
    Some(folders.iter().map(file).collect())
}

fn starts_like_a_binary(program: &Path) -> Option<bool> {
    let mut magic = [0; 4];
    let mut file = fs_err::File::open(program).ok()?;
    std::io::Read::read_exact(&mut file, &mut magic).ok()?;
    Some(&magic == b"\x7fELF")
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
