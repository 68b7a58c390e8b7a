//! What merges, what conflicts, and how a conflict is shown.

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::samples;

const LABELS: MergeLabels<'static> = MergeLabels {
    ours: "overlay",
    theirs: "upstream",
};

fn merge(base: &str, ours: &str, theirs: &str) -> Merge {
    merge3(base, ours, theirs, LABELS)
}

fn conflict(base: &str, ours: &str, theirs: &str) -> String {
    match merge(base, ours, theirs) {
        Merge::Clean(text) => panic!("merged to {text:?}"),
        Merge::Conflict {
            text_with_markers,
            conflicts,
        } => format!("{conflicts} in\n{text_with_markers}"),
    }
}

#[test]
fn changes_apart_from_each_other_merge() {
    for (base, ours, theirs, merged) in [
        ("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n"),
        ("a\nb\nc\n", "a\nc\n", "a\nb\nc\nd\n", "a\nc\nd\n"),
        ("a\nb\nc\n", "0\na\nb\nc\n", "a\nb\n", "0\na\nb\n"),
        // The same change on both sides, next to one of each alone.
        (
            "a\nb\nc\nd\ne\n",
            "A\nb\nC\nd\ne\n",
            "a\nb\nC\nd\nE\n",
            "A\nb\nC\nd\nE\n",
        ),
        ("a\nb\nc", "A\nb\nc", "a\nb\nc\n", "A\nb\nc\n"),
        (
            "a\r\nb\r\nc\r\n",
            "A\r\nb\r\nc\r\n",
            "a\r\nb\r\nC\r\n",
            "A\r\nb\r\nC\r\n",
        ),
        ("", "a\n", "a\n", "a\n"),
        ("a\n", "", "", ""),
    ] {
        assert_eq!(merge(base, ours, theirs), Merge::Clean(merged.to_owned()));
        assert_eq!(merge(base, theirs, ours), Merge::Clean(merged.to_owned()));
    }
}

