//! Raw changes in, what happens to each resource out: by table and for any change set.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_ports::aws::{ChangeTarget, ResourceChange, ResourceChangeDetail};
use windlass_secrets::Redactor;

use super::*;

fn detail(name: &str, recreation: &str, before: &str, after: &str) -> ResourceChangeDetail {
    ResourceChangeDetail {
        target: ChangeTarget {
            attribute: Some("Properties".to_owned()),
            name: Some(name.to_owned()),
            requires_recreation: Some(recreation.to_owned()),
            path: Some(format!("/Properties/{name}")),
            before_value: Some(before.to_owned()),
            after_value: Some(after.to_owned()),
            ..ChangeTarget::default()
        },
        evaluation: Some("Static".to_owned()),
        ..ResourceChangeDetail::default()
    }
}

fn raw(
    action: &str,
    kind: &str,
    replacement: Option<&str>,
    policy: Option<&str>,
) -> ResourceChange {
    ResourceChange {
        action: action.to_owned(),
        logical_resource_id: "Items".to_owned(),
        resource_type: kind.to_owned(),
        replacement: replacement.map(str::to_owned),
        policy_action: policy.map(str::to_owned),
        ..ResourceChange::default()
    }
}

fn normalised(raw: &[ResourceChange], template: &Value, before: Option<&Value>) -> Vec<Change> {
    let names = BTreeMap::from([("Items".to_owned(), "items".to_owned())]);
    let redactor = Redactor::new();
    let normaliser = Normaliser {
        names: &names,
        template,
        before,
        redactor: &redactor,
    };
    normaliser.all(raw)
}

