//! Tools without commands, rules and their places, grants, proposals, and what always holds.
//!
//! Long because each question about tools and rules is a table.

use proptest::prelude::*;
use windlass_shell::{Role, parse};
use windlass_types::Timestamp;

use super::{
    test_support::{PLACE, RULES, ada, policy, request},
    *,
};
use crate::{Policy, ProjectTrust, Verdict};

fn mark(verdict: &Verdict) -> char {
    match verdict {
        Verdict::Allow => '+',
        Verdict::Ask { .. } => '?',
        Verdict::Deny => '-',
    }
}

const CLASSES: [ToolClass; 10] = [
    ToolClass::Read,
    ToolClass::ReadOutside,
    ToolClass::Write,
    ToolClass::Exec,
    ToolClass::Network,
    ToolClass::Remote,
    ToolClass::Secret,
    ToolClass::Destructive,
    ToolClass::Meta,
    ToolClass::Unknown,
];

#[test]
fn class_by_mode() {
    let policy = Policy::built_in();
    let principal = ada();
    let mut table =
        String::from("              ask auto-read auto plan readonly unattended tainted\n");
    for class in CLASSES {
        let base = ToolRequest {
            tool: "tool",
            class,
            ..request(&principal, None)
        };
        let cases = [
            base,
            ToolRequest {
                mode: Mode::AutoRead,
                ..base
            },
            ToolRequest {
                mode: Mode::Auto,
                ..base
            },
            ToolRequest {
                mode: Mode::Plan,
                ..base
            },
            ToolRequest {
                profile: Profile::ReadOnly,
                ..base
            },
            ToolRequest {
                attendance: Attendance::Unattended,
                ..base
            },
            ToolRequest {
                taint: Taint::Tainted,
                ..base
            },
        ];
        let marks: String = cases
            .iter()
            .map(|case| mark(&policy.decide_tool(case).verdict))
            .collect();
        table.push_str(&format!("{:<13} {marks}\n", class.as_str()));
    }
    insta::assert_snapshot!(table, @r#"
                  ask auto-read auto plan readonly unattended tainted
    read          +++++++
    read-outside  ?++---?
    write         ??+---?
    exec          ???---?
    network       ???---?
    remote        ???---?
    secret        ???---?
    destructive   ???---?
    meta          +++++++
    unknown       ???---?
    "#);
}

#[test]
fn paths_decide_where_a_tool_reads_and_writes() {
    let policy = Policy::built_in();
    let principal = ada();
    let mut table = String::new();
    for (class, path) in [
        (ToolClass::Read, "/work/app/src/a.rs"),
        (ToolClass::Read, "src/a.rs"),
        (ToolClass::Read, "../b"),
        (ToolClass::Read, "/work/app/../../etc/passwd"),
        (ToolClass::Read, ".env"),
        (ToolClass::Read, "/home/ada/.ssh/id_ed25519"),
        (ToolClass::Read, "/home/ada/.ssh/id_ed25519.pub"),
        (ToolClass::Read, "/home/ada/.windlass/config.toml"),
        (ToolClass::Write, "src/a.rs"),
        (ToolClass::Write, "/work/application/a.rs"),
        (ToolClass::Write, ".git/hooks/pre-commit"),
        (ToolClass::Write, ".GIT/config"),
        (ToolClass::Write, "/home/ada/.bashrc"),
        (ToolClass::Write, "/home/ada/.windlass/policy.toml"),
        (ToolClass::Destructive, "src/a.rs"),
        (ToolClass::Destructive, "/srv/a"),
    ] {
        let paths = [path.to_owned()];
        let decision = policy.decide_tool(&ToolRequest {
            tool: "tool",
            class,
            paths: &paths,
            mode: Mode::Auto,
            ..request(&principal, None)
        });
        let line = format!(
            "{} {:<12} {path}  [{}]\n",
            mark(&decision.verdict),
            class.as_str(),
            decision.rule
        );
        table.push_str(&line);
    }
    insta::assert_snapshot!(table, @r#"
    + read         /work/app/src/a.rs  [built-in: class read is allowed]
    + read         src/a.rs  [built-in: class read is allowed]
    + read         ../b  [built-in: class read-outside is allowed]
    + read         /work/app/../../etc/passwd  [built-in: class read-outside is allowed]
    - read         .env  [built-in: guard credentials]
    - read         /home/ada/.ssh/id_ed25519  [built-in: guard credentials]
    + read         /home/ada/.ssh/id_ed25519.pub  [built-in: class read-outside is allowed]
    - read         /home/ada/.windlass/config.toml  [built-in: guard credentials]
    + write        src/a.rs  [built-in: class write is allowed]
    ? write        /work/application/a.rs  [built-in: guard write-outside]
    - write        .git/hooks/pre-commit  [built-in: guard protected-files]
    - write        .GIT/config  [built-in: guard protected-files]
    - write        /home/ada/.bashrc  [built-in: guard protected-files]
    - write        /home/ada/.windlass/policy.toml  [built-in: guard credentials]
    ? destructive  src/a.rs  [built-in: class destructive asks]
    ? destructive  /srv/a  [built-in: guard delete-outside]
    "#);
}

#[test]
fn a_tool_of_a_server_is_not_the_tool_of_that_name() {
    let rules = |tool: &str, decision: &str| {
        policy(&format!(
            "version = 1\n[[rule]]\ntool = \"{tool}\"\ndecision = \"{decision}\"\nreason = \"r\"\n"
        ))
    };
    let principal = ada();
    for (tool, decision, name, expected) in [
        ("view_web_page", "allow", "view_web_page", '+'),
        ("view_web_page", "allow", "evil__view_web_page", '?'),
        ("windlass__view_web_page", "allow", "view_web_page", '+'),
        (
            "windlass__view_web_page",
            "allow",
            "windlass__view_web_page",
            '?',
        ),
        ("*", "allow", "evil__send", '?'),
        ("*_page", "allow", "evil__web_page", '?'),
        ("docs__*", "allow", "docs__search", '+'),
        ("docs__*", "allow", "docs_search", '?'),
        ("*", "deny", "evil__send", '-'),
        ("*send", "deny", "evil__send", '-'),
    ] {
        let decision = rules(tool, decision).decide_tool(&ToolRequest {
            tool: name,
            class: ToolClass::Network,
            ..request(&principal, None)
        });
        assert_eq!(mark(&decision.verdict), expected, "{tool} {name}");
    }
}

#[test]
fn hosts_projects_and_times_limit_rules() {
    let policy = policy(
        r#"
version = 1
[[rule]]
id = "docs"
tool = "view_web_page"
hosts = ["docs.rs", "*.example.org"]
decision = "allow"
[[rule]]
id = "other-project"
tool = "slack_send_message"
project = "/work/other"
decision = "allow"
[[rule]]
id = "this-project"
tool = "search_docs"
project = "/work"
decision = "allow"
[[rule]]
id = "past"
tool = "tool_past"
expires = "2026-01-01T00:00:00Z"
decision = "allow"
[[rule]]
id = "future"
tool = "tool_future"
expires = 2099-01-01T00:00:00Z
decision = "allow"
[[rule]]
id = "bad-host"
hosts = ["*.evil.example"]
decision = "deny"
"#,
    );
    let principal = ada();
    for (tool, hosts, expected) in [
        ("view_web_page", &["docs.rs"][..], "docs"),
        ("view_web_page", &["a.example.org", "docs.rs"], "docs"),
        (
            "view_web_page",
            &["docs.rs", "other.org"],
            "built-in: class network asks",
        ),
        ("view_web_page", &[], "built-in: class network asks"),
        ("view_web_page", &["docs.rs", "x.evil.example"], "bad-host"),
        ("slack_send_message", &[], "built-in: class network asks"),
        ("search_docs", &[], "this-project"),
        ("tool_past", &[], "built-in: class network asks"),
        ("tool_future", &[], "future"),
    ] {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let decision = policy.decide_tool(&ToolRequest {
            tool,
            hosts: &hosts,
            class: ToolClass::Network,
            ..request(&principal, None)
        });
        assert_eq!(decision.rule, expected, "{tool} {hosts:?}");
    }
}

#[test]
fn the_extent_of_a_call_is_guarded() {
    let principal = ada();
    let decide = |policy: &Policy, files, resources| {
        policy.decide_tool(&ToolRequest {
            tool: "str_replace",
            class: ToolClass::Write,
            mode: Mode::Auto,
            extent: Extent {
                files,
                resources,
                ..Extent::default()
            },
            ..request(&principal, None)
        })
    };
    let built_in = Policy::built_in();
    assert_eq!(decide(&built_in, 50, 10).verdict, Verdict::Allow);
    assert_eq!(
        decide(&built_in, 51, 0).rule,
        "built-in: guard blast-radius"
    );
    assert_eq!(
        decide(&built_in, 0, 11).rule,
        "built-in: guard blast-radius"
    );
    let lifted = policy(
        "version = 1\n[[rule]]\ntool = \"str_replace\"\nguard = \"blast-radius\"\ndecision = \"allow\"\nreason = \"generated\"\n",
    );
    assert_eq!(decide(&lifted, 5_000, 0).verdict, Verdict::Allow);
}

#[test]
fn what_comes_from_outside_asks_even_where_a_rule_allows() {
    let policy = policy(RULES);
    let principal = ada();
    for (line, expected) in [
        ("ls -la", '+'),
        ("cargo test", '?'),
        ("kubectl get pods", '+'),
        ("kubectl get pods --server-print", '?'),
        ("ls > x", '?'),
    ] {
        let script = parse(line);
        let decision = policy.decide_tool(&ToolRequest {
            taint: Taint::Tainted,
            mode: Mode::Auto,
            ..request(&principal, Some(&script))
        });
        assert_eq!(
            mark(&decision.verdict),
            expected,
            "{line}: {}",
            decision.rule
        );
        assert!(!decision.may_be_remembered, "{line}");
    }
}

#[test]
fn grants_allow_until_they_end_and_nothing_that_guards_watch() {
    let policy = policy(RULES);
    let principal = ada();
    let now = request(&principal, None).now;
    let grant = |prefix: &[&str]| Grant {
        id: "grant-1".to_owned(),
        tool: "run_command".to_owned(),
        prefix: prefix.iter().map(|word| (*word).to_owned()).collect(),
        project: Some("/work/app".to_owned()),
        expires: Some(now.after(std::time::Duration::from_secs(60))),
    };
    let rm = grant(&["rm"]);
    let make = grant(&["make", "lint"]);
    let ended = Grant {
        expires: Some(Timestamp::EPOCH),
        ..make.clone()
    };
    let elsewhere = Grant {
        project: Some("/work/b".to_owned()),
        ..make.clone()
    };
    let other_tool = Grant {
        tool: "x__run_command".to_owned(),
        ..make.clone()
    };
    let curl = grant(&["curl"]);
    for (grants, line, expected) in [
        (std::slice::from_ref(&make), "make lint -j4", '+'),
        (std::slice::from_ref(&make), "make lint; make install", '?'),
        (std::slice::from_ref(&make), "make lint > x", '?'),
        (std::slice::from_ref(&make), "A=1 make lint", '?'),
        (&[ended], "make lint", '?'),
        (&[elsewhere], "make lint", '?'),
        (&[other_tool], "make lint", '?'),
        (std::slice::from_ref(&rm), "rm build/x", '+'),
        (std::slice::from_ref(&rm), "rm ../x", '?'),
        (std::slice::from_ref(&rm), "rm -rf .", '?'),
        (&[curl], "curl https://example.org", '-'),
    ] {
        let script = parse(line);
        let decision = policy.decide_tool(&ToolRequest {
            grants,
            ..request(&principal, Some(&script))
        });
        assert_eq!(
            mark(&decision.verdict),
            expected,
            "{line}: {}",
            decision.rule
        );
    }
}

#[test]
fn rules_that_ask_say_who_and_how_many() {
    let policy = policy(RULES);
    let principal = ada();
    let script = parse("terraform -chdir=x plan -out y");
    let decision = policy.decide_tool(&request(&principal, Some(&script)));
    let Verdict::Ask { terms } = &decision.verdict else {
        panic!("{decision:?}");
    };
    assert_eq!(terms.quorum, 2);
    assert!(decision.is_always_human);
    assert!(!decision.may_be_remembered);
    assert_eq!(decision.rule, "terraform-asks-two");
    assert!(decision.source.starts_with("rules.toml:"));
}

#[test]
fn rules_without_a_tool_make_calls_of_tools_stricter_only() {
    let policy = policy(
        "version = 1\n[[rule]]\ndecision = \"allow\"\nreason = \"all operations\"\n\
         [[rule]]\nprincipal = \"local:ada/**\"\neffect = \"destructive\"\ndecision = \"deny\"\n\
         [[rule]]\noperation = \"*\"\ndecision = \"deny\"\n",
    );
    let principal = ada();
    for (line, expected) in [("make", '?'), ("git push -f", '-'), ("ls", '+')] {
        let script = parse(line);
        let decision = policy.decide_tool(&request(&principal, Some(&script)));
        assert_eq!(mark(&decision.verdict), expected, "{line}");
    }
}

#[test]
fn strict_rules_see_through_spellings() {
    let policy = policy(
        "version = 1\n[[rule]]\nid = \"no-push\"\nprefix = [\"git\", \"push\"]\ndecision = \"deny\"\n\
         [[rule]]\nid = \"no-rm-r\"\nprefix = [\"rm\", [\"-r\", \"-rf\"]]\ndecision = \"deny\"\n\
         [[rule]]\nid = \"no-delete\"\nprefix = [\"kubectl\", \"delete\"]\nargs_deny = \"^--dry-run=client$\"\ndecision = \"deny\"\n",
    );
    let principal = ada();
    for (line, expected) in [
        ("git push", '-'),
        ("/usr/bin/git -C x push", '-'),
        ("git --no-pager -c color.ui=never push", '-'),
        ("git --new-option push", '-'),
        ("GIT push", '-'),
        ("sh -c 'git push'", '-'),
        ("ls | xargs git push", '-'),
        ("sudo git push", '-'),
        ("eval 'git push'", '-'),
        ("git log push", '+'),
        ("rm -rf x", '-'),
        ("rm x", '?'),
        ("kubectl -n web --context=a delete pod x", '-'),
        ("kubectl delete pod x --dry-run=client", '?'),
        ("kubectl get delete", '+'),
    ] {
        let script = parse(line);
        let decision = policy.decide_tool(&request(&principal, Some(&script)));
        assert_eq!(
            mark(&decision.verdict),
            expected,
            "{line}: {}",
            decision.rule
        );
    }
}

#[test]
fn a_project_that_is_not_trusted_may_only_tighten() {
    let text = "version = 1\n[[rule]]\nprefix = [\"make\"]\ndecision = \"allow\"\n\
                [[rule]]\nprefix = [\"cargo\", \"test\"]\ndecision = \"ask\"\napprovers = [\"local:mallory\"]\n";
    let principal = ada();
    for (trust, line, expected) in [
        (ProjectTrust::Untrusted, "make", '?'),
        (ProjectTrust::Trusted, "make", '+'),
        (ProjectTrust::Untrusted, "cargo test", '?'),
    ] {
        let mut policy = policy(RULES);
        policy.add_project(text, "project.toml", trust).unwrap();
        let script = parse(line);
        let decision = policy.decide_tool(&request(&principal, Some(&script)));
        assert_eq!(mark(&decision.verdict), expected, "{line}");
        if let (Verdict::Ask { terms }, ProjectTrust::Untrusted) = (&decision.verdict, trust) {
            assert_eq!(terms.approvers, ["local:*", "scope:approve"]);
        }
    }
}

#[test]
fn a_second_file_adds_its_rules() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rules.toml");
    let load = || Policy::built_in().load_rules(&path);
    assert!(load().unwrap().tool_rules.is_empty());
    fs_err::write(&path, RULES).unwrap();
    let policy = load().unwrap();
    assert_eq!(policy.tool_rules.len(), 7);
    let principal = ada();
    let script = parse("kubectl get pods");
    let decision = policy.decide_tool(&request(&principal, Some(&script)));
    assert_eq!(decision.source, "rules.toml:4");
    fs_err::write(&path, "version = 1\napprovers = [\"local:bo\"]\n").unwrap();
    let error = load().unwrap_err().to_string();
    assert_eq!(
        error,
        "rules.toml:1:1: approvers belong to the policy file; name them in a rule instead"
    );
}

#[test]
fn a_bad_rule_is_refused_with_its_place() {
    let rule = |keys: &str| format!("version = 1\n[[rule]]\n{keys}");
    let cases = [
        rule("tool = \"run_command\"\noperation = \"runs.*\"\ndecision = \"deny\""),
        rule("tool = \"\"\ndecision = \"deny\""),
        rule("prefix = []\ndecision = \"deny\""),
        rule("prefix = [\"git push\"]\ndecision = \"deny\""),
        rule("prefix = [\"git\", []]\ndecision = \"deny\""),
        rule("prefix = [\"git\", 1]\ndecision = \"deny\""),
        rule("prefix = [\"git\"]\nargs_deny = \"(\"\ndecision = \"allow\""),
        rule("prefix = [\"git\"]\nargs_deny = \"((a{900}){900}){900}\"\ndecision = \"allow\""),
        rule("prefix = [\"git\"]\nredirect = \"anywhere\"\ndecision = \"allow\""),
        rule("prefix = [\"git\"]\nredirect = \"workspace\"\ndecision = \"deny\""),
        rule("prefix = [\"git\"]\nenv_allow = []\ndecision = \"allow\""),
        rule("prefix = [\"git\"]\nenv_allow = [\"A\"]\ndecision = \"ask\""),
        rule("prefix = [\"git\"]\ndynamic_args = true\ndecision = \"ask\""),
        rule("prefix = [\"git\"]\nproject = \"app\"\ndecision = \"allow\""),
        rule("prefix = [\"git\"]\nexpires = \"tomorrow\"\ndecision = \"allow\""),
        rule("prefix = [\"git\"]\nexpires = 2027-01-01\ndecision = \"allow\""),
        rule("prefix = [\"git\"]\nalways_human = true\ndecision = \"allow\""),
        rule("prefix = [\"git\"]\nid = \"a b\"\ndecision = \"allow\""),
        rule("guard = \"forcepush\"\ndecision = \"allow\"\nreason = \"r\""),
        rule("guard = \"force-push\"\ndecision = \"allow\""),
        rule("tool = \"run_*\"\ndecision = \"allow\""),
        rule("args_deny = \"x\"\ndecision = \"deny\""),
        rule("operation = \"runs.*\"\nmatch = [\"ls\"]\ndecision = \"deny\""),
        rule("prefix = [\"git\"]\ndecision = \"deny\"\nexamples = [{ target = \"x\" }]"),
        rule(
            "prefix = [\"git\", \"log\"]\ndecision = \"allow\"\nmatch = [\"git log\", \"git push\"]",
        ),
        rule("prefix = [\"git\"]\ndecision = \"allow\"\nmatch = [\"git log; ls\"]"),
        rule("prefix = [\"git\"]\ndecision = \"allow\"\nmatch = [\"git $x\"]"),
        rule("prefix = [\"git\"]\ndecision = \"allow\"\nmatch = [\"A=1 git log\"]"),
        rule("prefix = [\"git\"]\ndecision = \"allow\"\nmatch = [\"git log > x\"]"),
        rule("prefix = [\"git\"]\ndecision = \"allow\"\nmatch = [\"git 'log\"]"),
        rule("prefix = [\"git\"]\ndecision = \"allow\"\nmatch = [\"\"]"),
        rule(
            "prefix = [\"git\"]\nargs_deny = \"^-f$\"\ndecision = \"allow\"\nmatch = [\"git push -f\"]",
        ),
        rule("prefix = [\"python3\"]\ndecision = \"allow\"\nmatch = [\"python3 -c x\"]"),
        rule("prefix = [\"git\"]\ndecision = \"deny\"\nmatch = [\"ls\"]"),
        rule("prefix = [\"git\"]\ndecision = \"deny\"\nnot_match = [\"ls\", \"ls && git log\"]"),
        rule(
            "prefix = [\"git\", \"push\"]\nguard = \"force-push\"\ndecision = \"allow\"\nreason = \"r\"\nmatch = [\"git push\"]",
        ),
        rule("prefix = [\"git\"]\nquorum = 2\ndecision = \"allow\""),
        rule("prefix = [\"git\"]\napprovers = [\"local:a\"]\nquorum = 2\ndecision = \"ask\""),
    ];
    let table: String = cases
        .iter()
        .map(|case| match Policy::parse(case, "rules.toml") {
            Ok(_) => format!("{case:?}\n    understood\n"),
            Err(error) => format!("{case:?}\n    {error}\n"),
        })
        .collect();
    insta::assert_snapshot!(table, @r#"
    "version = 1\n[[rule]]\ntool = \"run_command\"\noperation = \"runs.*\"\ndecision = \"deny\""
        rules.toml:4:13: a rule is about operations or about tools, not both; split it into two rules
    "version = 1\n[[rule]]\ntool = \"\"\ndecision = \"deny\""
        rules.toml:3:8: a pattern has 1 to 512 bytes; leave the key out to match everything
    "version = 1\n[[rule]]\nprefix = []\ndecision = \"deny\""
        rules.toml:3:10: the prefix is empty; leave the key out to match every command
    "version = 1\n[[rule]]\nprefix = [\"git push\"]\ndecision = \"deny\""
        rules.toml:3:10: each element of a prefix is one word or a list of words; write prefix = ["kubectl", ["get", "describe"]]
    "version = 1\n[[rule]]\nprefix = [\"git\", []]\ndecision = \"deny\""
        rules.toml:3:10: each element of a prefix is one word or a list of words; write prefix = ["kubectl", ["get", "describe"]]
    "version = 1\n[[rule]]\nprefix = [\"git\", 1]\ndecision = \"deny\""
        rules.toml:3:10: each element of a prefix is a word or a list of words
    "version = 1\n[[rule]]\nprefix = [\"git\"]\nargs_deny = \"(\"\ndecision = \"allow\""
        rules.toml:4:13: args_deny is not a regular expression: error: unclosed group
    "version = 1\n[[rule]]\nprefix = [\"git\"]\nargs_deny = \"((a{900}){900}){900}\"\ndecision = \"allow\""
        rules.toml:4:13: args_deny is not a regular expression: Compiled regex exceeds size limit of 1048576 bytes.
    "version = 1\n[[rule]]\nprefix = [\"git\"]\nredirect = \"anywhere\"\ndecision = \"allow\""
        rules.toml:4:12: unknown variant `anywhere`, expected `none` or `workspace`
    "version = 1\n[[rule]]\nprefix = [\"git\"]\nredirect = \"workspace\"\ndecision = \"deny\""
        rules.toml:4:12: redirect matters only where the decision is "allow"; remove the key or change the decision
    "version = 1\n[[rule]]\nprefix = [\"git\"]\nenv_allow = []\ndecision = \"allow\""
        rules.toml:4:13: the list is empty; leave the key out
    "version = 1\n[[rule]]\nprefix = [\"git\"]\nenv_allow = [\"A\"]\ndecision = \"ask\""
        rules.toml:4:13: env_allow matters only where the decision is "allow"; remove the key or change the decision
    "version = 1\n[[rule]]\nprefix = [\"git\"]\ndynamic_args = true\ndecision = \"ask\""
        rules.toml:4:16: dynamic_args matters only where the decision is "allow"; remove the key or change the decision
    "version = 1\n[[rule]]\nprefix = [\"git\"]\nproject = \"app\"\ndecision = \"allow\""
        rules.toml:4:11: project is the absolute path of a directory
    "version = 1\n[[rule]]\nprefix = [\"git\"]\nexpires = \"tomorrow\"\ndecision = \"allow\""
        rules.toml:4:11: `tomorrow` is not an RFC 3339 time; write expires = "2027-01-31T00:00:00Z"
    "version = 1\n[[rule]]\nprefix = [\"git\"]\nexpires = 2027-01-01\ndecision = \"allow\""
        rules.toml:4:11: `2027-01-01` is not an RFC 3339 time; write expires = "2027-01-31T00:00:00Z"
    "version = 1\n[[rule]]\nprefix = [\"git\"]\nalways_human = true\ndecision = \"allow\""
        rules.toml:4:16: always_human matters only where the decision is "ask"; remove the key or change the decision
    "version = 1\n[[rule]]\nprefix = [\"git\"]\nid = \"a b\"\ndecision = \"allow\""
        rules.toml:4:6: an id has 1 to 64 letters, digits, dots, dashes and underscores
    "version = 1\n[[rule]]\nguard = \"forcepush\"\ndecision = \"allow\"\nreason = \"r\""
        rules.toml:3:9: `forcepush` is not a guard; guards are delete-outside, write-outside, blast-radius, production, force-push, history-rewrite, disk, service, infrastructure, database, credentials, protected-files
    "version = 1\n[[rule]]\nguard = \"force-push\"\ndecision = \"allow\""
        rules.toml:2:1: a rule that lifts the guard force-push needs a reason; add reason = "…"
    "version = 1\n[[rule]]\ntool = \"run_*\"\ndecision = \"allow\""
        rules.toml:2:1: a rule that allows every command needs a reason; add reason = "…"
    "version = 1\n[[rule]]\nargs_deny = \"x\"\ndecision = \"deny\""
        rules.toml:3:13: args_deny belongs to a rule about tools; name a tool, a prefix, hosts or a guard
    "version = 1\n[[rule]]\noperation = \"runs.*\"\nmatch = [\"ls\"]\ndecision = \"deny\""
        rules.toml:4:10: match belongs to a rule about tools; name a tool, a prefix, hosts or a guard
    "version = 1\n[[rule]]\nprefix = [\"git\"]\ndecision = \"deny\"\nexamples = [{ target = \"x\" }]"
        rules.toml:5:13: examples are requests for operations; write match = ["COMMAND"] and not_match = ["COMMAND"]
    "version = 1\n[[rule]]\nprefix = [\"git\", \"log\"]\ndecision = \"allow\"\nmatch = [\"git log\", \"git push\"]"
        rules.toml:5:21: the rule does not match its own example `git push`: it starts in another way: git push; correct the rule or the example
    "version = 1\n[[rule]]\nprefix = [\"git\"]\ndecision = \"allow\"\nmatch = [\"git log; ls\"]"
        rules.toml:5:10: the rule does not match its own example `git log; ls`: it starts in another way: ls; correct the rule or the example
    "version = 1\n[[rule]]\nprefix = [\"git\"]\ndecision = \"allow\"\nmatch = [\"git $x\"]"
        rules.toml:5:10: the rule does not match its own example `git $x`: `$x` is only known when it runs: git $x; correct the rule or the example
    "version = 1\n[[rule]]\nprefix = [\"git\"]\ndecision = \"allow\"\nmatch = [\"A=1 git log\"]"
        rules.toml:5:10: the rule does not match its own example `A=1 git log`: env_allow does not list A: A=1 git log; correct the rule or the example
    "version = 1\n[[rule]]\nprefix = [\"git\"]\ndecision = \"allow\"\nmatch = [\"git log > x\"]"
        rules.toml:5:10: the rule does not match its own example `git log > x`: it redirects to `x`: git log; correct the rule or the example
    "version = 1\n[[rule]]\nprefix = [\"git\"]\ndecision = \"allow\"\nmatch = [\"git 'log\"]"
        rules.toml:5:10: the rule does not match its own example `git 'log`: not understood:  'log; correct the rule or the example
    "version = 1\n[[rule]]\nprefix = [\"git\"]\ndecision = \"allow\"\nmatch = [\"\"]"
        rules.toml:5:10: the rule does not match its own example ``: it has no command; correct the rule or the example
    "version = 1\n[[rule]]\nprefix = [\"git\"]\nargs_deny = \"^-f$\"\ndecision = \"allow\"\nmatch = [\"git push -f\"]"
        rules.toml:6:10: the rule does not match its own example `git push -f`: args_deny matches `-f`: git push -f; correct the rule or the example
    "version = 1\n[[rule]]\nprefix = [\"python3\"]\ndecision = \"allow\"\nmatch = [\"python3 -c x\"]"
        rules.toml:5:10: the rule does not match its own example `python3 -c x`: code for an interpreter: python3 -c x; correct the rule or the example
    "version = 1\n[[rule]]\nprefix = [\"git\"]\ndecision = \"deny\"\nmatch = [\"ls\"]"
        rules.toml:5:10: the rule does not match its own example `ls`: no command of it is meant; correct the rule or the example
    "version = 1\n[[rule]]\nprefix = [\"git\"]\ndecision = \"deny\"\nnot_match = [\"ls\", \"ls && git log\"]"
        rules.toml:5:20: the rule matches `ls && git log`, which its not_match excludes; correct the rule or the example
    "version = 1\n[[rule]]\nprefix = [\"git\", \"push\"]\nguard = \"force-push\"\ndecision = \"allow\"\nreason = \"r\"\nmatch = [\"git push\"]"
        rules.toml:7:10: the rule does not match its own example `git push`: the guard finds nothing in it; correct the rule or the example
    "version = 1\n[[rule]]\nprefix = [\"git\"]\nquorum = 2\ndecision = \"allow\""
        rules.toml:4:10: quorum matters only where the decision is "ask"; remove the key or change the decision
    "version = 1\n[[rule]]\nprefix = [\"git\"]\napprovers = [\"local:a\"]\nquorum = 2\ndecision = \"ask\""
        rules.toml:5:10: the rule waits for 2 approvals by local:a, and its approvers cannot give that; name more of them; a user and their programs are one
    "#);
}

#[test]
fn always_allow_proposes_narrow_rules() {
    let mut table = String::new();
    for line in [
        "cargo test -p x --all",
        "git commit -m x",
        "git push origin main",
        "git -C x log",
        "npm run lint -- --fix",
        "npm install left-pad",
        "kubectl -n web get pods",
        "kubectl rollout restart deploy/x",
        "make lint",
        "make",
        "gh pr view 12",
        "aws ec2 describe-instances --region x",
        "./gradlew-check fast",
        "protoc --version",
        "protoc a.proto $x",
        "sh -c 'cargo test && rm x'",
        "python3 x.py",
        "sudo cargo test",
        "ssh host uptime",
        "find . -delete",
        "ls | xargs cargo test",
        "FOO=1 cargo test",
        "cargo test; $x",
        "docker compose up -d",
        "docker run x",
        "ls -la; cargo check; cargo check -q",
        "curl x",
        "go test ./...",
    ] {
        let proposals: Vec<String> = propose(&parse(line), PLACE)
            .iter()
            .map(|proposal| match proposal.also.is_empty() {
                true => proposal.prefix.join(" "),
                false => format!(
                    "{} (also: {})",
                    proposal.prefix.join(" "),
                    proposal.also.join("; ")
                ),
            })
            .collect();
        let shown = if proposals.is_empty() {
            "-".to_owned()
        } else {
            proposals.join(" | ")
        };
        table.push_str(&format!("{line}  =>  {shown}\n"));
    }
    insta::assert_snapshot!(table, @r#"
    cargo test -p x --all  =>  cargo test (also: cargo test --config build.rustc-wrapper=program)
    git commit -m x  =>  git commit (also: git commit --amend)
    git push origin main  =>  -
    git -C x log  =>  -
    npm run lint -- --fix  =>  npm run lint
    npm install left-pad  =>  -
    kubectl -n web get pods  =>  -
    kubectl rollout restart deploy/x  =>  kubectl rollout restart
    make lint  =>  make lint
    make  =>  -
    gh pr view 12  =>  gh pr view
    aws ec2 describe-instances --region x  =>  aws ec2 describe-instances
    ./gradlew-check fast  =>  ./gradlew-check fast
    protoc --version  =>  protoc --version
    protoc a.proto $x  =>  -
    sh -c 'cargo test && rm x'  =>  cargo test (also: cargo test --config build.rustc-wrapper=program)
    python3 x.py  =>  -
    sudo cargo test  =>  -
    ssh host uptime  =>  -
    find . -delete  =>  -
    ls | xargs cargo test  =>  -
    FOO=1 cargo test  =>  -
    cargo test; $x  =>  -
    docker compose up -d  =>  docker compose up
    docker run x  =>  -
    ls -la; cargo check; cargo check -q  =>  cargo check
    curl x  =>  -
    go test ./...  =>  go test (also: go test -exec program)
    "#);
}

/// Pieces that lines are made of.
const PIECES: [&str; 45] = [
    "ls",
    "cat ",
    "rm -rf /srv",
    "cargo test",
    "kubectl get pods",
    "git push",
    " -f",
    " ",
    ";",
    "|",
    "&",
    "&&",
    "\n",
    "(",
    ")",
    "{ ",
    "; }",
    "$(",
    "`",
    "\"",
    "'",
    "\\",
    "$x",
    "${x}",
    "> x",
    "> /etc/x",
    "< .env",
    "<<E\n",
    "\nE\n",
    "sudo ",
    "sh -c ",
    "xargs ",
    "find . -exec ",
    " {} \\;",
    "eval ",
    "if ",
    "then ",
    "; fi",
    "A=1 ",
    "#",
    "*",
    "~/x",
    "timeout 5 ",
    "ssh web-01.example.org ",
    "echo ",
];

proptest! {
    #[test]
    fn decisions_do_not_panic_and_are_the_same_twice(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..14)) {
        let policy = policy(RULES);
        let principal = ada();
        let script = parse(&pieces.concat());
        for mode in [Mode::Ask, Mode::AutoRead, Mode::Auto, Mode::Plan] {
            let request = ToolRequest { mode, ..request(&principal, Some(&script)) };
            prop_assert_eq!(policy.decide_tool(&request), policy.decide_tool(&request));
        }
    }

    /// What is allowed without the sandbox is allowed for each command by itself.
    #[test]
    fn allowed_means_that_every_command_is_covered(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..14)) {
        let policy = policy(RULES);
        let principal = ada();
        let line = pieces.concat();
        let script = parse(&line);
        let decide = |script: &windlass_shell::Script| {
            let request = ToolRequest { sandbox: Sandbox::Off, mode: Mode::AutoRead, ..request(&principal, Some(script)) };
            policy.decide_tool(&request).verdict
        };
        if decide(&script) == Verdict::Allow {
            prop_assert!(script.is_understood(), "{line:?}");
            for command in &script.commands {
                let is_runner = matches!(&command.role, Role::Wrapper(via) if via.is_transparent());
                let alone = windlass_shell::Script { commands: vec![command.clone()], concerns: Vec::new() };
                prop_assert!(is_runner || decide(&alone) == Verdict::Allow, "{line:?}: {}", command.text());
                prop_assert!(command.name() != Some("rm"), "{line:?}");
            }
        }
    }

    /// One more command never makes a line more lenient.
    #[test]
    fn a_deletion_is_refused_in_every_company(before in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..10)) {
        let policy = policy(RULES);
        let principal = ada();
        let line = format!("{}\nrm -rf /srv\n", before.concat());
        let script = parse(&line);
        let is_text = script.commands.iter().any(|command| !matches!(command.input, windlass_shell::Input::Inherited | windlass_shell::Input::Pipe));
        let deletes = |command: &windlass_shell::Command| {
            command.name() == Some("rm") && command.arguments().iter().any(|word| word.text == "/srv")
        };
        let is_argument = !script.commands.iter().any(deletes);
        for mode in [Mode::Ask, Mode::AutoRead, Mode::Auto] {
            let request = ToolRequest { mode, ..request(&principal, Some(&script)) };
            let verdict = policy.decide_tool(&request).verdict;
            prop_assert!(verdict != Verdict::Allow || is_text || is_argument, "{line:?}");
        }
    }
}
