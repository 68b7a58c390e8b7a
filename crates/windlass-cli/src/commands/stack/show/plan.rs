//! A plan for people: what happens to each resource, what is lost and why, what is missing.

use serde_json::Value;

use super::{Screen, is, list, object, shown, text};
use crate::output::{Table, Tone, counted};

/// What a plan does to CloudFormation, whole.
pub(in crate::commands::stack) fn plan(screen: &Screen<'_>, data: &Value) {
    let heading = format!("{}: {}", text(data, "stackName"), kind(data));
    if is(data, "noChanges") {
        screen.line(&heading);
    } else {
        screen.toned(Tone::Strong, &heading);
    }
    details(screen, data);
}

/// What a plan is, in a few words.
pub(in crate::commands::stack) fn kind(data: &Value) -> &'static str {
    match () {
        () if is(data, "noChanges") => "no changes",
        () if is(data, "recreate") => "a new stack in place of the failed one",
        () if is(data, "isNewStack") => "a new stack",
        () => "an update",
    }
}

/// Everything a plan says besides what it is.
pub(in crate::commands::stack) fn details(screen: &Screen<'_>, data: &Value) {
    consequences(screen, data);
    drift(screen, data);
    cost(screen, data);
    if is(data, "recreate") {
        screen.toned(
            Tone::Warn,
            "Its first creation failed: the failed stack is deleted first. Read from the template, \
             because CloudFormation cannot plan while it exists.",
        );
    } else if text(data, "source") == "local" {
        screen.toned(
            Tone::Dim,
            "Read from the template: there is no asset bucket to send it through yet.",
        );
    }
}

/// Changes, losses and what is missing; nothing where a plan says nothing of them.
pub(in crate::commands::stack) fn consequences(screen: &Screen<'_>, data: &Value) {
    let changes = list(data, "resourceChanges");
    if !changes.is_empty() {
        screen.table(&table(changes));
        screen.line(&summary(data));
    }
    stateful(screen, data);
    missing_secrets(screen, data);
}

/// Whether a plan loses something that a person must name.
pub(in crate::commands::stack) fn loses_data(data: &Value) -> bool {
    list(data, "statefulChanges")
        .iter()
        .any(|change| change.get("needsConfirm") != Some(&Value::Bool(false)))
}

fn table(changes: &[Value]) -> Table {
    let mut table = Table::new(&["ACTION", "RESOURCE", "LOGICAL ID", "TYPE", "WHY"]);
    for change in changes {
        let (tone, action) = action(text(change, "action"));
        table.toned_row([
            (tone, action),
            (Tone::Plain, text(change, "resourceName").to_owned()),
            (Tone::Plain, text(change, "logicalId").to_owned()),
            (Tone::Dim, text(change, "resourceType").to_owned()),
            (Tone::Plain, why(change)),
        ]);
    }
    table
}

fn action(word: &str) -> (Tone, String) {
    let (tone, sign) = match word {
        "create" => (Tone::Good, "+"),
        "update" => (Tone::Warn, "~"),
        "replace" => (Tone::Bad, "!"),
        "delete" => (Tone::Bad, "-"),
        "retain" => (Tone::Warn, "o"),
        _ => (Tone::Plain, "?"),
    };
    (tone, format!("{sign} {word}"))
}

/// The reason; properties that replace, where there is none.
fn why(change: &Value) -> String {
    let reason = text(change, "reason");
    if !reason.is_empty() {
        return reason.to_owned();
    }
    let names = |key: &str| -> Vec<String> { list(change, key).iter().map(shown).collect() };
    let (will, may) = (names("willReplace"), names("mayReplace"));
    match (will.is_empty(), may.is_empty()) {
        (false, _) => format!("{} replaces it", will.join(", ")),
        (true, false) => format!("{} may replace it", may.join(", ")),
        _ => names("highlights").join(", "),
    }
}

fn summary(data: &Value) -> String {
    let counts = data.get("counts").or_else(|| data.get("changeCounts"));
    let count = |key: &str| {
        counts
            .and_then(|counts| counts.get(key))
            .and_then(Value::as_u64)
            .unwrap_or_default()
    };
    let parts: Vec<String> = ["create", "update", "replace", "delete", "retain"]
        .into_iter()
        .filter(|word| count(word) > 0)
        .map(|word| format!("{} to {word}", count(word)))
        .collect();
    match parts.is_empty() {
        true => counted(list(data, "resourceChanges").len(), "change"),
        false => parts.join(", "),
    }
}

