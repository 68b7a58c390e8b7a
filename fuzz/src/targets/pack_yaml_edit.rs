//! Edits of `agentpack.yaml` in place: what is handed out reads back, and no other line changes.

use windlass_pack_model::{
    Module, ModuleType, Profile, Source,
    edit::{add_module, add_profile, remove_module},
    parse_manifest,
};

const ADDED: &str = "skill:the \"new\" one";

fn added() -> Module {
    Module {
        id: ADDED.to_owned(),
        name: None,
        module_type: ModuleType::Skill,
        enabled: false,
        tags: vec!["a: b".to_owned(), "#".to_owned()],
        targets: Vec::new(),
        source: Source::LocalPath {
            path: "modules/new".to_owned(),
        },
        line: 0,
    }
}

/// Whether all lines of one text are lines of the other, in the same order.
fn keeps_lines(fewer: &str, more: &str) -> bool {
    let bare = |line: &str| line.trim_end_matches(['\r', '\n']).to_owned();
    let mut rest = more.split_inclusive('\n').map(bare);
    fewer
        .split_inclusive('\n')
        .map(bare)
        .all(|line| rest.any(|other| other == line))
}

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(before) = parse_manifest(text) else {
        return;
    };
    let modules = before.manifest.modules;
    if let Ok(edited) = add_module(text, &added()) {
        let after = parse_manifest(&edited)
            .expect("an edit reads back")
            .manifest;
        assert!(after.module(ADDED).is_some());
        assert_eq!(after.modules.len(), modules.len() + 1);
        // An empty list gives way: `modules: []` is a line that changes.
        if !modules.is_empty() {
            assert!(keeps_lines(text, &edited), "{edited}");
            if let Ok(again) = remove_module(&edited, ADDED) {
                assert!(
                    keeps_lines(&again, text) && keeps_lines(text, &again),
                    "{again}"
                );
            }
        }
    }
    for module in modules.iter().take(4) {
        if let Ok(edited) = remove_module(text, &module.id) {
            let after = parse_manifest(&edited)
                .expect("an edit reads back")
                .manifest;
            assert!(after.module(&module.id).is_none());
            assert_eq!(after.modules.len(), modules.len() - 1);
            assert!(modules.len() == 1 || keeps_lines(&edited, text), "{edited}");
        }
    }
    if let Ok(edited) = add_profile(text, "the new one", &Profile::default()) {
        let after = parse_manifest(&edited)
            .expect("an edit reads back")
            .manifest;
        assert!(after.profiles.contains_key("the new one"));
        assert!(keeps_lines(text, &edited), "{edited}");
    }
}
