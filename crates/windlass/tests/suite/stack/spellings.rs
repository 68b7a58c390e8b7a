//! A rule about a stack holds however its name is spelled: in the config, in a file that the
//! config reads, by a program, in the call.

use serde_json::{Value, json};

use super::world::World;

const POLICY: &str = "version = 1
[[rule]]
operation = \"stack.*\"
target = \"shop-prod\"
decision = \"deny\"
reason = \"frozen\"
";

/// A config that is the same but for how it names the project, and what the call says.
struct Spelling {
    file: &'static str,
    /// `RESOURCES` stands for a section with one queue.
    text: &'static str,
    call: Value,
}

fn spelled(file: &'static str, text: &'static str) -> Spelling {
    let call = json!({ "stage": "prod", "configPath": file });
    Spelling { file, text, call }
}

fn called(text: &'static str, call: Value) -> Spelling {
    Spelling {
        file: "stacktape.yml",
        text,
        call,
    }
}

/// Other files of the project.
const FILES: [(&str, &str); 6] = [
    ("name.json", "{\"project\": {\"name\": \"shop\"}}"),
    ("name.yml", "project:\n  name: shop\n"),
    ("name.ini", "[project]\nname=shop\n"),
    (".env.names", "PROJECT=shop\n"),
    ("name.txt", "shop"),
    ("parts.mjs", "export const name = ['sh', 'op'].join('');\n"),
];

fn spellings() -> Vec<Spelling> {
    let yaml = "stacktape.yml";
    vec![
        // Scalars and keys of YAML.
        spelled(yaml, "serviceName: shop\nRESOURCES"),
        spelled(yaml, "serviceName: 'shop'\nRESOURCES"),
        spelled(yaml, "serviceName: \"shop\"\nRESOURCES"),
        spelled(yaml, "serviceName: \"\\x73hop\"\nRESOURCES"),
        spelled(yaml, "serviceName: \"\\u0073\\u0068op\"\nRESOURCES"),
        spelled(yaml, "serviceName: !!str shop\nRESOURCES"),
        spelled(yaml, "serviceName: >-\n  shop\nRESOURCES"),
        spelled(yaml, "serviceName: |-\n  shop\nRESOURCES"),
        spelled(yaml, "serviceName:    shop   # the shop\nRESOURCES"),
        spelled(yaml, "serviceName:\n  shop\nRESOURCES"),
        spelled(yaml, "\"serviceName\": shop\nRESOURCES"),
        spelled(yaml, "'serviceName' : shop\nRESOURCES"),
        spelled(yaml, "\"service\\u004eame\": shop\nRESOURCES"),
        spelled(yaml, "? serviceName\n: shop\nRESOURCES"),
        spelled(yaml, "---\nserviceName: shop\nRESOURCES"),
        spelled(yaml, "%YAML 1.2\n---\nserviceName: shop\nRESOURCES"),
        spelled(yaml, "\u{feff}serviceName: shop\nRESOURCES"),
        spelled(yaml, "serviceName: shop\r\nRESOURCES"),
        spelled(
            yaml,
            "{serviceName: shop, resources: {jobs: {type: sqs-queue}}}",
        ),
        spelled(
            yaml,
            "{\"serviceName\":\"shop\",\"resources\":{\"jobs\":{\"type\":\"sqs-queue\"}}}",
        ),
        // Anchors and merges.
        spelled(
            yaml,
            "variables: { name: &name shop }\nserviceName: *name\nRESOURCES",
        ),
        spelled(
            yaml,
            "variables: &all { serviceName: shop }\n<<: *all\nRESOURCES",
        ),
        // Directives.
        spelled(
            yaml,
            "variables: { name: shop }\nserviceName: $Var().name\nRESOURCES",
        ),
        spelled(
            yaml,
            "variables: { half: op }\nserviceName: $Format('sh{}', $Var().half)\nRESOURCES",
        ),
        spelled(
            yaml,
            "variables: { names: { prod: shop } }\nserviceName: $Var().names.prod\nRESOURCES",
        ),
        spelled(
            yaml,
            "serviceName: $File('name.json').project.name\nRESOURCES",
        ),
        spelled(
            yaml,
            "serviceName: $File('name.yml').project.name\nRESOURCES",
        ),
        spelled(
            yaml,
            "serviceName: $File('name.ini').project.name\nRESOURCES",
        ),
        spelled(yaml, "serviceName: $File('.env.names').PROJECT\nRESOURCES"),
        spelled(yaml, "serviceName: $FileRaw('name.txt')\nRESOURCES"),
        spelled(
            yaml,
            "serviceName: $CliArgs('projectName', 'shop')\nRESOURCES",
        ),
        // Other names of the file.
        spelled("stacktape.yaml", "serviceName: shop\nRESOURCES"),
        spelled("deep/er/config.yml", "serviceName: shop\nRESOURCES"),
        // Programs.
        spelled(
            "stacktape.ts",
            "export default (): object => ({ serviceName: 'sh' + 'op', resources: { jobs: { type: 'sqs-queue' } } });",
        ),
        spelled(
            "stacktape.mjs",
            "import { name } from './parts.mjs';\nexport default ({ stage }) => ({ serviceName: stage === 'prod' ? name : 'other', resources: { jobs: { type: 'sqs-queue' } } });",
        ),
        spelled(
            "stacktape.cjs",
            "module.exports.default = async () => ({ serviceName: Buffer.from('c2hvcA==', 'base64').toString(), resources: { jobs: { type: 'sqs-queue' } } });",
        ),
        spelled(
            "stacktape.js",
            "import { readFileSync } from 'node:fs';\nexport default () => ({ serviceName: readFileSync(new URL('name.txt', import.meta.url), 'utf8'), resources: { jobs: { type: 'sqs-queue' } } });",
        ),
        // The call.
        called(
            "RESOURCES",
            json!({ "stage": "prod", "projectName": "shop" }),
        ),
        called(
            "serviceName: other\nRESOURCES",
            json!({ "stage": "prod", "projectName": "shop" }),
        ),
        called(
            "serviceName: shop\nRESOURCES",
            json!({ "stage": "prod", "configPath": "./deep/../stacktape.yml" }),
        ),
        called(
            "serviceName: shop\nRESOURCES",
            json!({ "stage": "prod", "currentWorkingDirectory": "deep/.." }),
        ),
    ]
}

