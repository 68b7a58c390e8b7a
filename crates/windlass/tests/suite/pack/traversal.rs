//! Ten thousand names that try to leave their directory, as module ids, manifest entries,
//! snapshot paths, overlay paths and subdirectories of checkouts: nothing outside the roots is
//! ever written or removed.

use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};
use windlass_testkit::{Process, local};
use windlass_types::Problem;

use super::{
    place::{PackPlace, Picture, difference, picture, sha},
    room::Room,
};
use crate::suite::support::{directory::fill, random::Random};

const IDS: usize = 4_000;
const ENTRIES: usize = 2_500;
const SNAPSHOTS: usize = 1_500;
const OVERLAYS: usize = 1_000;
const SUBDIRS: usize = 1_000;
const PRECIOUS: &str = "precious\n";
const SKILL: &str = "---\nname: x\ndescription: x\n---\n";

/// What names are put together from.
const PARTS: &[&str] = &[
    "..",
    "..",
    "..",
    ".",
    "...",
    "a",
    "x.md",
    "SKILL.md",
    "outside",
    "precious.txt",
    "~",
    "~root",
    "$HOME",
    "%2e%2e",
    "..%2f",
    "..%5c",
    "\u{2024}\u{2024}",
    "\u{ff0e}\u{ff0e}",
    "..\0",
    "\0",
    "..\n",
    "\n..",
    "..\r",
    "CON",
    "nul.txt",
    "COM1",
    "C:",
    "C:\\",
    "\\\\host\\share",
    "a:b",
    "a.",
    "a ",
    " ",
    "",
    ".git",
    ".GIT",
    ".agentpack",
    ".Agentpack",
    ".agentpack.manifest.codex.json",
    "\u{202e}",
    "é",
    "e\u{301}",
    "\u{feff}..",
    "..\u{200b}",
    "*",
    "?",
    "-rf",
    "--",
    "{}",
    "'",
    "\"",
];
const SEPARATORS: &[&str] = &["/", "/", "/", "\\", "//", "/./", "\\\\", "\u{2215}", "/.//"];

/// A name that may lead anywhere, or nowhere.
fn name(random: &mut Random) -> String {
    let pick = |random: &mut Random, list: &[&str]| {
        let index = random.between(0, list.len() as u64);
        list[usize::try_from(index).unwrap()].to_owned()
    };
    let mut name = match random.between(0, 8) {
        0 => "/".to_owned(),
        1 => "./".to_owned(),
        2 => "../".repeat(usize::try_from(random.between(1, 12)).unwrap()),
        _ => String::new(),
    };
    for index in 0..random.between(1, 6) {
        if index > 0 {
            name += &pick(random, SEPARATORS);
        }
        name += &pick(random, PARTS);
    }
    match random.between(0, 40) {
        0 => name.repeat(40),
        1 => name + &"a".repeat(300),
        2 => name + "/",
        _ => name,
    }
}

/// A name that reaches a file outside if anything does: from `depth` directories down.
fn name_of(random: &mut Random, outside: &Path, depth: usize) -> String {
    let file = outside.join("precious.txt");
    let file = file.to_str().unwrap();
    let up = "../".repeat(depth);
    match random.between(0, 8) {
        0 => file.to_owned(),
        1 => format!("/{file}"),
        2 => format!("{up}outside/precious.txt"),
        3 => format!("./{up}outside/precious.txt"),
        4 => format!("a/../{up}outside/./precious.txt"),
        5 => format!("x/../{up}outside/precious.txt"),
        6 => format!("{}{}", "../".repeat(40), file.trim_start_matches('/')),
        _ => name(random),
    }
}

/// A room whose roots lie in the user's `.codex`, and a file outside of them.
struct Cage {
    room: Room,
    process: Process,
    outside: PathBuf,
    before: Picture,
    roots: [PathBuf; 3],
}

