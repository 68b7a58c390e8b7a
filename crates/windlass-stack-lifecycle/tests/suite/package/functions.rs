//! Functions: what goes into a package, when it is made again, what is refused.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;
use windlass_ports::trust;

use super::fixture::{Offline, OwnBundler, Project, detail, names};

#[test]
fn plain_javascript_takes_what_it_imports_and_what_that_needs() {
    let project = Project::new(&[
        (
            "src/api.js",
            "const h = require('./help'); const a = require('a'); require('fs'); exports.handler = 1",
        ),
        ("src/help.js", "require('./data.json')"),
        ("src/data.json", "{}"),
        ("src/unused.js", ""),
        ("package.json", r#"{"dependencies": {"a": "1"}}"#),
        (
            "node_modules/a/package.json",
            r#"{"dependencies": {"b": "1"}, "optionalDependencies": {"gone": "1"}}"#,
        ),
        ("node_modules/a/index.js", ""),
        ("node_modules/b/package.json", "{}"),
        ("node_modules/c/package.json", "{}"),
        ("docs/note.txt", "x"),
        ("docs/skip.txt", "x"),
    ]);
    let properties = json!({
        "entryfilePath": "src/api.js",
        "includeFiles": ["docs/**"],
        "excludeFiles": ["**/skip.*"],
    });
    let zip = project.buildpack(properties.clone()).unwrap();
    assert_eq!(
        names(&zip.path),
        [
            "docs/note.txt",
            "node_modules/a/index.js",
            "node_modules/a/package.json",
            "node_modules/b/package.json",
            "package.json",
            "src/api.js",
            "src/data.json",
            "src/help.js",
        ]
    );
    assert_eq!(zip.handler.as_deref(), Some("src/api.handler"));
    assert!(!zip.was_cached && zip.fits_direct_upload());

    // Unchanged: the same without work. Changed in any input, also a new name: made again.
    let again = project.buildpack(properties.clone()).unwrap();
    assert!(again.was_cached && again.digest == zip.digest);
    project.write("node_modules/b/package.json", "{ }");
    let changed = project.buildpack(properties.clone()).unwrap();
    assert!(!changed.was_cached && changed.digest != zip.digest);
    project.write("src/new.js", "");
    let same = project.buildpack(properties.clone()).unwrap();
    assert!(!same.was_cached && same.digest == changed.digest);
    // A damaged package in the cache is made again.
    fs_err::write(&same.path, "broken").unwrap();
    let repaired = project.buildpack(properties).unwrap();
    assert!(!repaired.was_cached && repaired.digest == same.digest);
    assert_ne!(fs_err::read(&repaired.path).unwrap(), b"broken");
}

#[test]
fn what_cannot_be_packaged_says_why_and_what_to_do() {
    let files = [
        "a.ts",
        "a.java",
        "a.rb",
        "a.php",
        "a.cs",
        "a.go",
        "a.xyz",
        "noextension",
    ];
    let files: Vec<_> = files.iter().map(|it| (*it, "")).collect();
    let project = Project::new(&files);
    project.write("missing.js", "require('absent')");
    project.write("lost.js", "require('./absent')");
    for (entry, tool, hint) in [
        ("a.ts", "esbuild", ""),
        ("a.java", "gradle", "custom-artifact"),
        ("a.rb", "bundle", "custom-artifact"),
        ("a.php", "composer", "custom-artifact"),
        ("a.cs", "dotnet", "custom-artifact"),
        ("a.go", "go", "go.dev"),
        ("a.xyz", "", "entry files end in"),
        ("noextension", "", "entry files end in"),
        ("missing.js", "npm", "npm install"),
        ("lost.js", "", ""),
        ("nowhere.js", "", "relative to the config"),
        ("../../etc/passwd.js", "", "relative to the config"),
    ] {
        let problem = project
            .buildpack(json!({"entryfilePath": entry}))
            .unwrap_err();
        assert_eq!(detail(&problem, "reason"), "packaging_failed", "{entry}");
        assert_eq!(detail(&problem, "workload"), "api", "{entry}");
        assert_eq!(detail(&problem, "tool"), tool, "{entry}: {problem}");
        assert!(
            detail(&problem, "hint").contains(hint),
            "{entry}: {problem:?}"
        );
    }
}

#[test]
fn a_registry_that_does_not_answer_makes_no_other_package() {
    let mut project = Project::new(&[("a.ts", ""), ("a.js", "exports.handler = 1")]);
    project.tools.bundler = Some(Arc::new(Offline));
    for entry in ["a.ts", "a.js"] {
        let problem = project
            .buildpack(json!({"entryfilePath": entry}))
            .unwrap_err();
        assert!(problem.message().contains("npm.example"), "{problem}");
        assert_eq!(detail(&problem, "reason"), "packaging_failed");
        assert_eq!(detail(&problem, "tool"), "esbuild");
        assert_eq!(
            problem.next_actions(),
            ["connect this machine", "or name one"]
        );
    }
}

#[test]
fn decorator_metadata_takes_node_only_where_a_source_has_decorators() {
    let plain = "export const handler = () => 'a@b.example';";
    let decorated = "@Injectable()\nexport class A {}";
    let on = r#"{ "compilerOptions": { "emitDecoratorMetadata": true, } } // as Nest has it"#;
    let maps = |more: serde_json::Value| {
        let mut config = json!({ "disableSourceMaps": true });
        config
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        config
    };
    for (source, tsconfig, config, takes_node) in [
        (plain, on, json!({}), false),
        (decorated, "{}", json!({}), false),
        (decorated, on, json!({}), true),
        (
            decorated,
            "{}",
            json!({"emitTsDecoratorMetadata": true}),
            true,
        ),
        (
            decorated,
            on,
            json!({"emitTsDecoratorMetadata": false}),
            false,
        ),
    ] {
        let mut project = Project::new(&[("src/a.ts", source), ("tsconfig.json", tsconfig)]);
        project.tools.bundler = Some(OwnBundler::recording(&project, &["src/a.ts"]));
        let outcome = project.buildpack(
            json!({"entryfilePath": "src/a.ts", "languageSpecificConfig": maps(config.clone())}),
        );
        match takes_node {
            false => assert_eq!(names(&outcome.unwrap().path), ["index.js"]),
            true => {
                let problem = outcome.unwrap_err();
                assert_eq!(
                    detail(&problem, "tool"),
                    "node",
                    "{source} {config}: {problem}"
                );
                assert!(detail(&problem, "hint").starts_with("install Node"));
            }
        }
    }
}

#[test]
fn java_is_built_by_gradle_where_it_is_trusted() {
    let file = (
        "src/main/java/posts/Save.java",
        "package posts;\nclass Save {}\n",
    );
    let properties = json!({"entryfilePath": file.0});
    let mut project = Project::new(&[file, ("build.gradle", "plugins { id 'java' }")]);
    let missing = project.buildpack(properties.clone()).unwrap_err();
    assert!(
        detail(&missing, "hint").contains("gradle wrapper"),
        "{missing:?}"
    );
    let script = r#"for it; do case "$it" in -Dwindlass.scratch=*) place="${it#*=}/package" ;; esac; done
        mkdir -p "$place/posts" "$place/lib"; echo class > "$place/posts/Save.class"
        echo jar > "$place/lib/gson.jar""#;
    project.tools.gradle = Some(project.program("gradle", script));
    project.is_trusted = false;
    let refused = project.buildpack(properties.clone()).unwrap_err();
    assert!(trust::is_refusal(&refused), "{refused}");
    project.is_trusted = true;
    let zip = project.buildpack(properties.clone()).unwrap();
    assert_eq!(names(&zip.path), ["lib/gson.jar", "posts/Save.class"]);
    assert_eq!(zip.handler.as_deref(), Some("posts.Save"));
    // The project's wrapper goes first, and need not be executable.
    project.write("gradlew", "echo 'JAVA_HOME is not set' >&2; exit 1\n");
    let problem = project.buildpack(properties.clone()).unwrap_err();
    assert!(detail(&problem, "hint").contains("JDK"), "{problem:?}");

    let maven = Project::new(&[file, ("pom.xml", "<project/>")]);
    let problem = maven.buildpack(properties).unwrap_err();
    assert_eq!(detail(&problem, "tool"), "mvn");
    assert!(detail(&problem, "hint").contains("custom-artifact"));
}

#[test]
fn go_without_sums_leaves_the_project_as_it_is() {
    let manifest = "module x\nrequire a.example/b v1.0.0\n";
    let mut project = Project::new(&[("go.mod", manifest), ("main.go", "package main")]);
    let script = r#"for it; do case "$it" in -modfile=*) : > "${it#*=}.sum"; cat "${it#*=}" ;; esac; done
        while [ "$1" != -o ]; do shift; done; printf "$GOWORK" > "$2""#;
    project.tools.go = Some(project.program("go", script));
    let properties = json!({"entryfilePath": "main.go"});
    let zip = project.buildpack(properties.clone()).unwrap();
    let bytes = fs_err::read(&zip.path).unwrap();
    assert!(bytes.windows(3).any(|it| it == b"off"));
    assert!(!project.root().join("go.sum").exists());
    let heard = project.heard.borrow().join("\n");
    assert!(heard.contains("go mod tidy"), "{heard}");
    project.write("go.sum", "");
    let zip = project.buildpack(properties.clone()).unwrap();
    let bytes = fs_err::read(&zip.path).unwrap();
    assert!(!bytes.windows(3).any(|it| it == b"off"));

    let script = "echo 'missing go.sum entry for module providing package b' >&2; exit 1";
    project.tools.go = Some(project.program("go", script));
    project.write("main.go", "package main // changed");
    let problem = project.buildpack(properties.clone()).unwrap_err();
    assert!(
        detail(&problem, "hint").starts_with("go mod tidy"),
        "{problem:?}"
    );
    fs_err::remove_file(project.root().join("go.mod")).unwrap();
    let problem = project.buildpack(properties).unwrap_err();
    assert!(
        detail(&problem, "hint").contains("go mod init"),
        "{problem:?}"
    );
}

#[test]
fn go_is_built_as_bootstrap() {
    let mut project = Project::new(&[("go.mod", "module x"), ("cmd/main.go", "package main")]);
    let script =
        r#"while [ "$1" != -o ]; do shift; done; printf "$GOOS $GOARCH $CGO_ENABLED" > "$2""#;
    project.tools.go = Some(project.program("go", script));
    let zip = project
        .buildpack(json!({"entryfilePath": "cmd/main.go"}))
        .unwrap();
    assert_eq!(names(&zip.path), ["bootstrap"]);
    assert_eq!(zip.handler.as_deref(), Some("bootstrap"));
    let bytes = fs_err::read(&zip.path).unwrap();
    assert!(bytes.windows(13).any(|it| it == b"linux amd64 0"));

    project.tools.go = Some(project.program("go", "echo main.go:1: bad >&2; exit 2"));
    project.write("cmd/main.go", "package main // changed");
    let problem = project
        .buildpack(json!({"entryfilePath": "cmd/main.go"}))
        .unwrap_err();
    assert_eq!(detail(&problem, "output"), "main.go:1: bad");
}

#[test]
fn python_finds_its_import_root() {
    for (files, entry, expected, handler) in [
        (
            vec![("app.py", "")],
            "app.py",
            vec!["app.py"],
            "app.handler",
        ),
        (
            vec![("src/app.py", "import util"), ("src/util.py", "")],
            "src/app.py",
            vec!["app.py", "util.py"],
            "app.handler",
        ),
        (
            vec![("pkg/__init__.py", ""), ("pkg/app.py", "")],
            "pkg/app.py:run",
            vec!["pkg/__init__.py", "pkg/app.py"],
            "pkg/app.run",
        ),
        (
            vec![
                ("requirements.txt", ""),
                ("src/app.py", "from src.util import x"),
                ("src/util.py", ""),
            ],
            "src/app.py",
            vec!["src/app.py", "src/util.py"],
            "src/app.handler",
        ),
        (
            vec![
                ("app.py", ""),
                (".venv/x.py", ""),
                ("a/__pycache__/x.py", ""),
                ("data.csv", ""),
            ],
            "app.py",
            vec!["app.py"],
            "app.handler",
        ),
    ] {
        let project = Project::new(&files);
        let zip = project.buildpack(json!({"entryfilePath": entry})).unwrap();
        assert_eq!(names(&zip.path), expected);
        assert_eq!(zip.handler.as_deref(), Some(handler));
    }
}

#[test]
fn python_without_its_tool_names_it() {
    for (file, tool) in [
        (("requirements.txt", "x==1"), "python3"),
        (("Pipfile", ""), "pipenv"),
        (("uv.lock", ""), "uv"),
        (("poetry.lock", ""), "poetry"),
    ] {
        let mut files = vec![("app.py", ""), file];
        if file.0.ends_with("lock") {
            files.push(("pyproject.toml", ""));
        }
        let project = Project::new(&files);
        let problem = project
            .buildpack(json!({"entryfilePath": "app.py"}))
            .unwrap_err();
        assert_eq!(detail(&problem, "tool"), tool);
        assert!(!detail(&problem, "hint").is_empty());
    }
}

#[test]
fn custom_artifacts() {
    let project = Project::new(&[
        ("one.js", "1"),
        ("dist/a.js", "1"),
        ("dist/b/c.js", "2"),
        ("fake.zip", "no"),
    ]);
    let custom = |path: &str| project.zip("custom-artifact", json!({"packagePath": path}));
    assert_eq!(names(&custom("one.js").unwrap().path), ["one.js"]);
    let folder = custom("dist").unwrap();
    assert_eq!(names(&folder.path), ["a.js", "b/c.js"]);
    fs_err::copy(&folder.path, project.root().join("made.zip")).unwrap();
    let taken = custom("made.zip").unwrap();
    assert_eq!((taken.digest, taken.unzipped), (folder.digest, 2));
    assert!(
        custom("fake.zip")
            .unwrap_err()
            .message()
            .contains("is not a zip")
    );
    assert!(custom("absent").is_err());
}

#[test]
fn progress_is_reported() {
    let project = Project::new(&[("a.py", "")]);
    project.buildpack(json!({"entryfilePath": "a.py"})).unwrap();
    project.buildpack(json!({"entryfilePath": "a.py"})).unwrap();
    let heard = project.heard.borrow();
    assert!(heard[0].starts_with("api: packaged: 1 KB"), "{heard:?}");
    assert!(heard[1].starts_with("api: unchanged: 1 KB"), "{heard:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The same tree, written in another order and at other times, is the same zip.
    #[test]
    fn the_digest_depends_on_paths_and_contents_alone(
        tree in proptest::collection::btree_map("[a-zé]{1,3}(/[a-z ]{1,3}x)?/[a-z日]{1,4}", ".{0,40}", 1..8),
        seed in any::<u64>(),
    ) {
        let pack = |order: Vec<(&String, &String)>, age: u64| {
            let project = Project::new(&[]);
            for (path, text) in order {
                project.write(&format!("dist/{path}.txt"), text);
                let file = fs_err::OpenOptions::new().write(true)
                    .open(project.root().join(format!("dist/{path}.txt"))).unwrap();
                let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(age);
                file.file().set_modified(time).unwrap();
            }
            project.zip("custom-artifact", json!({"packagePath": "dist"})).unwrap().digest
        };
        let forward: Vec<_> = tree.iter().collect();
        let mut other = forward.clone();
        other.reverse();
        other.rotate_left((seed as usize) % forward.len());
        prop_assert_eq!(pack(forward, 1_000_000), pack(other, 1_000_000 + seed % 1_000_000_000));
    }
}
