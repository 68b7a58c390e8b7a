//! Operator assets: what they hold, where they go, how they are planned and checked.

use windlass_pack_author::{
    LintRequest, OperatorInput, check_operator_assets, lint, operator_assets,
};
use windlass_pack_deploy::{
    Adoption, OwnershipScope, PlanOptions, Purpose, gather_disk, gather_owned, plan,
    state::PackState,
};
use windlass_pack_model::{
    Body, ConfigScope, Frontmatter, Manifest, NoHashCache, Target, parse_manifest,
};

use super::world::{MANIFEST, World, caller};

const BOTH: [Target; 2] = [Target::ClaudeCode, Target::Codex];

fn manifest(text: &str) -> Manifest {
    parse_manifest(text).unwrap().manifest
}

/// The paths below the world, by scope.
fn paths(world: &World, manifest: &Manifest, scope: ConfigScope) -> Vec<String> {
    let (project, places) = (world.project(), world.places());
    let desired = operator_assets(&OperatorInput {
        manifest,
        targets: &BOTH,
        scope,
        project: Some(&project),
        places: &places,
        program: "windlass pack",
        version: "1.2.3",
    })
    .unwrap();
    let top = world.path("");
    desired
        .files
        .iter()
        .map(|file| file.path.strip_prefix(&top).unwrap().display().to_string())
        .collect()
}

