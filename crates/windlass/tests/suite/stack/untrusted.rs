//! A hostile project, opened through every surface: nothing of it runs until the user says
//! so at the command line, and no longer than its content stays as it was.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use super::world::{REGION, World};
use crate::suite::support::{
    binary::{Daemon, Said, free_address},
    mcp::Session,
};

/// A project that names a program wherever it can; each leaves a file of its name.
struct Hostile {
    world: World,
    marks: PathBuf,
}

const CONFIG: &str = "
serviceName: shop
variables:
  commit: $GitInfo('commit')
resources:
  jobs:
    type: sqs-queue
  bundled:
    type: function
    properties:
      packaging:
        type: stacktape-lambda-buildpack
        properties: { entryfilePath: src/bundled.ts }
  built:
    type: function
    properties:
      packaging:
        type: stacktape-lambda-buildpack
        properties: { entryfilePath: src/built.py }
";

impl Hostile {
    fn new() -> Self {
        let world = World::new();
        let marks = world.place.root().join("marks");
        fs_err::create_dir(&marks).unwrap();
        let hostile = Self { world, marks };
        hostile.write();
        hostile
    }

    fn program(&self, name: &str) -> String {
        let mark = self.marks.join(name).display().to_string();
        let path = self.world.place.root().join("programs").join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(&path, format!("#!/bin/sh\n: > '{mark}'\ncat\n")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs_err::set_permissions(&path, mode).unwrap();
        path.display().to_string()
    }

    fn write(&self) {
        let world = &self.world;
        let mark = |name: &str| json!(self.marks.join(name)).to_string();
        world.config(CONFIG);
        world.file("src/bundled.ts", "export const handler = () => 1;\n");
        world.file("src/built.py", "def handler(event, context): pass\n");
        world.file("requirements.txt", ".\n");
        let python = |name: &str| format!("open({}, 'w')\n", mark(name));
        world.file("setup.py", &python("setup.py"));
        world.file("pip.py", &python("pip.py"));
        let script = format!(
            "require('fs').writeFileSync({}, '');\nmodule.exports = {{ resources: {{ jobs: {{ type: 'sqs-queue' }} }} }};\n",
            mark("config")
        );
        world.file("code.cjs", &script);
        world.file("directive.js", &script);
        let directive = "serviceName: shop\ndirectives: [{ name: Own, filePath: directive.js }]\n\
                         variables:\n  x: $Own()\nresources: { jobs: { type: sqs-queue } }\n";
        world.file("directive.yml", directive);
        world.file("agentpack.yaml", "version: 1\nmodules: []\n");
        world.file(".gitattributes", "* filter=f diff=d\n*.py filter=p\n");
        let esbuild = world.project().join("node_modules/.bin/esbuild");
        fs_err::create_dir_all(esbuild.parent().unwrap()).unwrap();
        fs_err::copy(self.program("esbuild"), esbuild).unwrap();
        self.git(&["init", "--quiet"]);
        self.git(&["add", "-A"]);
        self.git(&["commit", "--quiet", "-m", "one"]);
        for (key, name) in [
            ("core.fsmonitor", "fsmonitor"),
            ("core.sshCommand", "ssh"),
            ("credential.helper", "helper"),
            ("filter.f.clean", "clean"),
            ("filter.f.smudge", "smudge"),
            ("filter.p.process", "process"),
            ("diff.external", "external"),
            ("diff.d.textconv", "textconv"),
            ("core.pager", "pager"),
        ] {
            self.git(&["config", key, &self.program(name)]);
        }
        for hook in [
            "post-checkout",
            "reference-transaction",
            "post-index-change",
        ] {
            let place = world.project().join(".git/hooks").join(hook);
            fs_err::create_dir_all(place.parent().unwrap()).unwrap();
            fs_err::copy(self.program(hook), place).unwrap();
        }
        world.file("src/built.py", "def handler(event, context): return 1\n");
    }

    fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.current_dir(self.world.project())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.world.place.root())
            .args(["-c", "user.name=A", "-c", "user.email=a@example.com"])
            .args(arguments);
        let said = Said::from(git.output().unwrap());
        assert_eq!(said.code, Some(0), "{arguments:?}: {}", said.stderr);
    }

    fn windlass(&self, arguments: &[&str]) -> Said {
        let mut command = self.world.command();
        command.args(arguments).stdin(Stdio::null());
        command.output().unwrap().into()
    }

    fn fired(&self) -> Vec<String> {
        let entries = fs_err::read_dir(&self.marks).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn assert_quiet(&self, after: &str) {
        assert_eq!(self.fired(), Vec::<String>::new(), "{after}");
    }
}

