//! Cases of `bundle`, as tables.

use std::{collections::BTreeMap, path::Path};

use proptest::prelude::*;
use windlass_launch_model::{PatchKind, SiteKind, config::LaunchTier};

use super::*;
use crate::{
    apply::apply_bundle,
    patch::{create_file, delete_file},
    sample,
    site::SiteDir,
};

fn anywhere(_: &str) -> bool {
    true
}

fn drafts() -> Vec<Draft> {
    sample::full(SiteKind::Hugo).drafts().1
}

fn bundle_of(patches: Vec<windlass_launch_model::Patch>) -> PatchBundle {
    PatchBundle {
        schema_version: ARTIFACT_VERSION.to_owned(),
        patches,
    }
}

fn open(folder: &Path) -> SiteDir {
    SiteDir::open(folder).unwrap()
}

fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs_err::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path
                    .strip_prefix(folder)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                found.insert(name, fs_err::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn new_pages_are_created_in_the_fixed_order() {
    let drafts = drafts();
    let bundled = build_bundle(&drafts, &BTreeMap::new(), &anywhere);
    assert_eq!(bundled.conflicts, []);
    assert_eq!(bundled.bundle.patches.len(), drafts.len());
    assert_eq!(bundled.bundle.patches[0].patch_id, "patch_001");
    assert_eq!(
        bundled.bundle.patches[0].path,
        "content/products/acme/_index.md"
    );
    assert!(
        bundled
            .bundle
            .patches
            .iter()
            .all(|patch| patch.kind == PatchKind::CreateFile)
    );
    let mut reversed = drafts;
    reversed.reverse();
    assert_eq!(
        build_bundle(&reversed, &BTreeMap::new(), &anywhere),
        bundled
    );
}

#[test]
fn a_bundle_applied_twice_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let bundled = build_bundle(&drafts(), &open(folder.path()), &anywhere);
    let first = apply_bundle(&open(folder.path()), &bundled.bundle, &anywhere);
    assert_eq!(first.applied.len(), bundled.bundle.patches.len());
    let after = files(folder.path());
    assert_eq!(
        after.keys().collect::<Vec<_>>(),
        first.changed_paths.iter().collect::<Vec<_>>()
    );
    let second = apply_bundle(&open(folder.path()), &bundled.bundle, &anywhere);
    assert_eq!(
        (
            second.applied.len(),
            second.skipped.len(),
            second.changed_paths.len()
        ),
        (0, first.applied.len(), 0)
    );
    assert_eq!(files(folder.path()), after);
    // And there is nothing left to patch.
    assert_eq!(
        build_bundle(&drafts(), &open(folder.path()), &anywhere)
            .bundle
            .patches,
        []
    );
}

#[test]
fn a_page_of_an_earlier_launch_is_revised_and_keeps_what_people_added() {
    let drafts = drafts();
    let draft = drafts
        .iter()
        .find(|draft| draft.page_id == "docs/getting-started")
        .unwrap();
    let old = draft
        .text
        .replace("Getting started with Acme PDF", "Old title")
        .replace("- `pip install acme-pdf`", "- `pip install old`")
        .replace("This page answers", "This page once answered")
        .replace("## First steps", "## Former steps")
        + "\n## Notes of ours\n\nKeep this.\n";
    let site = BTreeMap::from([(draft.output_path.clone(), old.clone().into_bytes())]);
    let bundled = build_bundle(std::slice::from_ref(draft), &site, &anywhere);
    assert_eq!(bundled.conflicts, []);
    let kinds: Vec<PatchKind> = bundled
        .bundle
        .patches
        .iter()
        .map(|patch| patch.kind)
        .collect();
    assert!(!kinds.contains(&PatchKind::CreateFile));
    assert_eq!(
        kinds[..2],
        [PatchKind::UpdateFrontmatterKeys, PatchKind::UpdateFileRange]
    );
    assert!(kinds.contains(&PatchKind::UpdateByAnchor));
    let after = bundled.changes[0].after.clone().unwrap();
    assert!(
        after.contains("Keep this.")
            && after.contains("## Former steps")
            && after.contains("## First steps")
    );
    assert!(after.contains("pip install acme-pdf") && !after.contains("pip install old"));
    assert!(
        after.contains("title = \"Getting started with Acme PDF\"")
            && after.contains("This page answers")
    );
    // Applied to files it leaves just that, and a second launch finds nothing to do.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(&draft.output_path);
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(&path, &old).unwrap();
    let applied = apply_bundle(&open(folder.path()), &bundled.bundle, &anywhere);
    assert_eq!(applied.conflicts, []);
    assert_eq!(fs_err::read_to_string(&path).unwrap(), after);
    assert_eq!(
        apply_bundle(&open(folder.path()), &bundled.bundle, &anywhere).changed_paths,
        Vec::<String>::new()
    );
    let again = build_bundle(std::slice::from_ref(draft), &open(folder.path()), &anywhere);
    assert_eq!(again.bundle.patches, [], "{after}");
}

