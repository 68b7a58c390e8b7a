//! A double without a server, for the tests of this crate.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::command::{Command, apply};
use crate::faults::{Moment, ResourceEffect, ResourceFault};
use crate::wire::{Outcome, Reply, Request};
use crate::world::World;

const AUTHORIZATION: &str = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260101/eu-west-1/cloudformation/aws4_request, SignedHeaders=host, Signature=00";

pub struct Harness {
    pub world: World,
}

impl Harness {
    pub fn new() -> Harness {
        Harness {
            world: World::new("123456789012", 7),
        }
    }

    pub fn send(&mut self, request: &Request) -> Reply {
        match self.world.handle(request) {
            Outcome::Answer(reply) | Outcome::Slow(_, reply) => reply,
            Outcome::Cut => Reply::empty(0),
        }
    }

    /// The text of an answer, or `code: message`.
    pub fn call(&mut self, action: &str, params: &[(&str, &str)]) -> Result<String, String> {
        let mut form = url::form_urlencoded::Serializer::new(String::new());
        form.append_pair("Action", action);
        form.append_pair("Version", "2010-05-15");
        for (name, value) in params {
            form.append_pair(name, value);
        }
        let reply = self.send(&Request {
            method: "POST".to_owned(),
            path: "/".to_owned(),
            query: String::new(),
            headers: BTreeMap::from([
                (
                    "content-type".to_owned(),
                    "application/x-www-form-urlencoded".to_owned(),
                ),
                ("authorization".to_owned(), AUTHORIZATION.to_owned()),
            ]),
            body: form.finish().into_bytes(),
        });
        let text = String::from_utf8(reply.body).unwrap();
        if reply.status == 200 {
            return Ok(text);
        }
        let code = field(&text, "Code").unwrap_or_default();
        let message = field(&text, "Message").unwrap_or_default();
        Err(format!("{code}: {message}"))
    }

    pub fn ok(&mut self, action: &str, params: &[(&str, &str)]) -> String {
        self.call(action, params)
            .unwrap_or_else(|error| panic!("{action}: {error}"))
    }

    pub fn refused(&mut self, action: &str, params: &[(&str, &str)]) -> String {
        match self.call(action, params) {
            Ok(answer) => panic!("{action} was answered: {answer}"),
            Err(error) => error,
        }
    }

    pub fn advance(&mut self, ms: u64) {
        self.world.advance_to(self.world.env.now + ms);
    }

    /// Lets everything that can end come to its end.
    pub fn settle(&mut self) {
        self.advance(3_600_000);
    }

    pub fn command(&mut self, command: Value) {
        apply(
            &mut self.world,
            serde_json::from_value::<Command>(command).unwrap(),
        )
        .unwrap();
    }

    pub fn fail(&mut self, logical_id: &str, on: Moment, reason: &str) {
        let effect = ResourceEffect::Fail {
            reason: reason.to_owned(),
        };
        self.fault(logical_id, on, effect);
    }

    pub fn hang(&mut self, logical_id: &str, on: Moment) {
        self.fault(logical_id, on, ResourceEffect::Hang);
    }

    fn fault(&mut self, logical_id: &str, on: Moment, effect: ResourceEffect) {
        self.world.env.faults.add_resource(ResourceFault {
            stack: None,
            logical_id: logical_id.to_owned(),
            on,
            effect,
            times: 1,
        });
    }

    pub fn create(&mut self, name: &str, template: &Value) {
        self.ok(
            "CreateStack",
            &[("StackName", name), ("TemplateBody", &template.to_string())],
        );
    }

    /// Makes, waits for and executes an update by change set.
    pub fn update(&mut self, name: &str, template: &Value, token: &str) {
        self.ok(
            "CreateChangeSet",
            &[
                ("StackName", name),
                ("ChangeSetName", token),
                ("TemplateBody", &template.to_string()),
            ],
        );
        self.advance(1_000);
        self.ok(
            "ExecuteChangeSet",
            &[
                ("StackName", name),
                ("ChangeSetName", token),
                ("ClientRequestToken", token),
            ],
        );
    }

    pub fn status(&self, name: &str) -> &'static str {
        let stack = self
            .world
            .stacks
            .iter()
            .rev()
            .find(|stack| stack.name == name);
        stack.map_or("NONE", |stack| stack.status.name())
    }

    /// Events since the last call, oldest first, each as `+ms id STATUS physical? (reason)`.
    pub fn events(&mut self, name: &str, from: &mut usize) -> String {
        let stack = self
            .world
            .stacks
            .iter()
            .rev()
            .find(|stack| stack.name == name)
            .unwrap();
        let start = stack.events.get(*from).map_or(0, |event| event.at);
        let lines: Vec<String> = stack.events[*from..]
            .iter()
            .map(|event| {
                let is_known = event.physical_id.is_some();
                let reason = event.reason.as_ref();
                format!(
                    "+{} {} {}{}{}",
                    event.at - start,
                    event.logical_id,
                    event.status,
                    if is_known { " *" } else { "" },
                    reason
                        .map(|reason| format!(" ({reason})"))
                        .unwrap_or_default()
                )
            })
            .collect();
        *from = stack.events.len();
        lines.join("\n")
    }

    pub fn physical(&self, name: &str, logical_id: &str) -> Option<String> {
        let stack = self
            .world
            .stacks
            .iter()
            .rev()
            .find(|stack| stack.name == name)?;
        let resource = stack.resources.get(logical_id)?;
        resource.physical_id().map(str::to_owned)
    }
}

/// A function that needs a role and a table, and an independent queue.
pub fn shop() -> Value {
    json!({"Resources": {
        "Role": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {}}},
        "Table": {"Type": "AWS::DynamoDB::Table", "Properties": {
            "KeySchema": [], "TableName": "orders"}},
        "Queue": {"Type": "AWS::SQS::Queue"},
        "Api": {"Type": "AWS::Lambda::Function", "Properties": {
            "Code": {"ZipFile": "x"}, "Role": {"Fn::GetAtt": ["Role", "Arn"]},
            "Environment": {"Variables": {"TABLE": {"Ref": "Table"}}}}},
    }, "Outputs": {"ApiName": {"Value": {"Ref": "Api"}}}})
}

pub fn with(mut template: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    template.pointer_mut(parent).unwrap()[key] = value;
    template
}

pub fn create_shop(harness: &mut Harness) {
    harness.ok(
        "CreateStack",
        &[
            ("StackName", "shop"),
            ("TemplateBody", &shop().to_string()),
            ("Capabilities.member.1", "CAPABILITY_IAM"),
        ],
    );
    harness.settle();
    assert_eq!(harness.status("shop"), "CREATE_COMPLETE");
}

pub fn update(harness: &mut Harness, template: &Value, extra: &[(&str, &str)]) {
    let body = template.to_string();
    let mut params = vec![
        ("StackName", "shop"),
        ("TemplateBody", body.as_str()),
        ("Capabilities.member.1", "CAPABILITY_IAM"),
    ];
    params.extend_from_slice(extra);
    harness.ok("UpdateStack", &params);
}

/// The text of the first element of that name.
pub fn field(xml: &str, name: &str) -> Option<String> {
    let document = roxmltree::Document::parse(xml).ok()?;
    document
        .descendants()
        .find(|node| node.tag_name().name() == name)
        .and_then(|node| node.text())
        .map(str::to_owned)
}

/// All texts of elements of that name.
pub fn fields(xml: &str, name: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(xml).unwrap();
    document
        .descendants()
        .filter(|node| node.tag_name().name() == name)
        .map(|node| node.text().unwrap_or_default().to_owned())
        .collect()
}
