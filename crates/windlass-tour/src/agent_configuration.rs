//! Chapter 3: one repository of agent configuration, deployed to four tools, edited behind its
//! back, captured on a branch, rolled back and removed without a trace.

use std::{collections::BTreeMap, path::Path};

use windlass_types::Problem;

use crate::{sample, sample_pack::SAMPLES, stage::Stage};

/// What a reader may do afterwards.
pub(crate) const NEXT: &str = "windlass pack init --git";

const REPOSITORY: &str = ".agentpack/repo";
const PROJECT: &str = "shop";
/// What the project has before pack comes: rules of its own, and a server of its own in a file
/// that pack shares.
const OWN: [(&str, &str); 2] = [
    ("AGENTS.md", "# Shop\n\nPrices are in cents.\n"),
    (
        ".cursor/mcp.json",
        "{\n  // the ticket system\n  \"mcpServers\": { \"tickets\": { \"url\": \"https://tickets.example/mcp\" } }\n}\n",
    ),
];
/// An edit of a deployed file.
const RULE: &str = "- Amounts are integers, in cents.";

pub(crate) fn play(stage: &mut Stage<'_>) -> Result<(), Problem> {
    let has_git = stage.ask_git(&["--version"]).is_some();
    prepare(stage)?;
    let project = stage.user().join(PROJECT);
    let before = read(&project)?;

    stage.say(
        "One repository holds rules, skills, prompts, an MCP server and a sub-agent. Four tools read\n\
         them, each in its own place and form. The plan says what would be written where.",
    );
    stage.enter(PROJECT);
    if has_git {
        // A project of its own, wherever the temporary directory lies.
        let made = stage.ask_git(&["init", "--quiet"]);
        stage.expect(made.is_some(), "git can make a repository")?;
    }
    nothing_else_is_written(stage)?;
    stage.run(&["pack", "plan"], 0)?;

    stage.say("AGENTS.md was not written by pack, so nothing is written without --adopt.");
    let refused = stage.run(&["pack", "deploy", "--apply", "--yes"], 1)?;
    stage.expect(
        refused.text.contains("E_ADOPT_CONFIRM_REQUIRED") && read(&project)? == before,
        "the deployment is refused and the project untouched",
    )?;
    stage.say("With --adopt it is taken over. Its old content is kept.");
    stage.run(&["pack", "deploy", "--apply", "--adopt", "--yes"], 0)?;
    let first = newest_snapshot(stage)?;
    let deployed = read(&project)?;
    stage.expect(
        deployed.get("CLAUDE.md").map(String::as_str) == Some("@AGENTS.md\n"),
        "Claude Code reads the same rules",
    )?;
    stage.say("Cursor's list of servers has a new entry. The rest of the file is unchanged.");
    stage.show(&shown(&deployed, ".cursor/mcp.json"));
    stage.expect(
        deployed
            .get(".cursor/mcp.json")
            .is_some_and(|text| text.contains("// the ticket system") && text.contains("tickets")),
        "the other server and the comment are still there",
    )?;

    stage.say("Some days later a good rule is added in the wrong place: a deployed file.");
    append(&project.join("AGENTS.md"), RULE)?;
    stage.show(&format!("echo '{RULE}' >> AGENTS.md"));
    let drifted = stage.run(&["pack", "status", "--check"], 3)?;
    stage.expect(
        drifted.text.contains("modified") && drifted.text.contains("AGENTS.md"),
        "the edit is found",
    )?;

    if has_git {
        capture(stage, &project)?;
    } else {
        stage.say(
            "Capturing the edit on a branch needs git, which is not installed: that part is skipped.",
        );
    }

    stage.say("Not what you wanted? You can roll back to every deployment.");
    stage.run(&["pack", "snapshots", "list"], 0)?;
    stage.name(&first, "$FIRST");
    stage.run(&["pack", "rollback", "--to", &first, "--yes"], 0)?;
    stage.expect(
        without_manifests(read(&project)?) == without_manifests(deployed),
        "every file is what the first deployment made it",
    )?;

    stage.say("Uninstall removes everything that pack wrote and restores what it replaced.");
    stage.run(&["pack", "uninstall", "--restore-originals", "--yes"], 0)?;
    let after = read(&project)?;
    for name in after.keys() {
        stage.show(&shown(&after, name));
    }
    stage.expect(after == before, "the project is what it was before")
}