#[test]
fn a_launch_at_a_higher_tier_revises_every_page_of_the_one_before() {
    let at = |tier| {
        let mut sample = sample::full(SiteKind::Hugo);
        sample.settings.launch_tier = tier;
        sample.drafts().1
    };
    let before = at(LaunchTier::Minimal);
    let after = at(LaunchTier::Rich);
    assert!(before.len() < after.len());
    let as_written = |draft: &Draft| draft.text.clone();
    // A launch of before pages were marked.
    let unmarked = |draft: &Draft| draft.text.replace(" <!-- launch: page -->", "");
    for written in [&as_written as &dyn Fn(&Draft) -> String, &unmarked] {
        let site: BTreeMap<String, Vec<u8>> = before
            .iter()
            .map(|draft| (draft.output_path.clone(), written(draft).into_bytes()))
            .collect();
        let bundled = build_bundle(&after, &site, &anywhere);
        assert_eq!((&bundled.conflicts, &bundled.blocked), (&vec![], &vec![]));
        for draft in &after {
            let patched = bundled
                .changes
                .iter()
                .find(|change| change.path == draft.output_path)
                .and_then(|change| change.after.clone());
            let there = site.get(&draft.output_path).cloned();
            let there = there.map(|bytes| String::from_utf8(bytes).unwrap());
            assert_eq!(patched.or(there).as_deref(), Some(draft.text.as_str()));
        }
    }
}

#[test]
fn keys_that_have_a_value_keep_it_unless_they_are_the_launchs() {
    let page = |keys: &str| format!("---\n{keys}---\n\nText. <!-- claim_id: a -->\n");
    let draft = page(
        "title: New\ndescription: New.\npackage: default\ncanonical: https://a.example/\n\
         weight: 20\ndraft: false\nmood: calm\n",
    );
    for (before, after) in [
        (
            "title: Old\ndescription: Old.\npackage: acme\ncanonical: https://b.example/\n\
             weight: 7\ndraft: true\nmood: calm\n",
            "title: New\ndescription: New.\npackage: acme\ncanonical: https://b.example/\n\
             weight: 7\ndraft: false\nmood: calm\n",
        ),
        (
            "title: New\ndescription: New.\npackage:\ncanonical: \"\"\nweight: 0\n\
             draft: false\nmood: wild\n",
            "title: New\ndescription: New.\npackage: default\ncanonical: https://a.example/\n\
             weight: 0\ndraft: false\nmood: wild\n",
        ),
    ] {
        let (_, found) =
            crate::revise::revise("a.md", &page(before), &draft, || "patch_001".to_owned())
                .unwrap();
        let keys = |text: &str| windlass_launch_model::markdown::frontmatter::read(text).unwrap();
        assert_eq!(keys(&found), keys(&page(after)), "{found}");
    }
}

#[test]
fn a_heading_that_is_there_twice_is_a_conflict() {
    let drafts = drafts();
    let text = format!("{}\n## Key features\n\nAgain.\n", drafts[0].text);
    let site = BTreeMap::from([(drafts[0].output_path.clone(), text.into_bytes())]);
    let bundled = build_bundle(&drafts[..1], &site, &anywhere);
    assert_eq!(bundled.conflicts.len(), 1);
    assert_eq!(
        bundled.conflicts[0].conflict_reason,
        ConflictReason::AnchorMissing
    );
}

