//! What a directory could run, found.

use super::*;

fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }
    folder
}

fn names(directory: &Path) -> Vec<String> {
    let found = find(directory, &Cache::default()).unwrap();
    found.files.into_keys().collect()
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut git = std::process::Command::new("git");
    git.current_dir(folder).env("HOME", folder).args(arguments);
    assert!(git.output().unwrap().status.success(), "{arguments:?}");
}

#[test]
fn files_that_decide_what_runs() {
    let folder = project(&[
        (".git/HEAD", "ref: refs/heads/main\n"),
        (
            ".git/config",
            "[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = ../shared.md\n",
        ),
        (".git/hooks/pre-commit", "#!/bin/sh\n"),
        (".git/hooks/pre-push.sample", "#!/bin/sh\n"),
        (".git/info/attributes", ""),
        (".git/modules/a/b/HEAD", ""),
        (".git/modules/a/b/config", "[filter \"x\"]\n"),
        (".gitattributes", "* filter=x\n"),
        ("shared.md", "[alias]\n"),
        ("tools/hooks/post-merge", "#!/bin/sh\n"),
        ("stacktape.ts", "import '#deep'\n"),
        ("deep/h.mjs", ""),
        (
            "package.json",
            r##"{"imports": {"#deep": "./deep/h.mjs"}}"##,
        ),
        ("local/setup.py", ""),
        ("requirements.txt", "./local\n"),
        ("helpers/x.py", ""),
        ("node_modules/.bin/esbuild", ""),
        ("node_modules/pkg/index.js", ""),
        ("scripts/deploy", ""),
        ("README.md", ""),
        ("docs/picture.PNG", ""),
    ]);
    let mut of_git = find_git(folder.path(), &Cache::default()).unwrap().files;
    let found = names(folder.path());
    of_git.retain(|path, _| !found.contains(path));
    assert_eq!(of_git, BTreeMap::new(), "a decision covers all of it");
    assert_eq!(
        found,
        [
            ".git/config",
            ".git/hooks/pre-commit",
            ".git/info/attributes",
            ".git/modules/a/b/config",
            ".gitattributes",
            "deep/h.mjs",
            "helpers/x.py",
            "local/setup.py",
            "node_modules/.bin/esbuild",
            "package.json",
            "requirements.txt",
            "scripts/deploy",
            "shared.md",
            "stacktape.ts",
            "tools/hooks/post-merge",
        ]
    );
}

