//! The digest covers everything, and a plan that came out differently is named in what differs.

use std::collections::BTreeMap;

use serde_json::json;
use windlass_ports::aws::Stack;
use windlass_types::Timestamp;

use crate::Proposal;
use crate::change::{Action, additions};
use crate::plan::{Base, Plan, difference};

fn text(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

fn proposal() -> Proposal {
    Proposal {
        stack_name: "shop-dev".to_owned(),
        template: json!({
            "Parameters": { "Key": { "Type": "String", "NoEcho": true } },
            "Resources": { "Items": { "Type": "AWS::DynamoDB::Table" } },
        }),
        parameters: text(&[("Key", "canary-value"), ("Size", "1")]),
        tags: text(&[("windlass:stack", "shop-dev")]),
        capabilities: vec!["CAPABILITY_NAMED_IAM".to_owned()],
        artifacts: text(&[("api", "aa")]),
        ..Proposal::default()
    }
}

fn plan(proposal: &Proposal, base: Base) -> Plan {
    let changes = additions(&proposal.template, &proposal.names);
    Plan::new(proposal, base, changes, false)
}

#[test]
fn the_digest_covers_every_input() {
    let first = plan(&proposal(), Base::Absent);
    assert_eq!(first.digest(), plan(&proposal(), Base::Absent).digest());
    type Edit = fn(&mut Proposal);
    let edits: [(&str, Edit); 6] = [
        ("stack name", |p| p.stack_name.push('x')),
        ("the template differs", |p| {
            p.template["Resources"]["Items"]["Properties"] = json!({})
        }),
        ("parameter Size", |p| {
            drop(p.parameters.insert("Size".to_owned(), "2".to_owned()))
        }),
        ("tag team", |p| {
            drop(p.tags.insert("team".to_owned(), "a".to_owned()))
        }),
        ("capabilities", |p| p.capabilities.clear()),
        ("artifact api", |p| {
            drop(p.artifacts.insert("api".to_owned(), "bb".to_owned()))
        }),
    ];
    for (named, edit) in edits {
        let mut changed = proposal();
        edit(&mut changed);
        let fresh = plan(&changed, Base::Absent);
        assert_ne!(fresh.digest(), first.digest(), "{named}");
        let fault = fresh.prove_equal(&first).unwrap_err();
        assert_eq!(fault.reason, "plan_changed");
        assert!(fault.message.contains(named), "{named}: {}", fault.message);
    }
}

#[test]
fn the_digest_covers_the_base_and_the_changes() {
    let first = plan(&proposal(), Base::Absent);
    let stack = |time| Stack {
        stack_id: "arn:s".to_owned(),
        stack_status: "UPDATE_COMPLETE".to_owned(),
        last_updated_time: Some(Timestamp::from_millis(time)),
        ..Stack::default()
    };
    let bases = [
        Base::of(None),
        Base::of(Some(&stack(1))),
        Base::of(Some(&stack(2))),
    ];
    for (index, left) in bases.iter().enumerate() {
        for (other, right) in bases.iter().enumerate() {
            let (left, right) = (
                plan(&proposal(), left.clone()),
                plan(&proposal(), right.clone()),
            );
            assert_eq!(left.digest() == right.digest(), index == other);
            assert_eq!(difference(&left, &right).base_changed, index != other);
        }
    }
    let mut replaced = first.clone();
    replaced.changes[0].action = Action::Replace;
    let found = difference(&first, &replaced);
    assert_eq!(found.altered, ["Items: create → replace"]);
    let mut fewer = first.clone();
    fewer.changes.clear();
    assert_eq!(difference(&first, &fewer).removed, ["Items"]);
    assert_eq!(difference(&fewer, &first).added, ["Items"]);
    assert_eq!(difference(&first, &first).sentence(), "nothing differs");
}

#[test]
fn a_hidden_parameter_is_not_in_the_plan() {
    let plan = plan(&proposal(), Base::Absent);
    let text = serde_json::to_string(&plan).unwrap();
    assert!(
        !text.contains("canary") && text.contains("(hidden)"),
        "{text}"
    );
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
}
