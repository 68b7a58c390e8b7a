//! What `pack.json` keeps, and what happens when it is damaged.

use windlass_pack_model::PackHome;

use super::*;

fn state() -> (tempfile::TempDir, PackState) {
    let directory = tempfile::tempdir().unwrap();
    let state = PackState::open(PackHome::at(directory.path()));
    (directory, state)
}

#[test]
fn a_choice_is_kept() {
    let (_directory, state) = state();
    state
        .remember(|remembered| remembered.operator_assets_declined = true)
        .unwrap();
    state
        .remember(|remembered| {
            let path = PathBuf::from("/home/user/.codex/prompts/a.md");
            remembered.imported.insert(path, Digest::of(b"a"));
        })
        .unwrap();
    insta::assert_snapshot!(fs::read_to_string(state.home().pack_state()).unwrap(), @r#"
    {
      "version": 1,
      "known_roots": [],
      "operator_assets_declined": true,
      "imported": {
        "/home/user/.codex/prompts/a.md": "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
      }
    }
    "#);
    let (remembered, warning) = state.remembered().unwrap();
    assert!(remembered.operator_assets_declined);
    assert_eq!(warning, None);
}

#[test]
fn nothing_new_writes_nothing() {
    let (_directory, state) = state();
    state.remember(|_| {}).unwrap();
    assert!(!state.home().pack_state().exists());
}

#[test]
fn what_a_later_version_wrote_stays() {
    let (_directory, state) = state();
    fs::create_dir_all(state.home().state()).unwrap();
    fs::write(
        state.home().pack_state(),
        r#"{"version":2,"colour":"green"}"#,
    )
    .unwrap();
    state
        .remember(|remembered| remembered.operator_assets_declined = true)
        .unwrap();
    let text = fs::read_to_string(state.home().pack_state()).unwrap();
    assert!(text.contains("\"colour\": \"green\""), "{text}");
    assert!(text.contains("\"version\": 2"), "{text}");
}

#[test]
fn a_damaged_file_is_ignored_and_kept_aside() {
    let (_directory, state) = state();
    fs::create_dir_all(state.home().state()).unwrap();
    fs::write(state.home().pack_state(), "{ half").unwrap();
    let (remembered, warning) = state.remembered().unwrap();
    assert_eq!(remembered, Remembered::default());
    assert!(warning.unwrap().contains("pack.json is damaged"));
    state
        .remember(|remembered| remembered.operator_assets_declined = true)
        .unwrap();
    assert!(state.remembered().unwrap().0.operator_assets_declined);
    let aside = state.home().pack_state().with_extension("json.damaged");
    assert_eq!(fs::read_to_string(aside).unwrap(), "{ half");
}

#[test]
fn a_root_is_known_once() {
    let known = |scan_extras| KnownRoot {
        repo: PathBuf::from("/repo"),
        project_id: None,
        target: Target::Codex,
        root: PathBuf::from("/root"),
        scan_extras,
    };
    let mut remembered = Remembered::default();
    remembered.add_roots(&[known(false)]);
    remembered.add_roots(&[known(true)]);
    assert_eq!(remembered.known_roots.len(), 1);
    assert!(remembered.known_roots.contains(&known(true)));
    remembered.drop_roots(&[known(false)]);
    assert!(remembered.known_roots.is_empty());
}