fn text(body: &Body) -> String {
    match body {
        Body::Memory(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
        Body::File(path) => panic!("{} is not at hand", path.display()),
    }
}

#[test]
fn twenty_files_at_both_scopes() {
    let world = World::new();
    let manifest = manifest(MANIFEST);
    let all = paths(&world, &manifest, ConfigScope::Both);
    assert_eq!(all.len(), 20, "{all:#?}");
    let user = paths(&world, &manifest, ConfigScope::User);
    insta::assert_snapshot!(user.join("\n"), @"
    user/.claude/commands/ap-deploy.md
    user/.claude/commands/ap-diff.md
    user/.claude/commands/ap-doctor.md
    user/.claude/commands/ap-evolve.md
    user/.claude/commands/ap-explain.md
    user/.claude/commands/ap-plan.md
    user/.claude/commands/ap-preview.md
    user/.claude/commands/ap-status.md
    user/.claude/commands/ap-update.md
    user/.codex/skills/agentpack-operator/SKILL.md
    ");
}

#[test]
fn options_decide_where_the_skill_goes() {
    let world = World::new();
    for (options, expected) in [
        (
            "{codex_home: ~/x, write_user_skills: true}",
            "user/x/skills/agentpack-operator/SKILL.md",
        ),
        (
            "{write_user_skills: false, write_agents_skills_user: true}",
            "user/.agents/skills/agentpack-operator/SKILL.md",
        ),
        (
            "{write_user_skills: false}",
            "user/.codex/skills/agentpack-operator/SKILL.md",
        ),
    ] {
        let text = MANIFEST.replace(
            "codex: {mode: files, scope: both}",
            &format!("codex: {{mode: files, scope: both, options: {options}}}"),
        );
        let found = paths(&world, &manifest(&text), ConfigScope::User);
        assert_eq!(found.last().unwrap(), expected, "{options}");
    }
    let claude = MANIFEST.replace(
        "claude_code: {mode: files, scope: both}",
        "claude_code: {mode: files, scope: both, options: {write_user_skills: true}}",
    );
    let found = paths(&world, &manifest(&claude), ConfigScope::Both);
    assert_eq!(found.len(), 21);
    assert!(found.contains(&"user/.claude/skills/agentpack-operator/SKILL.md".to_owned()));
}

#[test]
fn every_asset_names_the_program_and_the_version_and_passes_lint() {
    let world = World::new();
    let (project, places, manifest) = (world.project(), world.places(), manifest(MANIFEST));
    for program in ["agentpack", "windlass pack"] {
        let desired = operator_assets(&OperatorInput {
            manifest: &manifest,
            targets: &BOTH,
            scope: ConfigScope::Project,
            project: Some(&project),
            places: &places,
            program,
            version: "1.2.3",
        })
        .unwrap();
        for file in &desired.files {
            let text = text(&file.body);
            assert!(text.contains("agentpack_version:"), "{text}");
            assert!(text.contains("1.2.3") && !text.contains("{{"), "{text}");
            assert!(text.contains(&format!("{program} ")), "{text}");
            let matter = Frontmatter::parse(&text).unwrap();
            assert!(matter.text("description").is_some());
            if file.target == Target::ClaudeCode {
                let tools = matter.text("allowed-tools").unwrap();
                assert!(tools.contains(&format!("Bash({program} ")), "{tools}");
            }
            let name = file.path.file_name().unwrap().to_str().unwrap();
            world.write(&format!("repo/.claude/commands/{name}"), &text);
        }
        let report = lint(&LintRequest {
            repo: &world.repo(),
            strict: false,
            program,
        })
        .unwrap();
        assert_eq!(report.issues, [], "{program}");
        assert_eq!(report.summary.claude_command_files, 10);
    }
}

#[test]
fn must_2_bootstrap_asks_before_it_replaces_a_users_file() {
    let world = World::new();
    let (project, places, manifest) = (world.project(), world.places(), manifest(MANIFEST));
    let mine = world.write("user/.claude/commands/ap-plan.md", "mine");
    let desired = operator_assets(&OperatorInput {
        manifest: &manifest,
        targets: &BOTH,
        scope: ConfigScope::User,
        project: Some(&project),
        places: &places,
        program: "agentpack",
        version: "1.2.3",
    })
    .unwrap();
    let state = PackState::open(world.home.clone());
    let owned = gather_owned(
        &state,
        &OwnershipScope {
            repo: &world.repo(),
            project_id: Some(&project.id),
            target: None,
            roots: &desired.roots,
            possible: &desired.roots,
        },
    )
    .unwrap();
    let disk = gather_disk(&desired, &owned, &NoHashCache);
    let options = PlanOptions {
        purpose: Purpose::Bootstrap,
        ..PlanOptions::default()
    };
    let planned = plan(&desired, &owned, &disk, &options).unwrap();
    assert_eq!((planned.summary.create, planned.summary.update), (9, 1));
    let adopted: Vec<_> = planned
        .adopt_updates()
        .map(|change| change.path.clone())
        .collect();
    assert_eq!(adopted, [mine]);
    let problem = planned.approve(&Adoption::none()).unwrap_err();
    assert_eq!(problem.code().name, "E_ADOPT_CONFIRM_REQUIRED");
}

#[test]
fn what_is_missing_or_old_is_reported_with_the_command_that_helps() {
    let world = World::new();
    let (project, places, manifest) = (world.project(), world.places(), manifest(MANIFEST));
    let input = OperatorInput {
        manifest: &manifest,
        targets: &BOTH,
        scope: ConfigScope::Both,
        project: Some(&project),
        places: &places,
        program: "agentpack",
        version: "1.2.3",
    };
    for file in operator_assets(&input).unwrap().files {
        let below = file.path.strip_prefix(world.path("")).unwrap().to_owned();
        world.write(below.to_str().unwrap(), &text(&file.body));
    }
    let check = || check_operator_assets(&input, &caller(), true).unwrap();
    assert_eq!(check(), Default::default());

    fs_err::remove_dir_all(world.path("project/.claude/commands")).unwrap();
    fs_err::remove_file(world.path("user/.claude/commands/ap-diff.md")).unwrap();
    world.write(
        "user/.claude/commands/ap-plan.md",
        "agentpack_version: \"0.9.1\"\n",
    );
    world.write("user/.codex/skills/agentpack-operator/SKILL.md", "mine\n");
    let found = check();
    let top = world.path("").display().to_string();
    let warnings: Vec<String> = found
        .warnings
        .iter()
        .map(|line| line.replace(&top, "/"))
        .collect();
    insta::assert_snapshot!(warnings.join("\n"), @"
    operator assets missing (claude_code/user): /user/.claude/commands lacks ap-diff.md; run: windlass pack --target claude_code bootstrap --scope user
    operator assets outdated (claude_code/user): /user/.claude/commands/ap-plan.md has 0.9.1, want 1.2.3; run: windlass pack --target claude_code bootstrap --scope user
    operator assets missing (claude_code/project): /project/.claude/commands; run: windlass pack --target claude_code bootstrap --scope project
    operator assets missing agentpack_version (codex/user): /user/.codex/skills/agentpack-operator/SKILL.md; run: windlass pack --target codex bootstrap --scope user
    ");
    let commands: Vec<&str> = found
        .next_actions
        .iter()
        .map(|next| next.command.as_str())
        .collect();
    insta::assert_snapshot!(commands.join("\n"), @"
    windlass pack --target claude_code bootstrap --scope project --yes --json
    windlass pack --target claude_code bootstrap --scope user --yes --json
    windlass pack --target codex bootstrap --scope user --yes --json
    ");
    // Without a project only the user's are looked at.
    let alone = OperatorInput {
        project: None,
        ..input
    };
    assert_eq!(
        check_operator_assets(&alone, &caller(), false)
            .unwrap()
            .next_actions
            .len(),
        2
    );
}