/// Calls of operations that read, with their inputs.
fn reading(project: &Path) -> Vec<(&'static str, Value)> {
    let stack = |more: Value| {
        let mut input = json!({ "stage": "dev", "region": REGION });
        input
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        input
    };
    vec![
        ("stack.validate", stack(json!({}))),
        ("stack.validate", stack(json!({ "configPath": "code.cjs" }))),
        (
            "stack.validate",
            stack(json!({ "configPath": "directive.yml" })),
        ),
        ("stack.compile_template", stack(json!({}))),
        (
            "stack.compile_template",
            stack(json!({ "configPath": "code.cjs" })),
        ),
        ("stack.preview_changes", stack(json!({}))),
        ("stack.info_stack", stack(json!({}))),
        ("stack.dev_status", json!({})),
        ("pack.doctor", json!({ "repo": project })),
        ("pack.status", json!({ "repo": project })),
        ("pack.preview", json!({ "repo": project })),
        ("pack.plan", json!({ "repo": project })),
        ("pack.diff", json!({ "repo": project })),
    ]
}

/// How a tool that only reads is pointed at the project, as far as it can be.
fn reader(tool: &str, project: &Path) -> Option<Value> {
    const RUN: &str = "run_0123456789abcdef0123456789abcdef";
    const LAUNCH: &str = "r_2026-01-21T10-00-00Z_o5uw4zdmmfzxgllxnfxgi3dbom";
    const JOB: &str = "job_o5uw4zdmmfzxgllxnfxgi3dbom";
    const SPEC: &str = "A task list. Users sign in, add tasks and complete them.";
    Some(match tool {
        "plan" | "diff" | "preview" | "deploy" | "status" | "doctor" => json!({ "repo": project }),
        "explain" => json!({ "repo": project, "kind": "instructions" }),
        "demo_plan" => json!({ "dir": project, "files": { "a.txt": "a" } }),
        "stacktape_docs" => json!({ "query": "connect a function to postgres" }),
        "aios_strategize"
        | "aios_design_architecture"
        | "aios_design_ux"
        | "aios_generate_code" => json!({ "spec": SPEC }),
        "aios_get_status" => json!({ "job_id": JOB }),
        "aios_get_artifact" => json!({ "job_id": JOB, "artifact_type": "code" }),
        "launch_list_runs" => json!({}),
        "launch_get_status" => json!({ "run_id": LAUNCH }),
        "launch_get_artifact" => {
            json!({ "run_id": LAUNCH, "artifact_name": "page_plan.json" })
        }
        "runs_list" => json!({}),
        "runs_artifact" => json!({ "run_id": RUN, "name": "report.json" }),
        "runs_artifacts" | "runs_export" | "runs_rollback_plan" | "runs_show" | "runs_verify"
        | "runs_watch" => json!({ "run_id": RUN }),
        "admin_policy_check" => json!({ "operation": "demo.apply", "effect": "destructive" }),
        "admin_prune_plan" => json!({ "keep_days": 90 }),
        "admin_audit"
        | "admin_doctor"
        | "admin_keys_list"
        | "admin_store_check"
        | "admin_webhook_secret_list"
        | "admin_webhooks_deliveries" => json!({}),
        _ => return None,
    })
}