impl Cage {
    async fn new(manifest: &str) -> Self {
        let place = PackPlace::bare();
        place.repo_file("agentpack.yaml", manifest);
        let outside = place.root().join("outside");
        fill(&outside, &[("precious.txt", PRECIOUS), ("SKILL.md", SKILL)]);
        let codex = place.user().join(".codex");
        let roots = [codex.clone(), codex.join("skills"), codex.join("prompts")];
        std::fs::create_dir_all(&roots[1]).unwrap();
        std::fs::create_dir_all(&roots[2]).unwrap();
        let room = Room::new(place);
        let process = room.world.driving().await;
        let mut cage = Self {
            room,
            process,
            outside,
            before: Picture::new(),
            roots,
        };
        cage.before = cage.surroundings();
        cage
    }

    fn place(&self) -> &PackPlace {
        &self.room.place
    }

    /// Everything that is no root, no repository and no state of pack.
    fn surroundings(&self) -> Picture {
        let mut seen = picture(self.place().root());
        let own = [
            self.roots[0].clone(),
            self.place().pack_home(),
            self.place().windlass_home(),
        ];
        seen.retain(|path, _| !own.iter().any(|own| path.starts_with(own)));
        seen
    }

    fn assert_untouched(&self, after: &str) {
        let changed = difference(&self.before, &self.surroundings());
        assert_eq!(changed, Vec::<String>::new(), "after {after}");
        // In pack's own directory of a target only what a target has.
        for entry in std::fs::read_dir(&self.roots[0]).unwrap() {
            let name = entry.unwrap().file_name();
            let known = [
                "skills",
                "prompts",
                "AGENTS.md",
                ".agentpack.manifest.codex.json",
            ];
            assert!(
                known.iter().any(|known| *known == name),
                "{name:?} after {after}"
            );
        }
    }

    async fn call(&self, operation: &str, input: Value) -> Result<Value, Problem> {
        let directory = Some(self.place().project());
        self.room
            .call_in(&self.process, local(), directory, operation, input)
            .await
    }

    /// Plans; every path of the plan lies inside a root. Applies what was planned.
    async fn deploy(&self, what: &str) -> Result<(), Problem> {
        let typed = |problem: &Problem| assert_typed(problem, what);
        let planned = self.plan(what).await.inspect_err(typed)?;
        let token = planned["confirm_token"].clone();
        let apply = json!({ "yes": true, "adopt": true, "confirm_token": token });
        let applied = self.call("pack.deploy_apply", apply).await;
        applied.inspect_err(typed).map(drop)
    }

    async fn plan(&self, what: &str) -> Result<Value, Problem> {
        let planned = self.call("pack.deploy", json!({})).await?;
        for change in planned["changes"].as_array().unwrap() {
            self.assert_inside(change["path"].as_str().unwrap(), what);
        }
        Ok(planned)
    }

    fn assert_inside(&self, path: &str, what: &str) {
        let path = Path::new(path);
        let plain = path
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::RootDir));
        let clean = !path.to_str().unwrap().contains(['\0']) && plain;
        let inside = self
            .roots
            .iter()
            .any(|root| path.starts_with(root) && path != root);
        assert!(clean && inside, "{what:?} plans {path:?}");
    }
}

/// A refusal says what kind it is; it is not a crash that was caught.
fn assert_typed(problem: &Problem, what: &str) {
    let reason = problem.details().get("reason_code").and_then(Value::as_str);
    assert!(
        reason.is_some_and(|reason| reason != "internal"),
        "{what:?}: {problem:?}"
    );
}

fn manifest_of(kind: &str, id: &str, source: &Value) -> String {
    // JSON is YAML, whatever the id holds.
    json!({
        "version": 1,
        "profiles": { "default": { "include_modules": [id] } },
        "targets": { "codex": { "mode": "files", "scope": "user" } },
        "modules": [{ "id": id, "type": kind, "source": source }],
    })
    .to_string()
}

fn seeded() -> Random {
    let (random, seed) = Random::seeded();
    println!("WINDLASS_TEST_SEED={seed}");
    random
}

