//! A home and a repository as 0.9.1 left them: reading changes nothing in them, and everything
//! works without a step in between.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::place::{MACHINE, PackPlace, difference, picture, sha};
use crate::suite::support::directory::{fill, read_tree};

const FIRST: &str = "1700000000000000001";
const SECOND: &str = "1700000000000000002";
const ROLLBACK: &str = "1700000000000000003";

const MANIFEST: &str = "\
version: 1
profiles:
  default:
    include_tags: [base]
targets:
  codex:
    mode: files
    scope: both
    options:
      write_agents_global: true
  claude_code:
    mode: files
    scope: both
    options: {}
  cursor:
    mode: files
    scope: project
    options: {}
modules:
- id: instructions:base
  type: instructions
  enabled: true
  tags: [base]
  targets: []
  source:
    local_path:
      path: modules/base
    git: null
  metadata: {}
- id: skill:demo
  type: skill
  enabled: true
  tags: [base]
  targets: [codex]
  source:
    local_path:
      path: modules/demo
    git: null
- id: prompt:draft
  type: prompt
  enabled: true
  tags: [base]
  targets: []
  source:
    local_path:
      path: modules/draft.md
    git: null
";

const SKILL: &str = "---\nname: demo\ndescription: a demo\n---\nBody\n";
const SCRIPT: &str = "echo overlaid\n";
const DRAFT: &str = "Draft\nthe PR\n";
const RULE: &str = "instructions_base--";

fn first_ten(id: &str) -> String {
    sha(id)[..10].to_owned()
}

fn rule(text: &str) -> String {
    format!(
        "---\ndescription: \"agentpack: instructions:base\"\nglobs: []\nalwaysApply: true\n---\n\n{text}"
    )
}

/// One root of a target: where, and its files.
struct OldRoot {
    target: &'static str,
    root: PathBuf,
    files: Vec<(String, String, &'static str)>,
    legacy: bool,
}

/// The home of a user of 0.9.1.
struct OldHome {
    place: PackPlace,
}

impl OldHome {
    fn new() -> Self {
        let home = Self {
            place: PackPlace::bare(),
        };
        home.write_repository();
        home.deployed(FIRST, "# First\n", None);
        home.deployed(SECOND, "# Second\n", Some("# First\n"));
        home.rolled_back();
        home.drift();
        home
    }

    fn write_repository(&self) {
        let upstream_script = "echo upstream\n";
        let skill_hash = {
            let lines = [("SKILL.md", SKILL), ("run.sh", upstream_script)]
                .map(|(name, text)| format!("{name}\n{}\n{}\n", sha(text), text.len()));
            sha(lines.concat())
        };
        let files = |list: &[(&str, &str)]| -> Value {
            let file = |(name, text): &(&str, &str)| json!({ "path": name, "sha256": sha(text), "bytes": text.len() });
            list.iter().map(file).collect()
        };
        let locked = |id: &str, kind: &str, path: &str, list: &[(&str, &str)]| {
            let lines: String = list
                .iter()
                .map(|(name, text)| format!("{name}\n{}\n{}\n", sha(text), text.len()))
                .collect();
            json!({
                "id": id, "type": kind,
                "resolved_source": { "local_path": { "path": path }, "git": null },
                "resolved_version": "local", "sha256": sha(lines), "file_manifest": files(list),
            })
        };
        let lockfile = json!({
            "version": 1, "generated_at": "2025-01-01T00:00:00.000000000Z",
            "modules": [
                locked("instructions:base", "instructions", "modules/base", &[("AGENTS.md", "# Base\n")]),
                locked("prompt:draft", "prompt", "modules/draft.md", &[("draft.md", "Draft\nPR\n")]),
                locked("skill:demo", "skill", "modules/demo", &[("SKILL.md", SKILL), ("run.sh", upstream_script)]),
            ],
        });
        let dir = format!("overlays/skill_demo--{}", first_ten("skill:demo"));
        let patch = format!(
            "overlays/machines/{MACHINE}/prompt_draft--{}/.agentpack",
            first_ten("prompt:draft")
        );
        let baseline = json!({
            "version": 2, "created_at": "2025-01-01T00:00:00Z", "upstream_sha256": skill_hash,
            "file_manifest": files(&[("SKILL.md", SKILL), ("run.sh", upstream_script)]),
            "upstream": { "kind": "local_path", "repo_rel_path": "modules/demo" },
        });
        fill(
            &self.place.repo(),
            &[
                ("agentpack.yaml", MANIFEST),
                ("agentpack.lock.json", &format!("{lockfile:#}\n")),
                ("modules/base/AGENTS.md", "# Base\n"),
                ("modules/demo/SKILL.md", SKILL),
                ("modules/demo/run.sh", upstream_script),
                ("modules/draft.md", "Draft\nPR\n"),
                (&format!("{dir}/run.sh"), SCRIPT),
                (&format!("{dir}/.agentpack/module_id"), "skill:demo\n"),
                (
                    &format!("{dir}/.agentpack/baseline.json"),
                    &format!("{baseline:#}\n"),
                ),
                (
                    &format!("{patch}/overlay.json"),
                    "{\n  \"overlay_kind\": \"patch\"\n}\n",
                ),
                (&format!("{patch}/module_id"), "prompt:draft\n"),
                (
                    &format!("{patch}/patches/draft.md.patch"),
                    "--- a/draft.md\n+++ b/draft.md\n@@ -1,2 +1,2 @@\n Draft\n-PR\n+the PR\n",
                ),
            ],
        );
    }

