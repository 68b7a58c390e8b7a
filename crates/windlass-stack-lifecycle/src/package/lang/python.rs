//! Python: the modules around the entry file, and the packages they need.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use fs_err as fs;
use regex::Regex;
use windlass_ports::Runs;
use windlass_stack_config::model::function::Architecture;
use windlass_types::Problem;

use super::requirements::{self, Requirements};
use crate::package::failure::{failed, missing_tool, with_hint};
use crate::package::glob::Globs;
use crate::package::program::Call;
use crate::package::stage::{Body, Entry, Staged};
use crate::package::tree::{self, Kind, Links};
use crate::package::workshop::{Source, Workshop};

/// The list of packages inside an image's context.
pub(crate) const IMAGE_REQUIREMENTS: &str = "requirements.windlass.txt";

/// Files of a package whose entry file is Python.
pub(super) fn stage(
    shop: &Workshop<'_>,
    source: &Source<'_>,
    excluded: &Globs,
) -> Result<Staged, Problem> {
    let workload = source.workload;
    let entry = shop.inside(workload, source.entry)?;
    let root = shop.root(workload)?;
    let requirements = requirements::find(shop, source, &entry)?;
    let text = fs::read_to_string(&entry).map_err(|it| failed(workload, it))?;
    let import_root = import_root(&entry, &text, requirements.as_ref(), &root);
    if source.language.minify == Some(true) {
        (shop.progress)(workload, "minify has no effect on Python");
    }
    let mut staged = Staged::default();
    let wanted = |path: &str, kind: Kind| {
        let name = path.rsplit('/').next().unwrap_or(path);
        !excluded.is_match(path)
            && !tree::is_never_packaged(path)
            && match kind {
                Kind::Folder => !matches!(
                    name,
                    "node_modules" | "venv" | "env" | ".tox" | "site-packages"
                ),
                Kind::File => name.ends_with(".py") || name == "py.typed",
            }
    };
    for found in shop.walk(workload, &import_root, Links::Followed, &wanted)? {
        staged.add_found(found.path.clone(), found);
    }
    let start = entry.strip_prefix(&import_root).unwrap_or(&entry);
    let start = start.to_string_lossy().into_owned();
    let stem = start.strip_suffix(".py").unwrap_or(&start);
    let function = source.handler_function.or(source.app).unwrap_or("handler");
    staged.handler = Some(format!("{stem}.{function}"));
    if let Some(requirements) = requirements {
        let list = requirements::list(shop, source, &requirements, &mut staged.inputs)?;
        staged.inputs.push(requirements.file.clone());
        staged.inputs.extend(requirements.lock.clone());
        if source.is_image {
            staged.add(Entry {
                path: IMAGE_REQUIREMENTS.to_owned(),
                body: Body::Bytes(list.into_bytes()),
                executable: false,
            });
        } else if !list.trim().is_empty() {
            install(shop, source, &requirements, &list, &mut staged)?;
        }
    }
    staged.start = start;
    Ok(staged)
}

#[expect(clippy::unwrap_used, reason = "a constant pattern, tried by a test")]
static IMPORT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^\s*(?:from\s+([A-Za-z_]\w*)|import\s+([A-Za-z_]\w*))").unwrap()
});

/// The folder that imports are looked up in. It is the one around the entry file's packages,
/// unless the entry file imports something that only the folder of the dependencies has.
fn import_root(
    entry: &Path,
    text: &str,
    requirements: Option<&Requirements>,
    project: &Path,
) -> PathBuf {
    let near = entry
        .ancestors()
        .skip(1)
        .take_while(|it| it.starts_with(project))
        .find(|it| !it.join("__init__.py").is_file())
        .unwrap_or(project);
    let Some(far) = requirements.and_then(|it| it.file.parent()) else {
        return near.to_owned();
    };
    let has = |folder: &Path, module: &str| {
        folder.join(format!("{module}.py")).is_file() || folder.join(module).is_dir()
    };
    let is_far = near.starts_with(far)
        && IMPORT
            .captures_iter(text)
            .filter_map(|it| it.get(1).or(it.get(2)))
            .any(|it| has(far, it.as_str()) && !has(near, it.as_str()));
    if is_far {
        far.to_owned()
    } else {
        near.to_owned()
    }
}

