//! Tests of changing the manifest in place.

use proptest::prelude::*;

use super::*;
use crate::{GitSource, ModuleType, Target};

const HAND_WRITTEN: &str = "\
# our pack
version: 1   # the only one

profiles:
    default:
        include_tags: ['base']   # quoted, on purpose
targets:
    codex: {mode: files, scope: both}

modules:
    # instructions come first
    - id: \"instructions:base\"
      type: instructions
      tags: [base]
      source: {local_path: {path: modules/instructions/base}}

    # the demo
    - # odd but legal
      id: skill:demo
      type: skill
      metadata:
          note: |
              several
              lines

      source:
          local_path:
              path: modules/skills/demo
# the end
";

fn local(id: &str) -> Module {
    Module {
        id: id.into(),
        module_type: ModuleType::Skill,
        enabled: true,
        tags: vec!["base".into()],
        targets: Vec::new(),
        name: None,
        source: Source::LocalPath {
            path: "modules/x".into(),
        },
        line: 0,
    }
}

/// The lines that differ, as a diff without context.
fn difference(before: &str, after: &str) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.split('\n').collect(), after.split('\n').collect());
    let same = |left: &[&str], right: &[&str]| {
        left.iter()
            .zip(right)
            .take_while(|(left, right)| left == right)
            .count()
    };
    let head = same(&before, &after);
    let shorter = before.len().min(after.len()) - head;
    let tail = before
        .iter()
        .rev()
        .zip(after.iter().rev())
        .take(shorter)
        .take_while(|(left, right)| left == right)
        .count();
    let removed = before[head..before.len() - tail]
        .iter()
        .map(|line| format!("-{line}"));
    let added = after[head..after.len() - tail]
        .iter()
        .map(|line| format!("+{line}"));
    removed.chain(added).collect::<Vec<_>>().join("\n")
}

