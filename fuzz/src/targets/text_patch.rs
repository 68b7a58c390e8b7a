//! Patches and merges: any text is a patch or refused; a difference leads from one text to the
//! other; a merge loses no side.

use windlass_text::{Merge, MergeLabels, merge3, parse_patch, unified};

const LABELS: MergeLabels<'_> = MergeLabels {
    ours: "ours",
    theirs: "theirs",
};

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let mut parts = text.splitn(3, '\0');
    let mut part = || parts.next().unwrap_or_default();
    let (base, ours, theirs) = (part(), part(), part());
    for patch in [base, theirs] {
        if let Ok(patch) = parse_patch(patch) {
            let _ = patch.apply(ours);
        }
    }

    let difference = unified(base, ours, "a/x y", "b/x y");
    if base == ours {
        assert!(difference.is_empty());
    } else {
        let patch = parse_patch(&difference).expect("a difference is a patch");
        assert_eq!(patch.before_path.as_deref(), Some("x y"));
        assert_eq!(patch.apply(base).expect("it applies"), ours);
    }

    let merged = merge3(base, ours, theirs, LABELS);
    match (&merged, merge3(base, theirs, ours, LABELS)) {
        (Merge::Clean(one), Merge::Clean(other)) => assert_eq!(*one, other),
        (
            Merge::Conflict { conflicts, .. },
            Merge::Conflict {
                conflicts: others, ..
            },
        ) => {
            assert!(*conflicts > 0 && others > 0);
        }
        _ => panic!("a merge depends on who is called ours"),
    }
    assert_eq!(
        merge3(base, ours, base, LABELS),
        Merge::Clean(ours.to_owned())
    );
    assert_eq!(
        merge3(base, base, theirs, LABELS),
        Merge::Clean(theirs.to_owned())
    );
}
