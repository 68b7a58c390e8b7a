//! Nothing of a spec is lost and nothing is made up, judged by the ids in the artifacts of a job.
//!
//! Reads the JSON that a client gets and follows the ids by itself; what the product says about its own
//! coverage is only compared with what is found here. The sentences that state a behaviour are listed
//! by hand, in the words of the specs.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::Duration,
};

use serde_json::{Value, json};
use windlass_testkit::TestWorld;
use windlass_types::RunId;

use super::world::offline;

/// Default reasons that may stand for an item instead of the spec.
const DEFAULTS: [&str; 6] = [
    "stack",
    "system-fields",
    "design-tokens",
    "states",
    "scaffolding",
    "rights",
];

/// Everything that a job leaves, as one object keyed by phase.
async fn artifacts(spec: &str, stack: &str) -> Value {
    let world = TestWorld::new(|| vec![offline()]).with_threads();
    let process = world.driving().await;
    let begun = process
        .call(
            "pipeline.full_pipeline",
            json!({ "spec": spec, "stack_preference": stack }),
        )
        .await
        .unwrap();
    let job = begun.output["job_id"].as_str().unwrap().to_owned();
    let run: RunId = job.parse().unwrap();
    let settled = process.engine.settle(&run, Duration::from_secs(86_400));
    tokio::time::timeout(Duration::from_secs(60), settled)
        .await
        .expect("the job ends")
        .unwrap();
    let status = process
        .call("pipeline.get_status", json!({ "job_id": job }))
        .await
        .unwrap()
        .output;
    assert_eq!(status["status"], "completed", "{spec}\n{status:#}");
    let answer = process
        .call(
            "pipeline.get_artifact",
            json!({ "job_id": job, "artifact_type": "all" }),
        )
        .await
        .unwrap();
    process.stop().await;
    answer.output
}

fn list<'a>(value: &'a Value, pointer: &str) -> Vec<&'a Value> {
    value
        .pointer(pointer)
        .and_then(Value::as_array)
        .map(|items| items.iter().collect())
        .unwrap_or_default()
}

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap_or_default()
}

fn trace(item: &Value) -> Vec<String> {
    list(item, "/trace")
        .into_iter()
        .map(|one| one.as_str().unwrap_or_default().to_owned())
        .collect()
}

/// All items of the artifacts by the id that others name them with, and their reasons.
fn items(all: &Value) -> BTreeMap<String, Vec<String>> {
    let mut items = BTreeMap::new();
    for kind in ["functional", "non_functional", "constraints"] {
        for one in list(all, &format!("/strategy/requirements/{kind}")) {
            items.insert(format!("req:{}", text(one, "id")), trace(one));
        }
    }
    let design = "/architecture/architecture";
    for one in list(all, &format!("{design}/data_model/entities")) {
        items.insert(format!("entity:{}", text(one, "name")), trace(one));
    }
    for one in list(all, &format!("{design}/api_design/endpoints")) {
        let id = format!("endpoint:{} {}", text(one, "method"), text(one, "path"));
        items.insert(id, trace(one));
    }
    for (at, one) in list(all, &format!("{design}/security/policies"))
        .into_iter()
        .enumerate()
    {
        items.insert(format!("policy:{at}"), trace(one));
    }
    for one in list(all, "/ux/ux_spec/pages") {
        items.insert(format!("page:{}", text(one, "name")), trace(one));
    }
    for one in list(all, "/ux/ux_spec/user_flows") {
        items.insert(format!("flow:{}", text(one, "name")), trace(one));
    }
    for one in list(all, "/code/files") {
        items.insert(format!("file:{}", text(one, "path")), trace(one));
    }
    items
}

