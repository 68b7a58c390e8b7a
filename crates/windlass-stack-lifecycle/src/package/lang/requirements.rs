//! Which packages Python code needs: found near the entry file, brought into pip's form.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use fs_err as fs;
use regex::Regex;
use windlass_ports::Runs;
use windlass_stack_config::model::packaging::PythonPackageManager;
use windlass_types::Problem;

use crate::package::failure::{failed, missing_tool, with_hint};
use crate::package::program::Call;
use crate::package::tree::{self, Links, Node};
use crate::package::workshop::{Source, Workshop};

/// Files that name packages; the first one found in a folder counts.
const FILES: [&str; 3] = ["requirements.txt", "pyproject.toml", "Pipfile"];

/// A file that names packages.
pub(super) struct Requirements {
    pub file: PathBuf,
    pub lock: Option<PathBuf>,
    manager: PythonPackageManager,
}

/// The configured file, else the nearest above the entry file.
pub(super) fn find(
    shop: &Workshop<'_>,
    source: &Source<'_>,
    entry: &Path,
) -> Result<Option<Requirements>, Problem> {
    let root = shop.root(source.workload)?;
    let file = match &source.language.package_manager_file {
        Some(written) => Some(shop.inside(source.workload, written)?),
        None => entry
            .ancestors()
            .skip(1)
            .take_while(|it| it.starts_with(&root))
            .flat_map(|folder| FILES.map(|name| folder.join(name)))
            .find(|it| it.is_file()),
    };
    Ok(file.map(|file| {
        let folder = file.parent().unwrap_or(&root);
        let is = |name: &str| file.file_name().is_some_and(|it| it == name);
        let has = |name: &str| folder.join(name).is_file();
        let manager = source.language.package_manager.unwrap_or({
            if is("Pipfile") {
                PythonPackageManager::Pipenv
            } else if is("pyproject.toml") && has("uv.lock") {
                PythonPackageManager::Uv
            } else if is("pyproject.toml") && has("poetry.lock") {
                PythonPackageManager::Poetry
            } else {
                PythonPackageManager::Pip
            }
        });
        let lock = match manager {
            PythonPackageManager::Pip => None,
            PythonPackageManager::Pipenv => Some("Pipfile.lock"),
            PythonPackageManager::Poetry => Some("poetry.lock"),
            PythonPackageManager::Uv => Some("uv.lock"),
        };
        let lock = lock.map(|it| folder.join(it)).filter(|it| it.is_file());
        Requirements {
            file,
            lock,
            manager,
        }
    }))
}

/// The packages, one per line as pip reads them; files they were read from are added to `inputs`.
pub(super) fn list(
    shop: &Workshop<'_>,
    source: &Source<'_>,
    requirements: &Requirements,
    inputs: &mut Vec<PathBuf>,
) -> Result<String, Problem> {
    let workload = source.workload;
    let file = &requirements.file;
    let (tool, program, arguments): (_, _, &[&str]) = match requirements.manager {
        PythonPackageManager::Pip => {
            if file.extension().is_some_and(|it| it == "toml") {
                let text = fs::read_to_string(file).map_err(|it| failed(workload, it))?;
                return of_project(&text).map_err(|it| failed(workload, it));
            }
            let root = shop.root(workload)?;
            let folder = file.parent().unwrap_or(shop.base);
            let mut lines = Vec::new();
            flatten(&root, file, inputs, &mut lines, 0).map_err(|it| failed(workload, it))?;
            for line in &lines {
                let written = line.trim_start_matches("-e").trim();
                if written.starts_with('.') && folder.join(written).is_dir() {
                    let place = tree::inside(&root, folder, written);
                    let place = place.map_err(|it| failed(workload, it))?;
                    let wanted = |path: &str, _| !tree::is_never_packaged(path);
                    for found in shop.walk(workload, &place, Links::Followed, &wanted)? {
                        if let Node::File { source, .. } = found.node {
                            inputs.push(source);
                        }
                    }
                }
            }
            return Ok(lines.into_iter().map(|it| it + "\n").collect());
        }
        PythonPackageManager::Uv => (
            "uv",
            &shop.tools.uv,
            &[
                "export",
                "--frozen",
                "--no-dev",
                "--no-emit-project",
                "--format=requirements-txt",
            ],
        ),
        PythonPackageManager::Poetry => (
            "poetry",
            &shop.tools.poetry,
            &["export", "--format=requirements.txt"],
        ),
        PythonPackageManager::Pipenv => ("pipenv", &shop.tools.pipenv, &["requirements"]),
    };
    let Some(program) = program else {
        let why = format!("its dependencies are locked by {tool}");
        let hint = match requirements.manager {
            PythonPackageManager::Uv => {
                "install uv (pip install uv), or write what it locks: \
                 uv export --no-dev --no-emit-project -o requirements.txt"
            }
            PythonPackageManager::Poetry => {
                "install Poetry (pip install poetry poetry-plugin-export), or write what it locks: \
                 poetry export -o requirements.txt"
            }
            PythonPackageManager::Pipenv => {
                "install Pipenv (pip install pipenv), or write what it locks: \
                 pipenv requirements > requirements.txt"
            }
            PythonPackageManager::Pip => "install pip",
        };
        return Err(missing_tool(workload, tool, &why, hint));
    };
    // Such a program may load plugins of the project and build it.
    (shop.trust)(
        Runs::Code,
        &format!("what {tool} runs to list the packages of \"{workload}\""),
    )?;
    let output = shop
        .runner(workload)
        .run(Call {
            tool,
            program,
            arguments: arguments.iter().map(Into::into).collect(),
            directory: file.parent().unwrap_or(shop.base),
            environment: Vec::new(),
            input: None,
        })
        .map_err(|problem| match (requirements.manager, &requirements.lock) {
            (PythonPackageManager::Poetry, Some(_)) => with_hint(
                problem,
                "poetry export is a plugin: pip install poetry-plugin-export",
            ),
            (_, None) => with_hint(problem, &format!("write its lock file: {tool} lock")),
            _ => problem,
        })?;
    String::from_utf8(output).map_err(|_| {
        with_hint(
            failed(workload, format!("{tool} wrote no text")).with("tool", tool),
            "update it",
        )
    })
}