#[test]
fn reading_a_hostile_project_runs_nothing_of_it() {
    let hostile = Hostile::new();
    for (operation, input) in reading(&hostile.world.project()) {
        let input = input.to_string();
        let said = hostile.windlass(&["--json", "ops", "call", operation, "--input", &input]);
        hostile.assert_quiet(&format!(
            "{operation} {input}: {} {}",
            said.stdout, said.stderr
        ));
    }
    for arguments in [
        &["stack", "validate", "--stage", "dev"][..],
        &["stack", "template", "--stage", "dev"],
        &["stack", "preview", "--stage", "dev"],
        &["pack", "--repo", ".", "doctor"],
        &["pack", "--repo", ".", "status"],
        &["pack", "--repo", ".", "plan"],
        &["pack", "--repo", ".", "sync", "--yes"],
        &["pack", "--repo", ".", "policy", "audit"],
        &["doctor"],
    ] {
        let said = hostile.windlass(arguments);
        hostile.assert_quiet(&format!("{arguments:?}: {} {}", said.stdout, said.stderr));
    }

    let mut command = hostile.world.command();
    command
        .args(["mcp", "serve", "--toolset", "all"])
        .stderr(Stdio::null());
    let mut session = Session::of(command);
    // Every tool that says of itself that it only reads.
    let listed = session.request("tools/list", &json!({}));
    let listed = listed["result"]["tools"].as_array().unwrap();
    let readers = listed
        .iter()
        .filter(|tool| tool["annotations"]["readOnlyHint"] == true);
    let readers: Vec<&str> = readers.map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(readers.len() > 25, "{readers:?}");
    for name in readers {
        let arguments = reader(name, &hostile.world.project());
        let arguments = arguments.unwrap_or_else(|| {
            panic!("the tool {name} only reads: say in `reader` how it is called here")
        });
        let call = json!({ "name": name, "arguments": arguments });
        let answer = session.request("tools/call", &call);
        hostile.assert_quiet(&format!("{call}: {answer}"));
    }
    let mut called = 0;
    for (operation, input) in reading(&hostile.world.project()) {
        let (toolset, verb) = operation.split_once('.').unwrap();
        let (name, arguments) = match (toolset, verb) {
            ("stack", "compile_template" | "preview_changes") => (
                "stacktape_ops".to_owned(),
                json!({ "operation": verb, "args": input }),
            ),
            ("stack", "info_stack") => (
                "stacktape_diagnose".to_owned(),
                json!({ "operation": verb, "args": input }),
            ),
            ("stack", "dev_status") => (
                "stacktape_dev".to_owned(),
                json!({ "operation": "status", "args": {} }),
            ),
            ("stack", _) => continue,
            (_, verb) => (verb.to_owned(), input),
        };
        let call = json!({ "name": name, "arguments": arguments });
        let answer = session.request("tools/call", &call);
        hostile.assert_quiet(&format!("{call}: {answer}"));
        called += 1;
    }
    assert!(called > 5);

    let mut daemon = Daemon::spawn_with(hostile.world.command(), free_address(), &["--no-auth"]);
    daemon.wait_until_ready();
    for (operation, mut input) in reading(&hostile.world.project()) {
        if operation.starts_with("stack.") {
            input["currentWorkingDirectory"] = json!(hostile.world.project());
        }
        let answer = daemon.call(operation, &input);
        hostile.assert_quiet(&format!("{operation}: {answer:?}"));
    }
}

