//! Policy means the same for every operation: a matrix generated from the catalogue.
//!
//! Every operation is called over HTTP with its own example, by a caller who may approve and by
//! one who may not, under a rule that allows, asks or denies. What came of each call is read from
//! the audit, whose codes are the same for every contract.

use std::collections::HashMap;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::support::{
    binary::{Daemon, free_address, say, windlass},
    home::Place,
    http::Ask,
};

const SETTINGS: &str = "
[limits.tiers.pro]
per_minute = 100000
concurrency = 64
concurrent_jobs = 1000
pipelines_per_hour = 100000
";

/// Operations whose examples would change the machine outside the home.
const LEFT_OUT: [&str; 1] = ["admin.store_backup"];

struct Operation {
    name: String,
    flow: String,
    example: Value,
    /// The field that says yes, where it has one.
    yes: Option<&'static str>,
}

impl Operation {
    fn reads(&self) -> bool {
        matches!(self.flow.as_str(), "query" | "plan")
    }

    /// Whether a call of it is another operation's, whose name the audit has.
    fn is_dispatch(&self) -> bool {
        ["stack.ops", "stack.dev", "stack.diagnose"].contains(&self.name.as_str())
    }
}

struct Room {
    place: Place,
    daemon: Daemon,
    clerk: String,
    lead: String,
}

impl Room {
    /// A daemon under one rule for the holders of keys.
    fn under(decision: &str) -> Self {
        let place = Place::with_policy(&format!(
            "version = 1\napprovers = [\"local:*\", \"scope:approve\"]\n[[rule]]\nprincipal = \"key:*\"\n\
             decision = \"{decision}\"\nreason = \"matrix\"\n"
        ));
        let home = place.home();
        fs_err::write(home.join("config.toml"), SETTINGS).unwrap();
        let key = |scopes: &[&str]| {
            let mut arguments = vec!["keys", "create", "test", "--tier", "pro"];
            for scope in scopes {
                arguments.extend(["--scope", scope]);
            }
            say(&home, &arguments).worked().stdout.trim().to_owned()
        };
        let (clerk, lead) = (key(&["*"]), key(&["*", "approve"]));
        let mut command = windlass(&home);
        command
            .env("HOME", place.root())
            .env("PATH", "/usr/bin:/bin")
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .current_dir(place.scratch());
        let mut daemon = Daemon::spawn_with(command, free_address(), &[]);
        daemon.wait_until_ready();
        Self {
            place,
            daemon,
            clerk,
            lead,
        }
    }

    fn get(&self, path: &str) -> Value {
        let ask = Ask::get(path).with("authorization", format!("Bearer {}", self.lead));
        ask.send(self.daemon.address).unwrap().json()
    }

    fn operations(&self) -> Vec<Operation> {
        let list = self.get("/v1/operations");
        let names = list["operations"].as_array().unwrap().iter();
        names
            .map(|info| info["name"].as_str().unwrap().to_owned())
            .filter(|name| !LEFT_OUT.contains(&name.as_str()))
            .map(|name| {
                let info = self.get(&format!("/v1/operations/{name}"));
                let fields = &info["input_schema"]["properties"];
                let flow = info["flow"].as_str().unwrap().to_owned();
                let yes = ["yes", "confirm"].into_iter();
                Operation {
                    example: match &info["examples"][0]["input"] {
                        Value::Null => minimal(&info["input_schema"]),
                        example => example.clone(),
                    },
                    yes: yes.clone().find(|field| !fields[field].is_null()),
                    flow,
                    name,
                }
            })
            .collect()
    }

    fn call(&self, operation: &Operation, key: &str, yes: bool) {
        let mut input = operation.example.clone();
        if let (Some(field), true) = (operation.yes, yes) {
            input[field] = json!(true);
        }
        let path = format!("/v1/operations/{}", operation.name);
        let ask =
            Ask::post(&path, input.to_string()).with("authorization", format!("Bearer {key}"));
        let reply = ask.send(self.daemon.address);
        assert!(reply.is_ok(), "{}: {reply:?}", operation.name);
    }

    /// What every call by a key came to, in the order of the calls of each operation.
    fn outcomes(&mut self) -> HashMap<String, Vec<Outcome>> {
        // Readings are recorded together, a moment after they were answered or when the process
        // that answered them ends.
        let process = &mut self.daemon.process.0;
        kill_process(Pid::from_child(process), Signal::TERM).unwrap();
        process.wait().unwrap();
        let mut outcomes: HashMap<String, Vec<Outcome>> = HashMap::new();
        let mut after = 0;
        loop {
            let input = json!({ "after_seq": after, "limit": 1000 }).to_string();
            let home = self.place.home();
            let said = say(&home, &["ops", "call", "admin.audit", "--input", &input]);
            let page = said.worked().json();
            for call in page["calls"].as_array().unwrap() {
                let text = |field: &str| call[field].as_str().unwrap_or_default().to_owned();
                if text("principal").starts_with("key:") {
                    outcomes
                        .entry(text("operation"))
                        .or_default()
                        .push(Outcome {
                            code: text("outcome"),
                            run: call["run_id"].as_str().map(str::to_owned),
                        });
                }
            }
            let next = page["next_after_seq"].as_u64().unwrap();
            // Looking is recorded as well, so the last page is the one that is not full.
            if page["calls"].as_array().unwrap().len() < 1000 {
                return outcomes;
            }
            after = next;
        }
    }

