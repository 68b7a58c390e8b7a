//! The log of a build: bounded, and without paths of the machine.

use std::{io, path::Path};

use windlass_process::Output;
use windlass_types::Shortage;

/// How much of each end of an output is kept.
const KEPT: usize = 32 * 1024;

/// What a process wrote, its output before its messages.
pub fn text(mut stdout: Output, mut stderr: Output) -> io::Result<String> {
    let mut text = String::new();
    for output in [&mut stdout, &mut stderr] {
        let (first, last) = output.ends(KEPT)?;
        text.push_str(&joined(&first, &last));
    }
    Ok(text)
}

/// Whole lines of both ends.
fn joined(first: &[u8], last: &[u8]) -> String {
    let first = String::from_utf8_lossy(first);
    let last = String::from_utf8_lossy(last);
    let mut text = match (last.is_empty(), first.rfind('\n'), last.find('\n')) {
        (true, ..) => first.into_owned(),
        (false, Some(end), Some(start)) => {
            format!("{}\n[lines left out]{}", &first[..end], &last[start..])
        }
        (false, ..) => format!("{first}\n[left out]\n{last}"),
    };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// The text in which a folder is `.` and what is below it is relative.
pub fn relative_to(text: &str, folder: &Path) -> String {
    let folder = folder.to_string_lossy();
    let mut pieces = text.split(folder.as_ref());
    let mut clean = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.strip_prefix('/') {
            Some(below) => clean.push_str(below),
            // A longer name that only begins like the folder's.
            None if piece.starts_with(|c: char| c.is_alphanumeric() || "-_.".contains(c)) => {
                clean.push_str(&folder);
                clean.push_str(piece);
            }
            None => {
                clean.push('.');
                clean.push_str(piece);
            }
        }
    }
    clean
}

/// What the machine ran out of while a site was built. The same build works later.
pub fn shortage(log: &str) -> Option<Shortage> {
    let log = log.to_ascii_lowercase();
    let known = [
        ("no space left on device", Shortage::Space),
        ("disk quota exceeded", Shortage::Space),
        ("too many open files", Shortage::Descriptors),
        ("cannot allocate memory", Shortage::Memory),
        ("out of memory", Shortage::Memory),
        ("resource temporarily unavailable", Shortage::Processes),
    ];
    let fits = known.iter().find(|(sign, _)| log.contains(sign));
    fits.map(|(_, shortage)| *shortage)
}

/// What to do about a failure that comes from how sites are built here.
pub fn advice(log: &str) -> Option<String> {
    const MODULES: &str = "modules are not downloaded; allow it with `hugo: { exec_allow: [\"^go$\"], \
        module_proxy: \"https://proxy.golang.org\" }` in the run_config, or run `hugo mod vendor` in \
        the site and commit the folder _vendor";
    if log.contains("failed to download modules") {
        return Some(MODULES.to_owned());
    }
    if log.contains("security.http.urls") {
        let host = refused_host(log).unwrap_or_else(|| "https://HOST/".to_owned());
        return Some(format!(
            "nothing is fetched while a site is built; allow it with `hugo: {{ http_allow: \
             [\"{host}\"] }}` in the run_config, or keep the file in the site"
        ));
    }
    let program =
        "no program is started while a site is built; name those it needs in hugo.exec_allow";
    let fits = log.contains("security.exec.allow") || log.contains("not found in $PATH");
    fits.then(|| program.to_owned())
}

/// The beginning of the address that Hugo was not allowed to fetch.
fn refused_host(log: &str) -> Option<String> {
    let line = log
        .lines()
        .find(|line| line.contains("security.http.urls"))?;
    let quoted = line
        .split('"')
        .find(|part| part.starts_with("http://") || part.starts_with("https://"))?;
    let url = url::Url::parse(quoted).ok()?;
    Some(format!("{}/", url.origin().ascii_serialization()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_as_whole_lines() {
        for (first, last, expected) in [
            ("", "", ""),
            ("a\nb", "", "a\nb\n"),
            ("a\nb\nc", "d\ne\n", "a\nb\n[lines left out]\ne\n"),
            ("aaaa", "bbbb", "aaaa\n[left out]\nbbbb\n"),
        ] {
            assert_eq!(joined(first.as_bytes(), last.as_bytes()), expected);
        }
    }

    #[test]
    fn paths_become_relative() {
        for (text, expected) in [
            ("in /c/site: \"/c/site/a.md\"", "in .: \"a.md\""),
            ("/c/site", "."),
            ("/c/site/", ""),
            ("/c/site-2/a /c/sites", "/c/site-2/a /c/sites"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(relative_to(text, Path::new("/c/site")), expected);
        }
    }
}