    fn roots(&self, instructions: &str) -> Vec<OldRoot> {
        let (user, project) = (self.place.user(), self.place.project());
        let skill = |module| {
            vec![
                ("demo/SKILL.md".to_owned(), SKILL.to_owned(), module),
                ("demo/run.sh".to_owned(), SCRIPT.to_owned(), module),
            ]
        };
        let agents = vec![(
            "AGENTS.md".to_owned(),
            instructions.to_owned(),
            "instructions:base",
        )];
        let name = format!("{RULE}{}.mdc", first_ten("instructions:base"));
        let old = |target, root, files| OldRoot {
            target,
            root,
            files,
            legacy: false,
        };
        vec![
            old("codex", user.join(".codex"), agents.clone()),
            OldRoot {
                legacy: true,
                ..old(
                    "codex",
                    user.join(".codex/prompts"),
                    vec![("draft.md".to_owned(), DRAFT.to_owned(), "prompt:draft")],
                )
            },
            old("codex", user.join(".codex/skills"), skill("skill:demo")),
            old("codex", project.clone(), agents),
            old("codex", project.join(".codex/skills"), skill("skill:demo")),
            old(
                "cursor",
                project.join(".cursor/rules"),
                vec![(name, rule(instructions), "instructions:base")],
            ),
        ]
    }

    /// What 0.9.1 leaves after a deploy: files at 0600, manifests, the snapshot and its trees.
    fn deployed(&self, id: &str, instructions: &str, before: Option<&str>) {
        let trees = self.place.pack_home().join("state/snapshots").join(id);
        let image = |kind: &str, target: &str, path: &str, text: &str| {
            let file = trees.join(kind).join(target).join(&sha(path)[..16]);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs_err::write(&file, text).unwrap();
            file
        };
        let (mut managed, mut changes) = (Vec::new(), Vec::new());
        let old_roots = before.map(|text| self.roots(text));
        for (index, root) in self.roots(instructions).iter().enumerate() {
            let manifest = self.manifest(id, root);
            let mut all: Vec<(PathBuf, String, Option<String>)> = Vec::new();
            for (number, (name, text, _)) in root.files.iter().enumerate() {
                let before = old_roots
                    .as_ref()
                    .map(|old| old[index].files[number].1.clone());
                all.push((root.root.join(name), text.clone(), before));
                managed.push(json!({
                    "target": root.target, "path": root.root.join(name), "sha256": sha(text),
                }));
            }
            let before = old_roots
                .as_ref()
                .map(|old| self.manifest(FIRST, &old[index]));
            all.push((self.manifest_path(root), manifest, before));
            for (path, text, before) in all {
                let name = path.to_str().unwrap();
                image("state", root.target, name, &text);
                let mut change = json!({
                    "target": root.target, "path": name, "after_sha256": sha(&text),
                });
                match before {
                    None => change["op"] = json!("create"),
                    Some(before) if before == text => continue,
                    Some(before) => {
                        change["op"] = json!("update");
                        change["before_sha256"] = json!(sha(&before));
                        let backup = image("backup", root.target, name, &before);
                        change["backup_path"] = json!(backup);
                    }
                }
                changes.push(change);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs_err::write(&path, text).unwrap();
                let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
                std::fs::set_permissions(&path, private).unwrap();
            }
        }
        self.snapshot(json!({
            "kind": "deploy", "id": id, "created_at": "2025-01-01T00:00:00.000000000Z",
            "targets": ["codex", "cursor"], "managed_files": managed, "changes": changes,
            "lockfile_sha256": null, "backup_root": trees.join("backup"),
        }));
    }

    fn manifest_path(&self, root: &OldRoot) -> PathBuf {
        let name = if root.legacy {
            ".agentpack.manifest.json".to_owned()
        } else {
            format!(".agentpack.manifest.{}.json", root.target)
        };
        root.root.join(name)
    }