/// Whether a reason ends at a place in the spec or at a known default, by any way.
fn ends(
    id: &str,
    items: &BTreeMap<String, Vec<String>>,
    spans: &BTreeSet<String>,
    seen: &mut BTreeSet<String>,
) -> bool {
    if let Some(name) = id.strip_prefix("default:") {
        return DEFAULTS.contains(&name);
    }
    if let Some(span) = id.strip_prefix("spec:") {
        return spans.contains(span);
    }
    if !seen.insert(id.to_owned()) {
        return false;
    }
    items.get(id).is_some_and(|reasons| {
        reasons
            .iter()
            .any(|reason| ends(reason, items, spans, seen))
    })
}

/// What is wrong with the artifacts of a spec.
fn faults(spec: &str, behaviours: &[String], all: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let items = items(all);
    let mut spans: BTreeSet<String> = BTreeSet::new();
    let mut ranges = Vec::new();
    for span in list(all, "/strategy/coverage/spans") {
        let id = text(span, "id").to_owned();
        let range: Vec<usize> = list(span, "/range")
            .iter()
            .filter_map(|end| usize::try_from(end.as_u64()?).ok())
            .collect();
        ranges.push((id.clone(), range[0]..range[1]));
        spans.insert(id);
    }

    // Every item has reasons, every reason exists, and every way ends at the spec or a default.
    for (id, reasons) in &items {
        if reasons.is_empty() {
            faults.push(format!("{id} has no trace"));
        }
        for reason in reasons {
            if !ends(reason, &items, &spans, &mut BTreeSet::new()) {
                faults.push(format!("{id}: {reason} leads nowhere"));
            }
        }
    }

    // Every sentence on behaviour has a requirement.
    for behaviour in behaviours {
        let Some(start) = spec.find(behaviour.as_str()) else {
            faults.push(format!("{behaviour:?} is not in the spec"));
            continue;
        };
        let end = start + behaviour.len();
        let inside: Vec<String> = ranges
            .iter()
            .filter(|(_, range)| range.start < end && start < range.end)
            .map(|(id, _)| format!("spec:{id}"))
            .collect();
        let known = items.iter().any(|(id, reasons)| {
            id.starts_with("req:FR-") && reasons.iter().any(|reason| inside.contains(reason))
        });
        if !known {
            faults.push(format!("no requirement is from {behaviour:?}"));
        }
    }

    // Every must-requirement reaches an endpoint or a page, and a file; what is out of scope nothing.
    for one in list(all, "/strategy/requirements/functional") {
        let id = format!("req:{}", text(one, "id"));
        let named = |kind: &str| {
            items
                .iter()
                .filter(|(item, reasons)| item.starts_with(kind) && reasons.contains(&id))
                .count()
        };
        let shown = named("endpoint:") + named("page:");
        match text(one, "priority") {
            "must" if shown == 0 || named("file:") == 0 => {
                faults.push(format!("{id} is lost: {}", text(one, "description")));
            }
            "wont" if shown + named("file:src/") > 0 => {
                faults.push(format!(
                    "{id} is out of scope: {}",
                    text(one, "description")
                ));
            }
            _ => {}
        }
    }

    // The report says the same.
    for phase in ["strategy", "architecture", "ux", "code"] {
        let coverage = &all[phase]["coverage"];
        // With code, the figure is about what works; before, about what was read.
        if phase == "code" {
            for one in list(coverage, "/requirements") {
                let functional = text(one, "id").starts_with("FR-");
                if functional && one["status"].is_null() {
                    faults.push(format!("code: {} has no status", text(one, "id")));
                }
            }
        } else if coverage["percent"] != json!(100) {
            faults.push(format!("{phase}: {} per cent", coverage["percent"]));
        }
        for one in list(coverage, "/untraced") {
            faults.push(format!("{phase}: {one} is reported without a trace"));
        }
    }
    faults
}