#[test]
fn must_27_add_inserts_lines_and_changes_none() {
    let mut module = local("skill:new");
    module.enabled = false;
    module.targets = vec![Target::Codex, Target::Zed];
    let edited = add_module(HAND_WRITTEN, &module).unwrap();
    insta::assert_snapshot!(difference(HAND_WRITTEN, &edited), @r"
    +    - id: skill:new
    +      type: skill
    +      enabled: false
    +      tags: [base]
    +      targets: [codex, zed]
    +      source:
    +        local_path:
    +          path: modules/x
    ");
    assert!(!edited.contains("null") && !edited.contains("metadata: {}"));
    assert!(edited.ends_with("# the end\n"));
}

#[test]
fn must_27_remove_deletes_lines_and_changes_none() {
    let edited = remove_module(HAND_WRITTEN, "skill:demo").unwrap();
    insta::assert_snapshot!(difference(HAND_WRITTEN, &edited), @r"
    -    - # odd but legal
    -      id: skill:demo
    -      type: skill
    -      metadata:
    -          note: |
    -              several
    -              lines
    -
    -      source:
    -          local_path:
    -              path: modules/skills/demo
    ");
    let edited = remove_module(HAND_WRITTEN, "instructions:base").unwrap();
    insta::assert_snapshot!(difference(HAND_WRITTEN, &edited), @r#"
    -    - id: "instructions:base"
    -      type: instructions
    -      tags: [base]
    -      source: {local_path: {path: modules/instructions/base}}
    "#);
}

#[test]
fn the_last_module_leaves_an_empty_list() {
    let one = remove_module(HAND_WRITTEN, "skill:demo").unwrap();
    let none = remove_module(&one, "instructions:base").unwrap();
    assert!(none.contains("\nmodules: []\n"), "{none}");
    let again = add_module(&none, &local("skill:x")).unwrap();
    assert!(again.contains("\nmodules:\n  - id: skill:x\n"), "{again}");
}

#[test]
fn modules_are_started_where_there_are_none() {
    let head = "version: 1\nprofiles: {default: {}}\n";
    let block = "  - id: skill:x\n    type: skill\n    tags: [base]\n    source:\n      local_path:\n        path: modules/x\n";
    for (before, after) in [
        ("", format!("modules:\n{block}")),
        ("modules: []\n", format!("modules:\n{block}")),
        (
            "modules: [ ]  # none yet\n",
            format!("modules:  # none yet\n{block}"),
        ),
        ("modules:\n", format!("modules:\n{block}")),
        ("modules: # none\n", format!("modules: # none\n{block}")),
        ("modules: ~\n", format!("modules:\n{block}")),
        ("modules: null # no\n", format!("modules: # no\n{block}")),
        ("modules: [\n]\n", format!("modules:\n{block}")),
        ("modules:\n  []\n", format!("modules:\n{block}")),
        ("modules: []", format!("modules:\n{block}")),
        ("\"modules\" : []\n", format!("\"modules\" :\n{block}")),
        (
            "modules: []\ngitignore_outputs: true\n",
            format!("modules:\n{block}gitignore_outputs: true\n"),
        ),
        ("# tail\n\n", format!("modules:\n{block}# tail\n\n")),
        ("...\n", format!("modules:\n{block}...\n")),
    ] {
        let edited = add_module(&format!("{head}{before}"), &local("skill:x")).unwrap();
        assert_eq!(edited, format!("{head}{after}"), "{before:?}");
    }
}

#[test]
fn the_style_of_the_file_is_kept() {
    let crlf = HAND_WRITTEN.replace('\n', "\r\n");
    let edited = add_module(&crlf, &local("skill:x")).unwrap();
    assert_eq!(edited.matches('\n').count(), edited.matches("\r\n").count());
    let flush = "version: 1\nprofiles:\n  default: {}\nmodules:\n- id: a\n  type: skill\n  source: {local_path: {path: a}}";
    let edited = add_module(flush, &local("skill:x")).unwrap();
    assert!(
        edited.contains("{path: a}}\n- id: skill:x\n  type: skill\n"),
        "{edited}"
    );
    let back = remove_module(&edited, "skill:x").unwrap();
    assert_eq!(back, format!("{flush}\n"));
}

#[test]
fn several_modules_and_a_profile_are_added() {
    let git = Module {
        source: Source::Git(GitSource {
            url: "git@host:o/r.git".into(),
            reference: "1.0".into(),
            subdir: "a b".into(),
            shallow: false,
        }),
        tags: vec!["yes".into(), "true".into(), "a, b".into(), "- x".into()],
        ..local("command:a #b: \"c\"")
    };
    let edited = add_modules(HAND_WRITTEN, &[local("skill:x"), git]).unwrap();
    insta::assert_snapshot!(difference(HAND_WRITTEN, &edited), @r##"
    +    - id: skill:x
    +      type: skill
    +      tags: [base]
    +      source:
    +        local_path:
    +          path: modules/x
    +    - id: "command:a #b: \"c\""
    +      type: skill
    +      tags: [yes, "true", "a, b", "- x"]
    +      source:
    +        git:
    +          url: git@host:o/r.git
    +          ref: "1.0"
    +          subdir: "a b"
    +          shallow: false
    "##);
    let profile = Profile {
        include_tags: vec!["base".into(), "project-0123456789abcdef".into()],
        ..Profile::default()
    };
    let edited = add_profile(HAND_WRITTEN, "project-0123456789abcdef", &profile).unwrap();
    insta::assert_snapshot!(difference(HAND_WRITTEN, &edited), @r"
    +    project-0123456789abcdef:
    +      include_tags: [base, project-0123456789abcdef]
    ");
    let edited = add_profile(HAND_WRITTEN, "empty", &Profile::default()).unwrap();
    insta::assert_snapshot!(difference(HAND_WRITTEN, &edited), @"+    empty: {}");
}

#[test]
fn what_cannot_be_done_is_explained_and_not_done() {
    let head = "version: 1\nprofiles:\n  default: {}\n";
    let flow =
        format!("{head}modules: [{{id: a, type: skill, source: {{local_path: {{path: a}}}}}}]\n");
    let anchored = format!(
        "{head}modules:\n  - id: a\n    type: skill\n    source: &s {{local_path: {{path: a}}}}\n  - id: b\n    type: skill\n    source: *s\n"
    );
    for (result, part) in [
        (
            add_module(&flow, &local("x")),
            "modules on line 4 is written between brackets; make the change by hand",
        ),
        (remove_module(&flow, "a"), "between brackets"),
        (remove_module(&anchored, "a"), "cannot be changed in place"),
        (
            add_module("{version: 1, profiles: {default: {}}}\n", &local("x")),
            "between braces",
        ),
        (
            add_profile(
                "version: 1\nprofiles: {default: {}}\n",
                "x",
                &Profile::default(),
            ),
            "profiles on line 2 is written between brackets",
        ),
        (
            add_module(HAND_WRITTEN, &local("skill:demo")),
            "already has a module \"skill:demo\" on line 19",
        ),
        (
            add_modules(HAND_WRITTEN, &[local("x"), local("x")]),
            "already has a module \"x\"",
        ),
        (
            remove_module(HAND_WRITTEN, "skill:dem"),
            "did you mean \"skill:demo\"?",
        ),
        (
            add_profile(HAND_WRITTEN, "default", &Profile::default()),
            "already has a profile",
        ),
        (add_module("version: 2\n", &local("x")), "not supported"),
    ] {
        let problem = result.unwrap_err();
        assert!(problem.message().contains(part), "{}", problem.message());
    }
    let removed = remove_module(&anchored, "b").unwrap();
    assert!(parse_manifest(&removed).is_ok());
}

fn any_module() -> impl Strategy<Value = Module> {
    let text = "[a-zA-Z0-9:/._ '\"#,\\[\\]{}&*!|>%@`~ü\\\\-]{1,12}";
    let source = prop_oneof![
        "[a-z./ü\"# -]{1,12}".prop_map(|path| Source::LocalPath { path }),
        ("[a-z]{1,8}", "[a-zA-Z0-9._/]{1,8}", any::<bool>()).prop_filter_map(
            "a reference",
            |(name, reference, shallow)| {
                let git = GitSource {
                    url: format!("https://host/{name}.git"),
                    reference,
                    subdir: name,
                    shallow,
                };
                crate::source::check_git_reference(&git.reference)
                    .is_ok()
                    .then_some(Source::Git(git))
            }
        ),
    ];
    (
        text,
        0..ModuleType::ALL.len(),
        any::<bool>(),
        prop::collection::vec(text, 0..3),
        prop::collection::vec(0..Target::ALL.len(), 0..3),
        source,
    )
        .prop_map(|(id, kind, enabled, tags, targets, source)| Module {
            id,
            module_type: ModuleType::ALL[kind],
            enabled,
            tags,
            targets: targets.into_iter().map(|at| Target::ALL[at]).collect(),
            name: (!enabled).then(|| "Other Name".to_owned()),
            source,
            line: 0,
        })
}

fn distinct_modules() -> impl Strategy<Value = Vec<Module>> {
    prop::collection::vec(any_module(), 1..6).prop_map(|mut modules| {
        modules.sort_by(|left, right| left.id.cmp(&right.id));
        modules.dedup_by(|left, right| left.id == right.id);
        modules
    })
}

/// Puts comments and blank lines between the lines of a text.
fn scatter(text: &str, noise: &[(usize, u8)]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (at, kind) in noise {
        let at = at % (lines.len() + 1);
        let line = match kind % 4 {
            0 => String::new(),
            1 => "# a comment: with 'quotes'".to_owned(),
            2 => "      # - id: not a module".to_owned(),
            _ => "  #".to_owned(),
        };
        lines.insert(at, line);
    }
    lines.join("\n") + "\n"
}

proptest! {
    #[test]
    fn manifests_come_back_as_they_were_written(modules in distinct_modules()) {
        let head = "version: 1\nprofiles:\n  default: {}\n";
        let text = add_modules(head, &modules).unwrap();
        let mut read = parse_manifest(&text).unwrap().manifest.modules;
        for module in &mut read {
            prop_assert_ne!(module.line, 0);
            module.line = 0;
        }
        prop_assert_eq!(read, modules);
    }

    #[test]
    fn adding_keeps_every_other_line(
        modules in distinct_modules(),
        noise in prop::collection::vec((0..100usize, any::<u8>()), 0..12),
    ) {
        let head = "version: 1\nprofiles:\n  default: {}\n";
        let before = scatter(&add_modules(head, &modules).unwrap(), &noise);
        let after = add_module(&before, &local("the:new:one")).unwrap();
        let changed = difference(&before, &after);
        prop_assert!(changed.lines().all(|line| line.starts_with('+')), "{}", changed);
    }

    #[test]
    fn removing_keeps_every_other_line(
        modules in distinct_modules(),
        noise in prop::collection::vec((0..100usize, any::<u8>()), 0..12),
        chosen in any::<prop::sample::Index>(),
    ) {
        let head = "version: 1\nprofiles:\n  default: {}\n";
        let full = add_modules(head, &modules).unwrap();
        let full = add_module(&full, &local("the:last:one")).unwrap();
        let before = scatter(&full, &noise);
        let id = &modules[chosen.index(modules.len())].id;
        let after = remove_module(&before, id).unwrap();
        let changed = difference(&before, &after);
        prop_assert!(changed.lines().all(|line| line.starts_with('-')), "{}", changed);
    }
}