#[test]
fn a_forbidden_stack_is_forbidden_in_every_spelling() {
    let world = World::with_policy(POLICY);
    fs_err::create_dir_all(world.project().join("deep")).unwrap();
    for (name, text) in FILES {
        world.file(name, text);
    }
    let mut client = world.tool_client();
    let spellings = spellings();
    assert!(spellings.len() >= 40);
    for Spelling { file, text, call } in spellings {
        let text = text.replace("RESOURCES", "resources: { jobs: { type: sqs-queue } }\n");
        world.file(file, &text);
        world.trust();
        let mut call = call;
        call["region"] = json!("eu-west-1");
        // A Node that does not read TypeScript reads no name either.
        let unread = file.ends_with(".ts").then_some("typescript_not_found");
        for operation in ["deploy", "preview_changes"] {
            let refused = client.ops(operation, &call);
            let reason = refused.body["data"]["reason"].as_str();
            assert!(
                reason == Some("policy_denied") || reason.is_some() && reason == unread,
                "{text}\n{refused:#?}"
            );
        }
        // The rule is about one stage.
        let mut other = call.clone();
        other["stage"] = json!("dev");
        let allowed = client.ops("preview_changes", &other);
        let reason = allowed.body["data"]["reason"].as_str();
        assert!(
            allowed.body["code"] == "OK" || reason.is_some() && reason == unread,
            "{text}\n{allowed:#?}"
        );
        fs_err::remove_file(world.project().join(file)).unwrap();
    }
    assert!(world.stacks().is_empty());
}

/// A config that names another stack once it was asked for its name.
const CHANGING: &str = "
import { readFileSync, writeFileSync } from 'node:fs';
const file = new URL('count.log', import.meta.url);
let count = 0;
try { count = Number(readFileSync(file, 'utf8')); } catch {}
writeFileSync(file, String(count + 1));
export default () => ({
  serviceName: count < 1 ? 'other' : 'shop',
  scripts: { hello: { type: 'local-script', properties: { executeCommand: 'echo hello' } } },
  resources: { jobs: { type: 'sqs-queue' } },
});
";

