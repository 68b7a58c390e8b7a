//! The real esbuild, pip and container engine, where they are installed; skipped loudly where not.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use serde_json::json;
use tokio::runtime::Runtime;
use windlass_bundler::{BundlerOptions, PinnedBundler, Release};
use windlass_config::Environment;
use windlass_net::{HttpOutbound, OutboundPolicy};
use windlass_ports::Bundler;
use windlass_stack_config::{CustomCall, Interpreters};
use windlass_stack_lifecycle::package::{CliEngine, ContainerEngine as _, Tools};
use windlass_testkit::servers::{NpmRegistry, Podman};

use super::fixture::{Project, names};

const NODE: &str = "WINDLASS_TEST_NODE";

fn path() -> std::ffi::OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

fn tools() -> Tools {
    let home = std::env::var_os("HOME").map(|it| ("HOME".into(), it));
    Tools::find(&path()).with_environment(home)
}

/// Packages as npm fetches them from the registry this machine has; below the target folder.
/// None where there is no Node for tests.
fn npm(folder: &str, command: &str, packages: &[String]) -> Option<PathBuf> {
    let Some(node) = std::env::var_os(NODE).map(PathBuf::from) else {
        eprintln!(
            "SKIPPED, NOTHING WAS BUNDLED: {NODE} does not name Node.js; `cargo xtask test` sets it"
        );
        return None;
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("stack-package")
        .join(folder);
    fs_err::create_dir_all(&folder).unwrap();
    // Tests are processes of their own; one fetches, the others wait.
    let lock = fs_err::File::create(folder.join("lock")).unwrap();
    lock.file().lock().unwrap();
    let done = folder.join(packages.join(" ").replace('/', "-"));
    if !done.is_file() {
        fs_err::write(folder.join("package.json"), "{}").unwrap();
        let bin = node.parent().unwrap().to_owned();
        let entries =
            std::iter::once(bin).chain(std::env::split_paths(&path()).collect::<Vec<_>>());
        let status = Command::new("npm")
            .args([
                command,
                "--silent",
                "--no-audit",
                "--no-fund",
                "--ignore-scripts",
            ])
            .args(packages)
            .env("PATH", std::env::join_paths(entries).unwrap())
            .current_dir(&folder)
            .status()
            .unwrap();
        assert!(status.success());
        fs_err::write(&done, "").unwrap();
    }
    Some(folder)
}

/// The real packages of the pinned release, served by a registry of this test.
fn registry() -> Option<NpmRegistry> {
    let release = Release::of_this_machine();
    let pinned = [release.esbuild?, release.interface, release.typescript];
    let wanted = pinned.map(|it| format!("{}@{}", it.name, it.version));
    let folder = npm("registry", "pack", &wanted)?;
    Some(NpmRegistry::start(move |path| {
        // npm writes the scope of a package into the name of its tarball.
        let scope = if path.starts_with("/@esbuild/") {
            "esbuild-"
        } else {
            ""
        };
        let file = path.rsplit('/').next().unwrap();
        NpmRegistry::ok(&fs_err::read(folder.join(format!("{scope}{file}"))).unwrap())
    }))
}

/// The pinned bundler, with an empty cache.
struct Fetched {
    registry: NpmRegistry,
    cache: tempfile::TempDir,
    runtime: Runtime,
}

impl Fetched {
    fn new() -> Option<Self> {
        Some(Self {
            registry: registry()?,
            cache: tempfile::tempdir().unwrap(),
            runtime: Runtime::new().unwrap(),
        })
    }

    fn bundler(&self) -> Arc<dyn Bundler> {
        Arc::new(PinnedBundler::new(BundlerOptions {
            release: Release::of_this_machine(),
            cache: self.cache.path().to_owned(),
            outbound: Arc::new(HttpOutbound::new(OutboundPolicy {
                allow_private: true,
                allow_http: true,
                allowed_hosts: None,
            })),
            environment: Environment::from_pairs([(
                "NPM_CONFIG_REGISTRY",
                self.registry.url().as_str(),
            )]),
            esbuild: None,
            refuse_downloads: false,
            runtime: self.runtime.handle().clone(),
        }))
    }

    fn tools(&self) -> Tools {
        let mut tools = tools().with_bundler(self.bundler());
        tools.node = std::env::var_os(NODE).map(PathBuf::from);
        tools
    }
}

/// What Node prints for a script beside an unpacked zip.
fn run(project: &Project, zip: &Path, script: &str) -> Option<String> {
    // Another reader of zips agrees.
    let Some(python) = project.tools.python.clone() else {
        eprintln!("SKIPPED, THE BUNDLE WAS NOT RUN: python3 is not in the PATH to unpack it");
        return None;
    };
    let unpacked = project.outside("unpacked");
    let done = Command::new(python)
        .args(["-m", "zipfile", "-e"])
        .args([zip, &unpacked])
        .status();
    assert!(done.unwrap().success());
    let said = Command::new(std::env::var_os(NODE).unwrap())
        .args(["-e", script])
        .current_dir(&unpacked)
        .output()
        .unwrap();
    assert!(said.status.success(), "{said:?}");
    Some(String::from_utf8_lossy(&said.stdout).into_owned())
}

#[test]
fn typescript_is_bundled_the_same_in_every_folder() {
    let Some(fetched) = Fetched::new() else {
        return;
    };
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
        project.tools = fetched.tools();
        let zip = project.buildpack(properties.clone()).unwrap();
        (project, zip)
    };
    let (first, zip) = pack();
    let (_other, same) = pack();
    assert_eq!(zip.digest, same.digest);
    // The second one found it in the cache.
    assert_eq!(fetched.registry.heard().len(), 1);
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
    let script = "require('./index.js').default({ a: 'Ada' }).then(it => console.log(it))";
    if let Some(said) = run(&first, &zip.path, script) {
        assert_eq!(said, "hi Ada1\n");
    }
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
    let Some(fetched) = Fetched::new() else {
        return;
    };
    let mut project = Project::new(&[
        (
            "a.mjs",
            "import x from './x.cjs'; export const handler = () => x.join('a', 'b')",
        ),
        ("x.cjs", "module.exports = require('path')"),
    ]);
    project.tools = fetched.tools();
    let config = json!({"disableSourceMaps": true});
    let zip =
        project.buildpack(json!({"entryfilePath": "a.mjs", "languageSpecificConfig": config}));
    let zip = zip.unwrap();
    assert_eq!(names(&zip.path), ["index.mjs"]);
    let script = "import('./index.mjs').then(it => console.log(it.handler()))";
    if let Some(said) = run(&project, &zip.path, script) {
        assert_eq!(said, "a/b\n");
    }
}