#[test]
fn the_names_are_ten_thousand() {
    assert_eq!(IDS + ENTRIES + SNAPSHOTS + OVERLAYS + SUBDIRS, 10_000);
}

#[tokio::test]
async fn must_4_module_ids_cannot_leave_their_root() {
    let mut random = seeded();
    let local_path = |path: &str| json!({ "local_path": { "path": path } });
    let cage = Cage::new("").await;
    fill(
        &cage.place().repo(),
        &[
            ("skill/SKILL.md", SKILL),
            ("prompt.md", "prompt\n"),
            ("base/AGENTS.md", "# Base\n"),
        ],
    );
    let mut applied = 0;
    for number in 0..IDS {
        let payload = name(&mut random);
        let (kind, path) = [
            ("skill", "skill"),
            ("prompt", "prompt.md"),
            ("instructions", "base"),
        ][number % 3];
        let id = match random.between(0, 4) {
            0 => payload,
            _ => format!("{kind}:{payload}"),
        };
        let manifest = manifest_of(kind, &id, &local_path(path));
        cage.place().repo_file("agentpack.yaml", &manifest);
        // Most are only planned: where a plan leads is checked for every one.
        let deployed = match number % 4 {
            0 => cage.deploy(&id).await.is_ok(),
            _ => match cage.plan(&id).await {
                Ok(_) => true,
                Err(problem) => {
                    assert_typed(&problem, &id);
                    false
                }
            },
        };
        applied += usize::from(deployed);
        if number % 100 == 0 {
            cage.assert_untouched(&id);
        }
    }
    cage.assert_untouched("all ids");
    println!("{applied} of {IDS} ids could be deployed");
    assert!(applied > IDS / 10, "refusing everything is no answer");
}

#[tokio::test]
async fn must_4_manifest_entries_cannot_leave_their_root() {
    let mut random = seeded();
    let cage = Cage::new(&manifest_of(
        "skill",
        "skill:x",
        &json!({ "local_path": { "path": "skill" } }),
    ))
    .await;
    fill(&cage.place().repo(), &[("skill/SKILL.md", SKILL)]);
    let manifest = cage.roots[1].join(".agentpack.manifest.codex.json");
    const BATCH: usize = 250;
    for batch in 0..ENTRIES / BATCH {
        // One entry is good: the manifest as a whole is read, and that file goes.
        fill(&cage.roots[1], &[("gone/old.md", PRECIOUS)]);
        let mut entries = vec![json!({ "path": "gone/old.md", "sha256": sha(PRECIOUS) })];
        entries.extend((0..BATCH).map(|_| {
            let path = name_of(&mut random, &cage.outside, 3);
            json!({ "path": path, "sha256": sha(PRECIOUS), "module_ids": [path] })
        }));
        let value = json!({
            "schema_version": 1, "generated_at": "2025-01-01T00:00:00Z", "tool": "codex",
            "managed_files": entries,
        });
        fs_err::write(&manifest, value.to_string()).unwrap();
        let what = format!("batch {batch}");
        cage.deploy(&what).await.unwrap();
        assert!(!cage.roots[1].join("gone/old.md").exists(), "{what}");
        cage.assert_untouched(&what);
    }
}

