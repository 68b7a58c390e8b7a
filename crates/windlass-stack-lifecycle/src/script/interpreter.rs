//! How a script's file is run: by Node, by Python, by what its first line names, by itself.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use windlass_process::Ended;
use windlass_types::Problem;

use crate::script::failure::refused;

/// How long a program may take to say its version.
const ASKING: Duration = Duration::from_secs(10);

/// Programs that run scripts.
#[derive(Clone, Debug, Default)]
pub struct Interpreters {
    /// Node.
    pub node: Option<PathBuf>,
    /// Python 3.
    pub python: Option<PathBuf>,
    /// tsx; a project's own one goes first.
    pub tsx: Option<PathBuf>,
    /// esbuild; a project's own one goes first.
    pub esbuild: Option<PathBuf>,
    /// Where programs that a file's first line names by `env` are looked for.
    path: OsString,
}

impl Interpreters {
    /// Those on a `PATH`.
    pub fn find(path: &OsStr) -> Self {
        let find = |name| windlass_process::find(name, path);
        Self {
            node: find("node"),
            python: find("python3").or_else(|| find("python")),
            tsx: find("tsx"),
            esbuild: find("esbuild"),
            path: path.to_owned(),
        }
    }

    /// What runs a file, step by step. Blocks.
    pub(crate) fn steps(&self, file: &Path) -> Result<Steps, Problem> {
        let ending = file.extension().and_then(OsStr::to_str).unwrap_or_default();
        match ending {
            "js" | "mjs" | "cjs" => Ok(Steps::one(self.node(file)?, [file.as_os_str()])),
            "ts" | "mts" | "cts" => self.typescript(file),
            "py" => match &self.python {
                Some(python) => Ok(Steps::one(python, [file.as_os_str()])),
                None => Err(missing("python_not_found", file, "Python 3").next("install Python 3")),
            },
            _ => self.by_itself(file),
        }
    }

    fn node(&self, file: &Path) -> Result<&Path, Problem> {
        match &self.node {
            Some(node) => Ok(node),
            None => {
                Err(missing("node_not_found", file, "Node").next("install Node 22.18 or newer"))
            }
        }
    }

    fn typescript(&self, file: &Path) -> Result<Steps, Problem> {
        let node = self.node(file)?;
        let near = |name| sibling(file, name);
        let way = TypeScript::choose(
            version(node),
            near("tsx"),
            self.tsx.clone(),
            near("esbuild").or_else(|| self.esbuild.clone()),
        );
        match way {
            Some(TypeScript::Tsx(tsx)) => Ok(Steps::one(&tsx, [file.as_os_str()])),
            Some(TypeScript::Node { flag }) => {
                let flag = flag.map(OsStr::new);
                Ok(Steps::one(node, flag.into_iter().chain([file.as_os_str()])))
            }
            Some(TypeScript::Bundle(esbuild)) => bundled(node, &esbuild, file),
            None => {
                let message = format!(
                    "{} is TypeScript, which this Node does not read, and there is neither tsx nor \
                     esbuild",
                    file.display()
                );
                Err(refused("typescript_not_found", message)
                    .next("use Node 22.18 or newer")
                    .next("or add tsx to the project"))
            }
        }
    }

    fn by_itself(&self, file: &Path) -> Result<Steps, Problem> {
        let unreadable = |error: std::io::Error| refused("script_unreadable", error.to_string());
        let metadata = fs_err::metadata(file).map_err(unreadable)?;
        if metadata.permissions().mode() & 0o111 != 0 {
            return Ok(Steps::one(file, []));
        }
        let mut beginning = [0; 256];
        let mut open = fs_err::File::open(file).map_err(unreadable)?;
        let read = std::io::Read::read(&mut open, &mut beginning).map_err(unreadable)?;
        let text = String::from_utf8_lossy(beginning.get(..read).unwrap_or_default()).into_owned();
        if let Some(words) = shebang(&text) {
            let program = match words.first().map(PathBuf::from) {
                Some(program) if program.is_absolute() => Some(program),
                Some(name) => windlass_process::find(&name.to_string_lossy(), &self.path),
                None => None,
            };
            let Some(program) = program else {
                let name = words.first().map(String::as_str).unwrap_or_default();
                return Err(missing("interpreter_not_found", file, name));
            };
            let arguments = words.iter().skip(1).map(OsStr::new);
            return Ok(Steps::one(&program, arguments.chain([file.as_os_str()])));
        }
        if file.extension().is_some_and(|ending| ending == "sh") {
            return Ok(Steps::one(Path::new("/bin/sh"), [file.as_os_str()]));
        }
        let message = format!(
            "nothing says how to run {}: it is not executable and does not begin with #!",
            file.display()
        );
        Err(refused("script_not_runnable", message)
            .next(format!("chmod +x {}", file.display()))
            .next("or use executeCommand"))
    }
}

fn missing(reason: &str, file: &Path, program: &str) -> Problem {
    let message = format!(
        "{} needs {program}, and there is none on the PATH",
        file.display()
    );
    refused(reason, message)
}

/// One program after the other, each with its arguments.
pub(crate) struct Steps {
    pub list: Vec<(PathBuf, Vec<OsString>)>,
    /// Holds what an earlier step makes for a later one.
    pub folder: Option<TempDir>,
}