#[test]
fn a_matrix_of_changes() {
    let table = "AWS::DynamoDB::Table";
    let retain = json!({ "Resources": { "Items": {
        "DeletionPolicy": "Retain", "UpdateReplacePolicy": "Snapshot" } } });
    let cases = [
        raw("Add", table, None, None),
        raw("Import", table, None, None),
        raw("Modify", table, Some("False"), None),
        raw("Modify", table, Some("True"), Some("ReplaceAndDelete")),
        raw(
            "Modify",
            table,
            Some("Conditional"),
            Some("ReplaceAndDelete"),
        ),
        raw("Modify", table, Some("True"), Some("ReplaceAndRetain")),
        raw("Modify", table, Some("True"), Some("ReplaceAndSnapshot")),
        raw("Modify", table, Some("True"), None),
        raw("Remove", table, None, Some("Delete")),
        raw("Remove", table, None, Some("Retain")),
        raw("Remove", table, None, Some("Snapshot")),
        raw("Remove", table, None, None),
        raw("Dynamic", table, None, None),
        raw("Remove", "AWS::SQS::Queue", None, Some("Delete")),
        raw("Remove", "AWS::IAM::Role", None, Some("Delete")),
    ];
    let shown: Vec<String> = cases
        .iter()
        .map(|case| {
            let changes = normalised(std::slice::from_ref(case), &retain, Some(&retain));
            let stateful = stateful_changes(&changes);
            let fate = stateful.first().map(|found| {
                format!(
                    "{:?}{}",
                    found.fate,
                    if found.needs_confirm { ", confirm" } else { "" }
                )
            });
            format!(
                "{} {} {}: {} | {} | {}",
                case.action,
                case.replacement.as_deref().unwrap_or("-"),
                case.policy_action.as_deref().unwrap_or("-"),
                changes[0].action.name(),
                fate.unwrap_or_else(|| "-".to_owned()),
                changes[0].highlights.join("; "),
            )
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
    Add - -: create | - | 
    Import - -: create | - | imported into the stack
    Modify False -: update | - | 
    Modify True ReplaceAndDelete: replace | Lost, confirm | its data is lost
    Modify Conditional ReplaceAndDelete: replace | Lost, confirm | may be replaced; known only when it is executed; its data is lost
    Modify True ReplaceAndRetain: replace | Kept | kept, no longer managed
    Modify True ReplaceAndSnapshot: replace | Snapshot, confirm | its data is lost; a final snapshot is taken
    Modify True -: replace | Snapshot, confirm | its data is lost; a final snapshot is taken
    Remove - Delete: delete | Lost, confirm | its data is lost
    Remove - Retain: retain | Kept | kept, no longer managed
    Remove - Snapshot: delete | Snapshot, confirm | its data is lost; a final snapshot is taken
    Remove - -: retain | Kept | kept, no longer managed
    Dynamic - -: replace | Lost, confirm | may be replaced; known only when it is executed; its data is lost
    Remove - Delete: delete | Lost | its contents are lost
    Remove - Delete: delete | - | 
    ");
}

#[test]
fn the_reason_names_the_property_and_both_values() {
    let mut change = raw("Modify", "AWS::DynamoDB::Table", Some("True"), None);
    change.details = vec![
        detail("BillingMode", "Never", "PROVISIONED", "PAY_PER_REQUEST"),
        detail("TableName", "Always", "a", "b"),
        detail("KeySchema", "Conditionally", "x", "y"),
    ];
    let found = normalised(&[change], &Value::Null, None).remove(0);
    assert_eq!(found.resource_name, "items");
    assert_eq!(found.will_replace, ["TableName"]);
    assert_eq!(found.may_replace, ["KeySchema"]);
    assert_eq!(
        found.reason.as_deref(),
        Some("TableName changes from `a` to `b`; this needs a new resource")
    );
}

#[test]
fn secrets_are_masked_in_reasons_and_raw_changes() {
    let canary = "hunter2-canary-hunter2";
    let mut change = raw("Modify", "AWS::RDS::DBInstance", Some("False"), None);
    change.details = vec![
        detail(
            "MasterUserPassword",
            "Never",
            canary,
            "another-canary-value",
        ),
        detail("Environment/Variables/API_TOKEN", "Never", canary, canary),
        detail(
            "Url",
            "Never",
            &format!("postgres://ada:{canary}@db/shop"),
            "none",
        ),
        detail(
            "Environment",
            "Never",
            &json!({ "Variables": { "DB_PASSWORD": canary } }).to_string(),
            "{}",
        ),
        detail(
            "Ref",
            "Never",
            "{{resolve:secretsmanager:db:SecretString:password}}",
            "x",
        ),
    ];
    change.after_context = Some(
        json!({ "Properties": {
            "MasterUserPassword": canary,
            "ContainerDefinitions": [{ "Environment": [{ "Name": "API_KEY", "Value": canary }] }],
        } })
        .to_string(),
    );
    let redactor = Redactor::new();
    let shown = format!(
        "{} {}",
        serde_json::to_string(&normalised(
            std::slice::from_ref(&change),
            &Value::Null,
            None
        ))
        .unwrap(),
        masked_raw(&change, &redactor),
    );
    assert!(!shown.contains("canary"), "{shown}");
    assert!(shown.contains("hunt...ter2"), "{shown}");
    assert!(
        shown.contains("{{resolve:secretsmanager:db:SecretString:password}}"),
        "{shown}"
    );
}

#[test]
fn a_template_alone_yields_additions() {
    let template = json!({ "Resources": {
        "B": { "Type": "AWS::SQS::Queue", "Condition": "IsProd" },
        "A": { "Type": "AWS::S3::Bucket" },
    } });
    let changes = additions(&template, &BTreeMap::new());
    let shown: Vec<String> = changes
        .iter()
        .map(|change| {
            format!(
                "{} {} {}",
                change.logical_id,
                change.resource_type,
                change.highlights.join("")
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            "A AWS::S3::Bucket ",
            "B AWS::SQS::Queue only if the condition IsProd holds"
        ]
    );
    assert_eq!(counts(&changes).create, 2);
    assert!(additions(&Value::Null, &BTreeMap::new()).is_empty());
}

fn any_change() -> impl Strategy<Value = ResourceChange> {
    let word = |words: &'static [&'static str]| prop::sample::select(words).prop_map(str::to_owned);
    let optional = |words: &'static [&'static str]| prop::option::of(word(words));
    let details = prop::collection::vec(
        (
            word(&["TableName", "Tags", "Password", "Size"]),
            word(&["Never", "Always", "Conditionally"]),
            word(&["Static", "Dynamic"]),
        ),
        0..4,
    );
    (
        word(&[
            "Add",
            "Modify",
            "Remove",
            "Import",
            "Dynamic",
            "SomethingNew",
        ]),
        "[A-D][a-z]{0,2}",
        word(&["AWS::S3::Bucket", "AWS::SQS::Queue", "AWS::IAM::Role"]),
        optional(&["True", "False", "Conditional"]),
        optional(&[
            "Delete",
            "Retain",
            "Snapshot",
            "ReplaceAndDelete",
            "ReplaceAndRetain",
        ]),
        details,
    )
        .prop_map(
            |(action, id, kind, replacement, policy, details)| ResourceChange {
                action,
                logical_resource_id: id,
                resource_type: kind,
                replacement,
                policy_action: policy,
                details: details
                    .into_iter()
                    .map(|(name, recreation, evaluation)| ResourceChangeDetail {
                        evaluation: Some(evaluation),
                        ..detail(&name, &recreation, "before", "after")
                    })
                    .collect(),
                ..ResourceChange::default()
            },
        )
}

proptest! {
    #[test]
    fn every_change_is_counted_once_and_order_does_not_matter(
        mut raw in prop::collection::vec(any_change(), 0..8),
    ) {
        raw.sort_by(|left, right| left.logical_resource_id.cmp(&right.logical_resource_id));
        raw.dedup_by(|left, right| left.logical_resource_id == right.logical_resource_id);
        let forth = normalised(&raw, &Value::Null, None);
        raw.reverse();
        for change in &mut raw {
            change.details.reverse();
        }
        let back = normalised(&raw, &Value::Null, None);
        prop_assert_eq!(&forth, &back);
        let counts = counts(&forth);
        prop_assert_eq!(counts.total, raw.len());
        prop_assert_eq!(
            counts.create + counts.update + counts.replace + counts.delete + counts.retain,
            counts.total
        );
    }

    /// Whatever CloudFormation says, nothing that may lose a bucket goes without a yes.
    #[test]
    fn no_possible_loss_goes_unconfirmed(raw in any_change()) {
        let change = normalised(std::slice::from_ref(&raw), &Value::Null, None).remove(0);
        let needs = stateful_changes(std::slice::from_ref(&change))
            .iter()
            .any(|found| found.needs_confirm);
        let may_lose = match raw.action.as_str() {
            "Add" | "Import" => false,
            "Remove" => !matches!(raw.policy_action.as_deref(), Some("Retain" | "ReplaceAndRetain")),
            _ => change.action == Action::Replace
                && !matches!(raw.policy_action.as_deref(), Some("Retain" | "ReplaceAndRetain")),
        };
        let is_stateful = raw.resource_type == "AWS::S3::Bucket";
        prop_assert_eq!(needs, may_lose && is_stateful);
        if change.action == Action::Replace {
            prop_assert!(!change.will_replace.is_empty() || !change.may_replace.is_empty());
        }
        let serialised = serde_json::to_value(&change).unwrap();
        prop_assert_eq!(serde_json::from_value::<Change>(serialised).unwrap(), change);
    }
}