#[test]
fn contradicting_changes_are_shown_between_markers() {
    assert_snapshot!(conflict("a\nb\nc\n", "a\nours\nc\n", "a\ntheirs\nc\n"), @r"
    1 in
    a
    <<<<<<< overlay
    ours
    =======
    theirs
    >>>>>>> upstream
    c
    ");
}

#[test]
fn changes_that_touch_conflict() {
    assert_snapshot!(conflict("a\nb\n", "A\nb\n", "a\nB\n"), @r"
    1 in
    <<<<<<< overlay
    A
    b
    =======
    a
    B
    >>>>>>> upstream
    ");
}

#[test]
fn a_deletion_against_a_change_conflicts_with_an_empty_side() {
    assert_snapshot!(conflict("a\nb\nc\n", "a\nc\n", "a\nB\nc\n"), @r"
    1 in
    a
    <<<<<<< overlay
    =======
    B
    >>>>>>> upstream
    c
    ");
}

#[test]
fn a_conflict_is_reduced_to_the_lines_that_differ() {
    assert_snapshot!(
        conflict("old\n", "same\n1\n2\n3\n4\nours\nend\n", "same\n1\n2\n3\n4\ntheirs\nend\n"), @r"
    1 in
    same
    1
    2
    3
    4
    <<<<<<< overlay
    ours
    =======
    theirs
    >>>>>>> upstream
    end
    ");
}

#[test]
fn repeated_lines_do_not_widen_a_conflict() {
    assert_snapshot!(conflict("0\n6\n7\n", "0\n6\nX\n", "0\nX\nX\n"), @r"
    1 in
    0
    <<<<<<< overlay
    6
    =======
    X
    >>>>>>> upstream
    X
    ");
}

#[test]
fn close_conflicts_are_one_and_distant_ones_are_two() {
    let text = |x: &str, between: &str| format!("{x}1\n{between}{x}2\n");
    let close = "a\nb\nc\n";
    assert_snapshot!(
        conflict(&text("", close), &text("ours", close), &text("theirs", close)), @r"
    1 in
    <<<<<<< overlay
    ours1
    a
    b
    c
    ours2
    =======
    theirs1
    a
    b
    c
    theirs2
    >>>>>>> upstream
    ");
    let distant = "a\nb\nc\nd\n";
    assert_snapshot!(
        conflict(&text("", distant), &text("ours", distant), &text("theirs", distant)), @r"
    2 in
    <<<<<<< overlay
    ours1
    =======
    theirs1
    >>>>>>> upstream
    a
    b
    c
    d
    <<<<<<< overlay
    ours2
    =======
    theirs2
    >>>>>>> upstream
    ");
}

#[test]
fn markers_are_on_their_own_lines_with_the_files_line_ends() {
    assert_eq!(
        conflict("a", "ours", "theirs"),
        "1 in\n<<<<<<< overlay\nours\n=======\ntheirs\n>>>>>>> upstream\n"
    );
    assert_eq!(
        conflict("a\r\nb\r\n", "a\r\nours\r\n", "a\r\ntheirs\r\n"),
        "1 in\na\r\n<<<<<<< overlay\r\nours\r\n=======\r\ntheirs\r\n>>>>>>> upstream\r\n"
    );
}

#[test]
fn a_label_cannot_add_lines() {
    let labels = MergeLabels {
        ours: "x\n=======\nforged",
        theirs: "",
    };
    let Merge::Conflict {
        text_with_markers, ..
    } = merge3("a\n", "b\n", "c\n", labels)
    else {
        panic!("no conflict");
    };
    assert_eq!(
        text_with_markers,
        "<<<<<<< x ======= forged\nb\n=======\nc\n>>>>>>>\n"
    );
}

/// Everything outside conflicts plus one side of each.
fn resolve(pieces: &[Piece], ours: &[&str], theirs: &[&str], take_ours: bool) -> String {
    pieces
        .iter()
        .flat_map(|piece| match piece.kind {
            Kind::Common | Kind::Ours => &ours[piece.ours.clone()],
            Kind::Theirs => &theirs[piece.theirs.clone()],
            Kind::Conflict if take_ours => &ours[piece.ours.clone()],
            Kind::Conflict => &theirs[piece.theirs.clone()],
        })
        .copied()
        .collect()
}

proptest! {
    #[test]
    fn one_unchanged_side_yields_the_other((base, other) in samples::edited()) {
        prop_assert_eq!(merge(&base, &base, &other), Merge::Clean(other.clone()));
        prop_assert_eq!(merge(&base, &other, &base), Merge::Clean(other.clone()));
        // Without the shortcuts as well.
        let (base, other) = (lines::split(&base), lines::split(&other));
        let merged = render(&join(pieces(&base, &base, &other)), &base, &other, LABELS);
        prop_assert_eq!(merged, Merge::Clean(other.concat()));
        let merged = render(&join(pieces(&base, &other, &base)), &other, &base, LABELS);
        prop_assert_eq!(merged, Merge::Clean(other.concat()));
    }

    #[test]
    fn identical_edits_merge((base, edited) in samples::edited()) {
        prop_assert_eq!(merge(&base, &edited, &edited), Merge::Clean(edited.clone()));
        let (base, edited) = (lines::split(&base), lines::split(&edited));
        let merged = render(&join(pieces(&base, &edited, &edited)), &edited, &edited, LABELS);
        prop_assert_eq!(merged, Merge::Clean(edited.concat()));
    }

    #[test]
    fn the_sides_are_symmetric((base, ours) in samples::edited(), theirs in samples::text()) {
        let count = |merge| match merge {
            Merge::Clean(text) => Ok(text),
            Merge::Conflict { conflicts, .. } => Err(conflicts > 0),
        };
        prop_assert_eq!(count(merge(&base, &ours, &theirs)), count(merge(&base, &theirs, &ours)));
    }

    #[test]
    fn no_line_is_lost(base in samples::text(), ours in samples::text(), theirs in samples::text()) {
        let (base, ours, theirs) = (lines::split(&base), lines::split(&ours), lines::split(&theirs));
        let pieces = join(pieces(&base, &ours, &theirs));
        let (mut our_end, mut their_end) = (0, 0);
        for piece in &pieces {
            prop_assert_eq!(piece.ours.start, our_end);
            prop_assert_eq!(piece.theirs.start, their_end);
            our_end = piece.ours.end;
            their_end = piece.theirs.end;
            if piece.kind == Kind::Common {
                prop_assert_eq!(&ours[piece.ours.clone()], &theirs[piece.theirs.clone()]);
            }
        }
        prop_assert_eq!(our_end, ours.len());
        prop_assert_eq!(their_end, theirs.len());
        // A line without its newline is only ever the last.
        for take_ours in [true, false] {
            let text = resolve(&pieces, &ours, &theirs, take_ours);
            let inner: usize = pieces.iter().map(|piece| match piece.kind {
                Kind::Common | Kind::Ours => piece.ours.len(),
                Kind::Theirs => piece.theirs.len(),
                Kind::Conflict if take_ours => piece.ours.len(),
                Kind::Conflict => piece.theirs.len(),
            }).sum();
            prop_assert_eq!(lines::split(&text).len(), inner);
        }
    }
}