/// Whether every line is a package of an index by its name: pip runs nothing for it but its own
/// code, if it may use wheels only.
pub(super) fn is_plain(list: &str) -> bool {
    #[expect(clippy::unwrap_used, reason = "a constant pattern, tried by a test")]
    static PLAIN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"^[A-Za-z0-9][\w.-]*\s*(?:\[[\w\s,.-]*\])?\s*(?:[<>=!~][^;@/\\]*)?(?:;[^/\\]*)?$",
        )
        .unwrap()
    });
    list.lines().all(|line| {
        let line = line.trim_end_matches('\\');
        let (options, words): (Vec<&str>, Vec<&str>) = line
            .split_whitespace()
            .take_while(|word| !word.starts_with('#'))
            .partition(|word| word.starts_with('-'));
        options.iter().all(|option| option.starts_with("--hash="))
            && (words.is_empty() || PLAIN.is_match(&words.join(" ")))
    })
}

/// The lines of a file and of those it names by `-r`; constraints keep a path that holds anywhere.
fn flatten(
    root: &Path,
    file: &Path,
    inputs: &mut Vec<PathBuf>,
    lines: &mut Vec<String>,
    depth: u32,
) -> Result<(), String> {
    if depth > 8 {
        return Err(format!("{} names itself by -r", file.display()));
    }
    let folder = file.parent().unwrap_or(root);
    let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    inputs.push(file.to_owned());
    for line in text.lines().map(str::trim) {
        let named = |options: [&str; 2]| {
            let (option, rest) = line.split_once([' ', '='])?;
            options.contains(&option).then(|| rest.trim())
        };
        if let Some(other) = named(["-r", "--requirement"]) {
            flatten(
                root,
                &tree::inside(root, folder, other)?,
                inputs,
                lines,
                depth + 1,
            )?;
        } else if let Some(other) = named(["-c", "--constraint"]) {
            let place = tree::inside(root, folder, other)?;
            lines.push(format!("-c {}", place.display()));
            inputs.push(place);
        } else if !line.is_empty() && !line.starts_with('#') {
            lines.push(line.to_owned());
        }
    }
    Ok(())
}

/// `project.dependencies` of a `pyproject.toml`.
fn of_project(text: &str) -> Result<String, String> {
    let file: toml::Table = text.parse().map_err(|it| format!("pyproject.toml: {it}"))?;
    let listed = file
        .get("project")
        .and_then(|it| it.get("dependencies"))
        .and_then(toml::Value::as_array);
    let poetry = file.get("tool").and_then(|it| it.get("poetry"));
    let poetry = poetry.and_then(|it| it.get("dependencies")?.as_table());
    if listed.is_none() && poetry.is_some_and(|it| it.keys().any(|name| name != "python")) {
        return Err(
            "pyproject.toml lists its packages for Poetry, and there is no poetry.lock: \
                    write it with poetry lock"
                .to_owned(),
        );
    }
    let lines = listed.into_iter().flatten().filter_map(toml::Value::as_str);
    Ok(lines.map(|it| format!("{it}\n")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_packages_are_plain() {
        for list in [
            "",
            "# all\nrequests==2.31.0\nflask[async,dotenv] >= 3, <4 ; python_version < '3.13'\n",
            "a==1 --hash=sha256:00 --hash=sha256:11\n",
            "a==1 \\\n    --hash=sha256:00 \\\n    --hash=sha256:11\n",
            "zope.interface\nPy_x~=1.0  # why\n",
        ] {
            assert!(is_plain(list), "{list}");
        }
        for line in [
            ".",
            "-e .",
            "./pkg",
            "pkg/",
            "/abs/pkg",
            "-r other.txt",
            "--index-url https://evil/simple",
            "--config-settings x",
            "a @ file:///x",
            "a @ git+https://h/x",
            "git+ssh://h/x",
            "https://h/a.tar.gz",
            "a==1 --global-option=x",
            "a.tar.gz/",
            "-c constraints.txt",
        ] {
            assert!(!is_plain(&format!("requests\n{line}\n")), "{line}");
        }
    }

    #[test]
    fn dependencies_of_a_project_file() {
        for (text, expected) in [
            (
                "[project]\ndependencies = ['a==1', 'b>2']",
                Ok("a==1\nb>2\n"),
            ),
            ("[tool.x]\ny = 1", Ok("")),
            ("", Ok("")),
        ] {
            assert_eq!(
                of_project(text).as_deref(),
                expected.as_deref().map_err(|it: &String| it)
            );
        }
        assert!(of_project("[project").is_err());
        let poetry = |text: &str| of_project(&format!("[tool.poetry.dependencies]\n{text}"));
        assert_eq!(poetry("python = '^3.12'").as_deref(), Ok(""));
        assert!(
            poetry("requests = '^2'")
                .unwrap_err()
                .contains("poetry lock")
        );
    }
}