    fn manifest(&self, id: &str, root: &OldRoot) -> String {
        let file = |(name, text, module): &(String, String, &str)| json!({ "path": name, "sha256": sha(text), "module_ids": [module] });
        let value = json!({
            "schema_version": 1, "generated_at": "2025-01-01T00:00:00.000000000Z",
            "tool": root.target, "snapshot_id": id,
            "managed_files": root.files.iter().map(file).collect::<Vec<_>>(),
        });
        format!("{value:#}\n")
    }

    fn snapshot(&self, value: Value) {
        let id = value["id"].as_str().unwrap();
        let path = self
            .place
            .pack_home()
            .join(format!("state/snapshots/{id}.json"));
        fs_err::write(path, format!("{value:#}\n")).unwrap();
    }

    /// Back to the first deploy.
    fn rolled_back(&self) {
        let mut changes = Vec::new();
        for root in self.roots("# First\n") {
            let manifest = (self.manifest_path(&root), self.manifest(FIRST, &root));
            let files = root
                .files
                .iter()
                .map(|(name, text, _)| (root.root.join(name), text.clone()));
            for (path, text) in files.chain([manifest]) {
                fs_err::write(&path, &text).unwrap();
                changes.push(json!({
                    "target": root.target, "op": "rollback_restore", "path": path,
                    "after_sha256": sha(&text),
                }));
            }
        }
        self.snapshot(json!({
            "kind": "rollback", "id": ROLLBACK, "created_at": "2025-01-02T00:00:00.000000000Z",
            "targets": ["codex", "cursor"], "changes": changes, "rolled_back_to": FIRST,
            "lockfile_sha256": null,
            "backup_root": self.place.pack_home().join(format!("state/snapshots/{ROLLBACK}/backup")),
        }));
        fill(
            &self.place.pack_home(),
            &[(
                "state/logs/events.jsonl",
                "{\"schema_version\":1,\"recorded_at\":\"2025-01-01T00:00:00Z\",\"machine_id\":\"laptop\",\"event\":{}}\n",
            )],
        );
    }

