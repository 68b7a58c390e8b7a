//! The JSON records of a pack: what is understood is written and read back as the same.

use std::path::Path;

use windlass_pack_model::{
    Baseline, Lockfile, OverlayConfig, Snapshot, Target, events::EventLog, managed::read_managed,
    org::OrgLockfile,
};

pub fn run(data: &[u8]) {
    let mut log = EventLog::default();
    for line in data.split(|byte| *byte == b'\n') {
        log.take(Ok(line));
    }
    let stats = &log.stats;
    assert_eq!(
        stats.lines_total,
        stats.lines_empty + stats.records_ok + stats.skipped_total
    );

    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let path = Path::new("/repo/file.json");
    match Lockfile::parse(text, path) {
        Ok(lockfile) => {
            let again = Lockfile::parse(&lockfile.render(), path).expect("a lockfile reads back");
            assert_eq!(again, lockfile);
        }
        Err(problem) => assert!(problem.message().contains("/repo/file.json")),
    }
    for target in [Target::Codex, Target::ClaudeCode] {
        let read = read_managed(text, target, path);
        if let Some(manifest) = read.manifest {
            let again = read_managed(&manifest.render(), target, path);
            assert!(again.warnings.is_empty(), "{:?}", again.warnings);
            let rendered = again.manifest.map(|manifest| manifest.render());
            assert_eq!(rendered, Some(manifest.render()));
        } else {
            assert!(!read.warnings.is_empty());
        }
    }
    if let Ok(snapshot) = Snapshot::parse(text) {
        let rendered = snapshot.render().expect("its paths are text");
        let again = Snapshot::parse(&rendered).expect("a snapshot reads back");
        assert_eq!(again, snapshot);
    }
    if let Ok(baseline) = Baseline::parse(text, path) {
        let again = Baseline::parse(&baseline.render(), path).expect("a baseline reads back");
        assert_eq!(again, baseline);
    }
    if let Ok(overlay) = OverlayConfig::parse(text, path) {
        let again = OverlayConfig::parse(&overlay.render(), path).expect("an overlay reads back");
        assert_eq!(again, overlay);
    }
    if let Ok(lockfile) = OrgLockfile::parse(text) {
        let again = OrgLockfile::parse(&lockfile.render()).expect("a policy lock reads back");
        assert_eq!(again, lockfile);
    }
}
