//! Tests of reading the manifest.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const FULL: &str = "\
version: 1
profiles:
  default:
    include_tags: [base]
  work:
    include_modules: [\"skill:demo\"]
    exclude_modules: []
targets:
  codex:
    mode: files
    scope: both
    options:
      codex_home: ~/.codex
      write_agents_global: true
      write_user_prompts: 'no'
      write_repo_skills: maybe
  cursor: {mode: files, scope: project}
modules:
  - id: skill:demo
    type: skill
    tags: [base, 1.0]
    targets: [codex, cursor]
    source:
      local_path:
        path: modules/skills/demo
      git: null
    metadata: {anything: [goes]}
  - id: prompt:x
    type: prompt
    enabled: false
    source:
      git:
        url: https://host/o/r.git
        subdir: prompts/x.md
gitignore_outputs: true
gitignore_mode: exclude
allow_external_symlinks: true
";

fn warnings(text: &str) -> Vec<String> {
    let parsed = parse_manifest(text).unwrap();
    parsed.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn a_manifest_is_read_in_full() {
    let parsed = parse_manifest(FULL).unwrap();
    let manifest = parsed.manifest;
    assert_eq!(manifest.version, 1);
    assert_eq!(manifest.profiles["default"].include_tags, ["base"]);
    assert_eq!(manifest.profiles["work"].include_modules, ["skill:demo"]);
    let codex = &manifest.targets[&Target::Codex];
    assert_eq!(codex.scope, ConfigScope::Both);
    assert_eq!(codex.options["codex_home"], json!("~/.codex"));
    assert_eq!(
        manifest.targets[&Target::Cursor].scope,
        ConfigScope::Project
    );
    let demo = &manifest.modules[0];
    assert_eq!((demo.id.as_str(), demo.line), ("skill:demo", 19));
    assert_eq!(demo.tags, ["base", "1.0"]);
    assert_eq!(demo.targets, [Target::Codex, Target::Cursor]);
    assert!(demo.enabled && !demo.is_for(Target::Zed));
    assert_eq!(
        manifest.modules[1].source,
        Source::Git(GitSource {
            url: "https://host/o/r.git".into(),
            reference: "main".into(),
            subdir: "prompts/x.md".into(),
            shallow: true,
        })
    );
    assert!(!manifest.modules[1].enabled && manifest.modules[1].is_for(Target::Zed));
    assert!(manifest.gitignore_outputs && manifest.allow_external_symlinks);
    assert_eq!(manifest.gitignore_mode, GitignoreMode::Exclude);
    assert_eq!(
        parsed
            .warnings
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        [
            "agentpack.yaml:16:26: option write_repo_skills of target codex is \"maybe\", which is \
          not true or false; its default counts"
        ]
    );
}

#[test]
fn boolean_options_are_read_leniently() {
    let config = |value: &str| {
        let text = format!(
            "version: 1\nprofiles: {{default: {{}}}}\ntargets:\n  zed:\n    mode: files\n    scope: both\n    options: {{write_rules: {value}}}\n"
        );
        let manifest = parse_manifest(&text).unwrap().manifest;
        let config = &manifest.targets[&Target::Zed];
        (
            config.flag("write_rules", true),
            config.flag("write_rules", false),
        )
    };
    for value in ["true", "True", "yes", "\"YES\"", "'true'", "\"1\"", "1"] {
        assert_eq!(config(value), (true, true), "{value}");
    }
    for value in ["false", "no", "'0'", "\"No\"", "0"] {
        assert_eq!(config(value), (false, false), "{value}");
    }
    for value in ["maybe", "on", "~", "[true]", "2"] {
        assert_eq!(config(value), (true, false), "{value}");
    }
}

#[test]
fn what_agentpack_writes_is_read() {
    let text = "version: 1\nprofiles:\n  default:\n    include_tags:\n    - base\n    include_modules: []\n    exclude_modules: []\ntargets:\n  codex:\n    mode: files\n    scope: user\n    options:\n      codex_home: ~/.codex\nmodules:\n- id: instructions:base\n  type: instructions\n  enabled: true\n  tags:\n  - base\n  targets: []\n  source:\n    local_path:\n      path: modules/instructions/base\n    git: null\n  metadata: {}\n- id: skill:g\n  type: skill\n  enabled: true\n  tags: []\n  targets: []\n  source:\n    local_path: null\n    git:\n      url: git@host:o/r.git\n      ref: v1\n      subdir: ''\n      shallow: true\n  metadata: {}\n";
    let parsed = parse_manifest(text).unwrap();
    assert_eq!(parsed.warnings, []);
    assert_eq!(parsed.manifest.modules.len(), 2);
}

#[test]
fn unknown_keys_are_warnings_with_line_and_nearest_key() {
    let text = "\
version: 1
profile: {}
profiles:
  default:
    include_tag: [base]
    include_modules: [skil:demo]
targets:
  codex:
    mode: files
    scope: both
    option: {}
    options:
      write_agent_global: true
      colour: red
modules:
  - id: skill:demo
    type: skill
    tag: [x]
    <<: {}
    metadata: {tag: never checked}
    source:
      localpath: {}
      local_path:
        path: a
        pth: b
";
    insta::assert_snapshot!(warnings(text).join("\n"), @r#"
    agentpack.yaml:2:1: unknown key "profile" in the manifest; did you mean "profiles"?
    agentpack.yaml:5:5: unknown key "include_tag" in profile "default"; did you mean "include_tags"?
    agentpack.yaml:6:23: profile "default" names the module "skil:demo", which is not there; did you mean "skill:demo"?
    agentpack.yaml:11:5: unknown key "option" in target codex; did you mean "options"?
    agentpack.yaml:13:7: unknown option "write_agent_global" of target codex; did you mean "write_agents_global"?
    agentpack.yaml:14:7: unknown option "colour" of target codex
    agentpack.yaml:18:5: unknown key "tag" in module "skill:demo"; did you mean "tags"?
    agentpack.yaml:19:5: unknown key "<<" in module "skill:demo"; merge keys are not applied
    agentpack.yaml:22:7: unknown key "localpath" in source of module "skill:demo"; did you mean "local_path"?
    agentpack.yaml:25:9: unknown key "pth" in local_path of module "skill:demo"; did you mean "path"?
    "#);
    let parsed = parse_manifest(text).unwrap();
    assert!(
        parsed
            .warnings
            .iter()
            .all(|warning| warning.kind.fails_strict())
    );
}

#[test]
fn must_24_paths_outside_load_with_a_warning() {
    let text = "version: 1\nprofiles: {default: }\nmodules:\n- {id: a, type: skill, source: {local_path: {path: /abs}}}\n- {id: b, type: skill, source: {local_path: {path: ../up}}}\n- {id: c, type: skill, source: {git: {url: http://h/r}}}\n";
    insta::assert_snapshot!(warnings(text).join("\n"), @r#"
    agentpack.yaml:4:52: the path "/abs" of module "a" is absolute; move it into the repository
    agentpack.yaml:5:52: the path "../up" of module "b" goes up with ..; move it into the repository
    agentpack.yaml:6:44: module "c": the git address "http://h/r" has a scheme that is not used; https, ssh, git and file are
    "#);
}

/// A manifest that is right but for one place.
fn with(module: &str) -> String {
    format!("version: 1\nprofiles: {{default: {{}}}}\nmodules:\n{module}")
}

#[test]
fn each_fault_has_its_code_its_place_and_its_details() {
    let local = "source: {local_path: {path: p}}";
    let cases: Vec<(String, &str, &str, serde_json::Value)> = vec![
        (
            "version: 2\nprofiles: {default: {}}\n".into(),
            "E_CONFIG_UNSUPPORTED_VERSION",
            "agentpack.yaml:1:10: version 2 is not supported",
            json!({"version": 2, "supported": [1], "reason_code": "config_unsupported_version"}),
        ),
        (
            "profiles: {default: {}}\n".into(),
            "E_CONFIG_INVALID",
            "agentpack.yaml:1:1: version is missing",
            json!({"missing": ["version"]}),
        ),
        (
            "version: '1'\n".into(),
            "E_CONFIG_INVALID",
            "agentpack.yaml:1:10: version must be a number",
            json!({"line": 1, "column": 10}),
        ),
        (
            String::new(),
            "E_CONFIG_INVALID",
            "the manifest must be a mapping, not nothing",
            json!({}),
        ),
        (
            "- a\n".into(),
            "E_CONFIG_INVALID",
            "the manifest must be a mapping, not a list",
            json!({}),
        ),
        (
            "version: 1\nversion: 1\n".into(),
            "E_CONFIG_INVALID",
            "agentpack.yaml:2:1: the manifest has the key \"version\" twice",
            json!({"line": 2}),
        ),
        (
            "version: 1\nprofiles: {work: {}}\n".into(),
            "E_CONFIG_INVALID",
            "agentpack.yaml:2:11: profiles has no \"default\"",
            json!({"profile": "default"}),
        ),
        (
            "version: 1\n".into(),
            "E_CONFIG_INVALID",
            "profiles has no \"default\"",
            json!({"profile": "default"}),
        ),
        (
            "version: 1\nprofiles: {default: {}}\ntargets:\n  codx: {mode: files, scope: both}\n"
                .into(),
            "E_TARGET_UNSUPPORTED",
            "agentpack.yaml:4:3: targets names \"codx\", which is not a target (there are claude_code, codex, cursor, export_dir, jetbrains, vscode, zed); did you mean \"codex\"?",
            json!({"target": "codx", "reason_code": "target_not_compiled"}),
        ),
        (
            "version: 1\nprofiles: {default: {}}\ntargets:\n  zed: {mode: files, scope: user}\n"
                .into(),
            "E_CONFIG_INVALID",
            "agentpack.yaml:4:29: target zed has no user scope",
            json!({"target": "zed", "allowed_scopes": ["project", "both"]}),
        ),
        (
            "version: 1\nprofiles: {default: {}}\ntargets:\n  codex: {mode: file, scope: user}\n"
                .into(),
            "E_CONFIG_INVALID",
            "mode of target codex is \"file\"; it must be one of files; did you mean \"files\"?",
            json!({"allowed": ["files"]}),
        ),
        (
            "version: 1\nprofiles: {default: {}}\ntargets:\n  codex: {mode: files}\n".into(),
            "E_CONFIG_INVALID",
            "target codex has no scope",
            json!({"target": "codex", "missing": ["scope"]}),
        ),
        (
            with(&format!(
                "- {{id: a, type: skill, {local}}}\n- {{id: a, type: skill, {local}}}\n"
            )),
            "E_CONFIG_INVALID",
            "agentpack.yaml:5:3: the module id \"a\" is used twice, first on line 4",
            json!({"module_id": "a"}),
        ),
        (
            with(&format!("- {{type: skill, {local}}}\n")),
            "E_CONFIG_INVALID",
            "a module has no id",
            json!({"missing": ["id"]}),
        ),
        (
            with(&format!("- {{id: '', type: skill, {local}}}\n")),
            "E_CONFIG_INVALID",
            "the module id \"\" is empty",
            json!({"module_id": ""}),
        ),
        (
            with(&format!("- {{id: \"a\\n\", type: skill, {local}}}\n")),
            "E_CONFIG_INVALID",
            "control characters",
            json!({}),
        ),
        (
            with(&format!("- {{id: a, type: skil, {local}}}\n")),
            "E_CONFIG_INVALID",
            "did you mean \"skill\"?",
            json!({"module_id": "a"}),
        ),
        (
            with(&format!("- {{id: a, {local}}}\n")),
            "E_CONFIG_INVALID",
            "module \"a\" has no type",
            json!({"module_id": "a", "missing": ["type"]}),
        ),
        (
            with("- {id: a, type: skill}\n"),
            "E_CONFIG_INVALID",
            "module \"a\" has no source",
            json!({"module_id": "a", "missing": ["source"]}),
        ),
        (
            with(
                "- {id: a, type: skill, source: {local_path: {path: p}, git: {url: 'https://h/r'}}}\n",
            ),
            "E_CONFIG_INVALID",
            "module \"a\" needs exactly one source",
            json!({"module_id": "a"}),
        ),
        (
            with("- {id: a, type: skill, source: {local_path: null, git: null}}\n"),
            "E_CONFIG_INVALID",
            "module \"a\" needs exactly one source",
            json!({"module_id": "a"}),
        ),
        (
            with(&format!(
                "- {{id: a, type: skill, targets: [vim], {local}}}\n"
            )),
            "E_TARGET_UNSUPPORTED",
            "module \"a\" names the target \"vim\", which is not a target",
            json!({"module_id": "a", "target": "vim"}),
        ),
        (
            with("- {id: a, type: skill, source: {git: {url: '--upload-pack=x'}}}\n"),
            "E_CONFIG_INVALID",
            "starts with a dash",
            json!({"module_id": "a"}),
        ),
        (
            with("- {id: a, type: skill, source: {git: {url: 'https://h/r', ref: '-x'}}}\n"),
            "E_CONFIG_INVALID",
            "the git reference \"-x\" starts with a dash",
            json!({"module_id": "a"}),
        ),
        (
            with("- {id: a, type: skill, source: {git: {url: 'https://h/r', subdir: '../x'}}}\n"),
            "E_CONFIG_INVALID",
            "\"../x\" is not a path inside its root",
            json!({"module_id": "a"}),
        ),
        (
            with(&format!(
                "- {{id: a, type: skill, enabled: yes, {local}}}\n"
            )),
            "E_CONFIG_INVALID",
            "enabled of module \"a\" must be true or false, not \"yes\"",
            json!({}),
        ),
        (
            with(&format!("- {{id: a, type: skill, tags: base, {local}}}\n")),
            "E_CONFIG_INVALID",
            "tags of module \"a\" must be a list, not \"base\"",
            json!({}),
        ),
        (
            with("- just text\n"),
            "E_CONFIG_INVALID",
            "a module must be a mapping, not \"just text\"",
            json!({}),
        ),
        (
            "version: 1\nprofiles: [\n".into(),
            "E_CONFIG_INVALID",
            "agentpack.yaml:2:11: unclosed bracket",
            json!({"line": 2, "reason_code": "config_invalid"}),
        ),
    ];
    for (text, code, message, details) in cases {
        let problem = parse_manifest(&text).unwrap_err();
        assert_eq!(problem.code().name, code, "{text}{problem}");
        assert!(
            problem.message().contains(message),
            "{text}got:  {}\nwant: {message}",
            problem.message()
        );
        assert!(
            problem.message().starts_with("agentpack.yaml:"),
            "{problem}"
        );
        for (key, value) in details.as_object().unwrap() {
            assert_eq!(&problem.details()[key], value, "{text}{key}");
        }
    }
}

#[test]
fn all_module_types_are_known() {
    for kind in ModuleType::ALL {
        let text = with(&format!(
            "- {{id: x, type: {kind}, source: {{local_path: {{path: p}}}}}}\n"
        ));
        let manifest = parse_manifest(&text).unwrap().manifest;
        assert_eq!(manifest.modules[0].module_type, kind);
    }
}

#[test]
fn repeated_free_keys_keep_the_last_as_before() {
    let text =
        "version: 1\nprofiles:\n  default: {include_tags: [a]}\n  default: {include_tags: [b]}\n";
    let parsed = parse_manifest(text).unwrap();
    assert_eq!(parsed.manifest.profiles["default"].include_tags, ["b"]);
    insta::assert_snapshot!(parsed.warnings[0], @r#"agentpack.yaml:4:3: profiles has "default" twice; the last one counts"#);
}

#[test]
fn a_byte_order_mark_and_crlf_do_no_harm() {
    let text = format!("\u{feff}{}", FULL.replace('\n', "\r\n"));
    let mut manifest = parse_manifest(&text).unwrap().manifest;
    let plain = parse_manifest(FULL).unwrap().manifest;
    assert_eq!(manifest, plain);
    manifest.modules.clear();
    assert_ne!(manifest, plain);
}

proptest! {
    #[test]
    fn no_text_is_a_crash(text in "\\PC{0,200}") {
        let _ = parse_manifest(&text);
    }

    #[test]
    fn no_mangled_manifest_is_a_crash(at in 0..FULL.len(), length in 0..40usize, with in "[\\[\\]{}:,&*!|>'\"#%@`\\- \\n\\t~a]{0,4}") {
        let end = (at + length).min(FULL.len());
        let mut text = FULL.to_owned();
        text.replace_range(at..end, &with);
        let _ = parse_manifest(&text);
    }
}