/// Sentences and bullets of an example that state what a user can do, what is kept or what happens.
fn example(name: &str) -> (String, Vec<String>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let spec = fs_err::read_to_string(root.join(format!("examples/pipeline/{name}.md"))).unwrap();
    let behaviours: &[&str] = match name {
        "clinic-appointments" => &[
            "patients book, move and cancel their appointments themselves",
            "Patients register with their phone number and a one-time code",
            "employees sign in with a password",
            "Nobody gets in without signing in.",
            "As a patient, I want to book an appointment with a doctor",
            "An appointment has a start time, a duration",
            "Each appointment belongs to one patient and one doctor.",
            "Patients may cancel an appointment if it starts in more than 24 hours.",
            "They may also move it to another free slot.",
            "Patients see only their own appointments.",
            "Doctors see the appointments of their own patients",
            "can add notes to each visit",
            "receptionists must not read visit notes",
            "Receptionists can create, move and cancel appointments for any patient",
            "they confirm requested appointments",
            "Requests are confirmed or declined by receptionists within one working day.",
            "When a patient cancels, the system notifies the receptionist by email.",
            "A reminder is sent by SMS through Twilio",
            "Doctors set their weekly availability.",
            "An availability has a weekday",
            "The clinic manager manages doctors, rooms and opening hours",
            "can view reports on utilisation and no-shows",
            "A room has a name, a floor and a capacity.",
            "For each patient we keep the full name",
            "Doctors have a name, a specialty and a photo.",
            "the second one gets an error message and is offered the next free slot",
        ],
        "knowledge-base" => &[
            "Every company has a workspace.",
            "Members belong to a workspace and only see the articles of their own workspace.",
            "Workspace owners can invite members by email, change a member's role",
            "People sign in with Google.",
            "Editors can write articles in Markdown, attach files up to 25 MB and save drafts.",
            "An article has a title, a body, a slug",
            "Articles are grouped in collections",
            "a collection has a name, an emoji and a sort order",
            "Articles can have many tags and tags can have many articles.",
            "Every change creates a new version",
            "editors can compare and restore versions",
            "Drafts are private to their author.",
            "Articles must be approved by an owner before they are published.",
            "Readers can search articles by full text and filter the results by tag",
            "They can rate an article as helpful or not helpful, comment on it and mark it as a favourite.",
            "Authors may edit or delete their comments.",
            "Readers can not edit articles.",
            "Owners may publish single articles to the web",
            "anybody with the link can read them",
            "it is marked as outdated and its author gets a notification in Slack",
            "Owners see an \"Article Health\" page",
        ],
        "quiz-platform" => &[
            "Teachers prepare quizzes, students take them, and everybody sees how they did.",
            "Users sign up with email and password and sign in before they do anything else.",
            "Teachers can create, edit and delete their own quizzes.",
            "A quiz has a title, a description",
            "Each quiz contains questions.",
            "A question has a text, a type",
            "Every question has answers",
            "Teachers can publish a quiz when it has at least 5 questions.",
            "Students can browse published quizzes and filter them by category.",
            "Students can start an attempt and submit it before the time limit ends.",
            "An attempt has a score",
            "Students can only see their own attempts.",
            "Teachers can view the attempts on their quizzes and export results as CSV.",
            "Students must not see the correct answers until they have submitted their attempt.",
            "As a teacher, I want to duplicate a quiz",
            "Administrators can view, suspend and delete users.",
            "The system should send an email to the teacher when a student submits an attempt.",
            "Teachers could optionally share a quiz with other teachers.",
        ],
        "warehouse" => &[
            "Receives deliveries, moves stock between locations, picks orders",
            "Creates and approves purchase orders, manages suppliers",
            "Views all stock movements and exports reports as CSV",
            "Manages users and locations",
            "A purchase order belongs to a supplier and has many order lines.",
            "Each order line refers to one product.",
            "A stock movement is for one product and one location.",
            "Products can be stored in many locations, and locations hold many products.",
            "Clerks must be able to scan a barcode and record a stock movement in at most 3 taps.",
            "The system shall reject a stock movement that would make the quantity negative.",
            "Purchase orders above $5,000 are approved by the purchasing manager.",
            "Clerks can search products by SKU or name and see the current stock per location.",
            "the system creates a draft purchase order and notifies the purchasing manager",
            "Clerks shall not change or delete stock movements",
            "Purchasing managers can add, edit and deactivate suppliers.",
            "Auditors have read-only access to everything.",
            "Administrators invite users and assign a role to each user.",
            "The dashboard shows stock value, open purchase orders and products below reorder level.",
            "The weekly stock report is emailed to the purchasing manager every Monday at 07:00.",
        ],
        other => panic!("no sentences of {other}"),
    };
    (
        spec,
        behaviours.iter().map(|&text| text.to_owned()).collect(),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_the_examples_is_lost_and_nothing_is_made_up() {
    for name in [
        "clinic-appointments",
        "knowledge-base",
        "quiz-platform",
        "warehouse",
    ] {
        let (spec, behaviours) = example(name);
        for stack in ["nextjs-react", "vite-react"] {
            let all = artifacts(&spec, stack).await;
            let faults = faults(&spec, &behaviours, &all);
            assert_eq!(faults, Vec::<String>::new(), "{name} {stack}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_unusual_specs_is_lost_and_nothing_is_made_up() {
    let odd: &[(&str, &[&str])] = &[
        ("Nurses can record pulses.", &["Nurses can record pulses."]),
        (
            "THE APP MUST LET USERS UPLOAD PHOTOS!!! users can delete photos",
            &["USERS UPLOAD PHOTOS", "users can delete photos"],
        ),
        (
            "- [ ] Chefs can publish recipes\r\n- [x] Guests can rate recipes\r\n\r\n> A recipe has a title.",
            &[
                "Chefs can publish recipes",
                "Guests can rate recipes",
                "A recipe has a title.",
            ],
        ),
        (
            "Gäste können nichts. Editors can translate “Über-Seiten” into 日本語 🎌 and export them.",
            &["Editors can translate"],
        ),
        (
            "Users can export, re-import, and/or archive reports; managers can't delete them. 3.5 stars max.",
            &["Users can export", "managers can't delete them"],
        ),
        (
            "| Role | Can |\n|---|---|\n| Pilot | files flight plans |\n| Tower | approves flight plans |",
            &["files flight plans", "approves flight plans"],
        ),
        (
            "<script>alert(1)</script> Members can order {{items}} from the `select` menu; drop table users;",
            &["Members can order"],
        ),
    ];
    for (spec, behaviours) in odd {
        let behaviours: Vec<String> = behaviours.iter().map(|&text| text.to_owned()).collect();
        let all = artifacts(spec, "vite-react").await;
        assert_eq!(
            faults(spec, &behaviours, &all),
            Vec::<String>::new(),
            "{spec}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_lost_or_made_up_is_found() {
    let (spec, behaviours) = example("quiz-platform");
    let whole = artifacts(&spec, "vite-react").await;
    let found = |change: &dyn Fn(&mut Value)| {
        let mut all = whole.clone();
        change(&mut all);
        faults(&spec, &behaviours, &all)
    };
    let untraced = found(&|all| all["code"]["files"][0]["trace"] = json!([]));
    assert_eq!(untraced.len(), 1, "{untraced:?}");
    let invented = found(&|all| {
        all["ux"]["ux_spec"]["pages"][0]["trace"] = json!(["req:FR-999"]);
    });
    assert!(
        invented
            .iter()
            .any(|fault| fault.contains("req:FR-999 leads nowhere")),
        "{invented:?}"
    );
    let lost = found(&|all| {
        let all = all["strategy"]["requirements"]["functional"].as_array_mut();
        all.unwrap()
            .retain(|one| !text(one, "description").contains("duplicate a quiz"));
    });
    assert!(
        lost.iter()
            .any(|fault| fault.contains("I want to duplicate a quiz")),
        "{lost:?}"
    );
}