    /// What the user did since.
    fn drift(&self) {
        let (user, project) = (self.place.user(), self.place.project());
        let edited = format!("{SKILL}Edited.\n");
        fs_err::write(project.join(".codex/skills/demo/SKILL.md"), edited).unwrap();
        fs_err::remove_file(user.join(".codex/skills/demo/run.sh")).unwrap();
        fill(&user, &[(".codex/prompts/mine.md", "mine\n")]);
    }
}

#[test]
fn reading_an_old_home_leaves_every_byte_and_every_time() {
    let home = OldHome::new();
    let place = &home.place;
    let before = place.whole_picture();
    let mut client = place.serve();
    for (tool, arguments) in [
        ("plan", json!({})),
        ("diff", json!({})),
        ("preview", json!({})),
        ("preview", json!({ "diff": true })),
        ("status", json!({})),
        ("status", json!({ "only": ["extra"] })),
        ("explain", json!({ "kind": "plan" })),
        ("explain", json!({ "kind": "diff" })),
        ("explain", json!({ "kind": "status" })),
        ("deploy", json!({})),
        ("doctor", json!({})),
        ("deploy_apply", json!({ "yes": true, "dry_run": true })),
        ("evolve_restore", json!({ "dry_run": true })),
        ("evolve_propose", json!({ "dry_run": true })),
    ] {
        let tool_reply = client.call(tool, arguments.clone());
        tool_reply.data();
        let changed = difference(&before, &place.whole_picture());
        assert_eq!(changed, Vec::<String>::new(), "{tool} {arguments}");
    }
}

#[test]
fn commands_that_read_leave_an_old_home_alone() {
    let home = OldHome::new();
    let place = &home.place;
    let before = place.whole_picture();
    for line in [
        "plan",
        "plan --check",
        "diff",
        "preview --diff",
        "deploy",
        "status",
        "status --only missing,extra",
        "explain plan",
        "explain status",
        "doctor",
        "score",
        "snapshots list",
        "snapshots show 1700000000000000002",
        "overlay path skill:demo",
        "policy lint",
        "help",
        "schema",
    ] {
        for json in [true, false] {
            let mut arguments = vec!["pack"];
            arguments.extend(line.split(' '));
            arguments.extend(json.then_some("--json"));
            let said = place.say(&arguments);
            assert!(
                matches!(said.code, Some(0 | 3)),
                "{line}: {}{}",
                said.stdout,
                said.stderr
            );
            let changed = difference(&before, &place.whole_picture());
            assert_eq!(changed, Vec::<String>::new(), "{line}");
        }
    }
}

#[test]
fn an_old_home_is_planned_as_it_is() {
    let home = OldHome::new();
    let place = &home.place;
    let mut client = place.serve();
    let tool_reply = client.call("plan", json!({}));
    let rule = format!(
        "update ROOT/project/.cursor/rules/{RULE}{}.mdc",
        first_ten("instructions:base")
    );
    assert_eq!(
        tool_reply.changes(place),
        [
            "update ROOT/project/.codex/skills/demo/SKILL.md",
            "update ROOT/project/AGENTS.md",
            "update ROOT/user/.codex/AGENTS.md",
            "create ROOT/user/.codex/skills/demo/run.sh",
            rule.as_str(),
        ]
    );
    let kinds: Vec<&Value> = tool_reply.data()["changes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|change| change.get("update_kind"))
        .collect();
    assert_eq!(kinds, vec!["managed_update"; 4], "all of it is owned");
    let warnings = tool_reply.0["warnings"].to_string();
    assert!(warnings.contains(".agentpack.manifest.json"), "{warnings}");

    let tool_reply = client.call("status", json!({}));
    let data = tool_reply.data();
    let found: Vec<String> = data["drift"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            let path = place.relative(item["path"].as_str().unwrap());
            format!("{} {path}", item["kind"].as_str().unwrap())
        })
        .collect();
    assert!(
        found.contains(&"missing ROOT/user/.codex/skills/demo/run.sh".to_owned()),
        "{found:?}"
    );
    assert!(
        found.contains(&"extra ROOT/user/.codex/prompts/mine.md".to_owned()),
        "{found:?}"
    );
    assert_eq!(
        data["summary"],
        json!({ "modified": 4, "missing": 1, "extra": 1 }),
        "{found:?}"
    );

    let tool_reply = client.call("explain", json!({ "kind": "plan" }));
    let changes = tool_reply.data()["changes"].as_array().unwrap();
    let layer = |path: &str| {
        let change = changes
            .iter()
            .find(|change| change["path"].as_str().unwrap().ends_with(path));
        change.unwrap()["modules"][0]["layer"].clone()
    };
    assert_eq!(layer("run.sh"), "global");
    assert_eq!(layer("SKILL.md"), "upstream");
}

#[test]
fn an_old_home_is_deployed_over_and_rolled_back() {
    let home = OldHome::new();
    let place = &home.place;
    let mut client = place.serve();
    let token = client.token(json!({}));
    let tool_reply = client.apply(&token);
    assert_eq!(tool_reply.data()["applied"], true, "{:#}", tool_reply.0);
    assert!(client.call("plan", json!({})).changes(place).is_empty());
    assert_eq!(read_tree(&place.project())["AGENTS.md"], "# Base\n");
    assert_eq!(read_tree(&place.user())[".codex/prompts/mine.md"], "mine\n");
    assert!(place.user().join(".codex/prompts/draft.md").is_file());
    // Its contents come from the trees of 0.9.1.
    let snapshots = place.pack_home().join("state/snapshots");
    let old = picture(&snapshots.join(SECOND));
    let tool_reply = client.call("rollback", json!({ "to": SECOND, "yes": true }));
    assert_eq!(
        tool_reply.data()["rolled_back_to"],
        SECOND,
        "{:#}",
        tool_reply.0
    );
    assert_eq!(read_tree(&place.project())["AGENTS.md"], "# Second\n");
    assert_eq!(read_tree(&place.user())[".codex/AGENTS.md"], "# Second\n");
    assert_eq!(picture(&snapshots.join(SECOND)), old, "old trees stay");
    let tool_reply = client.call("rollback", json!({ "to": FIRST, "yes": true }));
    tool_reply.data();
    assert_eq!(read_tree(&place.project())["AGENTS.md"], "# First\n");
    let tool_reply = client.call("rollback", json!({ "to": ROLLBACK, "yes": true }));
    tool_reply.refused_for("E_UNEXPECTED", "snapshot_is_rollback_event");
}

#[test]
fn what_is_missing_in_an_old_home_can_be_restored() {
    let home = OldHome::new();
    let place = &home.place;
    let mut client = place.serve();
    let tool_reply = client.call("evolve_restore", json!({ "yes": true }));
    assert_eq!(
        tool_reply.data()["reason"],
        "restored",
        "{:#}",
        tool_reply.0
    );
    assert_eq!(
        tool_reply.data()["summary"]["restored"],
        1,
        "{:#}",
        tool_reply.0
    );
    let tree = read_tree(&place.user());
    assert_eq!(tree[".codex/skills/demo/run.sh"], SCRIPT);
    let edited = &read_tree(&place.project())[".codex/skills/demo/SKILL.md"];
    assert!(edited.ends_with("Edited.\n"), "create only");
}
