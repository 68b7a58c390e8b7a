//! Where modules come from: the repository, checkouts, links.

use windlass_pack_deploy::render::{SourceTree, load_upstream};
use windlass_pack_model::{Lockfile, Module};
use windlass_types::Problem;

use super::world::{World, module, write};

const CODEX: &str = "targets:\n  codex: {mode: files, scope: user, options: {write_agents_global: false, write_user_prompts: false}}\nmodules:\n";

fn skill_at(path: &str) -> World {
    World::new(&format!("{CODEX}{}", module("skill:s", "skill", path)))
}

fn upstream(world: &World) -> Result<SourceTree, Problem> {
    let module: &Module = &world.manifest.modules[0];
    world.with(|input| load_upstream(input, module))
}

/// The paths of the module as it is written without overlays.
fn paths(world: &World) -> Vec<String> {
    let upstream = upstream(world).unwrap();
    upstream.tree.keys().map(ToString::to_string).collect()
}

#[test]
fn directories_and_single_files() {
    let world = skill_at("./modules/s/");
    world
        .skill("modules/s")
        .file("modules/s/docs/a.md", "a")
        .file("modules/s/.git/config", "no")
        .file("modules/s/docs/.agentpack/x", "no")
        .file("modules/s/.hidden", "yes");
    assert_eq!(paths(&world), [".hidden", "SKILL.md", "docs/a.md"]);

    let world = skill_at("modules/s/SKILL.md");
    world
        .skill("modules/s")
        .file("modules/s/other.md", "not part of it");
    assert_eq!(paths(&world), ["SKILL.md"]);
    assert!(world.render().is_ok());
}

#[test]
fn records_include_what_is_never_copied() {
    let world = skill_at("s");
    world
        .skill("s")
        .file("s/.agentpack/x", "x")
        .file("s/.git/config", "no");
    let upstream = upstream(&world).unwrap();
    let records: Vec<String> = upstream
        .records()
        .iter()
        .map(|record| record.path.to_string())
        .collect();
    assert_eq!(records, [".agentpack/x", "SKILL.md"]);
}

