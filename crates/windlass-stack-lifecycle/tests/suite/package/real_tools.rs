//! The real esbuild, pip and container engine, where they are installed; skipped loudly where not.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use windlass_stack_lifecycle::package::{CliEngine, ContainerEngine as _, Tools};
use windlass_testkit::servers::Podman;

use super::fixture::{Project, names};

const NODE: &str = "WINDLASS_TEST_NODE";

fn path() -> std::ffi::OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

fn tools() -> Tools {
    let home = std::env::var_os("HOME").map(|it| ("HOME".into(), it));
    Tools::find(&path()).with_environment(home)
}

/// esbuild as npm installs it; what is installed stays below the target folder.
fn esbuild() -> Option<PathBuf> {
    let Some(node) = std::env::var_os(NODE).map(PathBuf::from) else {
        eprintln!(
            "SKIPPED, NOTHING WAS BUNDLED: {NODE} does not name Node.js; `cargo xtask test` sets it"
        );
        return None;
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stack-package");
    fs_err::create_dir_all(&folder).unwrap();
    // Tests are processes of their own; one installs, the others wait.
    let lock = fs_err::File::create(folder.join("lock")).unwrap();
    lock.file().lock().unwrap();
    let program = folder.join("node_modules/.bin/esbuild");
    if !program.is_file() {
        fs_err::write(folder.join("package.json"), "{}").unwrap();
        let bin = node.parent().unwrap().to_owned();
        let entries =
            std::iter::once(bin).chain(std::env::split_paths(&path()).collect::<Vec<_>>());
        let done = Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "esbuild@0.25"])
            .env("PATH", std::env::join_paths(entries).unwrap())
            .current_dir(&folder)
            .status()
            .unwrap();
        assert!(done.success());
    }
    Some(program)
}

#[test]
fn typescript_is_bundled_the_same_in_every_folder() {
    let Some(program) = esbuild() else { return };
    let files = [
        (
            "src/api.ts",
            "import { greet } from './greet'; import n from 'native'; export default async (e: { a: string }) => greet(e.a) + n",
        ),
        (
            "src/greet.ts",
            "export const greet = (name: string): string => `hi ${name}`",
        ),
        ("package.json", r#"{"dependencies": {"native": "1"}}"#),
        (
            "node_modules/native/package.json",
            r#"{"main": "index.js"}"#,
        ),
        ("node_modules/native/index.js", "module.exports = 1"),
    ];
    let properties = json!({
        "entryfilePath": "src/api.ts",
        "languageSpecificConfig": {"dependenciesToExcludeFromBundle": ["native"]},
    });
    let pack = || {
        let mut project = Project::new(&files);
        project.tools = tools();
        project.tools.esbuild = Some(program.clone());
        let zip = project.buildpack(properties.clone()).unwrap();
        (project, zip)
    };
    let (first, zip) = pack();
    let (_other, same) = pack();
    assert_eq!(zip.digest, same.digest);
    assert_eq!(zip.handler.as_deref(), Some("index.default"));
    assert_eq!(
        names(&zip.path),
        [
            "index.js",
            "index.js.map",
            "node_modules/native/index.js",
            "node_modules/native/package.json"
        ]
    );
    assert!(first.buildpack(properties.clone()).unwrap().was_cached);
    first.write(
        "src/greet.ts",
        "export const greet = (name: string): string => name",
    );
    assert_ne!(
        first.buildpack(properties.clone()).unwrap().digest,
        zip.digest
    );
    first.write("src/greet.ts", "export const = broken");
    let problem = first.buildpack(properties).unwrap_err();
    let output = problem.details()["output"].as_str().unwrap();
    assert!(output.contains("src/greet.ts:1:13"), "{output}");
}

#[test]
fn es_modules_are_bundled_and_run() {
    let Some(program) = esbuild() else { return };
    let mut project = Project::new(&[
        (
            "a.mjs",
            "import x from './x.cjs'; export const handler = () => x.join('a', 'b')",
        ),
        ("x.cjs", "module.exports = require('path')"),
    ]);
    project.tools = tools();
    project.tools.esbuild = Some(program);
    let config = json!({"disableSourceMaps": true});
    let zip =
        project.buildpack(json!({"entryfilePath": "a.mjs", "languageSpecificConfig": config}));
    let zip = zip.unwrap();
    assert_eq!(names(&zip.path), ["index.mjs"]);
    // Another reader of zips agrees, and what it reads runs.
    let Some(python) = project.tools.python.clone() else {
        eprintln!("SKIPPED, THE BUNDLE WAS NOT RUN: python3 is not in the PATH to unpack it");
        return;
    };
    let unpacked = project.outside("unpacked");
    let done = Command::new(python)
        .args(["-m", "zipfile", "-e"])
        .args([&zip.path, &unpacked])
        .status();
    assert!(done.unwrap().success());
    let said = Command::new(std::env::var_os(NODE).unwrap())
        .args([
            "-e",
            "import('./index.mjs').then(it => console.log(it.handler()))",
        ])
        .current_dir(&unpacked)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&said.stdout), "a/b\n", "{said:?}");
}

