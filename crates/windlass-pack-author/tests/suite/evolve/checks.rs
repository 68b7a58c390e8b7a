//! What doctor says about overlays.

use windlass_pack_author::evolve::overlay_warnings;

use super::world::{World, module};

#[test]
fn doubled_and_mislabelled_overlays_are_warned_of() {
    let world = World::new(&format!(
        "targets: {{codex: {{mode: files, scope: user}}}}\nmodules:\n{}{}",
        module("skill:demo", "skill", "modules/demo"),
        module("skill:fine", "skill", "modules/fine")
    ));
    let warnings = |world: &World| world.with(|context| overlay_warnings(&context.input));
    assert!(warnings(&world).is_empty());
    world.file("overlays/skill:demo/SKILL.md", "old\n");
    world.file("overlays/skill:fine/.agentpack/module_id", "skill:fine\n");
    assert!(warnings(&world).is_empty());
    world.file("overlays/skill_demo--f2b4dd2c0d/SKILL.md", "new\n");
    world.file(
        "overlays/machines/box/skill_demo--f2b4dd2c0d/.agentpack/module_id",
        "skill:other\n",
    );
    world.file(
        "projects/0123456789abcdef/overlays/skill_demo--f2b4dd2c0d",
        "not a directory",
    );
    insta::assert_snapshot!(warnings(&world).join("\n"), @r#"
    overlay layout (global) module skill:demo: several overlay directories exist: overlays/skill_demo--f2b4dd2c0d, overlays/skill:demo; only overlays/skill_demo--f2b4dd2c0d is used, so merge the others into it and remove them
    overlay metadata (machine) module skill:demo: overlays/machines/box/skill_demo--f2b4dd2c0d/.agentpack/module_id says "skill:other", but the directory is that of skill:demo; correct the file or move the overlay
    overlay layout (project) module skill:demo: projects/0123456789abcdef/overlays/skill_demo--f2b4dd2c0d is not a directory, so it changes nothing; remove or rename it
    "#);
}