/// Every way in which code of a project loads other code of it: a change is noticed.
#[test]
fn a_change_of_anything_that_could_be_loaded_is_noticed() {
    let cases: &[(&str, &[(&str, &str)])] = &[
        ("local/setup.py", &[("requirements.txt", "./local\n")]),
        (
            "local/pyproject.toml",
            &[("requirements.txt", "-e ./local\n")],
        ),
        ("local/setup.cfg", &[("requirements.txt", "file:./local\n")]),
        (
            "pins/other.txt",
            &[("requirements.txt", "-r pins/other.txt\n")],
        ),
        ("c.txt", &[("requirements.txt", "-c c.txt\nx\n")]),
        (
            "helpers/x.py",
            &[
                ("run.py", "from helpers import x\n"),
                ("helpers/__init__.py", ""),
            ],
        ),
        (
            "app/api/encode.py",
            &[("run.py", "from app.api import decode, encode\n")],
        ),
        (
            "app/far/away.py",
            &[("app/run.py", "from .far.away import *\n")],
        ),
        (
            "plugins/one.py",
            &[("run.py", "importlib.import_module('plugins.' + name)\n")],
        ),
        (
            "deep/h.mjs",
            &[(
                "package.json",
                r##"{"imports": {"#deep": "./deep/h.mjs"}}"##,
            )],
        ),
        (
            "deep/a/b.ts",
            &[(
                "package.json",
                r##"{"imports": {"#x/*": {"default": "./deep/*"}}}"##,
            )],
        ),
        (
            "packages/lib/src/index.ts",
            &[("package.json", r#"{"workspaces": ["packages/*"]}"#)],
        ),
        (
            "lib/entry.cjs",
            &[("package.json", r#"{"dependencies": {"lib": "file:./lib"}}"#)],
        ),
        (
            "lib/package.json",
            &[("package.json", r#"{"dependencies": {"lib": "link:./lib"}}"#)],
        ),
        (
            "lib/alias.tsx",
            &[(
                "tsconfig.json",
                r#"{"compilerOptions": {"paths": {"@/*": ["./lib/*"]}}}"#,
            )],
        ),
        (
            "data/config.json",
            &[("stacktape.ts", "import x from './data/config.json'\n")],
        ),
        (
            "native/x.node",
            &[("stacktape.js", "require('./native/x')\n")],
        ),
        (
            "dist/made.js",
            &[("stacktape.js", "require('./dist/made')\n")],
        ),
        (
            "tools/run",
            &[("stacktape.yml", "executeCommand: tools/run\n")],
        ),
    ];
    for (changed, others) in cases {
        let folder = project(&[*others, &[(changed, "before")]].concat());
        git(folder.path(), &["init", "--quiet"]);
        git(folder.path(), &["add", "-A"]);
        let cache = Cache::default();
        let before = find(folder.path(), &cache).unwrap();
        fs_err::write(folder.path().join(changed), "after!").unwrap();
        let after = find(folder.path(), &cache).unwrap();
        assert_eq!(
            after.changes_since(&before.files),
            [format!("{changed} (changed)")]
        );
    }
}

#[test]
fn packages_and_output_count_where_the_repository_tracks_them() {
    let folder = project(&[
        ("stacktape.ts", ""),
        ("dist/a.js", ""),
        ("lib/dist/a.js", ""),
        ("node_modules/a/index.js", ""),
        ("lib/node_modules/b/index.js", ""),
    ]);
    // Without a repository nobody knows what the output is.
    let all = ["dist/a.js", "lib/dist/a.js", "stacktape.ts"];
    assert_eq!(names(folder.path()), all);
    git(folder.path(), &["init", "--quiet"]);
    git(folder.path(), &["add", "stacktape.ts", "lib"]);
    let found = names(folder.path());
    let found: Vec<&String> = found.iter().filter(|it| !it.starts_with(".git/")).collect();
    assert_eq!(
        found,
        [
            "lib/dist/a.js",
            "lib/node_modules/b/index.js",
            "stacktape.ts"
        ]
    );
}

#[test]
fn programs_of_git_are_its_settings_hooks_and_what_these_name() {
    let folder = project(&[
        (".git/HEAD", ""),
        (
            ".git/config",
            "[filter \"x\"]\n\tclean = tools/clean.py --fast\n",
        ),
        (
            ".git/hooks/pre-commit",
            "#!/bin/sh\nexec node ./lint/run.mjs \"$@\"\n",
        ),
        (".husky/pre-push", "npm test\n"),
        ("tools/clean.py", ""),
        ("lint/run.mjs", ""),
        ("check.sh", ""),
        ("bin/x", ""),
        ("package.json", ""),
        ("src/f.ts", ""),
        ("agentpack.yaml", ""),
    ]);
    let directory = fs_err::canonicalize(folder.path()).unwrap();
    let found = find_git(&directory, &Cache::default()).unwrap();
    assert_eq!(
        found.files.into_keys().collect::<Vec<_>>(),
        [
            ".git/config",
            ".git/hooks/pre-commit",
            ".husky/pre-push",
            "bin/x",
            "check.sh",
            "lint/run.mjs",
            "package.json",
            "tools/clean.py",
        ]
    );
}

#[test]
fn links_are_followed_once() {
    let folder = project(&[("here/stacktape.ts", ""), ("there/a.ts", "")]);
    let here = folder.path().join("here");
    std::os::unix::fs::symlink("../there", here.join("lib")).unwrap();
    std::os::unix::fs::symlink("..", folder.path().join("there/loop")).unwrap();
    std::os::unix::fs::symlink("../there/a.ts", here.join("b.ts")).unwrap();
    let found = names(&here);
    assert!(found.contains(&"lib/a.ts".to_owned()), "{found:?}");
    assert!(found.contains(&"b.ts".to_owned()), "{found:?}");
}

#[test]
fn the_project_is_as_large_as_what_it_can_reach() {
    let folder = project(&[
        ("package.json", ""),
        ("repo/.git/HEAD", ""),
        ("repo/.git/config", ""),
        ("repo/pnpm-lock.yaml", ""),
        ("repo/node_modules/.bin/esbuild", ""),
        ("repo/shared/x.ts", ""),
        ("repo/app/stacktape.ts", "import './deep/a'"),
        ("repo/app/deep/a.ts", "import '../b'"),
        ("repo/out/stacktape.ts", "join(__dirname, '..', 'shared')"),
        ("repo/space/package.json", ""),
        ("repo/space/lib/a.ts", ""),
        ("repo/space/app/stacktape.ts", ""),
        ("loose/app/stacktape.js", ""),
    ]);
    let root = fs_err::canonicalize(folder.path()).unwrap();
    let above = |name: &str| root.join("repo").join(name).display().to_string();
    let esbuild = above("node_modules/.bin/esbuild");
    // Its own files, and manifests up to the top of the repository.
    assert_eq!(
        names(&root.join("repo/app")),
        [
            esbuild.clone(),
            above("pnpm-lock.yaml"),
            "deep/a.ts".to_owned(),
            "stacktape.ts".to_owned()
        ]
    );
    // All of a workspace.
    let found = names(&root.join("repo/space/app"));
    assert!(found.contains(&above("space/lib/a.ts")), "{found:?}");
    assert!(!found.contains(&above("shared/x.ts")), "{found:?}");
    // All of the repository where something points there.
    let found = names(&root.join("repo/out"));
    assert!(found.contains(&above("shared/x.ts")), "{found:?}");
    assert_eq!(names(&root.join("loose/app")), ["stacktape.js"]);
}

#[test]
fn how_far_up_a_text_points() {
    for (text, wanted) in [
        ("f(...args); 1..2; a..b; '..x'", 0),
        ("import './a'\nimport '../b'", 1),
        ("from ../../x\n..", 2),
        ("join(d, '..', \"..\", '../..')", 4),
    ] {
        assert_eq!(ups(text.as_bytes()), wanted, "{text}");
    }
}

#[test]
fn contents_are_read_again_only_after_a_change() {
    let folder = project(&[("a.ts", "1")]);
    let file = folder.path().join("a.ts");
    let cache = Cache::default();
    let digest = || find(folder.path(), &cache).unwrap().digest();
    let first = digest();
    // Too new to be known by its metadata: the next content may have the same.
    assert!(cache.0.lock().unwrap().is_empty());
    fs_err::write(&file, "2").unwrap();
    assert_ne!(digest(), first);
    std::thread::sleep(RECENT + Duration::from_millis(1_100));
    let second = digest();
    assert_eq!(cache.0.lock().unwrap().len(), 1);
    // A time that was set back does not hide a change.
    let time = fs_err::metadata(&file).unwrap().modified().unwrap();
    fs_err::write(&file, "3").unwrap();
    let opened = std::fs::File::options().write(true).open(&file).unwrap();
    opened.set_modified(time).unwrap();
    assert_ne!(digest(), second);
}

#[test]
fn what_cannot_be_looked_at_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let data = std::fs::File::create(folder.join("data.bin")).unwrap();
    data.set_len(MOST_BYTES + 1).unwrap();
    let refused = find(folder, &Cache::default()).unwrap_err();
    assert_eq!(refused.code().name, "PAYLOAD_TOO_LARGE");
    let absent = find(&folder.join("absent"), &Cache::default()).unwrap_err();
    assert_eq!(absent.code().name, "INVALID_INPUT");
    let file = find(&folder.join("data.bin"), &Cache::default()).unwrap_err();
    assert!(
        file.message().ends_with("data.bin is not a directory"),
        "{file}"
    );
}
