//! What is taken, what is refused and where, what hashes equal, what is resolved.
//!
//! Long because every field of the configuration has its accepted and refused values here.

use std::{collections::BTreeSet, path::PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use windlass_types::canonical::canonical_json;

use crate::{SiteKind, schema::SchemaErrors};

const SHA: &str = "0123456789abcdef0123456789abcdef01234567";

/// Every key there is, none with its default.
const EVERYTHING: &str = r##"{
    "schema_version": "1.0",
    "product_name": "Acme PDF",
    "github_repo_url": "https://github.com/acme/pdf",
    "github_ref": "0123456789abcdef0123456789abcdef01234567",
    "site_repo_url": "ssh://git@github.com/acme/site.git",
    "allowed_paths": ["content/docs/**", "content/blog/*.md", "static/acme/"],
    "site_ref": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "workflows_repo_url": "https://github.com/acme/workflows",
    "workflows_ref": "0123456789abcdef0123456789abcdef01234567",
    "product_slug": "acme-pdf",
    "family": "pdf/acme",
    "target_platform": "typescript",
    "platform_family": "node",
    "locale": "de",
    "locales": ["de"],
    "required_sections": ["docs", "blog"],
    "site_kind": "hugo",
    "site_layout": {
        "content_root": "content",
        "subdomain_roots": {"docs": "content/docs.acme.dev"},
        "localization": {"mode_by_section": {"docs": "dir", "blog": "filename"}}
    },
    "canonical_urls": {
        "product": "https://acme.dev/pdf",
        "docs": "https://docs.acme.dev",
        "reference": "https://ref.acme.dev"
    },
    "llm": {
        "api_base_url": "http://127.0.0.1:11434/v1",
        "model": "small",
        "decoding": {"temperature": 0.5, "top_p": 0.9, "max_tokens": 400},
        "api_key_env": "MODEL_KEY",
        "request_timeout_s": 60,
        "max_concurrency": 2,
        "fallback": {
            "api_base_url": "https://models.acme.dev/v1",
            "model": "large",
            "api_key_env": "OTHER_KEY",
            "request_timeout_s": 200
        }
    },
    "mcp": {
        "enabled": false, "listen_host": "127.0.0.1", "listen_port": 9000,
        "auth_token_env": "MCP_TOKEN"
    },
    "telemetry": {
        "endpoint_url": "https://telemetry.acme.dev", "project": "launches",
        "run_tags": ["nightly"], "auth_token_env": "TELEMETRY_TOKEN"
    },
    "commit_service": {
        "adapter": "github", "endpoint_url": "https://git.acme.dev/api/v3",
        "github_token_env": "GIT_TOKEN",
        "commit_message_template": "Launch {product_slug} ({run_id})",
        "commit_body_template": "{github_repo_url} {github_ref} {site_repo_url} {site_ref} {Not} {}",
        "author_name": "Acme Bot", "author_email": "bot@acme.dev"
    },
    "templates_version": "1",
    "ruleset_version": "1",
    "allow_inference": true,
    "allow_manual_edits": true,
    "review_enabled": false,
    "taskcard_id": "TC-0123",
    "validation_profile": "prod",
    "ci_strictness": "relaxed",
    "max_fix_attempts": 0,
    "product_type": "library",
    "launch_tier": "rich",
    "extra_evidence_urls": [],
    "repo_hints": {
        "preferred_source_roots": ["src"], "preferred_docs_roots": ["docs"],
        "preferred_examples_roots": ["examples"], "preferred_test_commands": ["npm test"]
    },
    "hugo": {
        "config_dir": "config", "use_config_gate": false,
        "config_snapshot_dir": "snapshot", "exec_allow": ["^npx$"]
    },
    "ingestion": {
        "scan_directories": ["src", "docs"], "exclude_patterns": ["*.min.js"],
        "gitignore_mode": "strict", "example_directories": ["demo"],
        "record_binary_files": false, "detect_phantom_paths": false
    },
    "network": {"allowed_hosts": ["Acme.dev"]},
    "budgets": {
        "max_runtime_s": 1, "max_llm_calls": 2, "max_llm_tokens": 3, "max_file_writes": 4,
        "max_patch_attempts": 5, "max_lines_per_file": 6, "max_files_changed": 7
    }
}"##;