#[test]
fn a_missing_source_is_named() {
    let world = skill_at("modules/gone");
    insta::assert_snapshot!(world.problem(), @r#"
    E_UNEXPECTED: module skill:s has no source: $REPO/modules/gone does not exist; correct its source in agentpack.yaml or restore the files
    {
      "module_id": "skill:s",
      "path": "$REPO/modules/gone",
      "path_posix": "$REPO/modules/gone",
      "reason_code": "module_source_missing"
    }
    "#);
}

#[test]
fn must_24_paths_written_outside_the_repository_still_load() {
    let world = skill_at("../shared/s");
    write(
        &world.root().join("shared/s/SKILL.md"),
        "---\nname: n\ndescription: d\n---\n",
    );
    assert_eq!(paths(&world), ["SKILL.md"]);

    let absolute = world.root().join("shared/s").display().to_string();
    let other = skill_at(&absolute);
    assert_eq!(paths(&other), ["SKILL.md"]);
}

#[cfg(unix)]
#[test]
fn must_13_the_exec_bit_is_kept() {
    let world = skill_at("s");
    world.skill("s").executable("s/run.sh", "#!/bin/sh\n");
    insta::assert_snapshot!(world.rendered(), @"
    root codex $HOME/.codex/skills User scan
    codex $HOME/.codex/skills/s/SKILL.md Verbatim skill:s:SKILL.md@upstream
    codex $HOME/.codex/skills/s/run.sh Verbatim +x skill:s:run.sh@upstream
    ");
}

#[cfg(unix)]
#[test]
fn a_symlinked_module_directory_is_followed() {
    let world = skill_at("modules/s");
    world.skill("real/s").link("modules/s", "../real/s");
    assert_eq!(paths(&world), ["SKILL.md"]);

    let world = skill_at("modules/s");
    world.skill("real/s").link("modules", "real");
    assert_eq!(paths(&world), ["SKILL.md"]);

    let world = skill_at("modules/SKILL.md");
    world
        .skill("real")
        .link("modules/SKILL.md", "../real/SKILL.md");
    assert_eq!(paths(&world), ["SKILL.md"]);
}

#[cfg(unix)]
#[test]
fn must_14_links_that_stay_in_the_repository_are_followed() {
    let world = skill_at("s");
    world
        .skill("s")
        .file("shared/docs/a.md", "a")
        .file("shared/one.txt", "1")
        .link("s/docs", "../shared/docs")
        .link("s/one.txt", "../shared/one.txt")
        .link("s/again", "docs");
    assert_eq!(
        paths(&world),
        ["SKILL.md", "again/a.md", "docs/a.md", "one.txt"]
    );
}

#[cfg(unix)]
#[test]
fn must_14_links_that_leave_the_repository_are_refused() {
    let mut world = skill_at("s");
    write(&world.root().join("outside/secret"), "s");
    world
        .skill("s")
        .link("s/link", world.root().join("outside/secret"));
    insta::assert_snapshot!(world.problem(), @r#"
    E_CONFIG_INVALID: symbolic link $REPO/s/link leads out of the repository, to $ROOT/outside/secret
    {
      "hint": "copy the file into the module, or set allow_external_symlinks: true in agentpack.yaml",
      "link_target": "$ROOT/outside/secret",
      "module_id": "skill:s",
      "path": "$REPO/s/link",
      "reason_code": "config_invalid"
    }
    "#);
    world.manifest.allow_external_symlinks = true;
    assert_eq!(paths(&world), ["SKILL.md", "link"]);

    // A directory, the module itself, and a directory above it.
    for (path, link, to) in [
        ("s", "s/dir", "outside"),
        ("modules/s", "modules/s", "outside/skill"),
        ("modules/skill", "modules", "outside"),
    ] {
        let mut world = skill_at(path);
        let outside = "---\nname: n\ndescription: d\n---\n";
        write(&world.root().join("outside/skill/SKILL.md"), outside);
        if path == "s" {
            world.skill("s");
        }
        world.link(link, world.root().join(to));
        let problem = world.render().unwrap_err();
        assert_eq!(problem.code().name, "E_CONFIG_INVALID", "{link}");
        assert!(problem.message().contains(link), "{problem}");
        assert_eq!(problem.details()["module_id"], "skill:s");
        world.manifest.allow_external_symlinks = true;
        assert!(world.render().is_ok(), "{link}");
    }
}

#[cfg(unix)]
#[test]
fn links_without_end_or_target_are_refused() {
    for (link, target, says) in [
        ("s/loop", ".", "leads back"),
        ("s/a/up", "../../s", "leads back"),
        ("s/gone", "nowhere", "leads nowhere"),
        ("s/git", "../.git/config", "never copied"),
    ] {
        let world = skill_at("s");
        world
            .skill("s")
            .file("s/a/b", "b")
            .file(".git/config", "c")
            .link(link, target);
        let problem = world.render().unwrap_err();
        assert_eq!(problem.code().name, "E_CONFIG_INVALID", "{link}");
        assert!(problem.message().contains(says), "{problem}");
    }
    // Two that lead to each other.
    let world = skill_at("s");
    world
        .skill("s")
        .link("s/a/to_b", "../../b")
        .link("b/to_a", "../s/a");
    assert!(world.render().unwrap_err().message().contains("leads back"));
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_refused() {
    let world = skill_at("s");
    world.skill("s");
    let _socket = std::os::unix::net::UnixListener::bind(world.repo().join("s/sock")).unwrap();
    let problem = world.render().unwrap_err();
    assert_eq!(problem.code().name, "E_CONFIG_INVALID");
    assert!(
        problem.message().contains("neither a file nor a directory"),
        "{problem}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_no_paths_are_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    for name in [&b"bad\xff"[..], b"back\\slash"] {
        let world = skill_at("s");
        world.skill("s");
        let path = world
            .repo()
            .join("s")
            .join(std::ffi::OsStr::from_bytes(name));
        fs_err::write(path, "x").unwrap();
        assert_eq!(world.render().unwrap_err().code().name, "E_CONFIG_INVALID");
    }
}

#[cfg(unix)]
#[test]
fn unreadable_files_are_permission_faults() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = skill_at("s");
    world.skill("s").file("s/locked/file", "x");
    let locked = world.repo().join("s/locked");
    fs_err::set_permissions(&locked, std::fs::Permissions::from_mode(0o000)).unwrap();
    let readable = std::fs::read_dir(&locked).is_ok();
    let rendered = world.render();
    fs_err::set_permissions(&locked, std::fs::Permissions::from_mode(0o755)).unwrap();
    // The superuser reads everything.
    if !readable {
        assert_eq!(rendered.unwrap_err().code().name, "E_IO_PERMISSION_DENIED");
    }
}

fn git_world(subdir: &str) -> World {
    let mut world = World::new(&format!(
        "{CODEX}  - {{id: 'skill:g', type: skill, tags: [base], source: {{git: {{url: 'https://example.com/r.git', ref: v1, subdir: '{subdir}'}}}}}}\n"
    ));
    let checkout = world.root().join("cache/c1");
    world
        .checkouts
        .by_url
        .insert("https://example.com/r.git".into(), checkout.clone());
    write(
        &checkout.join("skills/g/SKILL.md"),
        "---\nname: n\ndescription: d\n---\n",
    );
    write(
        &checkout.join("SKILL.md"),
        "---\nname: n\ndescription: d\n---\n",
    );
    write(&checkout.join(".git/HEAD"), "ref: x");
    world
}

#[test]
fn git_checkouts_and_their_directories() {
    let world = git_world("");
    assert_eq!(paths(&world), ["SKILL.md", "skills/g/SKILL.md"]);
    let world = git_world("./skills/g/");
    assert_eq!(paths(&world), ["SKILL.md"]);
    assert_eq!(
        *world.checkouts.asked.lock().unwrap(),
        ["skill:g https://example.com/r.git v1 None"]
    );
}

#[test]
fn the_lockfile_settles_commit_and_directory() {
    let mut world = git_world("elsewhere/by/now");
    let commit = "0123456789012345678901234567890123456789";
    let zeros = "0".repeat(64);
    let lockfile = format!(
        r#"{{"version":1,"generated_at":"2026-01-01T00:00:00Z","modules":[{{"id":"skill:g","type":"skill","resolved_source":{{"local_path":null,"git":{{"url":"https://example.com/r.git","commit":"{commit}","subdir":"skills/g"}}}},"resolved_version":"{commit}","sha256":"{zeros}","file_manifest":[]}}]}}"#
    );
    world.lockfile = Some(Lockfile::parse(&lockfile, "agentpack.lock.json".as_ref()).unwrap());
    let found = upstream(&world).unwrap();
    assert_eq!(found.tree.len(), 1);
    assert_eq!(found.locked_commit.as_deref(), Some(commit));
    assert_eq!(
        *world.checkouts.asked.lock().unwrap(),
        [format!(
            "skill:g https://example.com/r.git {commit} Some(\"{commit}\")"
        )]
    );
}

#[test]
fn must_4_subdirectories_stay_in_the_checkout() {
    // Older manifests are checked when they are read; this is what is left to check here.
    let mut world = git_world("skills");
    let windlass_pack_model::Source::Git(source) = &mut world.manifest.modules[0].source else {
        panic!("not git");
    };
    source.subdir = "../other".into();
    let problem = world.render().unwrap_err();
    assert_eq!(problem.code().name, "E_CONFIG_INVALID");
    assert_eq!(problem.details()["field"], "source.git.subdir");
    assert_eq!(problem.details()["module_id"], "skill:g");
}

#[cfg(unix)]
#[test]
fn must_14_links_of_a_checkout_stay_in_it() {
    let world = git_world("skills/g");
    let inside = world.root().join("cache/c1/skills/g");
    std::os::unix::fs::symlink("../../SKILL.md", inside.join("top.md")).unwrap();
    assert_eq!(paths(&world), ["SKILL.md", "top.md"]);
    // Not even into the config repository.
    world.file("note", "n");
    std::os::unix::fs::symlink(world.repo().join("note"), inside.join("out")).unwrap();
    assert_eq!(world.render().unwrap_err().code().name, "E_CONFIG_INVALID");
}

#[test]
fn paths_that_differ_only_in_case_are_refused() {
    let codex = "targets: {codex: {mode: files, scope: user}}\nmodules:\n";
    for (modules, named) in [
        (
            "prompt prompts/Draft.md prompt prompts2/draft.md",
            Some(("prompts/Draft.md", "prompts/draft.md")),
        ),
        // Two files in one directory, or in none: the directories alone are alike.
        (
            "skill skills/a skill skills/b",
            Some(("skills/Demo", "skills/demo")),
        ),
        ("prompt prompts/Draft.md prompt prompts2/other.md", None),
    ] {
        let parts: Vec<&str> = modules.split(' ').collect();
        let ids = match parts[0] {
            "skill" => ["skill:Demo", "skill:demo"],
            _ => ["prompt:one", "prompt:two"],
        };
        let world = World::new(&format!(
            "{codex}{}{}",
            module(ids[0], parts[0], parts[1]),
            module(ids[1], parts[2], parts[3])
        ));
        for path in ["prompts/Draft.md", "prompts2/draft.md", "prompts2/other.md"] {
            world.file(path, "text");
        }
        world
            .skill("skills/a")
            .skill("skills/b")
            .file("skills/b/more.md", "more");
        match named {
            None => drop(world.render().unwrap()),
            Some((one, two)) => {
                let problem = world.render().unwrap_err();
                assert_eq!(problem.code().name, "E_DESIRED_STATE_CONFLICT");
                let text = world.shorten(problem.message());
                assert!(
                    text.contains(&format!("$HOME/.codex/{one}"))
                        && text.contains(&format!("$HOME/.codex/{two}"))
                        && text.contains("differ only in case"),
                    "{text}"
                );
            }
        }
    }
}
