//! Any template, any change, any failures: a stack settles, and nothing is lost or left over.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::faults::Moment;
use crate::stack::Stack;
use crate::testing::Harness;

/// One queue of a template: its size, whether its name is the template's, what it needs.
#[derive(Clone, Debug)]
struct Queue {
    delay: u8,
    name: Option<u8>,
    needs: Vec<usize>,
    reads: bool,
}

fn queue(index: usize) -> impl Strategy<Value = Option<Queue>> {
    let queue = (
        0..3u8,
        proptest::option::of(0..3u8),
        proptest::collection::vec(0..index.max(1), 0..3),
        any::<bool>(),
    );
    proptest::option::weighted(0.8, queue).prop_map(move |found| {
        found.map(|(delay, name, needs, reads)| Queue {
            delay,
            name,
            // Only earlier ones, so that there is no circle.
            needs: needs.into_iter().filter(|need| *need < index).collect(),
            reads,
        })
    })
}

fn queues() -> impl Strategy<Value = Vec<Option<Queue>>> {
    (queue(0), queue(1), queue(2), queue(3), queue(4), queue(5))
        .prop_map(|(a, b, c, d, e, f)| vec![a, b, c, d, e, f])
}

fn template(queues: &[Option<Queue>]) -> Value {
    let mut resources = json!({"Anchor": {"Type": "AWS::SNS::Topic"}});
    for (index, queue) in queues.iter().enumerate() {
        let Some(queue) = queue else { continue };
        let needs: Vec<String> = queue
            .needs
            .iter()
            .filter(|need| queues[**need].is_some())
            .map(|need| format!("Q{need}"))
            .collect();
        let mut properties = json!({"DelaySeconds": queue.delay});
        if let Some(name) = queue.name {
            properties["QueueName"] = json!(format!("q{index}-{name}"));
        }
        let mut resource = json!({"Type": "AWS::SQS::Queue", "Properties": properties});
        match (needs.first(), queue.reads) {
            (Some(first), true) => {
                resource["Properties"]["KmsMasterKeyId"] = json!({"Ref": first});
            }
            _ => resource["DependsOn"] = json!(needs),
        }
        resources[format!("Q{index}")] = resource;
    }
    json!({ "Resources": resources })
}

/// Physical ids and properties of everything the stack has.
fn picture(stack: &Stack) -> BTreeMap<String, (Option<String>, Value)> {
    stack
        .resources
        .iter()
        .filter(|(_, resource)| !resource.status.is_gone())
        .map(|(id, resource)| {
            let physical = resource.physical_id().map(str::to_owned);
            (id.clone(), (physical, resource.properties.clone()))
        })
        .collect()
}

fn physical(stack: &Stack) -> BTreeSet<String> {
    picture(stack)
        .into_values()
        .filter_map(|(id, _)| id)
        .collect()
}

fn moment() -> impl Strategy<Value = Moment> {
    prop_oneof![
        Just(Moment::Create),
        Just(Moment::Update),
        Just(Moment::Delete)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn an_update_ends_in_the_new_or_the_old_state(
        before in queues(),
        after in queues(),
        faults in proptest::collection::vec((0..6usize, moment()), 0..3),
    ) {
        let mut harness = Harness::new();
        harness.create("s", &template(&before));
        harness.settle();
        prop_assert_eq!(harness.status("s"), "CREATE_COMPLETE");
        let was = picture(&harness.world.stacks[0]);
        for (index, moment) in faults {
            harness.fail(&format!("Q{index}"), moment, "asked to");
        }
        let next = template(&after);
        let answer = harness.call(
            "UpdateStack",
            &[("StackName", "s"), ("TemplateBody", &next.to_string())],
        );
        harness.settle();
        let stack = &harness.world.stacks[0];
        let now = picture(stack);
        match stack.status.name() {
            "CREATE_COMPLETE" => prop_assert!(answer.is_err() && now == was),
            "UPDATE_ROLLBACK_COMPLETE" => prop_assert_eq!(&now, &was),
            "UPDATE_COMPLETE" => {
                let wanted: Vec<&String> = next["Resources"].as_object().unwrap().keys().collect();
                prop_assert_eq!(now.keys().collect::<Vec<_>>(), wanted);
            }
            other => prop_assert!(false, "{}", other),
        }
        prop_assert!(stack.old.is_empty() && stack.operation.is_none());
        // Deletion leaves nothing, whatever happened before, except what a clean-up could not remove.
        let abandoned: BTreeSet<String> = stack
            .events
            .iter()
            .filter(|event| event.status == "DELETE_FAILED")
            .filter_map(|event| event.physical_id.clone())
            .collect();
        prop_assert!(physical(stack).is_disjoint(&abandoned));
        harness.world.env.faults.clear();
        harness.ok("DeleteStack", &[("StackName", "s")]);
        harness.settle();
        prop_assert_eq!(harness.status("s"), "DELETE_COMPLETE");
        let left: BTreeSet<String> = harness.world.env.taken_names().into_iter().collect();
        prop_assert_eq!(left, abandoned);
    }

    #[test]
    fn a_creation_is_complete_or_removed(
        queues in queues(),
        failing in proptest::collection::vec(0..6usize, 0..3),
    ) {
        let mut harness = Harness::new();
        for index in failing {
            harness.fail(&format!("Q{index}"), Moment::Create, "asked to");
        }
        harness.create("s", &template(&queues));
        harness.settle();
        let stack = &harness.world.stacks[0];
        let left = harness.world.env.taken_names().len();
        match stack.status.name() {
            "CREATE_COMPLETE" => prop_assert_eq!(left, stack.resources.len()),
            "ROLLBACK_COMPLETE" => prop_assert_eq!(left, 0),
            other => prop_assert!(false, "{}", other),
        }
    }
}