fn minimal() -> Value {
    json!({
        "product_name": "Acme PDF",
        "github_repo_url": "https://github.com/acme/pdf",
        "github_ref": SHA,
        "site_repo_url": "git@github.com:acme/site.git",
        "allowed_paths": ["content"],
    })
}

fn with(changes: &[(&str, Value)]) -> Value {
    let mut config = minimal();
    for (key, value) in changes {
        config[*key] = value.clone();
    }
    config
}

fn accept(config: Value) -> Result<Accepted, SchemaErrors> {
    Accepted::new(config, &Caller::local())
}

fn findings(config: Value) -> String {
    let errors = accept(config).unwrap_err();
    errors
        .errors()
        .iter()
        .map(|error| format!("{} [{}] {}", error.pointer, error.keyword, error.message))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn five_keys_are_enough_and_static_defaults_are_filled_in() {
    let accepted = accept(minimal()).unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(accepted.json()).unwrap(), @r#"
    {
      "allow_inference": false,
      "allow_manual_edits": false,
      "allowed_paths": [
        "content"
      ],
      "budgets": {
        "max_file_writes": 1000,
        "max_files_changed": 100,
        "max_lines_per_file": 500,
        "max_llm_calls": 500,
        "max_llm_tokens": 2000000,
        "max_patch_attempts": 100,
        "max_runtime_s": 3600
      },
      "canonical_urls": {},
      "ci_strictness": "strict",
      "commit_service": {
        "adapter": "local",
        "author_email": "windlass@localhost",
        "author_name": "Windlass",
        "commit_body_template": "Written from {github_repo_url} at {github_ref}.\n\nRun: {run_id}",
        "commit_message_template": "Add launch pages for {product_slug}"
      },
      "extra_evidence_urls": [],
      "family": "acme-pdf",
      "github_ref": "0123456789abcdef0123456789abcdef01234567",
      "github_repo_url": "https://github.com/acme/pdf",
      "hugo": {
        "exec_allow": [],
        "use_config_gate": true
      },
      "ingestion": {
        "detect_phantom_paths": true,
        "example_directories": [],
        "exclude_patterns": [],
        "gitignore_mode": "respect",
        "record_binary_files": true,
        "scan_directories": [
          "."
        ]
      },
      "launch_tier": "standard",
      "locales": [
        "en"
      ],
      "max_fix_attempts": 3,
      "mcp": {
        "enabled": true,
        "listen_host": "127.0.0.1",
        "listen_port": 8787
      },
      "network": {
        "allowed_hosts": []
      },
      "product_name": "Acme PDF",
      "product_slug": "acme-pdf",
      "repo_hints": {},
      "review_enabled": true,
      "ruleset_version": "1",
      "schema_version": "1.0",
      "site_kind": "auto",
      "site_layout": {
        "localization": {
          "mode_by_section": {}
        },
        "subdomain_roots": {}
      },
      "site_repo_url": "git@github.com:acme/site.git",
      "templates_version": "1",
      "validation_profile": "local"
    }
    "#);
    insta::assert_snapshot!(accepted.hash(), @"bc7c0fb1ddce9962e498fa247b84207113ca50503ab720c9d1b7591d70c9bc60");
}

#[test]
fn every_key_is_accepted() {
    let everything: Value = serde_json::from_str(EVERYTHING).unwrap();
    let properties = schema()["properties"].as_object().unwrap();
    let given: BTreeSet<_> = everything.as_object().unwrap().keys().collect();
    let known: BTreeSet<_> = properties.keys().collect();
    assert_eq!(given, known, "this test names every key");

    let accepted = accept(everything.clone()).unwrap();
    let mut expected = everything;
    // The two spellings of one language become one.
    expected.as_object_mut().unwrap().remove("locale");
    assert_eq!(*accepted.json(), expected);
    assert_eq!(
        accepted
            .config()
            .allowed_hosts()
            .into_iter()
            .collect::<Vec<_>>(),
        [
            "127.0.0.1",
            "acme.dev",
            "git.acme.dev",
            "github.com",
            "models.acme.dev",
            "telemetry.acme.dev"
        ]
    );
    assert_eq!(
        Accepted::restore(accepted.json().clone()).unwrap(),
        accepted
    );
    assert!(Accepted::restore(json!({"product_name": "x"})).is_err());
}

#[test]
fn findings_name_the_place_and_are_sorted_by_it() {
    insta::assert_snapshot!(findings(json!({
        "product_nam": "Acme",
        "github_repo_url": 7,
        "github_ref": "main",
        "allowed_paths": [],
        "zzz": 1,
        "a/b~c": 1,
        "budgets": {"max_runtime_s": 0, "max_runtim": 4},
        "llm": {"model": "m", "api_key_env": "sk-not a name"},
        "required_sections": ["docs", "docs", "news"],
        "templates_version": "99",
        "max_fix_attempts": -1,
        "listen_port": 3,
        "site_layout": {
            "subdomain_roots": {"news": "x", "docs": 3},
            "localization": {"mode_by_section": {"docs": "folder"}},
        },
        "mcp": {"listen_port": 70000},
        "locales": ["../x"],
    })), @r#"
    /allowed_paths [minItems] /allowed_paths has less than 1 item
    /a~1b~0c [additionalProperties] /a~1b~0c is not a known key
    /budgets/max_runtim [additionalProperties] /budgets/max_runtim is not a known key; did you mean max_runtime_s?
    /budgets/max_runtime_s [minimum] /budgets/max_runtime_s is less than the minimum of 1
    /github_ref [pattern] /github_ref does not match "^[a-f0-9]{40}([a-f0-9]{24})?$"
    /github_repo_url [type] /github_repo_url is not of type "string"
    /listen_port [additionalProperties] /listen_port is not a known key
    /llm/api_base_url [required] /llm/api_base_url is required
    /llm/api_key_env [pattern] /llm/api_key_env does not match "^[A-Za-z_][A-Za-z0-9_]*$"
    /locales/0 [pattern] /locales/0 does not match "^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$"
    /max_fix_attempts [minimum] /max_fix_attempts is less than the minimum of 0
    /mcp/listen_port [maximum] /mcp/listen_port is greater than the maximum of 65535
    /product_nam [additionalProperties] /product_nam is not a known key; did you mean product_name?
    /product_name [required] /product_name is required
    /required_sections [uniqueItems] /required_sections has non-unique elements
    /required_sections/2 [enum] /required_sections/2 is not one of "products", "docs", "reference", "kb", "blog"
    /site_layout/localization/mode_by_section/docs [enum] /site_layout/localization/mode_by_section/docs is not one of "auto", "none", "dir", "filename"
    /site_layout/subdomain_roots/docs [type] /site_layout/subdomain_roots/docs is not of type "string"
    /site_layout/subdomain_roots/news [additionalProperties] /site_layout/subdomain_roots/news is not a known key
    /site_repo_url [required] /site_repo_url is required
    /templates_version [enum] /templates_version is not one of "1"
    /zzz [additionalProperties] /zzz is not a known key
    "#);
    insta::assert_snapshot!(findings(json!([])), @r#" [type] the value is not of type "object""#);
    insta::assert_snapshot!(findings(with(&[("llm", Value::Null)])), @r#"/llm [type] /llm is not of type "object""#);
}

#[test]
fn what_a_schema_cannot_express_is_found_too() {
    insta::assert_snapshot!(findings(with(&[
        ("github_repo_url", json!("https://user:hunter2@github.com/acme/pdf")),
        ("site_repo_url", json!("ext::sh -c id")),
        ("workflows_repo_url", json!("--upload-pack=x")),
        ("allowed_paths", json!(["fine", "../x", "/abs", "a\\b", "a//b", ".git/hooks"])),
        ("family", json!("../up")),
        ("site_layout", json!({"content_root": "/abs", "subdomain_roots": {"docs": "a/../b"}})),
        ("canonical_urls", json!({"docs": "docs.acme.dev"})),
        ("llm", json!({"api_base_url": "https://key@acme.dev", "model": "m"})),
        ("commit_service", json!({
            "adapter": "http",
            "commit_message_template": "Launch {product}\nnow",
            "author_name": "A <b>",
        })),
        ("extra_evidence_urls", json!(["http://acme.dev"])),
        ("repo_hints", json!({"preferred_docs_roots": ["docs", "/etc"]})),
        ("ingestion", json!({"scan_directories": ["../.."]})),
        ("network", json!({"allowed_hosts": ["https://acme.dev"]})),
    ])), @"
    /allowed_paths/1 [format] /allowed_paths/1: a component is '..'
    /allowed_paths/2 [format] /allowed_paths/2: it is absolute; give it relative to the repository
    /allowed_paths/3 [format] /allowed_paths/3: it contains a backslash; use '/'
    /allowed_paths/4 [format] /allowed_paths/4: a component is empty
    /allowed_paths/5 [format] /allowed_paths/5: '.git' is never writable
    /canonical_urls/docs [format] /canonical_urls/docs: use a full address: https://host/path
    /commit_service/author_name [format] /commit_service/author_name: must not contain '<' or '>'
    /commit_service/commit_message_template [format] /commit_service/commit_message_template: must be one line
    /commit_service/commit_message_template [format] /commit_service/commit_message_template: {product} is not a placeholder; known: {product_slug}, {github_repo_url}, {github_ref}, {site_repo_url}, {site_ref}, {run_id}
    /commit_service/endpoint_url [dependentRequired] /commit_service/endpoint_url: is required with adapter http
    /extra_evidence_urls [maxItems] /extra_evidence_urls: facts are read from the product's repository only, so this must be empty; put the text into the repository, for example below docs/
    /family [format] /family: a component is '..'
    /github_repo_url [format] /github_repo_url: the address holds a user or password; credentials belong in the environment or a credential helper
    /ingestion/scan_directories/0 [format] /ingestion/scan_directories/0: a component is '..'
    /llm/api_base_url [format] /llm/api_base_url: the address holds a user or password; name an environment variable instead
    /network/allowed_hosts/0 [format] /network/allowed_hosts/0: give a host alone, without scheme, port or path
    /repo_hints/preferred_docs_roots/1 [format] /repo_hints/preferred_docs_roots/1: it is absolute; give it relative to the repository
    /site_layout/content_root [format] /site_layout/content_root: it is absolute; give it relative to the repository
    /site_layout/subdomain_roots/docs [format] /site_layout/subdomain_roots/docs: a component is '..'
    /site_repo_url [format] /site_repo_url: addresses of the form 'helper::address' run programs and are not taken
    /workflows_ref [dependentRequired] /workflows_ref: is required with /workflows_repo_url
    /workflows_repo_url [format] /workflows_repo_url: the address starts with '-' and would be read as an option
    ");
    assert_eq!(
        findings(with(&[("locale", json!("de")), ("locales", json!(["en"]))])),
        "/locales [const] /locales must have one entry equal to /locale when both are given"
    );
}

#[test]
fn no_finding_repeats_a_value_that_may_be_a_secret() {
    for config in [
        with(&[("github_repo_url", json!("https://x:hunter2@github.com/a/b"))]),
        with(&[(
            "llm",
            json!({"api_base_url": "https://hunter2@a.dev", "model": "m"}),
        )]),
        with(&[(
            "llm",
            json!({"api_base_url": "https://a.dev", "model": "m", "api_key_env": "hunter2 "}),
        )]),
        with(&[("commit_service", json!({"github_token_env": "hunter2-"}))]),
        with(&[("github_ref", json!("hunter2"))]),
    ] {
        let shown = findings(config);
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}

#[test]
fn refs_are_full_commits() {
    for (reference, good) in [
        (SHA.to_owned(), true),
        ("a".repeat(64), true),
        ("main".to_owned(), false),
        ("a".repeat(39), false),
        ("a".repeat(41), false),
        ("A".repeat(40), false),
        (format!("{SHA}\n"), false),
    ] {
        let found = accept(with(&[("github_ref", json!(reference))]));
        assert_eq!(found.is_ok(), good, "{reference:?}");
    }
}

#[test]
fn local_repositories_by_profile_and_caller() {
    let below = || Caller::remote(vec![PathBuf::from("/srv/repos")]);
    for (url, profile, caller, good) in [
        ("/srv/repos/acme", "local", Caller::local(), true),
        ("../acme", "local", Caller::local(), true),
        ("file:///srv/repos/acme", "local", Caller::local(), true),
        ("/srv/repos/acme", "ci", Caller::local(), false),
        ("file:///srv/repos/acme", "prod", Caller::local(), false),
        ("/srv/repos/acme", "local", below(), true),
        ("file:///srv/repos/acme", "local", below(), true),
        ("/srv/repos/../secret", "local", below(), false),
        ("file:///srv/repos/%2e%2e/secret", "local", below(), false),
        ("/srv/repos-other/acme", "local", below(), false),
        ("repos/acme", "local", below(), false),
        (
            "/srv/repos/acme",
            "local",
            Caller::remote(Vec::new()),
            false,
        ),
    ] {
        let config = with(&[
            ("github_repo_url", json!(url)),
            ("validation_profile", json!(profile)),
        ]);
        let found = Accepted::new(config, &caller);
        assert_eq!(found.is_ok(), good, "{url} {profile} {caller:?}");
    }
}

#[test]
fn the_profile_of_the_configuration_wins() {
    let caller = Caller::local().with_profile(Profile::Ci);
    let named = with(&[("validation_profile", json!("prod"))]);
    let profile = |config| {
        let accepted = Accepted::new(config, &caller).unwrap();
        accepted.config().validation_profile
    };
    assert_eq!(profile(minimal()), Profile::Ci);
    assert_eq!(profile(named), Profile::Prod);
}

#[test]
fn configurations_that_mean_the_same_hash_equal() {
    let hash = |config| accept(config).unwrap().hash();
    let plain = hash(minimal());
    for same in [
        with(&[("schema_version", json!("1.0"))]),
        with(&[("product_slug", json!("acme-pdf"))]),
        with(&[("family", json!("acme-pdf"))]),
        with(&[("locale", json!("en"))]),
        with(&[("locales", json!(["en"]))]),
        with(&[("max_fix_attempts", json!(3.0))]),
        with(&[("budgets", json!({"max_runtime_s": 3600.0}))]),
        with(&[("budgets", json!({}))]),
        with(&[("site_layout", json!({"localization": {}}))]),
        with(&[("commit_service", json!({"adapter": "local"}))]),
        with(&[("validation_profile", json!("local"))]),
        with(&[("mcp", json!({"listen_port": 8787}))]),
    ] {
        assert_eq!(hash(same.clone()), plain, "{same}");
    }
    for other in [
        with(&[("product_name", json!("Acme pdf"))]),
        with(&[("max_fix_attempts", json!(4))]),
        with(&[("allowed_paths", json!(["content/"]))]),
        with(&[("validation_profile", json!("ci"))]),
        with(&[(
            "required_sections",
            json!(["products", "docs", "reference", "kb", "blog"]),
        )]),
    ] {
        assert_ne!(hash(other.clone()), plain, "{other}");
    }
    let model = |decoding: &str| {
        let llm =
            format!(r#"{{"api_base_url":"https://a.dev","model":"m","decoding":{decoding}}}"#);
        hash(with(&[("llm", serde_json::from_str(&llm).unwrap())]))
    };
    assert_eq!(model("{}"), model(r#"{"temperature":0}"#));
    assert_eq!(model("{}"), model(r#"{"temperature":0.0}"#));
    assert_eq!(model("{}"), model(r#"{"temperature":-0.0}"#));
    assert_ne!(model("{}"), model(r#"{"temperature":0.1}"#));
}

#[test]
fn an_endpoint_alone_means_a_commit_service() {
    let adapter = |service| {
        let accepted = accept(with(&[("commit_service", service)])).unwrap();
        accepted.config().commit_service.adapter
    };
    assert_eq!(adapter(json!({})), Some(CommitAdapter::Local));
    assert_eq!(
        adapter(json!({"endpoint_url": "https://commit.acme.dev"})),
        Some(CommitAdapter::Http)
    );
    assert_eq!(
        adapter(json!({"adapter": "gitlab", "endpoint_url": "https://gitlab.acme.dev"})),
        Some(CommitAdapter::Gitlab)
    );
}

#[test]
fn placeholders_are_filled_in_once() {
    let values = |name: &str| match name {
        "product_slug" => Some("{run_id}".to_owned()),
        "run_id" => Some("r".to_owned()),
        _ => None,
    };
    for (template, filled) in [
        ("{product_slug} {run_id}", "{run_id} r"),
        ("{{run_id}}", "{r}"),
        ("{site_ref} { run_id } {} {", "{site_ref} { run_id } {} {"),
        ("", ""),
    ] {
        assert_eq!(fill(template, values), filled);
    }
}

#[test]
fn the_schema_refuses_unknown_keys_at_every_depth_and_has_no_references() {
    fn walk(schema: &Value, place: &str, open: &mut Vec<String>) {
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            if schema["additionalProperties"] != json!(false) {
                open.push(place.to_owned());
            }
            for (name, property) in properties {
                walk(property, &format!("{place}/{name}"), open);
            }
        }
        for word in ["$ref", "anyOf", "oneOf"] {
            assert!(schema.get(word).is_none(), "{place} has {word}");
        }
    }
    assert_eq!(
        schema()["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    let mut open = Vec::new();
    walk(schema(), "", &mut open);
    assert!(open.is_empty(), "{open:?}");
    assert_eq!(
        schema()["required"],
        json!([
            "product_name",
            "github_repo_url",
            "github_ref",
            "site_repo_url",
            "allowed_paths"
        ])
    );
    assert_eq!(
        schema()["properties"]["launch_tier"]["enum"],
        json!(["minimal", "standard", "rich"])
    );
}

fn found() -> Found {
    Found {
        site_ref: "b".repeat(40),
        target_platform: TargetPlatform::Rust,
        platform_family: PlatformFamily::Rust,
        product_type: ProductType::Cli,
        hugo_config_dir: None,
        hugo_content_dir: None,
        sections_with_language_folders: BTreeSet::new(),
    }
}

fn resolve(config: Value, found: Found) -> Result<ResolvedConfig, ResolveError> {
    ResolvedConfig::new(&accept(config).unwrap(), found)
}

#[test]
fn a_plain_site_keeps_its_pages_at_the_top() {
    let resolved = resolve(
        with(&[("allowed_paths", json!(["docs", "blog/acme-pdf/**"]))]),
        found(),
    )
    .unwrap();
    assert_eq!(resolved.site_kind, SiteKind::Markdown);
    assert_eq!(resolved.content_root, ".");
    assert_eq!(resolved.site_ref, "b".repeat(40));
    assert_eq!(resolved.target_platform, TargetPlatform::Rust);
    assert_eq!(resolved.required_sections, [Section::Docs, Section::Blog]);
    let left_out: Vec<_> = resolved
        .left_out_sections
        .iter()
        .map(|left_out| left_out.folder.as_str())
        .collect();
    assert_eq!(
        left_out,
        ["products/acme-pdf", "reference/acme-pdf", "kb/acme-pdf"]
    );
    assert_eq!(
        resolved
            .page_path(Section::Docs, "acme-pdf", "en", "start")
            .as_deref(),
        Some("docs/acme-pdf/start.md")
    );
    assert_eq!(
        resolved.page_path(Section::Kb, "acme-pdf", "en", "start"),
        None
    );
}

#[test]
fn a_hugo_site_is_recognised_and_languages_placed() {
    let hugo = Found {
        hugo_config_dir: Some("config".to_owned()),
        sections_with_language_folders: BTreeSet::from([Section::Docs]),
        ..found()
    };
    let config = with(&[
        ("locales", json!(["en", "de"])),
        ("target_platform", json!("typescript")),
        (
            "site_layout",
            json!({
                "subdomain_roots": {"kb": "content/kb.acme.dev/"},
                "localization": {"mode_by_section": {"kb": "none"}},
            }),
        ),
    ]);
    let resolved = resolve(config, hugo).unwrap();
    assert_eq!(resolved.site_kind, SiteKind::Hugo);
    assert_eq!(resolved.platform_family, PlatformFamily::Node);
    assert_eq!(resolved.hugo_config_dir.as_deref(), Some("config"));
    let path = |section| resolved.page_path(section, "pdf", "de", "x").unwrap();
    assert_eq!(path(Section::Docs), "content/docs/pdf/de/x.md");
    assert_eq!(path(Section::Blog), "content/blog/pdf/x.de.md");
    assert_eq!(path(Section::Kb), "content/kb.acme.dev/pdf/x.md");
    assert_eq!(resolved.required_sections, Section::ALL);
}

#[test]
fn sections_that_cannot_be_written_are_errors_when_asked_for() {
    let asked = with(&[
        ("allowed_paths", json!(["docs"])),
        ("required_sections", json!(["docs", "blog"])),
    ]);
    insta::assert_snapshot!(resolve(asked, found()).unwrap_err(), @r#"section blog would be written to "blog/acme-pdf", which lies outside allowed_paths; allow that folder, set site_layout, or leave the section out of required_sections"#);
    let none = with(&[("allowed_paths", json!(["static"]))]);
    insta::assert_snapshot!(resolve(none, found()).unwrap_err(), @"no section lies in allowed_paths (tried products/acme-pdf, docs/acme-pdf, reference/acme-pdf, kb/acme-pdf, blog/acme-pdf); allow one of these folders or set site_layout");
}

proptest! {
    // What is accepted is its own canonical form: accepting it again changes nothing.
    #[test]
    fn accepting_twice_is_accepting_once(
        name in "[A-Za-z][A-Za-z0-9 .+-]{0,20}",
        attempts in 0_u32..100,
        temperature in prop::option::of(0.0_f64..2.0),
        locales in prop::option::of(prop::collection::btree_set("[a-z]{2}", 1..4)),
        inference in any::<bool>(),
    ) {
        let mut config = with(&[
            ("product_name", json!(name)),
            ("max_fix_attempts", json!(attempts)),
            ("allow_inference", json!(inference)),
        ]);
        if let Some(temperature) = temperature {
            config["llm"] = json!({
                "api_base_url": "https://a.dev", "model": "m",
                "decoding": {"temperature": temperature},
            });
        }
        if let Some(locales) = locales {
            config["locales"] = json!(locales);
        }
        let once = accept(config).unwrap();
        let twice = accept(once.json().clone()).unwrap();
        prop_assert_eq!(&once, &twice);
        // And it survives being written canonically, as other programs may store it.
        let stored: Value = serde_json::from_str(&canonical_json(once.json())).unwrap();
        prop_assert_eq!(Accepted::restore(stored).unwrap().hash(), once.hash());
    }
}