#[tokio::test]
async fn must_4_snapshot_paths_cannot_leave_their_root() {
    let mut random = seeded();
    let cage = Cage::new(&manifest_of(
        "skill",
        "skill:x",
        &json!({ "local_path": { "path": "skill" } }),
    ))
    .await;
    fill(&cage.place().repo(), &[("skill/SKILL.md", SKILL)]);
    cage.deploy("the first").await.unwrap();
    let snapshots = cage.place().pack_home().join("state/snapshots");
    let blobs = cage.place().pack_home().join("state/blobs/sha256");
    let evil = sha("evil\n");
    fill(
        &blobs,
        &[(&format!("{}/{}", &evil[..2], &evil[2..]), "evil\n")],
    );
    let root = &cage.roots[1];
    let mut went = 0;
    for number in 0..SNAPSHOTS {
        let payload = name_of(&mut random, &cage.outside, 3);
        let path = match random.between(0, 3) {
            0 => payload,
            _ => format!("{}/{payload}", root.display()),
        };
        let id = (1_700_000_000_000_000_000_u64 + number as u64).to_string();
        let ours = number % 3 != 0;
        // An old snapshot's own paths say where its roots are: only those below the real one.
        let path = match ours {
            true => path,
            false => format!("{}/x/../{path}", root.display()),
        };
        let file = json!({ "target": "codex", "path": path, "sha256": evil });
        let mut change = file.clone();
        change["op"] = json!("create");
        change["after_sha256"] = json!(evil);
        let mut value = json!({
            "kind": "deploy", "id": id, "created_at": "2025-01-01T00:00:00Z",
            "targets": ["codex"], "managed_files": [file], "changes": [change],
            "lockfile_sha256": null, "backup_root": blobs,
        });
        if ours {
            value["run_id"] = json!("run_x");
            value["repo"] = json!(cage.place().repo());
            value["roots"] = json!([{ "target": "codex", "root": root }]);
            value["manifests"] = json!([file]);
        }
        let file = snapshots.join(format!("{id}.json"));
        fs_err::write(&file, value.to_string()).unwrap();
        let outcome = cage
            .call("pack.rollback", json!({ "to": id, "yes": true }))
            .await;
        match outcome {
            Ok(_) => went += 1,
            Err(problem) => assert_typed(&problem, &path),
        }
        fs_err::remove_file(&file).unwrap();
        if number % 20 == 0 || outcome_is_fresh(&cage) {
            cage.assert_untouched(&path);
        }
    }
    cage.assert_untouched("all snapshots");
    println!("{went} of {SNAPSHOTS} rollbacks went through");
}

/// Whether something is new outside, so that the culprit is named at once.
fn outcome_is_fresh(cage: &Cage) -> bool {
    fs_err::read_to_string(cage.outside.join("precious.txt"))
        .ok()
        .as_deref()
        != Some(PRECIOUS)
}

