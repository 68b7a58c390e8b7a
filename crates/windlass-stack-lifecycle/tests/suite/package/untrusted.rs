//! A project that the user has not trusted: packaged without running anything of it, or refused.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::json;
use windlass_stack_lifecycle::package::Tools;
use windlass_types::Problem;

use super::fixture::{OwnBundler, Project, detail, names};

/// A project whose every program leaves a file of its name in a folder beside it.
fn hostile(files: &[(&str, &str)]) -> Project {
    let mut project = Project::new(files);
    project.is_trusted = false;
    fs_err::create_dir(project.outside("marks")).unwrap();
    let mark = |name: &str| project.outside("marks").join(name).display().to_string();
    let own = project.root().join("node_modules/.bin/esbuild");
    fs_err::create_dir_all(own.parent().unwrap()).unwrap();
    let script = format!("#!/bin/sh\n: > '{}'\nexit 1\n", mark("esbuild"));
    fs_err::write(&own, script).unwrap();
    fs_err::set_permissions(&own, PermissionsExt::from_mode(0o755)).unwrap();
    for name in ["setup", "pip", "logging", "sitecustomize"] {
        let text = format!("open({:?}, 'w')\nraise SystemExit(1)\n", mark(name));
        project.write(&format!("{name}.py"), &text);
    }
    project.tools = Tools::find(&std::env::var_os("PATH").unwrap());
    project
}

fn fired(project: &Project) -> Vec<String> {
    let marks: PathBuf = project.outside("marks");
    let mut names: Vec<String> = fs_err::read_dir(marks)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn is_refused(outcome: Result<impl std::fmt::Debug, Problem>) -> bool {
    windlass_ports::trust::is_refusal(&outcome.unwrap_err())
}

#[test]
fn the_projects_bundler_never_runs() {
    let mut project = hostile(&[
        ("a.ts", "export const handler = 1"),
        ("a.js", "exports.handler = 1"),
    ]);
    let settings = json!({ "disableSourceMaps": true });
    for is_trusted in [false, true] {
        project.is_trusted = is_trusted;
        project.tools.bundler = None;
        let refused = project
            .buildpack(json!({ "entryfilePath": "a.ts" }))
            .unwrap_err();
        assert_eq!(detail(&refused, "tool"), "esbuild", "{refused}");
        let plain = project
            .buildpack(json!({ "entryfilePath": "a.js" }))
            .unwrap();
        assert_eq!(names(&plain.path), ["a.js"]);
        project.tools.bundler = Some(OwnBundler::recording(&project, &[]));
        for entry in ["a.ts", "a.js"] {
            let zip = project
                .buildpack(json!({ "entryfilePath": entry, "languageSpecificConfig": settings }));
            assert_eq!(names(&zip.unwrap().path), ["index.js"]);
        }
        assert_eq!(fired(&project), Vec::<String>::new());
    }
}

#[test]
fn pip_neither_builds_the_project_nor_loads_its_modules() {
    let project = hostile(&[("app/main.py", "def handler(a, b): pass\n")]);
    for list in [".\n", "-e .\n", "x @ file:./\n", "--no-binary :all:\nx\n"] {
        project.write("requirements.txt", list);
        assert!(
            is_refused(project.buildpack(json!({ "entryfilePath": "app/main.py" }))),
            "{list}"
        );
    }
    // A name in an index that has nothing: pip is run, in a folder of its own, and fails.
    project.write("requirements.txt", "windlass-no-such-package==0.0.0\n");
    let mut project = project;
    project.tools = project
        .tools
        .clone()
        .with_environment([("PIP_NO_INDEX".into(), "1".into())]);
    let refused = project
        .buildpack(json!({ "entryfilePath": "app/main.py" }))
        .unwrap_err();
    assert!(windlass_ports::trust::is_refusal(&refused), "{refused}");
    assert!(refused.details().contains_key("output"), "{refused:?}");
    assert_eq!(fired(&project), Vec::<String>::new());
    // Where it is trusted, pip starts in the project, whose modules it loads.
    project.is_trusted = true;
    project
        .buildpack(json!({ "entryfilePath": "app/main.py" }))
        .unwrap_err();
    assert_ne!(fired(&project), Vec::<String>::new());
}

#[test]
fn managers_of_packages_do_not_run() {
    for (lock, tool) in [("uv.lock", "uv"), ("poetry.lock", "poetry")] {
        let mut project = hostile(&[
            ("main.py", "def handler(a, b): pass\n"),
            ("pyproject.toml", "[project]\nname = 'x'\n"),
            (lock, ""),
        ]);
        let mark = project.outside("marks").join(tool);
        let program = project.program(tool, &format!(": > '{}'", mark.display()));
        project.tools.uv = Some(program.clone());
        project.tools.poetry = Some(program);
        assert!(
            is_refused(project.buildpack(json!({ "entryfilePath": "main.py" }))),
            "{tool}"
        );
        assert_eq!(fired(&project), Vec::<String>::new());
        project.is_trusted = true;
        project
            .buildpack(json!({ "entryfilePath": "main.py" }))
            .unwrap();
        assert_eq!(fired(&project), [tool]);
    }
}
