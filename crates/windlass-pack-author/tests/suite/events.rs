//! `record` and `score`: the event log.

use windlass_pack_author::{record, score};

use super::world::{World, later, now};

#[test]
fn events_are_appended_and_scored() {
    let world = World::new();
    let home = &world.home;
    let data = record(
        home,
        "box",
        r#" {"moduleId":"skill:a","ok":false} "#,
        now(),
        false,
    )
    .unwrap();
    assert_eq!(data.recorded_at, "2023-11-14T22:13:20.123000000Z");
    assert_eq!(data.path, home.events().display().to_string());
    record(home, "box", r#"{"module_id":"skill:b"}"#, later(), false).unwrap();
    let log = world.read("pack/state/logs/events.jsonl");
    assert_eq!(log.lines().count(), 2);
    assert!(log.starts_with(r#"{"schema_version":1,"recorded_at":"2023"#));

    let scored = score(home, ["skill:c", "skill:a"]).unwrap();
    let order: Vec<(&str, u64)> = scored
        .data
        .modules
        .iter()
        .map(|module| (module.module_id.as_str(), module.failures))
        .collect();
    assert_eq!(order, [("skill:a", 1), ("skill:b", 0), ("skill:c", 0)]);
    assert_eq!(scored.data.read_stats.records_ok, 2);
}

#[test]
fn the_log_is_private_and_an_unfinished_line_spoils_only_itself() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    record(&world.home, "box", "{}", now(), false).unwrap();
    let mode = fs_err::metadata(world.home.events())
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    world.write("pack/state/logs/events.jsonl", "{\"half");
    record(&world.home, "box", r#"{"module_id":"m"}"#, now(), false).unwrap();
    let scored = score(&world.home, []).unwrap();
    assert_eq!(scored.data.read_stats.records_ok, 1);
    assert_eq!(scored.data.read_stats.skipped_malformed_json, 1);
    assert_eq!(scored.warnings.len(), 1);
}

#[test]
fn many_at_once_lose_nothing() {
    let world = World::new();
    std::thread::scope(|scope| {
        for worker in 0..8 {
            let home = &world.home;
            scope.spawn(move || {
                for _ in 0..25 {
                    let event = format!(
                        "{{\"module_id\":\"m{worker}\",\"x\":\"{}\"}}",
                        "y".repeat(5000)
                    );
                    record(home, "box", &event, now(), false).unwrap();
                }
            });
        }
    });
    let scored = score(&world.home, []).unwrap();
    assert_eq!(scored.data.read_stats.records_ok, 200);
    assert_eq!(scored.data.read_stats.skipped_total, 0);
}

#[test]
fn must_6_what_is_no_event_or_a_dry_run_writes_nothing() {
    let world = World::new();
    for input in ["", "nonsense", "{"] {
        let problem = record(&world.home, "box", input, now(), false).unwrap_err();
        assert_eq!(
            problem.details()["reason_code"],
            "invalid_arguments",
            "{input:?}"
        );
    }
    record(&world.home, "box", "{}", now(), true).unwrap();
    assert!(!world.path("pack").exists());
    let empty = score(&world.home, ["a"]).unwrap().data;
    assert_eq!((empty.modules.len(), empty.read_stats.lines_total), (1, 0));
}