#[test]
fn an_answer_says_what_it_could_not_know() {
    let hostile = Hostile::new();
    let mut client = hostile.world.tool_client();
    let call = json!({ "stage": "dev", "region": REGION });
    let compiled = client.ops("compile_template", &call);
    let data = compiled.worked();
    let mut unpackaged: Vec<&str> = data["placeholders"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    unpackaged.sort_unstable();
    assert_eq!(unpackaged, ["built", "bundled"]);
    let said = hostile.windlass(&["--json", "stack", "validate", "--stage", "dev"]);
    let valid = said.json();
    assert_eq!(valid["data"]["checked"]["packaging"], false, "{valid:#}");
    assert_eq!(said.code, Some(0));
    // Asked to package, neither says that all is well.
    let mut packaged = call.clone();
    packaged["withPackage"] = json!(true);
    let refused = client.ops("compile_template", &packaged);
    refused.refused_for("VALIDATION_ERROR", "not_trusted");
    let validate = ["--json", "stack", "validate", "--stage", "dev"];
    let said = hostile.windlass(&[&validate[..], &["--with-package"]].concat());
    assert_ne!(said.code, Some(0), "{}", said.stdout);
    assert_eq!(said.json()["data"]["reason"], "not_trusted");

    for path in ["code.cjs", "directive.yml"] {
        let mut call = call.clone();
        call["configPath"] = json!(path);
        let refused = client.ops("compile_template", &call);
        let data = refused.refused_for("VALIDATION_ERROR", "not_trusted");
        let project = fs_err::canonicalize(hostile.world.project()).unwrap();
        assert_eq!(data["directory"], json!(project), "{data:#}");
        let next = refused.next_actions();
        assert!(next[0].contains("windlass trust /"), "{next:?}");
        // Whether it is valid is a question, and the answer is that nobody knows.
        let input = call.to_string();
        let said =
            hostile.windlass(&["--json", "ops", "call", "stack.validate", "--input", &input]);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let answer = said.json();
        let data = &answer["data"];
        assert_eq!(answer["ok"], true, "{answer:#}");
        assert_eq!(
            (&data["valid"], &data["configFile"]),
            (&Value::Null, &json!(path))
        );
        assert_eq!(data["reason"], "not_trusted", "{data:#}");
        let checked = data["checked"].as_object().unwrap();
        assert!(checked.values().all(|part| *part == false), "{data:#}");
        assert!(
            data["unknown"][0].as_str().unwrap().contains("was not run"),
            "{data:#}"
        );
        assert!(
            answer["nextActions"][0]
                .as_str()
                .unwrap()
                .contains("windlass trust /")
        );
        // A script that asks for a pass does not get one.
        let validate = [
            "--json",
            "stack",
            "validate",
            "--stage",
            "dev",
            "--config-path",
            path,
        ];
        let said = hostile.windlass(&validate);
        assert_ne!(said.code, Some(0), "{}", said.stdout);
        assert_eq!(said.json()["data"]["valid"], Value::Null);
    }
    // A preview and a deploy need the packages themselves.
    for operation in ["preview_changes", "deploy"] {
        client
            .ops(operation, &call)
            .refused_for("VALIDATION_ERROR", "not_trusted");
    }
    hostile.assert_quiet("after all of it");
    assert!(hostile.world.stacks().is_empty());
}

#[test]
fn trust_is_the_users_and_ends_when_the_content_changes() {
    let hostile = Hostile::new();
    let project = fs_err::canonicalize(hostile.world.project()).unwrap();
    let validate = || {
        let config = ["--config-path", "code.cjs", "--project-name", "shop"];
        let said = hostile.windlass(
            &[
                &["--json", "stack", "validate", "--stage", "dev"][..],
                &config,
            ]
            .concat(),
        );
        said.json()
    };
    // Not without a terminal, not by HTTP, not by an agent.
    let asked = hostile.windlass(&["trust"]);
    assert_ne!(asked.code, Some(0));
    assert!(
        asked.stderr.contains("setup.py") && asked.stderr.contains(".git/config"),
        "{}",
        asked.stderr
    );
    assert!(
        asked
            .stderr
            .contains(&format!("windlass trust {} --yes", project.display())),
        "{}",
        asked.stderr
    );
    let look = json!({ "directory": project }).to_string();
    let seen = hostile.windlass(&["--json", "ops", "call", "admin.trusted", "--input", &look]);
    let digest = seen.json()["directories"][0]["digest"].clone();
    assert!(digest.is_string(), "{}", seen.stdout);
    let grant = json!({ "directory": project, "digest": digest });
    let mut daemon = Daemon::spawn_with(hostile.world.command(), free_address(), &["--no-auth"]);
    daemon.wait_until_ready();
    let (status, answer) = daemon.call("admin.trust", &grant);
    assert_eq!(status, 403, "{answer:#}");
    let mut command = hostile.world.command();
    command.args(["mcp", "serve"]).stderr(Stdio::null());
    let mut session = Session::of(command);
    let tools = session.request("tools/list", &json!({})).to_string();
    assert!(!tools.contains("admin_trust"), "{tools}");
    let call = json!({ "name": "admin_trust", "arguments": grant });
    let answer = session.request("tools/call", &call).to_string();
    assert!(!answer.contains("\"trusted\""), "{answer}");
    assert_eq!(validate()["data"]["reason"], "not_trusted");
    hostile.assert_quiet("before it is trusted");

    // What was reviewed is what is trusted.
    let other = json!({ "directory": project, "digest": "0".repeat(64) }).to_string();
    let refused = hostile.windlass(&["ops", "call", "admin.trust", "--input", &other]);
    assert!(
        refused.stderr.contains("changed while it was reviewed"),
        "{}",
        refused.stderr
    );
    // The plain call is asked about like the command; what would run is in the refusal.
    let call = ["--json", "ops", "call", "admin.trust", "--input"];
    let asked = hostile.windlass(&[&call[..], &[&grant.to_string()]].concat());
    assert_ne!(asked.code, Some(0), "{}", asked.stdout);
    let asked = asked.json()["error"].clone();
    assert_eq!(asked["code"], "CONFIRM_REQUIRED", "{asked:#}");
    assert_eq!(asked["details"]["plan_digest"], digest, "{asked:#}");
    assert!(asked["details"]["plan"].to_string().contains("setup.py"));
    let asked = hostile.windlass(&["--json", "trust"]).json()["error"].clone();
    assert_eq!(asked["details"]["digest"], digest, "{asked:#}");
    assert!(asked["details"]["files"].to_string().contains("setup.py"));
    assert_eq!(validate()["data"]["reason"], "not_trusted");

    hostile.world.trust();
    let valid = validate();
    assert_eq!(valid["ok"], true, "{valid:#}");
    assert_eq!(hostile.fired(), ["config"]);
    let listed = hostile.windlass(&["--json", "trusted"]).json();
    assert_eq!(
        listed["directories"][0]["standing"], "trusted",
        "{listed:#}"
    );
    assert_eq!(listed["directories"][0]["directory"], json!(project));
    let audit = hostile.windlass(&["--json", "audit", "--changes"]).stdout;
    assert!(audit.contains("admin.trust"), "{audit}");

    // Any file that could run takes it back; a document does not.
    hostile.world.file("README.md", "# Shop\n");
    assert_eq!(validate()["ok"], true);
    hostile.world.file("setup.py", "print('new')\n");
    let refused = validate();
    assert_eq!(refused["data"]["reason"], "not_trusted", "{refused:#}");
    assert_eq!(refused["data"]["changed"], json!(["setup.py (changed)"]));
    let asked = hostile.windlass(&["trust"]);
    assert!(
        asked.stderr.contains("Changed since it was trusted"),
        "{}",
        asked.stderr
    );
    hostile.world.trust();
    assert_eq!(validate()["ok"], true);
    // Now git obeys the repository, too.
    hostile.windlass(&["pack", "--repo", ".", "sync", "--yes"]);
    let fired = hostile.fired();
    assert!(fired.contains(&"fsmonitor".to_owned()), "{fired:?}");
    let gone = hostile.windlass(&["untrust"]);
    assert_eq!(gone.code, Some(0), "{}", gone.stderr);
    assert_eq!(validate()["data"]["reason"], "not_trusted");
    assert_eq!(hostile.windlass(&["untrust"]).code, Some(3));
}

#[test]
fn code_of_a_config_sees_no_credentials() {
    let world = World::new();
    world.file(
        "code.cjs",
        "require('fs').writeFileSync('seen', Object.keys(process.env).join(' '));\n\
         module.exports = { serviceName: 'shop', resources: { jobs: { type: 'sqs-queue' } } };\n",
    );
    world.trust();
    let said = world.cli(&["validate", "--stage", "dev", "--config-path", "code.cjs"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let seen = fs_err::read_to_string(world.project().join("seen")).unwrap();
    assert!(seen.contains("PATH") && !seen.contains("AWS_"), "{seen}");
}

/// Decisions that cannot be used are said to be, wherever they would count.
#[test]
fn damaged_decisions_are_named_and_not_mistaken_for_none() {
    let hostile = Hostile::new();
    hostile.world.trust();
    let file = hostile.world.place.home().join("trust.json");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    fs_err::set_permissions(&file, mode).unwrap();
    let config = ["--config-path", "code.cjs", "--project-name", "shop"];
    let validate = ["stack", "validate", "--stage", "dev"];
    let said = hostile.windlass(&[&validate[..], &config].concat());
    assert_ne!(said.code, Some(0));
    assert!(
        said.stderr.contains("others may write it"),
        "{}",
        said.stderr
    );
    assert!(said.stderr.contains("hint: delete "), "{}", said.stderr);
    hostile.assert_quiet("while the decisions cannot be used");
    let doctor = hostile.windlass(&["doctor"]);
    assert_ne!(doctor.code, Some(0));
    assert!(
        doctor.stdout.contains("✗ trust") && doctor.stdout.contains("others may write it"),
        "{}",
        doctor.stdout
    );
}

#[test]
fn a_place_that_is_no_directory_or_gone_is_said_to_be() {
    let hostile = Hostile::new();
    let said = hostile.windlass(&["trust", "setup.py"]);
    assert!(
        said.stderr.contains("setup.py is not a directory"),
        "{}",
        said.stderr
    );
    let other = hostile.world.place.root().join("other place");
    fs_err::create_dir(&other).unwrap();
    fs_err::write(other.join("a.sh"), "").unwrap();
    let path = other.display().to_string();
    let asked = hostile.windlass(&["trust", &path]);
    assert!(
        asked.stderr.contains("/other place' --yes"),
        "{}",
        asked.stderr
    );
    assert_eq!(hostile.windlass(&["trust", &path, "--yes"]).code, Some(0));
    fs_err::remove_dir_all(&other).unwrap();
    let listed = hostile.windlass(&["--json", "trusted"]).json();
    assert_eq!(listed["directories"][0]["standing"], "gone", "{listed:#}");
    let described = hostile.windlass(&["ops", "describe", "admin.trust"]);
    assert!(
        !described.stdout.contains("admin_trust"),
        "{}",
        described.stdout
    );
}

/// Who approves sees what the requester saw: the files, and the same digest.
#[test]
fn an_approver_sees_what_would_be_trusted() {
    let hostile = Hostile::new();
    let policy = "version = 1\n[[rule]]\noperation = \"admin.trust\"\ndecision = \"ask\"\n\
                  approvers = [\"key:key_184b8dc1e8bdf9a1766bc79dde57621d\"]\n";
    let file = hostile.world.place.home().join("policy.toml");
    fs_err::write(file, policy).unwrap();
    let asked = hostile.windlass(&["trust", "--yes"]);
    assert_ne!(asked.code, Some(0));
    let digest = asked
        .stderr
        .lines()
        .find_map(|it| it.strip_prefix("plan digest: "));
    let digest = digest.unwrap().to_owned();
    let waiting = hostile.windlass(&["--json", "runs", "list"]).json();
    let run = waiting["runs"][0]["run_id"].as_str().unwrap().to_owned();
    let shown = hostile.windlass(&["--json", "runs", "show", &run]).stdout;
    assert!(shown.contains(&digest), "{digest}: {shown}");
    assert!(
        shown.contains("setup.py") && shown.contains(".git/config"),
        "{shown}"
    );
    hostile.assert_quiet("while it waits");
}
