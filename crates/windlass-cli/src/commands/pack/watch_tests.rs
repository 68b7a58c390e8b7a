//! What counts as a change, and when changes count as one.

use notify::event::{AccessKind, CreateKind, ModifyKind};

use super::*;

fn event(kind: EventKind, paths: &[&str]) -> Event {
    paths.iter().fold(Event::new(kind), |event, path| {
        event.add_path((*path).into())
    })
}

#[test]
fn git_and_reads_are_ignored() {
    let repository = Path::new("/r");
    let create = EventKind::Create(CreateKind::File);
    for (event, expected) in [
        (
            event(create, &["/r/agentpack.yaml"]),
            vec!["agentpack.yaml"],
        ),
        (
            event(
                EventKind::Modify(ModifyKind::Any),
                &["/r/modules/a.md", "/r/.git/index"],
            ),
            vec!["modules/a.md"],
        ),
        (event(create, &["/r/.git/objects/x"]), vec![]),
        (event(create, &["/r/.gitignore"]), vec![".gitignore"]),
        (event(create, &["/elsewhere/x"]), vec![]),
        (
            event(EventKind::Access(AccessKind::Any), &["/r/agentpack.yaml"]),
            vec![],
        ),
    ] {
        assert_eq!(touched(repository, event), expected);
    }
}

#[tokio::test]
async fn changes_close_together_count_as_one() {
    let (sender, mut changes) = unbounded_channel();
    for path in ["a", "b", "a"] {
        sender.send(path.to_owned()).unwrap();
    }
    let once = settled(&mut changes, || async {}).await;
    assert_eq!(once.into_iter().collect::<Vec<_>>(), ["a", "b"]);
    sender.send("c".to_owned()).unwrap();
    drop(sender);
    let then = settled(&mut changes, std::future::pending).await;
    assert_eq!(then.into_iter().collect::<Vec<_>>(), ["c"]);
}

#[test]
fn many_deletions_are_refused_with_a_reason() {
    let plan: PlanView = serde_json::from_value(json!({ "summary": { "delete": 21 } })).unwrap();
    let problem = held_back(&plan);
    assert_eq!(problem.details()["deletes"], 21);
    assert!(problem.message().contains("21 files would be deleted"));
}

#[test]
fn a_few_changed_files_are_named() {
    let files = |count: usize| {
        (0..count)
            .map(|index| format!("f{index}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(named(&files(2)), "\nchanged: f0, f1");
    assert_eq!(named(&files(5)), "\nchanged: f0, f1, f2 and 2 more files");
}

#[tokio::test]
async fn a_real_file_is_noticed() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().canonicalize().unwrap();
    let (sender, mut changes) = unbounded_channel();
    let seen_from = root.clone();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        for path in event
            .map(|event| touched(&seen_from, event))
            .unwrap_or_default()
        {
            let _ = sender.send(path);
        }
    })
    .unwrap();
    watcher.watch(&root, RecursiveMode::Recursive).unwrap();
    fs_err::write(root.join("agentpack.yaml"), "version: 1\n").unwrap();
    let changed = settled(&mut changes, || async {}).await;
    assert!(changed.contains("agentpack.yaml"), "{changed:?}");
}