#[test]
fn a_page_from_another_author_is_a_conflict() {
    let drafts = drafts();
    let site = BTreeMap::from([(
        drafts[0].output_path.clone(),
        b"---\ntitle: Mine\n---\n\nMy own words.\n".to_vec(),
    )]);
    let bundled = build_bundle(&drafts, &site, &anywhere);
    assert_eq!(bundled.conflicts.len(), 1);
    assert_eq!(
        bundled.conflicts[0].conflict_reason,
        ConflictReason::FileExists
    );
    assert_eq!(bundled.blocked, [Section::Products]);
    assert!(
        bundled
            .bundle
            .patches
            .iter()
            .all(|patch| patch.path != drafts[0].output_path)
    );
}

#[test]
fn nothing_is_written_outside_the_allowed_paths() {
    let folder = tempfile::tempdir().unwrap();
    let allowed = |path: &str| path.starts_with("docs/");
    let bundle = bundle_of(vec![
        create_file("patch_001", "docs/a.md", "a\n"),
        create_file("patch_002", "docs/../x.md", "x\n"),
        create_file("patch_003", "../x.md", "x\n"),
        create_file("patch_004", "docs/.git/config", "x\n"),
        create_file("patch_005", "/etc/x", "x\n"),
    ]);
    let applied = apply_bundle(&open(folder.path()), &bundle, &allowed);
    let found: Vec<(&str, ConflictReason, &str)> = applied
        .conflicts
        .iter()
        .map(|found| {
            (
                found.patch_id.as_str(),
                found.conflict_reason,
                found.actual_state.as_str(),
            )
        })
        .collect();
    let outside = "a path outside the site";
    let reason = ConflictReason::PathNotAllowed;
    assert_eq!(
        found,
        [
            ("patch_002", reason, "x.md"),
            ("patch_003", reason, outside),
            ("patch_004", reason, outside),
            ("patch_005", reason, outside)
        ]
    );
    assert!(files(folder.path()).is_empty());
    let drafts = drafts();
    let bundled = build_bundle(&drafts, &BTreeMap::new(), &|_| false);
    assert!(bundled.bundle.patches.is_empty() && bundled.conflicts.len() == drafts.len());
}

#[cfg(unix)]
#[test]
fn no_symbolic_link_is_followed_and_hard_links_are_cut() {
    let outside = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.md");
    fs_err::write(&secret, "old\n").unwrap();
    fs_err::create_dir_all(folder.path().join("docs/real")).unwrap();
    fs_err::os::unix::fs::symlink(outside.path(), folder.path().join("docs/link")).unwrap();
    fs_err::os::unix::fs::symlink(&secret, folder.path().join("docs/real/file.md")).unwrap();
    fs_err::os::unix::fs::symlink("real", folder.path().join("docs/inside")).unwrap();
    for path in [
        "docs/link/new.md",
        "docs/real/file.md",
        "docs/inside/new.md",
        "docs/link/secret.md",
    ] {
        let applied = apply_bundle(
            &open(folder.path()),
            &bundle_of(vec![create_file("patch_001", path, "new\n")]),
            &anywhere,
        );
        assert_eq!(applied.conflicts.len(), 1, "{path}");
        assert_eq!(
            applied.conflicts[0].conflict_reason,
            ConflictReason::PathNotAllowed,
            "{path}"
        );
        assert!(
            applied.conflicts[0].actual_state.contains("symbolic link"),
            "{:?}",
            applied.conflicts
        );
    }
    fs_err::hard_link(&secret, folder.path().join("docs/real/hard.md")).unwrap();
    let edit = crate::patch::Edit::Range {
        start: 1,
        end: 1,
        text: "new\n".to_owned(),
    };
    let (patch, _) =
        crate::patch::edit_file("patch_001", "docs/real/hard.md", "old\n", &edit).unwrap();
    let applied = apply_bundle(&open(folder.path()), &bundle_of(vec![patch]), &anywhere);
    assert_eq!(applied.changed_paths, ["docs/real/hard.md"]);
    assert_eq!(fs_err::read_to_string(&secret).unwrap(), "old\n");
    assert_eq!(
        fs_err::read_to_string(folder.path().join("docs/real/hard.md")).unwrap(),
        "new\n"
    );
    assert_eq!(fs_err::read_dir(outside.path()).unwrap().count(), 1);
}

