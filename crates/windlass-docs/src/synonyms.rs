//! Words that mean the same here. Each finds the others, in both directions.
//!
//! Compound names stand joined (`relational-database` is `relationaldatabase`), as [`crate::words`]
//! makes them.

use std::{collections::HashSet, sync::LazyLock};

const GROUPS: &[&[&str]] = &[
    &["lambda", "function", "serverless"],
    &[
        "postgres",
        "postgresql",
        "relationaldatabase",
        "rds",
        "sql",
        "mysql",
        "mariadb",
        "aurora",
    ],
    &["database", "relationaldatabase", "db"],
    &["dynamodb", "dynamodbtable", "dynamo", "nosql", "keyvalue"],
    &["redis", "rediscluster", "elasticache", "cache", "valkey"],
    &["s3", "bucket", "blob", "objectstorage"],
    &[
        "staticsite",
        "hostingbucket",
        "spa",
        "frontend",
        "staticwebsite",
    ],
    &["sqs", "sqsqueue", "queue"],
    &["sns", "snstopic", "topic", "pubsub"],
    &["eventbridge", "eventbus"],
    &["kinesis", "kinesisstream"],
    &["stepfunctions", "stepfunction", "statemachine", "workflow"],
    &[
        "cognito",
        "userauthpool",
        "userpool",
        "login",
        "signin",
        "signup",
        "authentication",
    ],
    &["opensearch", "opensearchdomain", "elasticsearch"],
    &["alb", "applicationloadbalancer", "loadbalancer"],
    &["apigateway", "httpapigateway"],
    &["ecs", "fargate", "container"],
    &["webservice", "webserver"],
    &["batch", "batchjob"],
    &["bastion", "jumphost", "jumpbox"],
    &[
        "cron", "schedule", "periodic", "timer", "daily", "nightly", "hourly", "weekly", "midnight",
    ],
    &["dlq", "deadletter", "redrive", "redrivepolicy"],
    &["cdn", "cloudfront"],
    &["env", "environment", "envvar"],
    &["iam", "permission", "iamrolestatements"],
    &[
        "secret",
        "password",
        "credential",
        "secretsmanager",
        "apikey",
    ],
    &["rollback", "revert", "undo"],
    &["delete", "destroy", "teardown", "remove"],
    &["preview", "dryrun", "plan", "changeset"],
    &["deploy", "ship", "release", "rollout"],
    &["local", "locally", "localhost", "dev"],
    &["exec", "shell", "ssh", "containerexec"],
    &["docker", "podman", "containerengine"],
    &["dockerfile", "customdockerfile"],
    &["domain", "dns", "hostname", "customdomains"],
    &["https", "tls", "ssl", "certificate"],
    &["fifo", "ordered"],
    &["prod", "production"],
    &["cpu", "vcpu"],
    &["memory", "ram"],
    &["disk", "storage", "diskspace"],
    &["laptop", "machine", "computer"],
    &["old", "earlier", "previous"],
    &["scaling", "autoscaling", "autoscale"],
    &["packaging", "bundle", "bundled", "bundling"],
    &["stuck", "hang", "hangs", "frozen"],
    &["begin", "start", "started", "quickstart"],
    &["docs", "documentation"],
    &["config", "configuration", "settings"],
    &["error", "failure"],
    &["logs", "log", "logging"],
    &["approve", "approval"],
    &["resume", "continue"],
    &["backup", "snapshot"],
    &["upload", "putobject"],
    &["cmd", "command", "cli"],
    &["accessdenied", "forbidden", "unauthorized", "autherror"],
    &["readonly", "readonlyviolation"],
];

/// What else a word, joined and in lower case, may be called.
pub(crate) fn of(word: &str) -> impl Iterator<Item = &'static str> {
    GROUPS
        .iter()
        .filter(move |group| group.contains(&word))
        .flat_map(|group| group.iter().copied())
        .filter(move |other| *other != word)
}

/// Whether a word has other names.
pub(crate) fn knows(word: &str) -> bool {
    NAMES.contains(word)
}

static NAMES: LazyLock<HashSet<&str>> =
    LazyLock::new(|| GROUPS.iter().copied().flatten().copied().collect());

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::words;

    #[test]
    fn both_ways() {
        for group in GROUPS {
            for word in *group {
                assert!(knows(word));
                for other in of(word) {
                    assert!(of(other).any(|back| back == *word), "{word} → {other}");
                }
            }
        }
    }

    #[test]
    fn each_is_one_word_as_the_analyzer_makes_it() {
        for word in GROUPS.iter().copied().flatten() {
            let made = words(word);
            assert_eq!(made.len(), 1, "{word}");
            assert_eq!(made[0].text, *word);
        }
    }
}