#[test]
fn code_of_a_config_is_read_by_the_same_esbuild() {
    let Some(fetched) = Fetched::new() else {
        return;
    };
    let project = Project::new(&[
        (
            "own.ts",
            "import { prefix } from './prefix';\n\
             export const Own = (name: string): string => prefix + name;",
        ),
        ("prefix.ts", "export const prefix: string = 'x-';"),
    ]);
    // A Node from 22.18 on reads it by itself.
    let variables = std::env::vars_os().filter(|(name, _)| name == "PATH");
    let interpreters = Interpreters::find(&path(), variables).with_bundler(fetched.bundler());
    if interpreters.node.is_none() {
        eprintln!("SKIPPED, NO CODE WAS READ: there is no Node in the PATH");
        return;
    }
    let call = CustomCall {
        name: "Own".to_owned(),
        file: project.root().join("own.ts"),
        function: None,
        arguments: vec![json!("queue")],
    };
    assert_eq!(interpreters.directive(&call).unwrap(), "x-queue");
}

#[test]
fn packages_that_another_can_do_without_are_left_out() {
    let Some(fetched) = Fetched::new() else {
        return;
    };
    let mut project = Project::new(&[
        (
            "a.js",
            "const a = require('a'); exports.handler = () => a.load('absent')",
        ),
        ("package.json", "{}"),
        ("node_modules/a/package.json", r#"{"dependencies": {}}"#),
        (
            "node_modules/a/index.js",
            "const get = (load) => { try { return load(); } catch (e) { return e.code; } };\n\
             exports.load = () => get(() => require('absent')) + get(() => require('@absent/b/deep'));",
        ),
    ]);
    project.tools = fetched.tools();
    let zip = project.buildpack(json!({"entryfilePath": "a.js"})).unwrap();
    let script = "console.log(require('./index.js').handler())";
    if let Some(said) = run(&project, &zip.path, script) {
        assert_eq!(said, "MODULE_NOT_FOUNDMODULE_NOT_FOUND\n");
    }
    let heard = project.heard.borrow().join("\n");
    assert!(heard.contains("@absent/b/deep is not installed"), "{heard}");
    // What the project itself needs has to be there.
    project.write("a.js", "require('absent')");
    let problem = project
        .buildpack(json!({"entryfilePath": "a.js"}))
        .unwrap_err();
    assert!(
        problem.details()["hint"]
            .as_str()
            .unwrap()
            .starts_with("npm install"),
        "{problem:?}"
    );
}

/// NestJS finds what a class needs by the metadata of its decorators, and nothing else.
#[test]
fn nestjs_starts_from_its_bundle() {
    let Some(fetched) = Fetched::new() else {
        return;
    };
    let packages = [
        "@nestjs/common@11.1.13",
        "@nestjs/core@11.1.13",
        "@nestjs/platform-express@11.1.13",
        "reflect-metadata@0.2.2",
        "rxjs@7.8.2",
    ];
    let Some(installed) = npm("nestjs", "install", &packages.map(str::to_owned)) else {
        return;
    };
    let mut project = Project::new(&[
        ("package.json", "{}"),
        (
            "tsconfig.json",
            "{ \"compilerOptions\": { \"target\": \"es2021\", \"experimentalDecorators\": true, // why\n \
             \"emitDecoratorMetadata\": true, }, }",
        ),
        (
            "src/names.ts",
            "export interface Named { name: string }\nexport const names = ['Ada'];",
        ),
        (
            "src/greeter.ts",
            "import { Injectable } from '@nestjs/common';\nimport { names, Named } from './names';\n\
             @Injectable() export class Greeter { greet(to: Named) { return `hi ${to.name || names[0]}`; } }",
        ),
        (
            "src/main.ts",
            "import 'reflect-metadata';\nimport { Controller, Get, Module, Param } from '@nestjs/common';\n\
             import { NestFactory } from '@nestjs/core';\nimport { Greeter } from './greeter';\n\
             @Controller() class Api { constructor(private readonly greeter: Greeter) {}\n\
             @Get('hi/:name') hi(@Param('name') name: string) { return this.greeter.greet({ name }); } }\n\
             @Module({ controllers: [Api], providers: [Greeter] }) class App {}\n\
             export const start = () => NestFactory.create(App, { logger: ['error'] });",
        ),
    ]);
    let modules = project.root().join("node_modules");
    fs_err::rename(
        copied(&installed.join("node_modules"), &project.outside("copy")),
        modules,
    )
    .unwrap();
    project.tools = fetched.tools();
    let zip = project
        .buildpack(json!({"entryfilePath": "src/main.ts"}))
        .unwrap();
    assert_eq!(names(&zip.path), ["index.js", "index.js.map"]);
    let script = "require('./index.js').start().then(async (app) => { \
                  await app.listen(0, '127.0.0.1'); \
                  const { port } = app.getHttpServer().address(); \
                  console.log(await (await fetch(`http://127.0.0.1:${port}/hi/Bob`)).text()); \
                  await app.close(); process.exit(0); })";
    if let Some(said) = run(&project, &zip.path, script) {
        assert_eq!(said, "hi Bob\n");
    }
    // The same bundle without metadata knows nothing about the constructor.
    let off = json!({"emitTsDecoratorMetadata": false});
    let plain = project
        .buildpack(json!({"entryfilePath": "src/main.ts", "languageSpecificConfig": off}))
        .unwrap();
    assert_ne!(plain.digest, zip.digest);
}

/// A copy of a folder.
fn copied(from: &Path, to: &Path) -> PathBuf {
    let done = Command::new("cp").arg("-R").args([from, to]).status();
    assert!(done.unwrap().success());
    to.to_owned()
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
