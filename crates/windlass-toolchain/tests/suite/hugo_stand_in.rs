//! How Hugo is found, called and ended, with a shell script in its place.
//!
//! The script's build is what the site says in `behaviour`.

use std::time::Duration;

use windlass_ports::{ToolError, Toolchain as _};

use super::support::{LONG, World};

fn stand_in(version: &str) -> String {
    format!(
        r#"case "$1" in
version) echo 'hugo v{version}+extended linux/amd64'; exit ;;
config) printf '{{"path":"project","dir":"%s","mounts":[{{"source":"content"}}]}}' "$PWD"; exit ;;
esac
OUT=$3
GIVEN=$PATH
PATH=/usr/bin:/bin
. ./behaviour
"#
    )
}

/// A world whose Hugo does this.
fn world(behaviour: &str) -> World {
    let world = World::around(None);
    world.script("bin/hugo", &stand_in("9.8.7"));
    world.write("site/behaviour", behaviour);
    world
}

#[test]
fn it_is_found_once_installed_and_checked_again_when_it_changes() {
    let world = World::around(None);
    assert_eq!(world.hugo.hugo_version(), None);
    assert_eq!(
        world.build(),
        Err(ToolError::NotRun("hugo is not installed".to_owned()))
    );
    world.script("bin/hugo", &stand_in("0.1.0"));
    assert_eq!(world.hugo.hugo_version().as_deref(), Some("0.1.0"));
    world.script("bin/hugo", &stand_in("0.10.0"));
    assert_eq!(world.hugo.hugo_version().as_deref(), Some("0.10.0"));
    world.script("bin/hugo", "echo something else\n");
    assert_eq!(world.hugo.hugo_version(), None);
    world.script("bin/hugo", "echo hugo v1.0.0; exit 1\n");
    assert_eq!(world.hugo.hugo_version(), None);
}

#[test]
fn a_configured_program_is_the_only_one() {
    let elsewhere = tempfile::tempdir().unwrap();
    let program = elsewhere.path().join("my-hugo");
    let world = World::around(Some(program.clone()));
    world.script("bin/hugo", &stand_in("0.1.0"));
    assert_eq!(world.hugo.hugo_version(), None);
    let written = world.script("bin/other", &stand_in("0.2.0"));
    fs_err::copy(written, &program).unwrap();
    assert_eq!(world.hugo.hugo_version().as_deref(), Some("0.2.0"));
}

#[test]
fn the_program_behind_a_launcher_is_called_directly() {
    let world = world("echo behind > $OUT/called");
    let behind = world.script("lib/hugo", &stand_in("9.8.7"));
    let launcher = format!(
        "echo 'Running Hugo via hugo-python-distributions at {}'\necho launched > {}\nexec {} \"$@\"\n",
        behind.display(),
        world.place("launched").display(),
        behind.display(),
    );
    world.script("bin/hugo", &launcher);
    assert_eq!(world.hugo.hugo_version().as_deref(), Some("9.8.7"));
    fs_err::remove_file(world.place("launched")).unwrap();
    world.success();
    assert_eq!(world.read("out/called"), "behind\n");
    assert!(!world.place("launched").exists());
}

#[test]
fn the_environment_is_ours_alone() {
    let world = world(
        "PATH=$GIVEN /usr/bin/env | sort | sed \"s:${HOME%/home}:PRIVATE:g\" > $OUT/env; cat; echo $*",
    );
    let log = world.success();
    let bin = world.place("bin");
    let shown = world.read("out/env").replace(bin.to_str().unwrap(), "BIN");
    insta::assert_snapshot!(shown, @"
    GIT_CONFIG_NOSYSTEM=1
    GIT_TERMINAL_PROMPT=0
    GOENV=off
    GOPROXY=off
    GOTOOLCHAIN=local
    HOME=PRIVATE/home
    HUGO_CACHEDIR=PRIVATE/cache
    HUGO_ENABLEGITINFO=false
    HUGO_MODULE_PROXY=off
    HUGO_MODULE_WORKSPACE=off
    HUGO_RESOURCEDIR=resources
    HUGO_SECURITY_EXEC_ALLOW=none
    HUGO_SECURITY_HTTP_URLS=none
    LANG=C.UTF-8
    PATH=BIN
    PWD=PRIVATE/site
    TMPDIR=PRIVATE/tmp
    TZ=UTC
    ");
    assert_eq!(
        log,
        "--noBuildLock --destination . --environment production\n"
    );
}

#[test]
fn a_failure_keeps_its_log_and_a_long_log_its_ends() {
    let failing = world("echo \"ERROR $PWD/content/a.md: bad\" >&2; exit 1");
    assert_eq!(failing.failure(), "ERROR content/a.md: bad\n");

    let killed = world("kill -9 $$");
    assert_eq!(killed.failure(), "ERROR Hugo was ended by a signal\n");

    let long = world("echo first; seq 1000000; echo last");
    let log = long.success();
    assert!(log.starts_with("first\n1\n"), "{}", &log[..100]);
    assert!(log.contains("\n[lines left out]\n"));
    assert!(log.ends_with("\n1000000\nlast\n"));
    assert!(log.len() < 100_000, "{}", log.len());
}

#[test]
fn the_time_limit_ends_it() {
    let world = world("sleep 600");
    assert_eq!(
        world.build_with(&[], Duration::from_millis(300), &|| false),
        Err(ToolError::TimedOut)
    );
    assert_eq!(
        world.build_with(&[], Duration::ZERO, &|| false),
        Err(ToolError::TimedOut)
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_cancelled_build_ends_with_its_children() {
    use super::support::assert_ends;

    let world =
        world("sh -c 'trap \"\" TERM; echo $$ > '$OUT'/child; while :; do sleep 600; done'");
    let report = world.place("out/child");
    let has_child = || fs_err::read_to_string(&report).is_ok_and(|text| text.ends_with('\n'));
    assert_eq!(
        world.build_with(&[], LONG, &has_child),
        Err(ToolError::TimedOut)
    );
    assert_ends(&world.read("out/child"));
}

#[cfg(target_os = "linux")]
#[test]
fn no_process_stays_behind_when_it_ends_by_itself() {
    let world = world("sleep 600 & echo $! > $OUT/child");
    world.success();
    super::support::assert_ends(&world.read("out/child"));
}

#[test]
fn links_that_leave_the_site_are_named() {
    let world = world("ls content");
    world.write("outside/secret.md", "secret");
    world.write("site/content/page.md", "page");
    std::os::unix::fs::symlink(
        world.place("outside/secret.md"),
        world.place("site/content/secret.md"),
    )
    .unwrap();
    assert_eq!(
        world.success(),
        "note: content/secret.md is a link that leads out of the site; left out\npage.md\n"
    );
}
