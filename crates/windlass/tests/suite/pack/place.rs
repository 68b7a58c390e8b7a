//! A user's home with a small config repository, a project, and clients of the pack server.

use std::{
    collections::BTreeMap,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use windlass_types::Digest;

use crate::suite::support::{
    binary::{Said, windlass},
    directory::fill,
    home::temporary,
};

pub(crate) use crate::suite::support::mcp::Session as Client;

/// The machine these tests run on, as pack knows it.
pub(crate) const MACHINE: &str = "laptop";

/// Two targets, three modules.
pub(crate) const MANIFEST: &str = "\
version: 1
profiles:
  default:
    include_tags: [base]
targets:
  codex:
    mode: files
    scope: both
    options: {}
  claude_code:
    mode: files
    scope: both
    options: {}
modules:
  - id: instructions:base
    type: instructions
    tags: [base]
    source:
      local_path:
        path: modules/base
  - id: skill:demo
    type: skill
    tags: [base]
    source:
      local_path:
        path: modules/demo
  - id: command:greet
    type: command
    tags: [base]
    source:
      local_path:
        path: modules/greet.md
";

/// The modules of [`MANIFEST`].
pub(crate) const MODULES: [(&str, &str); 4] = [
    ("modules/base/AGENTS.md", "# Base\n"),
    (
        "modules/demo/SKILL.md",
        "---\nname: demo\ndescription: a demo\n---\nBody\n",
    ),
    ("modules/demo/run.sh", "echo demo\n"),
    (
        "modules/greet.md",
        "---\ndescription: greets\n---\nSay hello.\n",
    ),
];

/// Everything one user has: a home, a Windlass home, a config repository, projects.
pub(crate) struct PackPlace {
    root: TempDir,
}

impl PackPlace {
    /// Nothing but the directories.
    pub(crate) fn bare() -> Self {
        let root = temporary();
        for name in ["windlass", "user", "project"] {
            std::fs::create_dir(root.path().join(name)).unwrap();
        }
        Self { root }
    }

    /// With the small repository.
    pub(crate) fn new() -> Self {
        let place = Self::bare();
        place.repo_file("agentpack.yaml", MANIFEST);
        fill(&place.repo(), &MODULES);
        place
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn windlass_home(&self) -> PathBuf {
        self.root().join("windlass")
    }

    pub(crate) fn user(&self) -> PathBuf {
        self.root().join("user")
    }

    pub(crate) fn pack_home(&self) -> PathBuf {
        self.root().join("user/.agentpack")
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.root().join("user/.agentpack/repo")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    /// Writes a file of the repository.
    pub(crate) fn repo_file(&self, name: &str, text: &str) {
        fill(&self.repo(), &[(name, text)]);
    }

    /// Changes the manifest.
    pub(crate) fn edit_manifest(&self, from: &str, to: &str) {
        let path = self.repo().join("agentpack.yaml");
        let text = fs_err::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{from:?} is not in {text}");
        fs_err::write(path, text.replace(from, to)).unwrap();
    }

    /// The binary as this user, in a directory.
    pub(crate) fn command(&self, directory: &Path) -> Command {
        let mut command = windlass(&self.windlass_home());
        self.dress(&mut command, directory);
        command
    }

    /// Gives any command this user's surroundings.
    pub(crate) fn dress(&self, command: &mut Command, directory: &Path) {
        command
            .env("HOME", self.user())
            .env("AGENTPACK_MACHINE_ID", MACHINE)
            .current_dir(directory)
            .stderr(Stdio::null());
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
    }

    /// Runs a command to its end in the project.
    pub(crate) fn say(&self, arguments: &[&str]) -> Said {
        let mut command = self.command(&self.project());
        command.args(arguments).stdin(Stdio::null());
        command.stderr(Stdio::piped()).output().unwrap().into()
    }

    /// A pack server that works in the project.
    pub(crate) fn serve(&self) -> Client {
        self.serve_in(&self.project())
    }

    /// The same in another directory.
    pub(crate) fn serve_in(&self, directory: &Path) -> Client {
        let mut command = self.command(directory);
        command.args(["mcp", "serve", "--toolset", "pack"]);
        Client::of(command)
    }

    /// Every run of this Windlass home.
    pub(crate) fn runs(&self) -> Vec<Value> {
        let listed = self
            .say(&["runs", "list", "--limit", "200", "--json"])
            .worked()
            .json();
        listed["runs"].as_array().unwrap().clone()
    }

    /// The snapshots, oldest first.
    pub(crate) fn snapshots(&self) -> Vec<Value> {
        let directory = self.pack_home().join("state/snapshots");
        let Ok(entries) = std::fs::read_dir(directory) else {
            return Vec::new();
        };
        let mut files: Vec<PathBuf> = entries
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|end| end == "json"))
            .collect();
        files.sort();
        files.iter().map(|path| json_file(path)).collect()
    }

    /// Everything the user has, with contents, modes and times of change.
    pub(crate) fn whole_picture(&self) -> Picture {
        let mut picture = picture(&self.user());
        picture.extend(self::picture(&self.project()));
        picture
    }

    /// The same without the locks, which a command that may write takes before it decides.
    pub(crate) fn picture(&self) -> Picture {
        let state = self.pack_home().join("state");
        let locks = state.join("locks");
        let mut picture = self.whole_picture();
        picture.retain(|path, _| {
            !path.starts_with(&locks) && *path != state && *path != self.pack_home()
        });
        picture
    }

    /// Text with the place's own path left out.
    pub(crate) fn relative(&self, text: &str) -> String {
        text.replace(self.root().to_str().unwrap(), "ROOT")
    }
}

/// Paths with all that can be seen about them.
pub(crate) type Picture = BTreeMap<PathBuf, String>;

/// What is below a directory, itself included.
pub(crate) fn picture(directory: &Path) -> Picture {
    let mut into = Picture::new();
    look(directory, &mut into);
    into
}

fn look(path: &Path, into: &mut Picture) {
    let meta = std::fs::symlink_metadata(path).unwrap();
    let content = if meta.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            look(&entry.unwrap().path(), into);
        }
        "directory".to_owned()
    } else if meta.is_symlink() {
        format!("-> {}", std::fs::read_link(path).unwrap().display())
    } else {
        sha(fs_err::read(path).unwrap())
    };
    let times = format!("{}.{:09}", meta.mtime(), meta.mtime_nsec());
    let seen = format!("{content} {:o} {} {times}", meta.mode(), meta.ino());
    into.insert(path.to_owned(), seen);
}

