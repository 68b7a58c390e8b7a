//! Policy files, good and bad.

use proptest::prelude::*;

use super::*;

const GOOD: &str = r#"
version = 1
approvers = ["local:ada", "scope:approve"]

[[rule]]
operation = "demo.*"
principal = "key:*"
target = "/srv/scratch/**"
decision = "allow"
reason = "scratch space may be broken"
examples = [
    { operation = "demo.apply", principal = "key:key_1", target = "/srv/scratch/a/b", effect = "destructive" },
    { operation = "demo.plan" },
]

[[rule]]
effect = "destructive"
decision = "ask"
approvers = ["key:key_boss"]
"#;

#[test]
fn a_good_file_is_parsed() {
    let policy = Policy::parse(GOOD, "policy.toml").unwrap();
    let places: Vec<_> = policy
        .rules
        .iter()
        .map(|rule| rule.place.as_str())
        .collect();
    assert_eq!(places, ["policy.toml:5", "policy.toml:16"]);
    assert_eq!(policy.approvers, ["local:ada", "scope:approve"]);
}

#[test]
fn a_bad_file_is_refused_with_place_and_way_out() {
    let rule = |keys: &str| format!("version = 1\n[[rule]]\n{keys}");
    let cases = [
        String::new(),
        "version = 2".to_owned(),
        "version = 1\napprover = [\"local:*\"]".to_owned(),
        "version = 1\napprovers = []".to_owned(),
        "version = 1\napprovers = [\"ada\"]".to_owned(),
        "version = 1\napprovers = [\"local:*\", \"scope:\"]".to_owned(),
        "version = 1\n[rule]\ndecision = \"deny\"".to_owned(),
        rule(""),
        rule("operatoin = \"runs.*\"\ndecision = \"deny\""),
        rule("decision = \"alow\""),
        rule("effect = \"destroy\"\ndecision = \"deny\""),
        rule("operation = \"\"\ndecision = \"deny\""),
        rule("operation = [\"a\"]\ndecision = \"deny\""),
        rule("decision = \"allow\""),
        rule("decision = \"allow\"\neffect = \"destructive\"\nreason = \" \""),
        rule("decision = \"deny\"\napprovers = [\"local:*\"]"),
        rule("decision = \"ask\"\napprovers = []"),
        rule("decision = \"ask\"\napprovers = [\"local:ada\"]\nquorum = 2"),
        rule(
            "decision = \"ask\"\nprincipal = \"local:ada/mcp\"\napprovers = [\"local:ada\"]\ndistinct_approver = true",
        ),
        rule("decision = \"deny\"\nquorum = 2"),
        rule("decision = \"ask\"\nquorum = 0"),
        rule("decision = \"deny\"\ndistinct_approver = true"),
        rule(
            "operation = \"runs.*\"\ndecision = \"deny\"\nexamples = [{ operation = \"run.cancel\" }]",
        ),
        rule(
            "target = \"/srv/*\"\ndecision = \"deny\"\nexamples = [{ target = \"/srv/a\" }, { target = \"/srv/a/b\" }]",
        ),
        rule("effect = \"read\"\ndecision = \"deny\"\nexamples = [{ effect = \"write\" }]"),
        rule("decision = \"deny\"\nexamples = [{ oper = \"write\" }]"),
        "version = 1\n[[rule]".to_owned(),
    ];
    let table: String = cases
        .iter()
        .map(|case| match Policy::parse(case, "policy.toml") {
            Ok(_) => format!("{case:?}\n    understood\n"),
            Err(error) => format!("{case:?}\n    {error}\n"),
        })
        .collect();
    insta::assert_snapshot!(table, @r#"
    ""
        policy.toml:1:1: missing field `version`
    "version = 2"
        policy.toml:1:11: this Windlass reads policy version 1
    "version = 1\napprover = [\"local:*\"]"
        policy.toml:2:1: unknown field `approver`, expected one of `version`, `approvers`, `rule`; did you mean `approvers`?
    "version = 1\napprovers = []"
        policy.toml:2:13: the list of approvers is empty; to forbid, write decision = "deny"
    "version = 1\napprovers = [\"ada\"]"
        policy.toml:2:13: `ada` is not an approver; write `local:NAME`, `key:KEY_ID` or `scope:SCOPE`; a star in NAME or KEY_ID matches any
    "version = 1\napprovers = [\"local:*\", \"scope:\"]"
        policy.toml:2:13: `scope:` is not an approver; write `local:NAME`, `key:KEY_ID` or `scope:SCOPE`; a star in NAME or KEY_ID matches any
    "version = 1\n[rule]\ndecision = \"deny\""
        policy.toml:2:1: invalid type: map, expected a sequence
    "version = 1\n[[rule]]\n"
        policy.toml:2:1: missing field `decision`
    "version = 1\n[[rule]]\noperatoin = \"runs.*\"\ndecision = \"deny\""
        policy.toml:3:1: unknown field `operatoin`, expected one of `id`, `operation`, `principal`, `target`, `effect`, `tool`, `prefix`, `args_deny`, `dynamic_args`, `env_allow`, `redirect`, `hosts`, `project`, `expires`, `guard`, `decision`, `approvers`, `quorum`, `distinct_approver`, `always_human`, `reason`, `examples`, `match`, `not_match`; did you mean `operation`?
    "version = 1\n[[rule]]\ndecision = \"alow\""
        policy.toml:3:12: unknown variant `alow`, expected one of `allow`, `ask`, `deny`; did you mean `allow`?
    "version = 1\n[[rule]]\neffect = \"destroy\"\ndecision = \"deny\""
        policy.toml:3:10: unknown variant `destroy`, expected one of `read`, `write`, `destructive`
    "version = 1\n[[rule]]\noperation = \"\"\ndecision = \"deny\""
        policy.toml:3:13: a pattern has 1 to 512 bytes; leave the key out to match everything
    "version = 1\n[[rule]]\noperation = [\"a\"]\ndecision = \"deny\""
        policy.toml:3:13: invalid type: sequence, expected a string
    "version = 1\n[[rule]]\ndecision = \"allow\""
        policy.toml:2:1: a rule that allows destructive operations needs a reason; add reason = "…", or effect = "read" or "write"
    "version = 1\n[[rule]]\ndecision = \"allow\"\neffect = \"destructive\"\nreason = \" \""
        policy.toml:2:1: a rule that allows destructive operations needs a reason; add reason = "…", or effect = "read" or "write"
    "version = 1\n[[rule]]\ndecision = \"deny\"\napprovers = [\"local:*\"]"
        policy.toml:4:13: approvers are asked only where the decision is "ask"; remove the key or change the decision
    "version = 1\n[[rule]]\ndecision = \"ask\"\napprovers = []"
        policy.toml:4:13: the list of approvers is empty; to forbid, write decision = "deny"
    "version = 1\n[[rule]]\ndecision = \"ask\"\napprovers = [\"local:ada\"]\nquorum = 2"
        policy.toml:5:10: the rule waits for 2 approvals by local:ada, and its approvers cannot give that; name more of them; a user and their programs are one
    "version = 1\n[[rule]]\ndecision = \"ask\"\nprincipal = \"local:ada/mcp\"\napprovers = [\"local:ada\"]\ndistinct_approver = true"
        policy.toml:6:21: the rule waits for an approval by local:ada, not by local:ada/mcp, and its approvers cannot give that; name more of them; a user and their programs are one
    "version = 1\n[[rule]]\ndecision = \"deny\"\nquorum = 2"
        policy.toml:4:10: quorum matters only where the decision is "ask"; remove the key or change the decision
    "version = 1\n[[rule]]\ndecision = \"ask\"\nquorum = 0"
        policy.toml:4:10: a quorum is a number from 1 to 20
    "version = 1\n[[rule]]\ndecision = \"deny\"\ndistinct_approver = true"
        policy.toml:4:21: distinct_approver matters only where the decision is "ask"; remove the key or change the decision
    "version = 1\n[[rule]]\noperation = \"runs.*\"\ndecision = \"deny\"\nexamples = [{ operation = \"run.cancel\" }]"
        policy.toml:5:13: the rule does not match its own example: its operation `run.cancel` does not fit `runs.*`; correct the rule or the example
    "version = 1\n[[rule]]\ntarget = \"/srv/*\"\ndecision = \"deny\"\nexamples = [{ target = \"/srv/a\" }, { target = \"/srv/a/b\" }]"
        policy.toml:5:36: the rule does not match its own example: its target `/srv/a/b` does not fit `/srv/*`; correct the rule or the example
    "version = 1\n[[rule]]\neffect = \"read\"\ndecision = \"deny\"\nexamples = [{ effect = \"write\" }]"
        policy.toml:5:13: the rule does not match its own example: its effect is write, the rule's read; correct the rule or the example
    "version = 1\n[[rule]]\ndecision = \"deny\"\nexamples = [{ oper = \"write\" }]"
        policy.toml:4:15: unknown field `oper`, expected one of `operation`, `principal`, `target`, `effect`
    "version = 1\n[[rule]"
        policy.toml:2:8: unclosed array table, expected `]`
    "#);
}

#[test]
fn a_missing_file_is_the_built_in_policy_and_an_unreadable_one_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("policy.toml");
    assert!(Policy::load(&path).unwrap().rules.is_empty());
    fs_err::write(&path, GOOD).unwrap();
    assert_eq!(Policy::load(&path).unwrap().rules.len(), 2);
    fs_err::write(&path, b"\xff\xfe").unwrap();
    assert!(matches!(
        Policy::load(&path),
        Err(PolicyError::Unreadable(_))
    ));
    assert!(matches!(
        Policy::load(directory.path()),
        Err(PolicyError::Unreadable(_))
    ));
}

proptest! {
    #[test]
    fn any_text_is_answered(text in "(version|=|1|\\[\\[rule\\]\\]|decision|\"deny\"|\"|examples|\\{|\\}|\n| |\\PC){0,30}") {
        let _ = Policy::parse(&text, "policy.toml");
    }

    #[test]
    fn a_truncated_file_never_panics(end in 0..GOOD.len()) {
        let _ = Policy::parse(&GOOD[..end], "policy.toml");
    }
}