#[test]
fn pip_installs_a_local_package_without_a_network() {
    let tools = tools();
    let Some(python) = tools.python.clone() else {
        eprintln!("SKIPPED, PIP WAS NOT TRIED: python3 is not in the PATH");
        return;
    };
    let ready = Command::new(python)
        .args(["-c", "import pip, setuptools"])
        .output()
        .unwrap();
    if !ready.status.success() {
        eprintln!("SKIPPED, PIP WAS NOT TRIED: python3 has no pip or setuptools");
        return;
    }
    let mut project = Project::new(&[
        ("app.py", "import hello"),
        ("requirements.txt", "-r more.txt\n"),
        ("more.txt", "./hello\n"),
        (
            "hello/pyproject.toml",
            "[build-system]\nrequires=[]\nbuild-backend='backend'\nbackend-path=['.']\n[project]\nname='hello'\nversion='1'",
        ),
        ("hello/backend.py", BACKEND),
    ]);
    project.tools = tools.with_environment([("PIP_NO_INDEX".into(), "1".into())]);
    let zip = project
        .buildpack(json!({"entryfilePath": "app.py"}))
        .unwrap();
    let found = names(&zip.path);
    assert!(
        found.contains(&"app.py".to_owned()) && found.contains(&"hello.py".to_owned()),
        "{found:?}"
    );
    assert!(
        !found
            .iter()
            .any(|it| it.ends_with("RECORD") || it.ends_with("direct_url.json")),
        "{found:?}"
    );
    assert!(
        project
            .buildpack(json!({"entryfilePath": "app.py"}))
            .unwrap()
            .was_cached
    );

    let without = json!({"entryfilePath": "app.py", "excludeDependencies": ["Hello"]});
    let found = names(&project.buildpack(without).unwrap().path);
    assert!(!found.contains(&"hello.py".to_owned()), "{found:?}");

    project.write("more.txt", "absent-package==1\n");
    let problem = project
        .buildpack(json!({"entryfilePath": "app.py"}))
        .unwrap_err();
    assert_eq!(problem.details()["tool"], "pip");
    let output = problem.details()["output"].as_str().unwrap();
    assert!(output.contains("absent-package"), "{output}");
}

/// Builds a wheel of one module with the standard library alone.
const BACKEND: &str = r#"
import os, zipfile
def build_wheel(folder, config_settings=None, metadata_directory=None):
    name = 'hello-1-py3-none-any.whl'
    with zipfile.ZipFile(os.path.join(folder, name), 'w') as it:
        it.writestr('hello.py', 'x = 1\n')
        it.writestr('hello-1.dist-info/METADATA', 'Metadata-Version: 2.1\nName: hello\nVersion: 1\n')
        it.writestr('hello-1.dist-info/WHEEL', 'Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
        it.writestr('hello-1.dist-info/RECORD', 'hello.py,,\nhello-1.dist-info/METADATA,,\nhello-1.dist-info/WHEEL,,\nhello-1.dist-info/RECORD,,\n')
    return name
"#;

#[test]
fn a_real_engine_builds_an_image() {
    let Some(podman) = Podman::start() else {
        return;
    };
    let own = podman.environment();
    let own = own
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()));
    let mut tools = tools().with_environment(own);
    tools.container = Some(podman.program().clone());
    let project = Project::new(&[("Dockerfile", "FROM scratch\nCOPY a /a\n"), ("a", "1")]);
    let plan = project.image("custom-dockerfile", json!({"buildContextPath": "."}));
    let plan = plan.unwrap().unwrap();
    let tag = format!("localhost/windlass-test:{}", plan.digest);
    let engine = CliEngine::of(&tools, "web", std::time::Duration::from_secs(300)).unwrap();
    project
        .with(|shop| shop.build_image(&plan, &engine, &tag))
        .unwrap();
    assert!(engine.has("web", &tag).unwrap());
}