/// What two pictures do not share, for a message.
pub(crate) fn difference(before: &Picture, after: &Picture) -> Vec<String> {
    let gone = before
        .iter()
        .filter(|(path, seen)| after.get(*path) != Some(seen));
    let new = after
        .iter()
        .filter(|(path, seen)| before.get(*path) != Some(seen));
    gone.map(|(path, seen)| format!("- {} {seen}", path.display()))
        .chain(new.map(|(path, seen)| format!("+ {} {seen}", path.display())))
        .collect()
}

pub(crate) fn sha(bytes: impl AsRef<[u8]>) -> String {
    Digest::of(bytes.as_ref()).to_string()
}

pub(crate) fn json_file(path: &Path) -> Value {
    let text = fs_err::read_to_string(path).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What a tool call gave: the envelope, and whether it was marked as a failure.
#[derive(Clone, Debug)]
pub(crate) struct ToolReply(pub(crate) Value);

impl ToolReply {
    /// Reads a result, which has the same envelope as text and as structured content.
    pub(crate) fn of(message: &Value) -> Self {
        let result = &message["result"];
        let envelope = result["structuredContent"].clone();
        assert!(envelope.is_object(), "no envelope: {message}");
        let text = result["content"][0]["text"].as_str().unwrap();
        let parsed: Value = serde_json::from_str(text).unwrap();
        assert_eq!(parsed, envelope, "text and structured content differ");
        let ok = envelope["ok"].as_bool().unwrap();
        assert_eq!(result["isError"], json!(!ok), "{message}");
        Self(envelope)
    }

    pub(crate) fn is_ok(&self) -> bool {
        self.0["ok"] == true
    }

    /// The data of a call that must have worked.
    #[track_caller]
    pub(crate) fn data(&self) -> &Value {
        assert!(self.is_ok(), "{:#}", self.0);
        &self.0["data"]
    }

    /// The details of a call that must have failed with this code.
    #[track_caller]
    pub(crate) fn refusal(&self, code: &str) -> &Value {
        assert!(!self.is_ok(), "{:#}", self.0);
        assert_eq!(self.0["errors"][0]["code"], code, "{:#}", self.0);
        assert_eq!(self.0["data"], json!({}), "a failure carries no data");
        &self.0["errors"][0]["details"]
    }

    /// The same, and its reason.
    #[track_caller]
    pub(crate) fn refused_for(&self, code: &str, reason: &str) -> &Value {
        let details = self.refusal(code);
        assert_eq!(details["reason_code"], reason, "{:#}", self.0);
        details
    }

    pub(crate) fn code(&self) -> Option<&str> {
        self.0["errors"][0]["code"].as_str()
    }

    /// `op path` of each change, with the place's own path left out.
    #[track_caller]
    pub(crate) fn changes(&self, place: &PackPlace) -> Vec<String> {
        let changes = self.data()["changes"].as_array().unwrap();
        let line = |change: &Value| {
            let path = place.relative(change["path"].as_str().unwrap());
            format!("{} {path}", change["op"].as_str().unwrap())
        };
        changes.iter().map(line).collect()
    }
}

/// The tools of packs, called one at a time.
impl Client {
    /// Calls a tool.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> ToolReply {
        let params = json!({ "name": tool, "arguments": arguments });
        ToolReply::of(&self.request("tools/call", &params))
    }

    /// Plans a deploy and gives its token.
    #[track_caller]
    pub(crate) fn token(&mut self, arguments: Value) -> String {
        let tool_reply = self.call("deploy", arguments);
        tool_reply.data()["confirm_token"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Calls `deploy_apply` with a token and nothing else.
    pub(crate) fn apply(&mut self, token: &str) -> ToolReply {
        self.call(
            "deploy_apply",
            json!({ "yes": true, "confirm_token": token }),
        )
    }

    /// Plans and applies; the id of the snapshot.
    #[track_caller]
    pub(crate) fn deploy(&mut self) -> String {
        let token = self.token(json!({}));
        let tool_reply = self.apply(&token);
        assert_eq!(tool_reply.data()["applied"], true, "{:#}", tool_reply.0);
        tool_reply.data()["snapshot_id"]
            .as_str()
            .unwrap()
            .to_owned()
    }
}
