//! Configs and directives that are programs, run by the real Node and Python where there are.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use windlass_stack_config::{CustomCall, Interpreters, find_config, load_file};

use super::world::{Answers, context};

fn interpreters() -> Interpreters {
    let path = std::env::var_os("PATH").unwrap_or_default();
    Interpreters::find(&path, [("PATH".into(), path.clone())])
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs_err::write(&path, text).unwrap();
    path
}

const CONFIG: &str = "
console.log('hello from the config');
export default ({ stage, projectName, cliArgs }) => ({
  resources: {
    files: {
      type: 'bucket',
      properties: { versioning: stage === 'dev' },
      transforms: { FilesBucket: (properties) => ({ ...properties, BucketName: projectName }) },
    },
  },
  variables: { release: cliArgs.release },
  finalTransform: (template) => ({ ...template, Description: 'changed' }),
});
";

#[test]
fn a_javascript_config_is_run_and_its_transforms_are_applied() {
    let programs = interpreters();
    if programs.node.is_none() {
        eprintln!("SKIPPED: no Node on the PATH");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "package.json", r#"{"type": "module"}"#);
    let file = write(folder.path(), "stacktape.js", CONFIG);
    let context = context(folder.path(), &Answers);
    let read = load_file(&file, &context, &programs, "deploy").unwrap();
    assert!(read.has_transforms);
    let config = serde_json::to_value(&read.loaded.config).unwrap();
    assert_eq!(
        config["resources"]["files"]["properties"]["versioning"],
        true
    );
    assert_eq!(config["variables"]["release"], 7);
    let template = json!({ "Resources": { "FilesBucket": { "Type": "AWS::S3::Bucket" } } });
    let changed = programs
        .transform(&file, &context, "deploy", &template)
        .unwrap();
    assert_eq!(changed["Description"], "changed");
    assert_eq!(
        changed["Resources"]["FilesBucket"]["Properties"]["BucketName"],
        "shop"
    );
}

/// As bundlers write it: Node finds no name in it by reading.
const PACKAGE: &str = "
const all = {};
const names = {
  Bucket: () => class Bucket { constructor(properties) { this.type = 'bucket'; this.properties = properties; } },
  defineConfig: () => (make) => make,
  $Secret: () => (name) => `$Secret('${name}')`,
};
for (const name of Object.keys(names)) Object.defineProperty(all, name, { get: names[name], enumerable: true });
Object.defineProperty(all, '__esModule', { value: true });
module.exports = all;
";

#[test]
fn names_are_imported_from_commonjs_packages_as_a_bundler_would() {
    let programs = interpreters();
    if programs.node.is_none() {
        eprintln!("SKIPPED: no Node on the PATH");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("node_modules/stacktape");
    fs_err::create_dir_all(&package).unwrap();
    write(
        &package,
        "package.json",
        r#"{"name": "stacktape", "main": "./index.js"}"#,
    );
    write(&package, "index.js", PACKAGE);
    write(
        folder.path(),
        "lib.mjs",
        "export { versioning } from './shared';",
    );
    write(
        folder.path(),
        "shared.mjs",
        "export const versioning = true;",
    );
    write(folder.path(), "names.json", r#"{"files": "uploads"}"#);
    write(
        folder.path(),
        "tsconfig.json",
        "{ // paths\n \"compilerOptions\": { \"paths\": { \"@lib/*\": [\"./*\"], } } }",
    );
    let text = "
        import { Bucket, defineConfig as define, $Secret, OnlyAType } from 'stacktape';
        import * as all from 'stacktape';
        import names from './names.json';
        import { versioning } from '@lib/lib';
        export default define(({ stage }) => ({
          resources: {
            [names.files]: new all.Bucket({ versioning }),
            other: new Bucket({ versioning: stage === 'other' }),
          },
          variables: { key: $Secret('key') },
        }));";
    let file = write(folder.path(), "stacktape.mjs", text);
    let context = context(folder.path(), &Answers);
    let read = load_file(&file, &context, &programs, "deploy").unwrap();
    let config = serde_json::to_value(&read.loaded.config).unwrap();
    let versioning = |name: &str| config["resources"][name]["properties"]["versioning"].clone();
    assert_eq!(
        (versioning("uploads"), versioning("other")),
        (true.into(), false.into())
    );

    let text = "
        import { Bucket, Bukket } from 'stacktape';
        export default { resources: { a: new Bukket({}), b: new Bucket({}) } };";
    let file = write(folder.path(), "stacktape.mjs", text);
    let problem = load_file(&file, &context, &programs, "deploy").unwrap_err();
    insta::assert_snapshot!(
        problem.message(),
        @r#"stacktape.mjs failed: the installed package stacktape has no export "Bukket""#
    );
}

#[test]
fn failing_programs_say_why() {
    let programs = interpreters();
    if programs.node.is_none() {
        eprintln!("SKIPPED: no Node on the PATH");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "pnpm-lock.yaml", "");
    let context = context(folder.path(), &Answers);
    for (text, reason, said) in [
        (
            "throw new Error('broken on purpose')",
            "config_invalid",
            "broken on purpose",
        ),
        (
            "export default () => 5",
            "config_invalid",
            "gives no config",
        ),
        ("export const x = 1", "config_invalid", "no default export"),
        (
            "process.exit(3)",
            "config_invalid",
            "ended without an answer",
        ),
        (
            "import { defineConfig } from 'stacktape'; export default defineConfig",
            "dependencies_missing",
            "not installed",
        ),
        (
            "export default { resources: { a: { type: 'bucket', properties: { versionin: 1 } } } }",
            "config_invalid",
            "unknown property \"versionin\"",
        ),
    ] {
        let file = write(folder.path(), "stacktape.mjs", text);
        let problem = load_file(&file, &context, &programs, "deploy").unwrap_err();
        assert_eq!(problem.details()["reason"], reason, "{}", problem.message());
        assert!(problem.message().contains(said), "{}", problem.message());
        if reason == "dependencies_missing" {
            assert_eq!(problem.next_actions(), ["run pnpm install"]);
        }
    }
}

#[test]
fn typescript_without_a_compiler_is_explained() {
    let programs = interpreters();
    if programs.node.is_none() {
        eprintln!("SKIPPED: no Node on the PATH");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let text = "const stage: string = 'x'; export default { resources: {} };";
    let file = write(folder.path(), "stacktape.ts", text);
    let context = context(folder.path(), &Answers);
    // A Node that reads TypeScript accepts it; an older one explains what is missing.
    if let Err(problem) = load_file(&file, &context, &programs, "deploy") {
        assert_eq!(problem.details()["reason"], "typescript_not_found");
        // With a compiler in the project it is read.
        let package = folder.path().join("node_modules/typescript");
        fs_err::create_dir_all(&package).unwrap();
        write(
            &package,
            "index.js",
            "module.exports = { ModuleKind: {}, ScriptTarget: {}, transpileModule: (source) => \
             ({ outputText: source.replace(': string', '') }) };",
        );
        load_file(&file, &context, &programs, "deploy").unwrap();
    }
}

#[test]
fn without_node_the_error_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "stacktape.ts", "export default {}");
    write(folder.path(), "stacktape.yml", "resources: {}");
    assert_eq!(find_config(folder.path(), None).unwrap(), file);
    let context = context(folder.path(), &Answers);
    let none = Interpreters::default();
    let problem = load_file(&file, &context, &none, "deploy").unwrap_err();
    assert_eq!(problem.details()["reason"], "node_not_found");
    insta::assert_snapshot!(problem.message(), @"stacktape.ts needs Node, and there is none on the PATH");
    let named = find_config(folder.path(), Some("stacktape.yml")).unwrap();
    assert!(load_file(&named, &context, &none, "deploy").is_ok());
    assert_eq!(
        find_config(folder.path(), Some("other.yml"))
            .unwrap_err()
            .details()["reason"],
        "config_missing"
    );
}

#[test]
fn custom_directives_run() {
    let programs = interpreters();
    let folder = tempfile::tempdir().unwrap();
    let mut call = CustomCall {
        name: "Join".to_owned(),
        file: write(
            folder.path(),
            "join.mjs",
            "console.log('noise'); export const both = async (a, b) => ({ text: a + b });",
        ),
        function: Some("both".to_owned()),
        arguments: vec![json!("a"), json!(1)],
    };
    if programs.node.is_some() {
        assert_eq!(programs.directive(&call).unwrap(), json!({ "text": "a1" }));
        call.function = Some("absent".to_owned());
        let problem = programs.directive(&call).unwrap_err();
        assert!(problem.message().contains("no such function"));
        assert_eq!(problem.details()["directive"], "Join");
    } else {
        eprintln!("SKIPPED: no Node on the PATH");
    }
    call.file = write(
        folder.path(),
        "join.py",
        "print('noise')\ndef Join(a, b):\n    return [a, b, None]\n",
    );
    call.function = None;
    if programs.python.is_some() {
        assert_eq!(
            programs.directive(&call).unwrap(),
            json!(["a", 1, Value::Null])
        );
    } else {
        eprintln!("SKIPPED: no Python on the PATH");
    }
    let problem = Interpreters::default().directive(&call).unwrap_err();
    assert_eq!(problem.details()["reason"], "python_not_found");
}