fn stateful(screen: &Screen<'_>, data: &Value) {
    let changes = list(data, "statefulChanges");
    let (kept, lost): (Vec<&Value>, Vec<&Value>) = changes
        .iter()
        .partition(|change| change.get("needsConfirm") == Some(&Value::Bool(false)));
    for (tone, heading, changes) in [
        (Tone::Bad, "Data will be lost:", lost),
        (
            Tone::Warn,
            "Also holds data, but needs no confirmation:",
            kept,
        ),
    ] {
        if changes.is_empty() {
            continue;
        }
        screen.toned(tone, heading);
        for change in changes {
            let name = match text(change, "resourceName") {
                "" => text(change, "logicalId"),
                name => name,
            };
            let reason = match text(change, "reason") {
                "" => String::new(),
                reason => format!(": {reason}"),
            };
            let happens = match text(change, "action") {
                "create" => "is created",
                "update" => "is updated",
                "replace" => "is replaced",
                "delete" => "is deleted",
                "retain" => "is kept, no longer managed",
                other => other,
            };
            screen.line(&format!(
                "  {name} ({}) {happens}{reason}",
                text(change, "type")
            ));
        }
    }
}

fn missing_secrets(screen: &Screen<'_>, data: &Value) {
    let missing = list(data, "missingSecrets");
    if missing.is_empty() {
        return;
    }
    screen.toned(Tone::Bad, "Secrets that do not exist:");
    for secret in missing {
        let name = match secret {
            Value::String(name) => name.as_str(),
            other => match text(other, "name") {
                "" => text(other, "secretName"),
                name => name,
            },
        };
        screen.line(&format!("  {name}   windlass stack secret create {name}"));
    }
}

/// What was changed by hand; nothing where it was not looked for.
pub(in crate::commands::stack) fn drift(screen: &Screen<'_>, data: &Value) {
    let Some(drift) = data.get("drift").filter(|drift| drift.is_object()) else {
        return;
    };
    let status = text(drift, "status");
    let checked = drift.get("checked").and_then(Value::as_u64).unwrap_or(0);
    let tone = match status {
        "IN_SYNC" => Tone::Good,
        "DRIFTED" => Tone::Warn,
        _ => Tone::Plain,
    };
    let checked = usize::try_from(checked).unwrap_or(usize::MAX);
    screen.toned(
        tone,
        &format!("drift: {status}, {} checked", counted(checked, "resource")),
    );
    for resource in list(drift, "resources") {
        if text(resource, "status") == "IN_SYNC" {
            continue;
        }
        screen.line(&format!(
            "  {} ({}) {}",
            text(resource, "logicalId"),
            text(resource, "resourceType"),
            text(resource, "status")
        ));
        for difference in list(resource, "differences") {
            screen.line(&format!(
                "    {}: {} → {}",
                text(difference, "path"),
                text(difference, "expected"),
                text(difference, "actual")
            ));
        }
    }
    let unchecked: Vec<String> = list(drift, "notChecked").iter().map(shown).collect();
    if !unchecked.is_empty() {
        screen.toned(
            Tone::Dim,
            &format!("  not checked, so not known: {}", unchecked.join(", ")),
        );
    }
    if let Some(reason) = drift.get("reason").and_then(Value::as_str) {
        screen.toned(Tone::Dim, &format!("  {reason}"));
    }
}

fn cost(screen: &Screen<'_>, data: &Value) {
    let Some(cost) = object(data, "cost") else {
        return;
    };
    let amount = |key: &str| cost.get(key).map(shown).unwrap_or_default();
    screen.line(&format!(
        "cost per month: {} → {} {} ({})",
        amount("monthlyBefore"),
        amount("monthlyAfter"),
        amount("currency"),
        amount("monthlyDelta"),
    ));
    let cost = Value::Object(cost.clone());
    let unpriced: Vec<String> = list(&cost, "unpriced").iter().map(shown).collect();
    if !unpriced.is_empty() {
        screen.toned(
            Tone::Dim,
            &format!("  without a price: {}", unpriced.join(", ")),
        );
    }
}
