//! The decision as a printed matrix, and the properties that hold for every policy.

use proptest::prelude::*;
use windlass_types::Scope;

use super::*;

fn policy(text: &str) -> Policy {
    Policy::parse(&format!("version = 1\n{text}"), "policy.toml").unwrap()
}

fn decide(
    policy: &Policy,
    operation: &str,
    principal: &Principal,
    target: &str,
    effect: EffectClass,
) -> Decision {
    policy.decide(&Request {
        operation,
        principal,
        targets: Targets::Known(&[target.to_owned()]),
        effect,
        without_rule: WithoutRule::ByEffect,
    })
}

const EFFECTS: [EffectClass; 3] = [
    EffectClass::Read,
    EffectClass::Write,
    EffectClass::Destructive,
];

#[test]
fn policy_by_principal_by_effect() {
    let policies = [
        ("no file", ""),
        (
            "deny keys",
            "[[rule]]\nprincipal = \"key:*\"\ndecision = \"deny\"\nreason = \"read-only week\"",
        ),
        (
            "allow ada writes",
            "[[rule]]\nprincipal = \"local:ada\"\neffect = \"write\"\ndecision = \"allow\"",
        ),
        (
            "allow all, ask for destruction",
            "[[rule]]\ndecision = \"allow\"\nreason = \"test rig\"\n[[rule]]\neffect = \"destructive\"\ndecision = \"ask\"\napprovers = [\"key:key_boss\"]",
        ),
        (
            "ask even for reads",
            "[[rule]]\neffect = \"read\"\ndecision = \"ask\"",
        ),
        (
            "other operation",
            "[[rule]]\noperation = \"stack.*\"\ndecision = \"deny\"",
        ),
    ];
    let principals = [
        Principal::local("ada"),
        Principal::key("key_1", vec![Scope::new("runs")]),
        Principal::system(),
    ];
    let mut table = String::new();
    for (name, text) in policies {
        table.push_str(&format!("{name}\n"));
        let policy = policy(text);
        for principal in &principals {
            for effect in EFFECTS {
                let decision = decide(&policy, "runs.cancel", principal, "", effect);
                let verdict = match &decision.verdict {
                    Verdict::Ask { terms } => format!("ask {}", terms.approvers.join(" ")),
                    other => other.as_str().to_owned(),
                };
                let reason = decision.reason.unwrap_or_default();
                let line = format!(
                    "  {:<14} {:<11} {verdict:<28} {} {reason}",
                    principal.id(),
                    effect.as_str(),
                    decision.rule
                );
                table.push_str(&format!("{}\n", line.trim_end()));
            }
        }
    }
    insta::assert_snapshot!(table, @"
    no file
      local:ada      read        allow                        built-in: reads are allowed
      local:ada      write       ask local:* scope:approve    built-in: writes ask
      local:ada      destructive ask local:* scope:approve    built-in: destructive operations ask
      key:key_1      read        allow                        built-in: reads are allowed
      key:key_1      write       ask local:* scope:approve    built-in: writes ask
      key:key_1      destructive ask local:* scope:approve    built-in: destructive operations ask
      system:engine  read        allow                        built-in: reads are allowed
      system:engine  write       ask local:* scope:approve    built-in: writes ask
      system:engine  destructive ask local:* scope:approve    built-in: destructive operations ask
    deny keys
      local:ada      read        allow                        built-in: reads are allowed
      local:ada      write       ask local:* scope:approve    built-in: writes ask
      local:ada      destructive ask local:* scope:approve    built-in: destructive operations ask
      key:key_1      read        deny                         policy.toml:2 read-only week
      key:key_1      write       deny                         policy.toml:2 read-only week
      key:key_1      destructive deny                         policy.toml:2 read-only week
      system:engine  read        allow                        built-in: reads are allowed
      system:engine  write       ask local:* scope:approve    built-in: writes ask
      system:engine  destructive ask local:* scope:approve    built-in: destructive operations ask
    allow ada writes
      local:ada      read        allow                        built-in: reads are allowed
      local:ada      write       allow                        policy.toml:2
      local:ada      destructive ask local:* scope:approve    built-in: destructive operations ask
      key:key_1      read        allow                        built-in: reads are allowed
      key:key_1      write       ask local:* scope:approve    built-in: writes ask
      key:key_1      destructive ask local:* scope:approve    built-in: destructive operations ask
      system:engine  read        allow                        built-in: reads are allowed
      system:engine  write       ask local:* scope:approve    built-in: writes ask
      system:engine  destructive ask local:* scope:approve    built-in: destructive operations ask
    allow all, ask for destruction
      local:ada      read        allow                        policy.toml:2 test rig
      local:ada      write       allow                        policy.toml:2 test rig
      local:ada      destructive ask key:key_boss             policy.toml:5
      key:key_1      read        allow                        policy.toml:2 test rig
      key:key_1      write       allow                        policy.toml:2 test rig
      key:key_1      destructive ask key:key_boss             policy.toml:5
      system:engine  read        allow                        policy.toml:2 test rig
      system:engine  write       allow                        policy.toml:2 test rig
      system:engine  destructive ask key:key_boss             policy.toml:5
    ask even for reads
      local:ada      read        ask local:* scope:approve    policy.toml:2
      local:ada      write       ask local:* scope:approve    built-in: writes ask
      local:ada      destructive ask local:* scope:approve    built-in: destructive operations ask
      key:key_1      read        ask local:* scope:approve    policy.toml:2
      key:key_1      write       ask local:* scope:approve    built-in: writes ask
      key:key_1      destructive ask local:* scope:approve    built-in: destructive operations ask
      system:engine  read        ask local:* scope:approve    policy.toml:2
      system:engine  write       ask local:* scope:approve    built-in: writes ask
      system:engine  destructive ask local:* scope:approve    built-in: destructive operations ask
    other operation
      local:ada      read        allow                        built-in: reads are allowed
      local:ada      write       ask local:* scope:approve    built-in: writes ask
      local:ada      destructive ask local:* scope:approve    built-in: destructive operations ask
      key:key_1      read        allow                        built-in: reads are allowed
      key:key_1      write       ask local:* scope:approve    built-in: writes ask
      key:key_1      destructive ask local:* scope:approve    built-in: destructive operations ask
      system:engine  read        allow                        built-in: reads are allowed
      system:engine  write       ask local:* scope:approve    built-in: writes ask
      system:engine  destructive ask local:* scope:approve    built-in: destructive operations ask
    ");
}

#[test]
fn a_target_cannot_talk_its_way_around_a_rule() {
    let policy = policy(
        "[[rule]]\ntarget = \"/srv/app/**\"\ndecision = \"allow\"\nreason = \"own files\"\n[[rule]]\ntarget = \"/etc/**\"\ndecision = \"deny\"",
    );
    let ada = Principal::local("ada");
    for (target, expected) in [
        ("/srv/app/a", "allow"),
        ("/srv/app/../other", "ask"),
        ("/srv/app/../../etc/passwd", "deny"),
        ("//etc//passwd", "deny"),
        ("/etc/./passwd", "deny"),
        ("/srv/../etc/passwd", "deny"),
        ("/etc/../srv/app/x", "deny"),
        ("/elsewhere", "ask"),
        ("", "ask"),
    ] {
        let decision = decide(&policy, "files.write", &ada, target, EffectClass::Write);
        assert_eq!(decision.verdict.as_str(), expected, "{target}");
    }
}

#[test]
fn of_equal_rules_the_first_decides_unless_a_later_one_names_approvers() {
    let ada = Principal::local("ada");
    let place = |text: &str| decide(&policy(text), "a", &ada, "", EffectClass::Write).rule;
    let ask = "[[rule]]\ndecision = \"ask\"\n";
    assert_eq!(place(&ask.repeat(2)), "policy.toml:2");
    assert_eq!(
        place(&format!("{ask}{ask}approvers = [\"local:bob\"]\n")),
        "policy.toml:4"
    );
}

#[test]
fn who_may_approve() {
    let list = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    let ada = Principal::local("ada");
    let plain = Principal::key("key_1", vec![Scope::new("runs")]);
    let approver = Principal::key("key_2", vec![Scope::approve()]);
    let defaults = Policy::built_in().approvers;
    for (principal, approvers, expected) in [
        (&ada, &defaults, true),
        (&plain, &defaults, false),
        (&approver, &defaults, true),
        (
            &Principal::system(),
            &list(&["local:*", "key:*", "scope:approve", "system:*"]),
            false,
        ),
        (&ada, &list(&["local:bob"]), false),
        (&ada, &list(&["local:a*"]), true),
        (&plain, &list(&["key:key_1"]), true),
        (&plain, &list(&["key:key_10"]), false),
        (&ada, &list(&[]), false),
    ] {
        assert_eq!(
            may_approve(principal, &ApprovalTerms::by(approvers)),
            expected,
            "{} {approvers:?}",
            principal.id()
        );
    }
}

proptest! {
    /// One more rule never makes a decision more lenient than the strictest rule says.
    #[test]
    fn a_matching_deny_always_wins(others in prop::collection::vec(prop::sample::select(&["allow", "ask"][..]), 0..5), at in 0usize..6) {
        let mut rules: Vec<String> = others
            .iter()
            .map(|answer| format!("[[rule]]\ndecision = \"{answer}\"\nreason = \"r\"\n"))
            .collect();
        rules.insert(at.min(rules.len()), "[[rule]]\ndecision = \"deny\"\n".to_owned());
        let policy = policy(&rules.concat());
        for effect in EFFECTS {
            let decision = decide(&policy, "x", &Principal::local("ada"), "/t", effect);
            prop_assert_eq!(decision.verdict, Verdict::Deny);
        }
    }
}

#[test]
fn a_program_never_answers_for_its_user_unless_it_is_named() {
    let built_in = Policy::built_in();
    let user = Principal::local("ada");
    let agent = Principal::local_agent("ada", "mcp");
    assert!(may_approve(&user, &ApprovalTerms::by(built_in.approvers())));
    assert!(!may_approve(
        &agent,
        &ApprovalTerms::by(built_in.approvers())
    ));
    for (approver, agent_may) in [
        ("local:*", false),
        ("local:ada", false),
        ("scope:approve", false),
        ("local:ada/*", true),
        ("local:**", true),
        ("local:ada/mcp", true),
    ] {
        assert_eq!(
            may_approve(&agent, &ApprovalTerms::by([approver])),
            agent_may,
            "{approver}"
        );
    }
}

#[test]
fn a_rule_about_an_effect_waits_for_the_plan() {
    let policy = policy("[[rule]]\neffect = \"destructive\"\ndecision = \"deny\"");
    let principal = Principal::local("ada");
    let request = |targets| Request {
        operation: "demo.apply",
        principal: &principal,
        targets,
        effect: EffectClass::Destructive,
        without_rule: WithoutRule::ByEffect,
    };
    assert_ne!(
        policy.decide(&request(Targets::Unknown)).verdict,
        Verdict::Deny
    );
    assert_eq!(
        policy.decide(&request(Targets::Known(&[]))).verdict,
        Verdict::Deny
    );
}

#[test]
fn a_rule_may_want_several_approvers_and_others_than_the_caller() {
    let policy = policy(
        "[[rule]]\noperation = \"runs.*\"\ndecision = \"ask\"\nquorum = 2\n\
         [[rule]]\noperation = \"runs.cancel\"\ndecision = \"ask\"\napprovers = [\"local:*\"]\ndistinct_approver = true",
    );
    let ada = Principal::local("ada");
    let decision = decide(&policy, "runs.cancel", &ada, "", EffectClass::Write);
    let Verdict::Ask { terms } = decision.verdict else {
        panic!("{decision:?}");
    };
    assert_eq!(terms.text(), "2 approvals by local:*, not by local:ada");
    assert!(!may_approve(&ada, &terms), "her own request");
    assert!(may_approve(&Principal::local("bo"), &terms));
}

/// A rule that asks or refuses may name a file; one that allows looks at the directory, as before.
#[test]
fn files_of_a_plan_make_decisions_stricter_only() {
    let policy = policy(
        "[[rule]]\ntarget = \"/srv/site\"\neffect = \"write\"\ndecision = \"allow\"\n\
         [[rule]]\ntarget = \"/srv/site/secret/**\"\ndecision = \"deny\"\n\
         [[rule]]\ntarget = \"/srv/other/*\"\neffect = \"write\"\ndecision = \"allow\"",
    );
    let ada = Principal::local("ada");
    for (target, file, expected) in [
        ("/srv/site", "/srv/site/a.txt", "allow"),
        ("/srv/site", "/srv/site/secret/a.txt", "deny"),
        ("/srv/site", "/srv/site/x/../secret/a.txt", "deny"),
        ("/srv/other", "/srv/other/a.txt", "ask"),
    ] {
        let (targets, files) = ([target.to_owned()], [file.to_owned()]);
        let decision = policy.decide(&Request {
            operation: "demo.apply",
            principal: &ada,
            targets: Targets::Files {
                targets: &targets,
                files: &files,
            },
            effect: EffectClass::Write,
            without_rule: WithoutRule::ByEffect,
        });
        assert_eq!(decision.verdict.as_str(), expected, "{file}");
    }
}