#[test]
fn a_config_that_names_another_stack_later_is_refused() {
    let world = World::with_policy(POLICY);
    world.file("stacktape.mjs", CHANGING);
    world.trust();
    let mut client = world.tool_client();
    let call = json!({ "stage": "prod", "region": "eu-west-1", "configPath": "stacktape.mjs" });
    for operation in ["deploy", "script_run"] {
        world.file("count.log", "0");
        let mut call = call.clone();
        if operation == "script_run" {
            call["scriptName"] = json!("hello");
        }
        let refused = client.ops(operation, &call);
        let reason = &refused.body["data"]["reason"];
        assert_eq!(reason, "stack_changed", "{operation}: {refused:#?}");
    }
    assert!(world.stacks().is_empty());
}

#[test]
fn a_hook_cannot_choose_another_stack() {
    let world = World::with_policy(POLICY);
    let config = |name: &str, command: &str| {
        format!(
            "serviceName: {name}
scripts: {{ swap: {{ type: local-script, properties: {{ executeCommand: '{command}' }} }} }}
hooks: {{ beforeDeploy: [{{ scriptName: swap }}] }}
resources: {{ jobs: {{ type: sqs-queue }} }}
"
        )
    };
    world.config(&config("other", "cp later.yml stacktape.yml"));
    world.file("later.yml", &config("shop", "true"));
    world.trust();
    let mut client = world.tool_client();
    let refused = client.ops("deploy", &json!({ "stage": "prod", "region": "eu-west-1" }));
    assert_eq!(
        refused.body["data"]["reason"], "stack_changed",
        "{refused:#?}"
    );
    assert!(world.stacks().is_empty());
}

#[test]
fn local_development_of_a_forbidden_stack_is_forbidden() {
    let world = World::with_policy(POLICY);
    let text = "export default () => ({ serviceName: 'sh' + 'op', resources: { jobs: { type: 'sqs-queue' } } });";
    world.file("stacktape.mjs", text);
    world.trust();
    let mut client = world.tool_client();
    let call = json!({ "stage": "prod", "configPath": "stacktape.mjs" });
    for operation in ["start", "stop"] {
        let refused = client.dev(operation, &call);
        let reason = &refused.body["data"]["reason"];
        assert_eq!(reason, "policy_denied", "{operation}: {refused:#?}");
    }
}

#[test]
fn a_script_that_was_changed_while_it_waited_is_not_run() {
    let world = World::with_policy(
        "version = 1
approvers = [\"local:*\"]
[[rule]]
operation = \"stack.script_run\"
decision = \"ask\"
",
    );
    let config = |word: &str| {
        format!(
            "serviceName: shop
scripts: {{ hello: {{ type: local-script, properties: {{ executeCommand: 'echo {word} > ran.txt' }} }} }}
resources: {{ jobs: {{ type: sqs-queue }} }}
"
        )
    };
    world.config(&config("reviewed"));
    let mut client = world.tool_client();
    let call = json!({ "stage": "dev", "region": "eu-west-1", "scriptName": "hello" });
    let waiting = client.ops("script_run", &call);
    let run = waiting.body["data"]["runId"].as_str();
    let run = run.unwrap_or_else(|| panic!("{waiting:#?}")).to_owned();
    let show = |json: &[&str]| {
        let mut show = world.command();
        let shown = show
            .args(["runs", "show", &run])
            .args(json)
            .output()
            .unwrap();
        String::from_utf8(shown.stdout).unwrap() + &String::from_utf8(shown.stderr).unwrap()
    };
    assert!(show(&[]).contains("$ echo reviewed"), "{}", show(&[]));
    world.config(&config("changed"));
    let mut approve = world.command();
    approve.args(["runs", "approve", &run]).output().unwrap();
    let started = std::time::Instant::now();
    while !show(&["--json"]).contains("script_changed") {
        assert!(started.elapsed().as_secs() < 60, "{}", show(&[]));
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(!world.project().join("ran.txt").exists());
}
