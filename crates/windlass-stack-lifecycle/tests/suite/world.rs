//! A double, the adapter in front of it, and a clock on which waiting takes no time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use windlass_aws::Aws;
use windlass_cfn_double::{Control, Double, Handle, Options, Pace};
use windlass_config::env::Environment;
use windlass_ports::aws::{ChangeSet, Stack, StackEvent, Target};
use windlass_ports::{BoxFuture, Clock};
use windlass_secrets::Redactor;
use windlass_stack_lifecycle::assets::{AssetStore, TemplatePlace, place_template};
use windlass_stack_lifecycle::change_set::{self, Made};
use windlass_stack_lifecycle::execute::{self, Begun, ExecuteIntent, OnFailure};
use windlass_stack_lifecycle::follow::{self, Trail};
use windlass_stack_lifecycle::plan::Plan;
use windlass_stack_lifecycle::preview::{
    self, DriftWish, Preview, PreviewIntent, PreviewRequest, intend, planned,
};
use windlass_stack_lifecycle::situation::Situation;
use windlass_stack_lifecycle::{Access, Fault, Proposal};
use windlass_testkit::SeededEntropy;
use windlass_types::Timestamp;

pub const STACK: &str = "shop-dev";

#[derive(Clone)]
struct QuickClock(Arc<Mutex<Timestamp>>);

impl Clock for QuickClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }

    fn sleep_until(&self, deadline: Timestamp) -> BoxFuture<'static, ()> {
        let mut now = self.0.lock().unwrap();
        *now = deadline.max(*now);
        Box::pin(async {})
    }
}

pub struct World {
    pub handle: Handle,
    pub access: Access,
    pub store: AssetStore,
    pub redactor: Redactor,
}

impl World {
    /// The adapter tries once only, so that what is tested are the retries of this crate.
    pub async fn start() -> Self {
        let options = Options {
            pace: Pace::PerCall(400),
            ..Options::default()
        };
        let handle = Double::start(options).await.unwrap();
        let clock: Arc<dyn Clock> = Arc::new(QuickClock(Arc::new(Mutex::new(
            "2026-03-01T12:00:00Z".parse().unwrap(),
        ))));
        let environment = Environment::from_pairs([
            ("AWS_EC2_METADATA_DISABLED", "true"),
            ("HOME", "/nonexistent"),
            ("AWS_ACCESS_KEY_ID", "AKIDDOUBLE"),
            ("AWS_SECRET_ACCESS_KEY", "key"),
            ("AWS_REGION", "eu-west-1"),
            ("AWS_MAX_ATTEMPTS", "1"),
            ("AWS_ENDPOINT_URL", &handle.endpoint),
        ]);
        let entropy = Arc::new(SeededEntropy::new(1));
        let aws = Aws::new(&environment, Arc::clone(&clock), entropy.clone());
        let access = Access {
            cloud: Arc::new(aws),
            clock,
            entropy,
            target: Target::default(),
        };
        Self {
            handle,
            access,
            store: AssetStore::new("123456789012", "eu-west-1"),
            redactor: Redactor::new(),
        }
    }

    pub fn control(&self) -> &Control {
        &self.handle.control
    }

    /// Ten minutes from now.
    pub fn deadline(&self) -> Timestamp {
        self.access.clock.now().after(Duration::from_secs(600))
    }

    pub async fn situation(&self) -> Situation {
        Situation::find(&self.access, STACK).await.unwrap()
    }

    pub async fn stack(&self) -> Stack {
        self.situation().await.stack.unwrap()
    }

    pub async fn preview(&self, proposal: &Proposal) -> Result<Preview, Fault> {
        self.preview_with(proposal, DriftWish::Skip).await
    }

    pub async fn preview_with(
        &self,
        proposal: &Proposal,
        drift: DriftWish,
    ) -> Result<Preview, Fault> {
        let situation = Situation::find(&self.access, STACK).await?;
        let intent = intend(&situation, &change_set::name("preview", "run_1"));
        let request = self.request(proposal, &situation, &intent, drift);
        preview::run(&self.access, request, self.deadline()).await
    }