/// Installs packages for Lambda's platform and stages them.
fn install(
    shop: &Workshop<'_>,
    source: &Source<'_>,
    requirements: &Requirements,
    list: &str,
    staged: &mut Staged,
) -> Result<(), Problem> {
    let workload = source.workload;
    let broken = |error: std::io::Error| failed(workload, error);
    let Some(python) = &shop.tools.python else {
        return Err(missing_tool(
            workload,
            "python3",
            "its dependencies are installed by pip",
            "install Python 3 with pip and have python3 in the PATH",
        ));
    };
    let made = tempfile::tempdir().map_err(broken)?;
    // Packages that are built run their setup.py, a package of the project its own; pip itself
    // would load modules from the folder it is started in.
    let trusted = (shop.trust)(Runs::Code, &format!("what pip builds for \"{workload}\""));
    let folder = match &trusted {
        Ok(()) => requirements.file.parent().unwrap_or(shop.base),
        Err(_) => made.path(),
    };
    if let Err(refused) = &trusted
        && !requirements::is_plain(list)
    {
        return Err(refused.clone());
    }
    let file = made.path().join("requirements.txt");
    fs::write(&file, list).map_err(broken)?;
    let pip = |target: &Path, further: Vec<OsString>| {
        let mut arguments: Vec<OsString> =
            ["-m", "pip", "install", "--target"].map(Into::into).into();
        arguments.push(target.into());
        let rest = [
            "--no-compile",
            "--no-input",
            "--disable-pip-version-check",
            "--quiet",
            "-r",
        ];
        arguments.extend(rest.map(OsString::from));
        arguments.push(file.clone().into());
        arguments.extend(further);
        shop.runner(workload).run(Call {
            tool: "pip",
            program: python,
            arguments,
            directory: folder,
            environment: vec![("PYTHONDONTWRITEBYTECODE", "1".to_owned())],
            input: None,
        })
    };
    (shop.progress)(workload, "installing packages with pip");
    let machine = match source.architecture {
        Architecture::X86_64 => "x86_64",
        Architecture::Arm64 => "aarch64",
    };
    let mut wheels: Vec<OsString> = vec![
        "--only-binary=:all:".into(),
        "--implementation=cp".into(),
        format!("--python-version={}", python_version(source)).into(),
    ];
    for system in ["manylinux_2_28", "manylinux_2_17", "manylinux2014"] {
        wheels.push(format!("--platform={system}_{machine}").into());
    }
    let mut packages = made.path().join("wheels");
    if let Err(problem) = pip(&packages, wheels) {
        if let Err(refused) = trusted {
            return Err(match problem.details().get("output") {
                Some(output) => refused.with("output", output.clone()),
                None => refused,
            });
        }
        // Some packages have no wheel. Built here they are good only without native code.
        packages = made.path().join("built");
        let hint = "see the output of pip; packages of private indexes need PIP_INDEX_URL";
        pip(&packages, Vec::new()).map_err(|problem| with_hint(problem, hint))?;
        if let Some(native) = first_native(workload, &packages)? {
            let cause = format!("{native} was built for this machine, not for Lambda");
            let hint = "use a version with wheels for Linux, or a container";
            return Err(with_hint(failed(workload, cause).with("tool", "pip"), hint));
        }
    }
    let left_out = left_out(&packages, source.exclude_dependencies).map_err(broken)?;
    for found in walk(workload, &packages)? {
        let name = found.path.rsplit('/').next().unwrap_or_default();
        // They say where and when the package was installed.
        let is_record = matches!(
            name,
            "RECORD" | "direct_url.json" | "INSTALLER" | "REQUESTED"
        ) && found.path.contains(".dist-info/");
        if is_record || found.path.starts_with("bin/") || left_out.contains(&found.path) {
            continue;
        }
        if let tree::Node::File { source, executable } = found.node {
            staged.add(Entry {
                path: found.path,
                body: Body::File(source),
                executable,
            });
        }
    }
    staged.made.push(made);
    Ok(())
}

pub(super) fn walk(workload: &str, folder: &Path) -> Result<Vec<tree::Found>, Problem> {
    let real = fs::canonicalize(folder).map_err(|it| failed(workload, it))?;
    let walk = tree::Walk {
        project: &real,
        links: Links::Followed,
        wanted: &|path, _| !tree::is_never_packaged(path),
    };
    walk.files(&real).map_err(|it| failed(workload, it))
}

fn first_native(workload: &str, folder: &Path) -> Result<Option<String>, Problem> {
    let found = walk(workload, folder)?;
    Ok(found
        .into_iter()
        .map(|it| it.path)
        .find(|it| it.ends_with(".so")))
}

/// The installed files of packages that are not wanted, by the records pip keeps.
fn left_out(folder: &Path, names: &[String]) -> std::io::Result<BTreeSet<String>> {
    let names: BTreeSet<String> = names.iter().map(|it| normal_name(it)).collect();
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let file_name = entry.file_name();
        let Some(stem) = file_name
            .to_str()
            .and_then(|it| it.strip_suffix(".dist-info"))
        else {
            continue;
        };
        let name = stem.rsplit_once('-').map_or(stem, |(name, _)| name);
        if names.contains(&normal_name(name)) {
            let record = fs::read_to_string(entry.path().join("RECORD")).unwrap_or_default();
            let listed = record.lines().filter_map(|it| it.split(',').next());
            files.extend(listed.map(|it| it.trim_matches('"').to_owned()));
        }
    }
    Ok(files)
}

/// Names of packages are equal whatever their case and separators.
fn normal_name(name: &str) -> String {
    name.to_lowercase().replace(['_', '.'], "-")
}

/// The version of Python the code runs on.
pub(crate) fn python_version(source: &Source<'_>) -> String {
    let configured = source.language.python_version.as_ref();
    let configured = configured.and_then(|it| it.to_text().literal().map(str::to_owned));
    configured.unwrap_or_else(|| {
        let runtime = source
            .runtime
            .and_then(|it| it.as_str().strip_prefix("python"));
        runtime.unwrap_or("3.13").to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_packages_and_imports() {
        assert_eq!(
            normal_name("Typing_Extensions"),
            normal_name("typing-extensions")
        );
        let text = "import os, sys\nfrom app.x import y\n  import late\nfrom . import z\n";
        let found: Vec<&str> = IMPORT
            .captures_iter(text)
            .filter_map(|it| it.get(1).or(it.get(2)).map(|it| it.as_str()))
            .collect();
        assert_eq!(found, ["os", "app", "late"]);
    }
}