impl Steps {
    fn one<'a>(program: &Path, arguments: impl IntoIterator<Item = &'a OsStr>) -> Self {
        let arguments = arguments.into_iter().map(OsStr::to_owned).collect();
        Self {
            list: vec![(program.to_owned(), arguments)],
            folder: None,
        }
    }
}

/// How TypeScript is run.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TypeScript {
    /// By tsx.
    Tsx(PathBuf),
    /// By Node, which leaves out the types.
    Node { flag: Option<&'static str> },
    /// By Node, after esbuild made one file of it.
    Bundle(PathBuf),
}

impl TypeScript {
    /// A project that has tsx means to use it: Node alone reads less (no enums, no imports
    /// without endings).
    fn choose(
        node: Option<(u32, u32)>,
        own_tsx: Option<PathBuf>,
        tsx: Option<PathBuf>,
        esbuild: Option<PathBuf>,
    ) -> Option<Self> {
        let stripping = match node {
            Some((22, 18..) | (23, 6..) | (24.., _)) => Some(Self::Node { flag: None }),
            Some((22, 6..) | (23, _)) => Some(Self::Node {
                flag: Some("--experimental-strip-types"),
            }),
            _ => None,
        };
        own_tsx
            .map(Self::Tsx)
            .or(stripping)
            .or_else(|| tsx.map(Self::Tsx))
            .or_else(|| esbuild.map(Self::Bundle))
    }
}

fn bundled(node: &Path, esbuild: &Path, file: &Path) -> Result<Steps, Problem> {
    let folder = tempfile::tempdir().map_err(|error| Problem::internal("bundle", error))?;
    let bundle = folder.path().join("script.cjs");
    let mut outfile = OsString::from("--outfile=");
    outfile.push(&bundle);
    let arguments = vec![
        file.into(),
        "--bundle".into(),
        "--platform=node".into(),
        "--format=cjs".into(),
        "--log-level=warning".into(),
        outfile,
    ];
    Ok(Steps {
        list: vec![
            (esbuild.to_owned(), arguments),
            (node.to_owned(), vec![bundle.into()]),
        ],
        folder: Some(folder),
    })
}

/// A program of the project: in `node_modules` of the file's folder or one above.
fn sibling(file: &Path, name: &str) -> Option<PathBuf> {
    file.ancestors()
        .skip(1)
        .map(|folder| folder.join("node_modules/.bin").join(name))
        .find(|program| program.is_file())
}

/// Node's version, major and minor.
fn version(node: &Path) -> Option<(u32, u32)> {
    let mut command = windlass_process::command(node);
    command.arg("--version");
    let Ok(Ended::Itself { mut stdout, .. }) = windlass_process::run(&mut command, None, ASKING)
    else {
        return None;
    };
    let said = String::from_utf8(stdout.all().ok()?).ok()?;
    let mut numbers = said.trim().trim_start_matches('v').split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// The words of a first line that names a program; those of `env` without it.
fn shebang(text: &str) -> Option<Vec<String>> {
    let line = text.strip_prefix("#!")?.lines().next()?.trim();
    let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    if words.first().is_some_and(|first| first.ends_with("/env")) {
        words.remove(0);
        if words.first().is_some_and(|first| first == "-S") {
            words.remove(0);
        }
    }
    (!words.is_empty()).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typescript_is_run_by_what_there_is() {
        let path = |name: &str| Some(PathBuf::from(name));
        let tsx = |name: &str| Some(TypeScript::Tsx(PathBuf::from(name)));
        let node = |flag| Some(TypeScript::Node { flag });
        let old = Some("--experimental-strip-types");
        for (version, own, global, esbuild, expected) in [
            (Some((24, 1)), path("own"), None, None, tsx("own")),
            (Some((24, 1)), None, path("global"), path("e"), node(None)),
            (Some((22, 18)), None, None, None, node(None)),
            (Some((22, 17)), None, path("global"), None, node(old)),
            (Some((22, 6)), None, None, None, node(old)),
            (Some((23, 0)), None, None, None, node(old)),
            (Some((23, 6)), None, None, None, node(None)),
            (Some((22, 5)), None, None, None, None),
            (
                Some((20, 19)),
                None,
                path("global"),
                path("e"),
                tsx("global"),
            ),
            (
                Some((20, 19)),
                None,
                None,
                path("e"),
                Some(TypeScript::Bundle("e".into())),
            ),
            (None, None, None, None, None),
        ] {
            let chosen = TypeScript::choose(version, own, global, esbuild);
            assert_eq!(chosen, expected, "{version:?}");
        }
    }

    #[test]
    fn first_lines() {
        for (text, expected) in [
            ("#!/bin/bash -e\necho", Some(vec!["/bin/bash", "-e"])),
            ("#! /usr/bin/env ruby\n", Some(vec!["ruby"])),
            ("#!/usr/bin/env -S deno run", Some(vec!["deno", "run"])),
            ("#!\n", None),
            ("#!/usr/bin/env\n", None),
            ("echo", None),
        ] {
            let expected = expected.map(|words| words.iter().map(ToString::to_string).collect());
            assert_eq!(shebang(text), expected, "{text}");
        }
    }
}