/// The edit becomes a commit on a branch of the repository, and with it every tool's.
fn capture(stage: &mut Stage<'_>, project: &Path) -> Result<(), Problem> {
    stage.say("Deploying again would overwrite the rule. Instead it becomes a commit for review.");
    stage.run(&["pack", "evolve", "propose", "--yes"], 0)?;
    stage.enter(REPOSITORY);
    let format = "--format=%(refname:short)";
    let branch = stage
        .ask_git(&["branch", "--list", "evolve/*", format])
        .unwrap_or_default();
    stage.expect(!branch.is_empty(), "the proposal is on a branch")?;
    stage.name(&branch, "$BRANCH");
    stage.git(&["log", "--oneline", "--stat=76", "-1", &branch])?;
    stage.git(&["merge", "--quiet", "--ff-only", &branch])?;

    stage.say(
        "After the merge it is an overlay on the module, so the other tools get the rule too.",
    );
    stage.enter(PROJECT);
    stage.run(&["pack", "deploy", "--apply", "--yes"], 0)?;
    let files = read(project)?;
    let carriers = files.values().filter(|text| text.contains(RULE)).count();
    stage.expect(
        carriers == 3,
        "AGENTS.md, Cursor's rule and Copilot's instructions hold it",
    )
}

fn prepare(stage: &Stage<'_>) -> Result<(), Problem> {
    let failed = |error: std::io::Error| Problem::internal("tour: project", error);
    let home = stage.user();
    sample::unpack(SAMPLES, &home.join(REPOSITORY))?;
    for (name, text) in OWN {
        let path = home.join(PROJECT).join(name);
        if let Some(parent) = path.parent() {
            fs_err::create_dir_all(parent).map_err(failed)?;
        }
        fs_err::write(path, text).map_err(failed)?;
    }
    // Settings of nobody: git wants a name for a commit.
    fs_err::write(
        home.join(".gitconfig"),
        "[user]\n\tname = Ada\n\temail = ada@example.com\n[commit]\n\tgpgSign = false\n",
    )
    .map_err(failed)?;
    let repository = home.join(REPOSITORY).display().to_string();
    for words in [
        ["init", "--quiet"].as_slice(),
        &["add", "--all"],
        &["commit", "--quiet", "--message=Agent configuration"],
    ] {
        // Without git there is no branch later on, and nothing else needs one.
        let _ = stage.ask_git(&[&["-C", repository.as_str()], words].concat());
    }
    // `status` would suggest files that let agents operate pack; they are not covered here.
    stage.ask(&["pack", "bootstrap", "--decline", "--yes"])?;
    Ok(())
}

/// A tour writes into its own place only, whatever surrounds the temporary directory.
fn nothing_else_is_written(stage: &Stage<'_>) -> Result<(), Problem> {
    let place = fs_err::canonicalize(stage.path())
        .map_err(|error| Problem::internal("tour: temporary directory", error))?;
    let plan = stage.ask(&["pack", "plan"])?;
    let changes = plan["data"]["changes"].as_array();
    let inside = changes.into_iter().flatten().all(|change| {
        let path = Path::new(change["path"].as_str().unwrap_or_default());
        path.starts_with(&place) || path.starts_with(stage.path())
    });
    stage.expect(
        inside && changes.is_some_and(|changes| !changes.is_empty()),
        "the plan names files in the tour's own directory and no others",
    )
}

fn newest_snapshot(stage: &Stage<'_>) -> Result<String, Problem> {
    let listed = stage.ask(&["pack", "snapshots", "list"])?;
    listed["data"]["snapshots"][0]["id"]
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| Problem::internal("tour", "the deployment left no snapshot"))
}

/// Files below a directory by their path, git's own left out.
type Files = BTreeMap<String, String>;

fn read(root: &Path) -> Result<Files, Problem> {
    let failed = |error: std::io::Error| Problem::internal("tour: project", error);
    let mut files = Files::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs_err::read_dir(&directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            if entry.file_type().map_err(failed)?.is_dir() {
                if entry.file_name() != ".git" {
                    open.push(path);
                }
                continue;
            }
            let text = fs_err::read_to_string(&path).map_err(failed)?;
            let name = path.strip_prefix(root).unwrap_or(&path);
            files.insert(name.display().to_string(), text);
        }
    }
    Ok(files)
}

/// Manifests say when they were written, so two equal deployments have different ones.
fn without_manifests(mut files: Files) -> Files {
    files.retain(|name, _| !name.contains(".agentpack.manifest"));
    files
}

fn shown(files: &Files, name: &str) -> String {
    let text = files.get(name).map_or("", String::as_str);
    format!(
        "{name}: {}",
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    )
}

fn append(path: &Path, line: &str) -> Result<(), Problem> {
    let failed = |error: std::io::Error| Problem::internal("tour: project", error);
    let text = fs_err::read_to_string(path).map_err(failed)?;
    fs_err::write(path, format!("{text}{line}\n")).map_err(failed)
}
