//! `add` and `remove`: the manifest changed in place.

use windlass_pack_author::{AddRequest, add, remove};
use windlass_pack_model::parse_manifest;

use super::world::{World, code_and_next_steps};

const COMMENTED: &str = "# mine
version: 1
profiles:
  default: {include_tags: ['base']}   # why
targets:
  codex: {mode: files, scope: both}
modules:
  # the first
  - id: \"skill:one\"
    type: skill
    source: {local_path: {path: modules/one}}
  - {id: skill:two, type: skill, source: {local_path: {path: two}}}
";

fn plain<'a>(module_type: &'a str, source: &'a str) -> AddRequest<'a> {
    AddRequest {
        module_type,
        source,
        id: None,
        tags: &[],
        targets: &[],
        allow_outside: false,
    }
}

#[test]
fn must_27_add_and_remove_change_nothing_else() {
    let world = World::with_manifest(COMMENTED);
    world.write("repo/modules/three/SKILL.md", "x");
    let tags = ["base".to_owned(), " base ".to_owned(), "x".to_owned()];
    let targets = ["codex".to_owned()];
    let outcome = add(
        &world.repo(),
        &AddRequest {
            tags: &tags,
            targets: &targets,
            ..plain("skill", "local:modules/three")
        },
    )
    .unwrap();
    assert!(outcome.warnings.is_empty());
    let data = world.apply(outcome);
    assert_eq!(data.module_id, "skill:three");
    let text = world.read("repo/agentpack.yaml");
    assert!(text.starts_with(COMMENTED), "{text}");
    insta::assert_snapshot!(&text[COMMENTED.len()..], @r"
      - id: skill:three
        type: skill
        tags: [base, x]
        targets: [codex]
        source:
          local_path:
            path: modules/three
    ");
    let data = world.apply(remove(&world.repo(), "skill:three").unwrap());
    assert!(data.manifest.ends_with("agentpack.yaml"));
    assert_eq!(world.read("repo/agentpack.yaml"), COMMENTED);
}

#[test]
fn every_kind_of_source_gets_its_id() {
    for (kind, source, id) in [
        ("prompt", "local:modules/prompts/draft.md", "prompt:draft"),
        ("skill", "git:https://h/o/skills.git#subdir=a/b", "skill:b"),
        ("skill", "git:git@h:o/four.git", "skill:four"),
        ("mcp_server", "local:mcp/x.yaml", "mcp_server:x"),
    ] {
        let world = World::with_manifest(COMMENTED);
        let data = world.apply(add(&world.repo(), &plain(kind, source)).unwrap());
        assert_eq!(data.module_id, id, "{source}");
        let manifest = parse_manifest(&world.read("repo/agentpack.yaml"))
            .unwrap()
            .manifest;
        assert!(manifest.module(id).is_some());
    }
}

#[test]
fn a_missing_source_is_reported() {
    let world = World::with_manifest(COMMENTED);
    let outcome = add(&world.repo(), &plain("skill", "local:modules/gone")).unwrap();
    assert_eq!(outcome.warnings.len(), 1);
    assert!(outcome.warnings[0].contains("modules/gone does not exist yet"));
}

#[test]
fn must_24_paths_that_leave_the_repository_need_consent() {
    let world = World::with_manifest(COMMENTED);
    for source in ["local:../x", "local:/etc", "local:a/../../b"] {
        let problem = add(&world.repo(), &plain("skill", source)).unwrap_err();
        assert_eq!(problem.code().name, "E_CONFIG_INVALID", "{source}");
        assert!(problem.message().contains("--allow-outside"), "{source}");
        let request = AddRequest {
            allow_outside: true,
            ..plain("skill", source)
        };
        add(&world.repo(), &request).unwrap();
    }
}

#[test]
fn must_4_25_names_that_escape_and_addresses_that_run_programs_are_refused() {
    let world = World::with_manifest(COMMENTED);
    let escaping = AddRequest {
        id: Some("skill:../../x"),
        ..plain("skill", "local:x")
    };
    let problem = add(&world.repo(), &escaping).unwrap_err();
    assert_eq!(problem.code().name, "E_CONFIG_INVALID");
    for source in [
        "git:--upload-pack=x",
        "git:ext::sh -c x",
        "git:https://h/x#ref=--x",
        "git:https://h/x#subdir=../y",
    ] {
        assert!(
            add(&world.repo(), &plain("skill", source)).is_err(),
            "{source}"
        );
    }
    assert_eq!(world.read("repo/agentpack.yaml"), COMMENTED);
}

#[test]
fn slips_are_explained() {
    let world = World::with_manifest(COMMENTED);
    let repo = world.repo();
    let targets = ["codx".to_owned()];
    let wrong_target = AddRequest {
        targets: &targets,
        ..plain("skill", "local:x")
    };
    let problems = [
        add(&repo, &plain("skil", "local:x")).unwrap_err(),
        add(&repo, &wrong_target).unwrap_err(),
        add(&repo, &plain("skill", "modules/x")).unwrap_err(),
        add(&repo, &plain("skill", "local:one")).unwrap_err(),
        remove(&repo, "skill:on").unwrap_err(),
        remove(&world.path("project"), "skill:one").unwrap_err(),
    ];
    let lines: Vec<String> = problems
        .iter()
        .map(|problem| {
            let message = problem
                .message()
                .replace(&world.path("").display().to_string(), "/");
            format!("{}: {message}", code_and_next_steps(problem))
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    E_UNEXPECTED invalid_arguments retry_command: there is no module type "skil"; did you mean "skill"?; there are instructions, skill, prompt, command, mcp_server, hook, subagent
    E_TARGET_UNSUPPORTED target_not_compiled inspect_help_json,edit_manifest_targets,rebuild_with_target_feature,retry_command: there is no target "codx"; did you mean "codex"?; there are claude_code, codex, cursor, export_dir, jetbrains, vscode, zed
    E_UNEXPECTED invalid_arguments retry_command: "modules/x" is not a source: write local:<path> or git:<url>[#ref=<ref>&subdir=<dir>&shallow=<true|false>]
    E_CONFIG_INVALID config_invalid fix_config,retry_command: agentpack.yaml already has a module "skill:one" on line 9; choose another id
    E_UNEXPECTED invalid_arguments fix_config,retry_command: agentpack.yaml has no module "skill:on"; did you mean "skill:one"?
    E_CONFIG_MISSING config_missing run_init,retry_with_repo,retry_command: there is no /project/agentpack.yaml; create it with init, or name the repository with --repo
    "#);
}

#[test]
fn profiles_that_still_name_a_module_are_reported() {
    let world = World::with_manifest(
        &COMMENTED.replace("{include_tags: ['base']}", "{include_modules: [skill:two]}"),
    );
    let outcome = remove(&world.repo(), "skill:two").unwrap();
    assert_eq!(
        outcome.warnings,
        ["module skill:two is gone, but these profiles still name it: default"]
    );
}