    /// Where every run stands.
    fn states(&self) -> HashMap<String, String> {
        let home = self.place.home();
        let said = say(&home, &["runs", "list", "--limit", "500", "--json"]).worked();
        let mut states = HashMap::new();
        collect_states(&said.json(), &mut states);
        states
    }
}

/// The runs of a list, wherever the document keeps them.
fn collect_states(document: &Value, states: &mut HashMap<String, String>) {
    if let (Some(run), Some(state)) = (document["run_id"].as_str(), document["state"].as_str()) {
        states.insert(run.to_owned(), state.to_owned());
    }
    match document {
        Value::Object(map) => map.values().for_each(|it| collect_states(it, states)),
        Value::Array(list) => list.iter().for_each(|it| collect_states(it, states)),
        _ => {}
    }
}

/// The least input that a schema accepts, for operations without an example.
fn minimal(schema: &Value) -> Value {
    let mut input = json!({});
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().unwrap();
        let field = &schema["properties"][name];
        input[name] = match field["type"].as_str() {
            _ if name == "run_id" => json!("run_0123456789abcdef0123456789abcdef"),
            _ if field["enum"].is_array() => field["enum"][0].clone(),
            Some("array") => json!([]),
            Some("object") => minimal(field),
            Some("boolean") => json!(true),
            Some("integer" | "number") => json!(1),
            _ => json!("x"),
        };
    }
    input
}

/// What a call came to.
struct Outcome {
    code: String,
    run: Option<String>,
}

#[test]
fn a_rule_that_denies_refuses_every_operation() {
    let mut room = Room::under("deny");
    let operations = room.operations();
    for operation in &operations {
        room.call(operation, &room.clerk, true);
        room.call(operation, &room.lead, true);
    }
    let mut outcomes = room.outcomes();
    let mut wrong = Vec::new();
    for operation in operations.iter().filter(|it| !it.is_dispatch()) {
        let found = outcomes.remove(&operation.name).unwrap_or_default();
        let denied = |it: &Outcome| it.code == "POLICY_DENIED" && it.run.is_none();
        if found.len() < 2 || !found.iter().all(denied) {
            let codes: Vec<&String> = found.iter().map(|it| &it.code).collect();
            wrong.push(format!("{}: {codes:?}", operation.name));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_rule_that_asks_stops_callers_who_may_not_approve() {
    let mut room = Room::under("ask");
    let operations = room.operations();
    for operation in &operations {
        room.call(operation, &room.clerk, true);
    }
    let (mut outcomes, states) = (room.outcomes(), room.states());
    let (mut wrong, mut waiting) = (Vec::new(), 0);
    for operation in operations.iter().filter(|it| !it.is_dispatch()) {
        let name = &operation.name;
        for outcome in outcomes.remove(name).unwrap_or_default() {
            match outcome.run {
                None if outcome.code == "OK" => wrong.push(format!("{name}: continued")),
                None => {}
                Some(run) if operation.reads() && outcome.code == "APPROVAL_REQUIRED" => {
                    wrong.push(format!("{name}: a reading waits as {run}"));
                }
                Some(run) => match states.get(&run).map_or("", String::as_str) {
                    "completed" => wrong.push(format!("{name}: {run} completed")),
                    "waiting" | "queued" => waiting += 1,
                    _ => {}
                },
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(waiting >= 20, "only {waiting} calls wait for an approval");
}

#[test]
fn a_rule_that_asks_admits_approvers_who_say_yes() {
    let mut room = Room::under("ask");
    let operations = room.operations();
    for operation in &operations {
        room.call(operation, &room.lead, true);
        room.call(operation, &room.lead, false);
    }
    let (mut outcomes, states) = (room.outcomes(), room.states());
    let mut wrong = Vec::new();
    for operation in operations.iter().filter(|it| !it.is_dispatch()) {
        let name = &operation.name;
        let found = outcomes.remove(name).unwrap_or_default();
        if let Some(yes) = found.first()
            && matches!(yes.code.as_str(), "APPROVAL_REQUIRED" | "POLICY_DENIED")
        {
            wrong.push(format!("{name}: {}", yes.code));
        }
        // Without the yes that a contract has a field for, no run comes to its end.
        if operation.yes.is_some()
            && let Some(Outcome { run: Some(run), .. }) = found.get(1)
            && states.get(run).is_some_and(|state| state == "completed")
        {
            wrong.push(format!("{name}: continued without a yes"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn a_rule_that_allows_needs_no_approval() {
    let mut room = Room::under("allow");
    let operations = room.operations();
    for operation in &operations {
        room.call(operation, &room.clerk, true);
    }
    let outcomes = room.outcomes();
    let wrong: Vec<String> = outcomes
        .iter()
        .flat_map(|(name, found)| found.iter().map(move |outcome| (name, outcome)))
        .filter(|(_, it)| matches!(it.code.as_str(), "APPROVAL_REQUIRED" | "POLICY_DENIED"))
        .map(|(name, outcome)| format!("{name}: {}", outcome.code))
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
