//! Tests of the governance files.

use super::*;

const FULL: &str = "\
version: 1
policy_pack:
  source: \"git:https://host/o/policy.git#ref=v1\"
distribution_policy:
  required_targets: [codex]
  required_modules: [\"instructions:base\"]
supply_chain_policy:
  allowed_git_remotes: [github.com/org/]
  require_lockfile: true
";

#[test]
fn the_configuration_is_read() {
    let (config, warnings) = parse_org(FULL).unwrap();
    assert_eq!(warnings, []);
    assert_eq!(
        config
            .distribution_policy
            .as_ref()
            .unwrap()
            .required_targets,
        ["codex"]
    );
    let chain = config.supply_chain_policy.as_ref().unwrap();
    assert!(chain.require_lockfile);
    assert!(matches!(config.policy_source().unwrap(), Source::Git(git) if git.reference == "v1"));
    let (config, warnings) =
        parse_org("version: 1\nsupply_chain_polcy: {}\npolicy_pack: {source: nope}\n").unwrap();
    insta::assert_snapshot!(warnings[0], @r#"agentpack.org.yaml:2:1: unknown key "supply_chain_polcy" in the policy configuration; did you mean "supply_chain_policy"?"#);
    let problem = config.policy_source().unwrap_err();
    assert_eq!(problem.code().name, "E_POLICY_CONFIG_INVALID");
    assert_eq!(problem.details()["field"], "policy_pack.source");
}

#[test]
fn faults_have_the_codes_of_policy() {
    for (text, code) in [
        ("version: 2\n", "E_POLICY_CONFIG_UNSUPPORTED_VERSION"),
        ("{", "E_POLICY_CONFIG_INVALID"),
        ("policy_pack: {}\n", "E_POLICY_CONFIG_INVALID"),
        ("version: 1\npolicy_pack: {}\n", "E_POLICY_CONFIG_INVALID"),
        (
            "version: 1\nsupply_chain_policy: {require_lockfile: maybe}\n",
            "E_POLICY_CONFIG_INVALID",
        ),
    ] {
        let problem = parse_org(text).unwrap_err();
        assert_eq!(problem.code().name, code, "{text}");
        assert!(problem.message().starts_with("agentpack.org.yaml:"));
    }
    let (config, _) = parse_org("version: 1\n").unwrap();
    let problem = config.policy_source().unwrap_err();
    assert_eq!(
        problem.details()["missing"],
        serde_json::json!(["policy_pack"])
    );
}

#[test]
fn remotes_match_at_a_slash_whatever_their_form() {
    let allowed = |entries: &[&str]| -> Vec<String> {
        entries.iter().map(|entry| (*entry).to_owned()).collect()
    };
    for (url, entries, expected) in [
        (
            "https://github.com/org/repo.git",
            &["github.com/org/"][..],
            true,
        ),
        (
            "git@github.com:Org/repo.git",
            &["https://github.com/org"],
            true,
        ),
        (
            "ssh://git@github.com/org/repo",
            &["github.com/org/repo.git"],
            true,
        ),
        (
            "https://github.com/organisation/repo",
            &["github.com/org"],
            false,
        ),
        (
            "https://github.com.evil.org/org/repo",
            &["github.com"],
            false,
        ),
        (
            "https://other.com/org/repo",
            &["github.com/org/", "gitlab.com"],
            false,
        ),
        ("https://any/where", &[], true),
        ("https://any/where", &[" "], true),
    ] {
        assert_eq!(
            is_allowed_remote(url, &allowed(entries)),
            expected,
            "{url} {entries:?}"
        );
    }
}

#[test]
fn the_lockfile_round_trips() {
    let source = Source::LocalPath {
        path: "policies/x".into(),
    };
    let lockfile = OrgLockfile {
        version: 1,
        policy_pack: LockedPolicyPack {
            source: SourceRecord::from(&source),
            resolved_source: ResolvedSource::default(),
            resolved_version: "local".into(),
            sha256: Digest::of(b""),
            file_manifest: Vec::new(),
        },
    };
    let text = lockfile.render();
    assert!(text.contains("\"git\": null"), "{text}");
    assert_eq!(OrgLockfile::parse(&text).unwrap(), lockfile);
    assert!(OrgLockfile::parse("{").is_err());
    let newer = text.replacen("\"version\": 1", "\"version\": 4", 1);
    let error = OrgLockfile::parse(&newer).unwrap_err().to_string();
    assert!(error.contains("version 4"), "{error}");
    let git = parse_source("git:https://h/r#subdir=a", OutsidePaths::Refuse).unwrap();
    let record = serde_json::to_value(SourceRecord::from(&git)).unwrap();
    assert_eq!(
        record,
        serde_json::json!({"local_path": null, "git": {"url": "https://h/r", "ref": "main", "subdir": "a", "shallow": true}})
    );
}
