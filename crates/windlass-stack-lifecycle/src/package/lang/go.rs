//! Go: one static program named `bootstrap`.

use std::path::Path;

use fs_err as fs;
use windlass_ports::Runs;
use windlass_stack_config::model::function::Architecture;
use windlass_types::Problem;

use crate::package::failure::failed;
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
        .find(|it| it.join("go.mod").is_file())
        .unwrap_or(folder);
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
    (shop.progress)(workload, &format!("building {} with go", source.entry));
    shop.runner(workload).run(Call {
        tool: "go",
        program: go,
        // Neither the folder nor the commit becomes part of the program.
        arguments: vec![
            "build".into(),
            "-trimpath".into(),
            "-buildvcs=false".into(),
            "-ldflags=-s -w -buildid=".into(),
            "-tags=lambda.norpc".into(),
            "-o".into(),
            program.clone().into(),
            ".".into(),
        ],
        directory: folder,
        environment,
        input: None,
    })?;
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
