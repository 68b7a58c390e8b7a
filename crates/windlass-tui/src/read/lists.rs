//! What the tabs list.

use std::{collections::BTreeMap, path::Path};

use super::{
    answers::{Preview, Snapshots, Status, Summary, tally},
    cleaned, minute,
};
use crate::{
    ShortPath,
    listing::{Detail, Item, Listing, Row, Tone},
    text::{clean, count, counts},
};

pub(super) fn plan(preview: Preview, short: &ShortPath) -> Listing {
    let Preview {
        plan,
        diff,
        warnings,
    } = preview;
    let mut summary = tally(&plan.changes);
    let adoptions = plan.changes.iter().filter(|change| change.is_adoption());
    let adoptions = adoptions.count();
    if adoptions > 0 {
        let files = count(adoptions, "file");
        summary.push_str(&format!("; {files} not written by pack (!)"));
    }
    // The operation lists one file per change, in the same order.
    let mut files = diff.files.into_iter();
    let items = plan.changes.into_iter().map(|change| {
        let file = files.next().unwrap_or_default();
        let (tone, sign) = change.sign();
        let (place, text) = split(&change.path, &file.root, short);
        let detail = match file.unified {
            Some(unified) => unified,
            None if sign == "-" => "The file is deleted.".to_owned(),
            None if change.reason == "mode differs" => change.note(),
            None => "Too long for a diff, or not text.".to_owned(),
        };
        let item = Item {
            key: key(&change.target, &change.path),
            tone,
            sign,
            text,
            note: change.note(),
            detail: Detail::Text(detail),
        };
        ((clean(&change.target), place), item)
    });
    Listing::new(grouped(items), summary, cleaned(warnings))
}

pub(super) fn drift(status: Status, short: &ShortPath) -> Listing {
    let of = |kind: &str| {
        let some = status.drift.iter().filter(|drift| drift.kind == kind);
        some.count() as u64
    };
    let summary = counts(&[
        (of("modified"), "modified"),
        (of("missing"), "missing"),
        (of("extra"), "extra"),
    ]);
    let items = status.drift.into_iter().map(|drift| {
        let (tone, sign, otherwise) = match drift.kind.as_str() {
            "modified" => (
                Tone::Warn,
                "~",
                "No diff: the plan does not change this file.",
            ),
            "missing" => (
                Tone::Bad,
                "-",
                "No diff: the plan does not restore this file.",
            ),
            _ => (
                Tone::Active,
                "?",
                "Pack did not write this file and leaves it alone.",
            ),
        };
        let mut notes = vec![drift.kind];
        if drift.deployed == Some(false) {
            notes.push("not deployed yet".to_owned());
        }
        if let (Some(expected), Some(actual)) = (&drift.expected_mode, &drift.actual_mode) {
            notes.push(format!("mode {actual}, should be {expected}"));
        }
        notes.extend(drift.keys.into_iter().map(|key| key.pointer));
        let (place, text) = split(&drift.path, &drift.root, short);
        let item = Item {
            key: key(&drift.target, &drift.path),
            tone,
            sign,
            text,
            note: clean(&notes.join("; ")),
            detail: Detail::AsPlanned(otherwise),
        };
        ((clean(&drift.target), place), item)
    });
    Listing::new(grouped(items), summary, cleaned(status.warnings))
}

pub(super) fn history(listed: Snapshots) -> Listing {
    let summary = match listed.snapshots.len() {
        0 => String::new(),
        many => count(many, "snapshot"),
    };
    let items = listed.snapshots.into_iter().map(|snapshot| {
        let Summary {
            create,
            update,
            delete,
        } = snapshot.summary;
        let mut notes = vec![counts(&[
            (create, "created"),
            (update, "updated"),
            (delete, "deleted"),
        ])];
        notes.push(snapshot.targets.join(", "));
        if snapshot.head {
            notes.push("in force".to_owned());
        }
        notes.extend(snapshot.rolled_back_to.map(|to| format!("back to {to}")));
        notes.retain(|note| !note.is_empty());
        Row::Item(Item {
            text: clean(&format!(
                "{}  {:<9}  {}",
                minute(&snapshot.created_at),
                snapshot.kind,
                snapshot.id
            )),
            key: snapshot.id,
            tone: Tone::Good,
            sign: if snapshot.head { "*" } else { " " },
            note: clean(&notes.join("; ")),
            detail: Detail::Unread,
        })
    });
    Listing::new(items.collect(), summary, cleaned(listed.warnings))
}

/// A file of a target, as plan and drift name it alike.
fn key(target: &str, path: &str) -> String {
    format!("{target} {path}")
}

/// A path as the root it lies in and the rest.
fn split(path: &str, root: &str, short: &ShortPath) -> (String, String) {
    let path = Path::new(path);
    let (root, rest) = match path.strip_prefix(root) {
        Ok(rest) if !root.is_empty() => (root.to_owned(), rest),
        _ => {
            let parent = path.parent().unwrap_or(Path::new(""));
            let rest = path.strip_prefix(parent).unwrap_or(path);
            (parent.display().to_string(), rest)
        }
    };
    let place = match short(&root).as_str() {
        "." => "project".to_owned(),
        other => clean(other),
    };
    (place, clean(&rest.display().to_string()))
}

/// Items under headings, by target and root.
fn grouped(items: impl Iterator<Item = ((String, String), Item)>) -> Vec<Row> {
    let mut groups: BTreeMap<(String, String), Vec<Item>> = BTreeMap::new();
    for (group, item) in items {
        groups.entry(group).or_default().push(item);
    }
    let mut rows = Vec::new();
    for ((name, place), items) in groups {
        rows.push(Row::Heading { name, place });
        rows.extend(items.into_iter().map(Row::Item));
    }
    rows
}
