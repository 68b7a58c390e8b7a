//! Go: one static program named `bootstrap`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use fs_err as fs;
use windlass_ports::Runs;
use windlass_stack_config::model::function::Architecture;
use windlass_types::Problem;

use crate::package::failure::{failed, with_hint};
use crate::package::program::Call;
use crate::package::stage::{Body, Entry, Staged};
use crate::package::tree::{self, Kind, Links, Node};
use crate::package::workshop::{Source, Workshop};

/// The program of a package.
pub(super) fn stage(
    shop: &Workshop<'_>,
    source: &Source<'_>,
    go: &Path,
) -> Result<Staged, Problem> {
    let workload = source.workload;
    let entry = shop.inside(workload, source.entry)?;
    let root = shop.root(workload)?;
    let folder = entry.parent().unwrap_or(&root);
    let module = folder
        .ancestors()
        .take_while(|it| it.starts_with(&root))
        .find(|it| it.join("go.mod").is_file());
    let Some(module) = module else {
        let cause = format!("there is no go.mod for {}", source.entry);
        let hint = "in its folder: go mod init NAME && go mod tidy";
        return Err(with_hint(failed(workload, cause).with("tool", "go"), hint));
    };
    let mut staged = Staged::default();
    let wanted = |path: &str, kind: Kind| {
        !tree::is_never_packaged(path)
            && match kind {
                Kind::Folder => path.rsplit('/').next() != Some("node_modules"),
                Kind::File => true,
            }
    };
    for found in shop.walk(workload, module, Links::Followed, &wanted)? {
        if let Node::File { source, .. } = found.node {
            staged.inputs.push(source);
        }
    }
    let made = tempfile::tempdir().map_err(|it| failed(workload, it))?;
    let unsummed = without_sums(module, made.path()).map_err(|it| failed(workload, it))?;
    let program = made.path().join("bootstrap");
    let architecture = match source.architecture {
        Architecture::X86_64 => "amd64",
        Architecture::Arm64 => "arm64",
    };
    let mut environment = vec![
        ("GOOS", "linux".to_owned()),
        ("GOARCH", architecture.to_owned()),
        ("CGO_ENABLED", "0".to_owned()),
    ];
    if (shop.trust)(Runs::Installed, "the toolchain that go.mod names").is_err() {
        environment.push(("GOTOOLCHAIN", "local".to_owned()));
    }
    // Neither the folder nor the commit becomes part of the program.
    let mut arguments: Vec<OsString> = vec![
        "build".into(),
        "-trimpath".into(),
        "-buildvcs=false".into(),
        "-ldflags=-s -w -buildid=".into(),
        "-tags=lambda.norpc".into(),
    ];
    if let Some(manifest) = unsummed {
        (shop.progress)(
            workload,
            "there is no go.sum: modules are checked by Go's checksum database only; \
             go mod tidy writes it",
        );
        let mut option = OsString::from("-modfile=");
        option.push(manifest);
        arguments.extend(["-mod=mod".into(), option]);
        environment.push(("GOWORK", "off".to_owned()));
    }
    arguments.extend(["-o".into(), program.clone().into(), ".".into()]);
    (shop.progress)(workload, &format!("building {} with go", source.entry));
    shop.runner(workload)
        .run(Call {
            tool: "go",
            program: go,
            arguments,
            directory: folder,
            environment,
            input: None,
        })
        .map_err(explained)?;
    if fs::metadata(&program).is_err() {
        let cause = "go built no program: the entry file's package must be main";
        return Err(failed(workload, cause).with("tool", "go"));
    }
    staged.add(Entry {
        path: "bootstrap".to_owned(),
        body: Body::File(program),
        executable: true,
    });
    staged.handler = Some("bootstrap".to_owned());
    staged.start = "bootstrap".to_owned();
    staged.made.push(made);
    Ok(staged)
}

/// A copy of the manifest of a module that has dependencies and no `go.sum`: go writes the sums
/// next to the copy, and nothing into the project.
fn without_sums(module: &Path, scratch: &Path) -> std::io::Result<Option<PathBuf>> {
    let manifest = fs::read_to_string(module.join("go.mod"))?;
    let is_vendored = module.join("vendor/modules.txt").is_file();
    if is_vendored || module.join("go.sum").is_file() || !requires(&manifest) {
        return Ok(None);
    }
    let copy = scratch.join("go.mod");
    fs::write(&copy, manifest)?;
    Ok(Some(copy))
}

/// Whether a `go.mod` names a dependency.
fn requires(manifest: &str) -> bool {
    let mut words = manifest.lines().map(str::split_whitespace);
    words.any(|mut words| words.next() == Some("require"))
}

/// A failure of go with what helps.
fn explained(problem: Problem) -> Problem {
    let output = problem.details().get("output").and_then(|it| it.as_str());
    let output = output.unwrap_or_default();
    let hint = if output.contains("go.sum") || output.contains("no required module provides") {
        "go mod tidy in the module's folder, and commit go.mod and go.sum"
    } else if output.contains("toolchain") || output.contains("requires go >=") {
        "install the version of Go that go.mod names, from https://go.dev/dl"
    } else if output.contains("dial tcp") || output.contains("i/o timeout") {
        "modules are fetched from GOPROXY: connect this machine, or set GOPROXY to a mirror"
    } else {
        return problem;
    };
    with_hint(problem, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_of_a_manifest() {
        for (text, expected) in [
            ("module x\n\ngo 1.23\n", false),
            ("module x\nrequire a.example/b v1.0.0\n", true),
            ("module x\nrequire (\n\ta.example/b v1.0.0\n)\n", true),
            ("module require\n// require nothing\n", false),
        ] {
            assert_eq!(requires(text), expected, "{text}");
        }
    }
}