#[test]
fn paths_that_differ_in_case_alone_are_one() {
    let folder = tempfile::tempdir().unwrap();
    fs_err::create_dir_all(folder.path().join("Docs")).unwrap();
    for bundle in [
        bundle_of(vec![create_file("patch_001", "docs/a.md", "a\n")]),
        bundle_of(vec![
            create_file("patch_001", "x/a.md", "a\n"),
            create_file("patch_002", "x/A.md", "a\n"),
        ]),
    ] {
        let applied = apply_bundle(&open(folder.path()), &bundle, &anywhere);
        assert_eq!(applied.conflicts.len(), 1);
        assert_eq!(
            applied.conflicts[0].conflict_reason,
            ConflictReason::FileExists
        );
    }
    assert!(files(folder.path()).is_empty());
}

#[test]
fn one_conflict_stops_the_whole_bundle() {
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(folder.path().join("b.md"), "mine\n").unwrap();
    let bundle = bundle_of(vec![
        create_file("patch_001", "a.md", "a\n"),
        create_file("patch_002", "b.md", "b\n"),
        delete_file("patch_003", "c.md", b"c\n"),
    ]);
    let applied = apply_bundle(&open(folder.path()), &bundle, &anywhere);
    assert_eq!(applied.conflicts.len(), 1);
    assert_eq!(
        files(folder.path()),
        BTreeMap::from([("b.md".to_owned(), "mine\n".to_owned())])
    );
}

#[test]
fn a_file_is_removed_once() {
    let folder = tempfile::tempdir().unwrap();
    fs_err::write(folder.path().join("c.md"), "c\n").unwrap();
    let bundle = bundle_of(vec![delete_file("patch_001", "c.md", b"c\n")]);
    assert_eq!(
        apply_bundle(&open(folder.path()), &bundle, &anywhere).changed_paths,
        ["c.md"]
    );
    assert_eq!(
        apply_bundle(&open(folder.path()), &bundle, &anywhere).skipped,
        ["patch_001"]
    );
    assert!(files(folder.path()).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever an earlier launch and its readers left, a launch ends where a second one has
    /// nothing to do, on disk as in the plan.
    #[test]
    fn launching_twice_is_launching_once(
        cut in proptest::collection::vec((0_usize..60, "[a-z ]{0,8}\n?"), 0..6),
    ) {
        let drafts: Vec<Draft> = drafts().into_iter().take(4).collect();
        let folder = tempfile::tempdir().unwrap();
        for draft in &drafts {
            // Lines of the body are changed; the front matter and one marker stay.
            let mut lines: Vec<String> = draft.text.split_inclusive('\n').map(str::to_owned).collect();
            for (at, text) in &cut {
                let at = 14 + at;
                if at < lines.len() && !lines[at].contains("claim_id") {
                    lines[at].clone_from(text);
                }
            }
            let path = folder.path().join(&draft.output_path);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(&path, lines.concat()).unwrap();
        }
        let bundled = build_bundle(&drafts, &open(folder.path()), &anywhere);
        let first = apply_bundle(&open(folder.path()), &bundled.bundle, &anywhere);
        prop_assert_eq!(&first.conflicts, &Vec::new());
        let after = files(folder.path());
        for change in &bundled.changes {
            prop_assert_eq!(after.get(&change.path), change.after.as_ref());
        }
        let second = apply_bundle(&open(folder.path()), &bundled.bundle, &anywhere);
        prop_assert!(second.changed_paths.is_empty() && second.conflicts.is_empty());
        prop_assert_eq!(files(folder.path()), after);
        let again = build_bundle(&drafts, &open(folder.path()), &anywhere);
        prop_assert_eq!(again.bundle.patches, Vec::new());
    }
}
