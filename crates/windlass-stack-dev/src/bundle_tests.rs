//! Which esbuild is run, and what is said about a bundle that fails.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Mutex;

use windlass_ports::{Bundler, DecoratorTools};

use super::*;
use crate::outside::Programs;

/// A bundler whose program is a script of the test.
#[derive(Debug)]
struct Scripted(Result<PathBuf, BundlerUnavailable>);

impl Bundler for Scripted {
    fn esbuild(&self, progress: &dyn Fn(&str)) -> Result<PathBuf, BundlerUnavailable> {
        progress("fetching esbuild");
        self.0.clone()
    }

    fn decorators(&self, _: &dyn Fn(&str)) -> Result<DecoratorTools, BundlerUnavailable> {
        unreachable!("nothing here has decorators")
    }

    fn identity(&self) -> String {
        "scripted".to_owned()
    }
}

fn script(path: &Path, text: &str) -> PathBuf {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    let mode = std::fs::Permissions::from_mode(0o755);
    fs_err::set_permissions(path, mode).unwrap();
    path.to_owned()
}

/// What becomes of `src/api.ts`, and the progress that was told.
fn bundled(folder: &Path, bundler: &Scripted) -> (Result<PathBuf, Problem>, Vec<String>) {
    let file = folder.join("src/api.ts");
    fs_err::create_dir_all(folder.join("src")).unwrap();
    fs_err::write(&file, "").unwrap();
    let told = Mutex::new(Vec::new());
    let progress = |line: &str| told.lock().unwrap().push(line.to_owned());
    let workshop = Workshop {
        programs: &Programs {
            // One that is too old to take types away.
            node: Some(script(&folder.join("bin/node"), "echo v20.0.0")),
            ..Programs::default()
        },
        bundler: Some(bundler),
        progress: &progress,
        directory: folder,
        build: &folder.join("build"),
    };
    let outcome = workshop.node_file("api", &file).map(|(file, _)| file);
    (outcome, told.into_inner().unwrap())
}

#[test]
fn the_bundler_is_run_and_never_the_projects_own() {
    let folder = tempfile::tempdir().unwrap();
    let marker = folder.path().join("own-was-run");
    let own = folder.path().join("node_modules/.bin/esbuild");
    script(&own, &format!("touch '{}'", marker.display()));
    let pinned = script(
        &folder.path().join("cache/esbuild"),
        "for it; do case $it in --outfile=*) mkdir -p $(dirname ${it#--outfile=}); echo made > ${it#--outfile=};; esac; done",
    );
    let (outcome, told) = bundled(folder.path(), &Scripted(Ok(pinned)));
    assert_eq!(fs_err::read_to_string(outcome.unwrap()).unwrap(), "made\n");
    assert_eq!(told, ["fetching esbuild"]);
    assert!(!marker.exists());
}

#[test]
fn a_failed_bundle_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let failing = script(
        &folder.path().join("cache/esbuild"),
        "printf '✘ [ERROR] Could not resolve \"./missing\"\\n\\n    src/api.ts:3:20:\\n      3 │ x\\n\\n1 error\\n' >&2; exit 1",
    );
    let (outcome, _) = bundled(folder.path(), &Scripted(Ok(failing)));
    let problem = outcome.unwrap_err();
    assert_eq!(
        problem.message(),
        "src/api.ts:3:20: Could not resolve \"./missing\""
    );
    let output = problem.details()["output"].as_str().unwrap();
    assert!(output.ends_with("1 error\n"), "{output}");
}

#[test]
fn without_a_bundler_and_with_an_old_node_it_is_said_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let refused = BundlerUnavailable {
        cause: "esbuild is not in the cache and downloads are refused".to_owned(),
        next: vec!["unset stack.refuse_downloads".to_owned()],
        is_forbidden: true,
    };
    let (outcome, _) = bundled(folder.path(), &Scripted(Err(refused)));
    let problem = outcome.unwrap_err();
    assert_eq!(
        problem.message(),
        "api cannot be bundled: esbuild is not in the cache and downloads are refused"
    );
    assert_eq!(problem.next_actions(), ["unset stack.refuse_downloads"]);
}