#[tokio::test]
async fn must_4_overlay_paths_cannot_leave_their_module() {
    let mut random = seeded();
    let cage = Cage::new(&manifest_of(
        "skill",
        "skill:x",
        &json!({ "local_path": { "path": "skill" } }),
    ))
    .await;
    let repo = cage.place().repo();
    fill(
        &repo,
        &[
            ("skill/SKILL.md", SKILL),
            ("skill/a.md", "a\n"),
            ("secret.md", "secret\n"),
        ],
    );
    let key = format!("skill_x--{}", &sha("skill:x")[..10]);
    let overlay = repo.join("overlays").join(&key);
    let mut applied = 0;
    for number in 0..OVERLAYS {
        if overlay.exists() {
            std::fs::remove_dir_all(&overlay).unwrap();
        }
        let payload = name_of(&mut random, &cage.outside, 4);
        if number % 2 == 0 {
            let delete = json!({ "overlay_kind": "dir", "delete": [payload] });
            fill(
                &overlay,
                &[(".agentpack/overlay.json", &delete.to_string())],
            );
        } else {
            let line = payload.replace('\n', " ");
            let patch = format!("--- a/{line}\n+++ b/{line}\n@@ -1 +1 @@\n-precious\n+evil\n");
            let kind = r#"{"overlay_kind":"patch"}"#;
            fill(
                &overlay,
                &[
                    (".agentpack/overlay.json", kind),
                    (".agentpack/patches/a.md.patch", &patch),
                ],
            );
        }
        applied += usize::from(cage.deploy(&payload).await.is_ok());
        if number % 50 == 0 {
            cage.assert_untouched(&payload);
        }
    }
    cage.assert_untouched("all overlays");
    assert_eq!(
        fs_err::read_to_string(repo.join("secret.md")).unwrap(),
        "secret\n"
    );
    println!("{applied} of {OVERLAYS} overlays were deployed");
    // A name that stays inside does what it says.
    std::fs::remove_dir_all(&overlay).unwrap();
    cage.deploy("no overlay").await.unwrap();
    let deployed = cage.roots[1].join("x/a.md");
    assert!(deployed.exists());
    fill(
        &overlay,
        &[(".agentpack/overlay.json", r#"{"delete":["a.md"]}"#)],
    );
    cage.deploy("an overlay").await.unwrap();
    assert!(!deployed.exists());
}

/// Links are the other way out.
#[tokio::test]
async fn must_14_links_in_modules_and_overlays_cannot_leave_the_repository() {
    let cage = Cage::new(&manifest_of(
        "skill",
        "skill:x",
        &json!({ "local_path": { "path": "skill" } }),
    ))
    .await;
    let repo = cage.place().repo();
    fill(&repo, &[("skill/SKILL.md", SKILL)]);
    let key = format!("skill_x--{}", &sha("skill:x")[..10]);
    std::fs::create_dir_all(repo.join("overlays").join(&key)).unwrap();
    let precious = cage.outside.join("precious.txt");
    for link in [
        repo.join("skill/link.md"),
        repo.join("skill/directory"),
        repo.join("overlays").join(&key).join("link.md"),
    ] {
        for target in [
            precious.clone(),
            cage.outside.clone(),
            "../../../../outside".into(),
        ] {
            std::os::unix::fs::symlink(&target, &link).unwrap();
            let refused = cage.call("pack.plan", json!({})).await.unwrap_err();
            assert_eq!(
                refused.code().name,
                "E_CONFIG_INVALID",
                "{link:?}: {refused:?}"
            );
            let name = link.file_name().unwrap().to_str().unwrap();
            assert!(refused.message().contains(name), "{refused:?}");
            std::fs::remove_file(&link).unwrap();
        }
    }
    // A directory of the target that leads elsewhere.
    std::fs::create_dir_all(&cage.roots[1]).unwrap();
    std::os::unix::fs::symlink(&cage.outside, cage.roots[1].join("x")).unwrap();
    cage.deploy("a linked skill directory").await.unwrap_err();
    cage.assert_untouched("a linked skill directory");
}

#[tokio::test]
async fn must_4_subdirectories_cannot_leave_their_checkout() {
    let mut random = seeded();
    let cage = Cage::new("").await;
    let url = "https://example.invalid/skills";
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let checkouts = cage.place().pack_home().join("cache/git").join(sha(url));
    let stolen = "---\nname: stolen\ndescription: from outside\n---\n";
    fill(
        &checkouts,
        &[
            (&format!("{commit}/SKILL.md"), SKILL),
            (&format!("{commit}/a/SKILL.md"), SKILL),
            ("SKILL.md", stolen),
            ("a/SKILL.md", stolen),
        ],
    );
    fill(
        &cage.place().pack_home(),
        &[("cache/SKILL.md", stolen), ("SKILL.md", stolen)],
    );
    let mut applied = 0;
    for number in 0..SUBDIRS {
        let subdir = match number % 4 {
            0 => [
                "..",
                "../..",
                "../a",
                "a/../..",
                "./..",
                "../../../..",
                "/",
                "//",
                "a/.",
                "a",
            ][usize::try_from(random.between(0, 10)).unwrap()]
            .to_owned(),
            1 => checkouts.to_str().unwrap().to_owned(),
            _ => name(&mut random),
        };
        let source = json!({ "git": { "url": url, "ref": commit, "subdir": subdir } });
        let manifest = manifest_of("skill", "skill:x", &source);
        cage.place().repo_file("agentpack.yaml", &manifest);
        let planned = cage.call("pack.plan", json!({})).await;
        if let Ok(planned) = &planned {
            let text = planned.to_string();
            assert!(
                !text.contains(&sha(stolen)),
                "{subdir:?} leaves the checkout"
            );
        }
        applied += usize::from(cage.deploy(&subdir).await.is_ok());
    }
    cage.assert_untouched("all subdirectories");
    println!("{applied} of {SUBDIRS} subdirectories were deployed");
    assert!(applied > 0, "refusing everything is no answer");
}