    pub fn request<'a>(
        &'a self,
        proposal: &'a Proposal,
        situation: &'a Situation,
        intent: &'a PreviewIntent,
        drift: DriftWish,
    ) -> PreviewRequest<'a> {
        PreviewRequest {
            proposal,
            situation,
            intent,
            store: &self.store,
            drift,
            redactor: &self.redactor,
        }
    }

    /// The change set of a deployment and its plan.
    pub async fn propose(
        &self,
        proposal: &Proposal,
        run: &str,
    ) -> Result<(Box<ChangeSet>, Plan), Fault> {
        let situation = Situation::find(&self.access, STACK).await?;
        situation.require_deployable(&self.access).await?;
        let place = place_template(&self.access, &self.store, proposal).await?;
        let TemplatePlace::At(template) = place else {
            panic!("there is a place for every template of these tests");
        };
        let made = change_set::make(
            &self.access,
            proposal,
            &change_set::name("deploy", run),
            situation.kind(),
            &template,
            self.deadline(),
        )
        .await?;
        let plan = planned(&self.access, proposal, &situation, &made, &self.redactor).await?;
        match made {
            Made::Ready(set) | Made::Empty(set) => Ok((set, plan)),
        }
    }

    pub async fn intent(
        &self,
        proposal: &Proposal,
        run: &str,
        on_failure: OnFailure,
    ) -> Result<ExecuteIntent, Fault> {
        let (set, plan) = self.propose(proposal, run).await?;
        execute::intend(&self.access, &set, &plan, run, on_failure).await
    }

    /// A deployment to its end, whichever it is.
    pub async fn deploy_with(
        &self,
        proposal: &Proposal,
        run: &str,
        on_failure: OnFailure,
    ) -> Trail {
        let intent = self.intent(proposal, run, on_failure).await.unwrap();
        let begun = execute::begin(&self.access, &intent, self.deadline())
            .await
            .unwrap();
        assert_eq!(begun, Begun::Executed);
        self.follow(intent.trail()).await.unwrap()
    }

    pub async fn deploy(&self, proposal: &Proposal, run: &str) -> Trail {
        self.deploy_with(proposal, run, OnFailure::Rollback).await
    }

    pub async fn follow(&self, mut trail: Trail) -> Result<Trail, Fault> {
        let mut last = 0;
        let mut seen = |trail: &Trail, events: &[StackEvent]| {
            assert!(trail.percent >= last, "progress went down");
            assert!(events.is_sorted_by_key(|event| event.timestamp));
            last = trail.percent;
        };
        follow::to_end(&self.access, &mut trail, self.deadline(), &mut seen).await?;
        Ok(trail)
    }

    /// How often an action was called.
    pub fn called(&self, action: &str) -> usize {
        let calls = serde_json::to_value(self.control().calls()).unwrap();
        let calls = calls.as_array().unwrap();
        calls.iter().filter(|call| call["action"] == action).count()
    }

    /// Stacks that are not deleted, with the names of their change sets that were not executed.
    pub fn left_behind(&self) -> Vec<String> {
        let state = self.control().state();
        let mut left = Vec::new();
        for stack in state["stacks"].as_array().unwrap() {
            if stack["status"] == "DELETE_COMPLETE" {
                continue;
            }
            left.push(format!("{} {}", stack["name"], stack["status"]).replace('"', ""));
            for set in stack["change_sets"].as_array().unwrap() {
                if set["name"].as_str().unwrap().contains("preview") {
                    left.push(set["name"].to_string());
                }
            }
        }
        left
    }
}

/// A stack of Windlass with these resources.
pub fn proposal(resources: Value) -> Proposal {
    Proposal {
        stack_name: STACK.to_owned(),
        template: json!({
            "Description": "windlass-stack shop dev",
            "Resources": resources,
        }),
        tags: BTreeMap::from([("windlass:stack".to_owned(), STACK.to_owned())]),
        names: BTreeMap::from([("Files".to_owned(), "files".to_owned())]),
        ..Proposal::default()
    }
}

pub fn topic() -> Value {
    json!({ "Type": "AWS::SNS::Topic" })
}

pub fn queue(delay: u32) -> Value {
    json!({ "Type": "AWS::SQS::Queue", "Properties": { "DelaySeconds": delay } })
}

pub fn bucket(name: &str) -> Value {
    json!({ "Type": "AWS::S3::Bucket", "Properties": { "BucketName": name } })
}
