//! Tests of questions on a small corpus: modes, filters, refusals, abstention.

use super::*;
use crate::query::Mode;

const QUEUE: &str = "\
---
docType: config-ref
title: sqs-queue
resourceType: sqs-queue
tags: [queue, messages]
---
# sqs-queue

A queue holds messages until a worker takes them.

## Dead letters

Messages that fail five times go to another queue.

```yaml
resources:
  jobs:
    type: sqs-queue
```

## Delay

New messages wait `delayMessagesSecond` seconds.
";

const WORKER: &str = "\
---
docType: recipe
title: Queue worker
tags: [sqs-queue, function]
---
# Queue worker

A function takes messages of a queue in batches.

## Deploy

Then deploy the stack:

```console
$ windlass stack deploy
```
";

const UNSUPPORTED: &str = "\
---
docType: concept
title: Not supported
---
# Not supported

## Types

| type | also called | nearest | how |
| --- | --- | --- | --- |
| `kafka-topic` | kafka, msk | `sqs-queue` | Use a queue. |
";

fn pages() -> Vec<Page> {
    [
        ("stack/config-ref/sqs-queue.md", QUEUE),
        ("stack/recipe/worker.md", WORKER),
        ("stack/concept/unsupported-features.md", UNSUPPORTED),
    ]
    .into_iter()
    .map(|(path, text)| Page::read(path, text).unwrap())
    .collect()
}

fn asked(query: &Query) -> String {
    let pages = pages();
    let answer = Docs::of(&pages).query(query).unwrap();
    format!("{:#}", serde_json::to_value(answer).unwrap())
}

#[test]
fn an_answer_quotes_with_places() {
    insta::assert_snapshot!(asked(&Query::new("what happens to dead letters in sqs")), @r##"
    {
      "answer": "Messages that fail five times go to another queue. [stack/config-ref/sqs-queue.md#dead-letters]",
      "nextQueries": [
        "sqs-queue Delay",
        "Queue worker"
      ],
      "references": [
        {
          "docType": "config-ref",
          "path": "stack/config-ref/sqs-queue.md",
          "title": "sqs-queue"
        }
      ],
      "snippets": [
        {
          "code": "resources:\n  jobs:\n    type: sqs-queue\n",
          "language": "yaml"
        }
      ]
    }
    "##);
}

#[test]
fn places_and_code_by_mode() {
    let mut query = Query::new("deploy the worker");
    query.mode = Mode::Reference;
    query.max_items = 1;
    insta::assert_snapshot!(Docs::of(&pages()).query(&query).unwrap().answer, @"- Queue worker › Deploy [stack/recipe/worker.md#deploy]");
    query.mode = Mode::Snippet;
    let answer = Docs::of(&pages()).query(&query).unwrap();
    assert!(
        answer.answer.contains("$ windlass stack deploy"),
        "{answer:?}"
    );
    assert_eq!(answer.snippets, None);
}

#[test]
fn a_resource_type_is_a_hard_filter() {
    let pages = pages();
    let docs = Docs::of(&pages);
    let about = |resource_type: &str, question: &str| {
        docs.query(&Query {
            resource_type: Some(resource_type.to_owned()),
            ..Query::new(question)
        })
    };
    let answer = about("sqs-queue", "nearest").unwrap();
    assert_eq!(answer.references, []);
    assert_eq!(
        answer.answer,
        "Nothing in the pages about `sqs-queue` answers this question."
    );
    let answer = about("kafka-topic", "batch size").unwrap();
    assert!(
        answer
            .answer
            .starts_with("`kafka-topic` is not supported. Nearest: `sqs-queue`.")
    );
    let problem = about("sqs-quue", "delay").unwrap_err();
    assert_eq!(
        problem.message(),
        "there is no resource type \"sqs-quue\"; did you mean \"sqs-queue\"?; known: sqs-queue"
    );
}

#[test]
fn invalid_questions_are_refused_by_field() {
    let pages = pages();
    let docs = Docs::of(&pages);
    let cases = [
        (Query::new("  "), "query"),
        (Query::new("x".repeat((1 << 20) + 1)), "query"),
        (
            Query {
                max_items: 0,
                ..Query::new("queue")
            },
            "maxItems",
        ),
        (
            Query {
                max_items: 21,
                ..Query::new("queue")
            },
            "maxItems",
        ),
    ];
    for (query, field) in cases {
        let problem = docs.query(&query).unwrap_err();
        assert_eq!(problem.details()["field"], field);
    }
}

#[test]
fn slips_and_other_names_are_understood() {
    let pages = pages();
    let docs = Docs::of(&pages);
    for (question, path) in [
        ("delya messages", "stack/config-ref/sqs-queue.md"),
        ("dlq", "stack/config-ref/sqs-queue.md"),
        ("lambda batches", "stack/recipe/worker.md"),
        ("delayMessagesSecond", "stack/config-ref/sqs-queue.md"),
        ("sqsQueue", "stack/config-ref/sqs-queue.md"),
    ] {
        let answer = docs.query(&Query::new(question)).unwrap();
        assert_eq!(
            answer.references.first().map(|found| found.path.as_str()),
            Some(path),
            "{question}"
        );
    }
}

#[test]
fn other_topics_get_no_answer() {
    insta::assert_snapshot!(asked(&Query::new("how to bake bread")), @r#"
    {
      "answer": "Nothing in Windlass's documentation answers this question.",
      "references": []
    }
    "#);
}
