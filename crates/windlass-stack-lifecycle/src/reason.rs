//! CloudFormation's reasons made readable: request ids and handler tokens cut away, the inner
//! message found, known causes recognised.

use crate::stuck::Remedy;

/// Parts of a reason that identify a request and mean nothing to a reader: a label, then a value
/// that ends at a comma, semicolon or closing bracket.
const NOISE: &[&str] = &[
    // Longer labels before those they end with.
    "S3 Extended Request ID:",
    "Extended Request ID:",
    "RequestToken:",
    "Request ID:",
    "RequestId:",
    "Request Id:",
    "requestId:",
    "SDK Attempt Count:",
    "Proxy:",
];

/// A reason without request ids, handler tokens and empty brackets.
pub fn clean(reason: &str) -> String {
    let mut text = reason.replace(['\n', '\r', '\t'], " ");
    for label in NOISE {
        while let Some(at) = text.find(label) {
            let rest = &text[at + label.len()..];
            let end = rest.find([',', ';', ')', ']']).unwrap_or(rest.len());
            // The separator after a cut part goes with it.
            let end = match rest[end..].chars().next() {
                Some(',' | ';') => end + 1,
                _ => end,
            };
            text.replace_range(at..at + label.len() + end, "");
        }
    }
    // Cutting may join what is to be cut again.
    let mut tidy = text;
    loop {
        let before = tidy.len();
        for (from, to) in [
            (", )", ")"),
            ("; )", ")"),
            (",)", ")"),
            (";)", ")"),
            ("( ", "("),
            (" ()", ""),
            ("()", ""),
            ("[]", ""),
        ] {
            tidy = tidy.replace(from, to);
        }
        tidy = tidy.split_whitespace().collect::<Vec<_>>().join(" ");
        if tidy.len() == before {
            break;
        }
    }
    tidy.trim_matches([' ', ',', ';']).to_owned()
}

/// Whether a failed event only says that a sibling failed or the operation was cancelled.
pub fn is_cancellation(reason: &str) -> bool {
    let reason = reason.to_ascii_lowercase();
    [
        "resource creation cancelled",
        "resource update cancelled",
        "resource deletion cancelled",
        "resource creation canceled",
        "resource update canceled",
    ]
    .iter()
    .any(|words| reason.contains(words))
}

/// The innermost message of a cleaned reason: what the service or the custom resource said.
pub fn cause(reason: &str) -> String {
    let quoted = |marker: &str| {
        let rest = &reason[reason.find(marker)? + marker.len()..];
        let rest = rest.trim_start().strip_prefix('"')?;
        // The message may hold quotes of its own: it ends at the last one before the bracket.
        let end = rest.rfind("\" (").or_else(|| rest.rfind('"'))?;
        Some(rest[..end].to_owned())
    };
    let plain = |marker: &str| {
        let rest = &reason[reason.find(marker)? + marker.len()..];
        Some(rest.trim().to_owned())
    };
    let inner = quoted("Resource handler returned message:")
        .or_else(|| plain("Message returned:"))
        .or_else(|| plain("Embedded stack"))
        .filter(|inner| !inner.is_empty())
        .unwrap_or_else(|| reason.to_owned());
    without_service(&inner)
}

/// `… (Service: S3, Status Code: 409)` says where, not why.
fn without_service(message: &str) -> String {
    match message.rfind("(Service:") {
        Some(at) if message.ends_with(')') => message[..at].trim_end().to_owned(),
        _ => message.to_owned(),
    }
}

/// A cause that has a remedy of its own.
struct Known {
    /// All words of one of these must occur, without case.
    words: &'static [&'static [&'static str]],
    operation: &'static str,
    text: &'static str,
}

const KNOWN: &[Known] = &[
    Known {
        words: &[
            &["replacement", "disable-rollback"],
            &["replacement type updates not supported"],
        ],
        operation: "deploy",
        text: "a replacement needs automatic rollback: deploy again without disableAutoRollback",
    },
    Known {
        words: &[&["circuit breaker"]],
        operation: "logs",
        text: "the service's containers did not become healthy: read their logs, fix the \
               container or its health check, then deploy again",
    },
    Known {
        words: &[
            &["provisioned concurrency", "failed"],
            &["provisioned concurrency", "unable"],
        ],
        operation: "logs",
        text: "the new version of the function fails while it starts: read its log, fix the \
               start-up, then deploy again",
    },
    Known {
        words: &[
            &["limitexceeded"],
            &["limit exceeded"],
            &["exceeds", "quota"],
            &["quota", "exceeded"],
            &["servicelimit"],
            &["insufficient", "capacity"],
            &["maximum number of"],
        ],
        operation: "aws",
        text: "a quota or capacity of the account is used up: raise it in Service Quotas, free \
               some of it, or choose another size or zone",
    },
    Known {
        words: &[
            &["already exists"],
            &["alreadyexists"],
            &["name already taken"],
            &["already in use"],
        ],
        operation: "deploy",
        text: "the name is taken: delete or rename the other resource, or leave the name to \
               CloudFormation",
    },
    Known {
        words: &[&["bucket", "not empty"]],
        operation: "delete",
        text: "the bucket still holds objects: empty it with all versions, then repeat",
    },
    Known {
        words: &[
            &["dependent object"],
            &["has dependencies"],
            &["dependencyviolation"],
            &["network interface", "in use"],
            &["currently in use"],
        ],
        operation: "delete",
        text: "something outside the stack still uses it (often a network interface of a \
               function, which AWS frees within 40 minutes): remove the user or wait, then repeat",
    },
    Known {
        words: &[
            &["namespace", "in use"],
            &["namespace", "not empty"],
            &["option group", "in use"],
            &["vpc", "dependencies"],
        ],
        operation: "delete",
        text: "it still has members: remove what was created in it outside the stack, then repeat",
    },
    Known {
        words: &[&["certificate", "pending"], &["certificate", "validation"]],
        operation: "deploy",
        text: "the certificate waits for validation: add its DNS record, then deploy again",
    },
    Known {
        words: &[
            &["is not authorized to perform"],
            &["accessdenied"],
            &["access denied"],
            &["unauthorizedoperation"],
        ],
        operation: "deploy",
        text: "a permission is missing: allow the action the reason names to the principal it \
               names, then deploy again",
    },
    Known {
        words: &[
            &["secrets manager can't find"],
            &["could not find", "secret"],
            &["secret", "marked for deletion"],
            &["secret", "does not exist"],
        ],
        operation: "secret_create",
        text: "a secret is missing: create it with `windlass stack secret create`, then deploy again",
    },
];

/// What helps against the cause, where it is a known one.
pub fn known_remedy(reason: &str) -> Option<Remedy> {
    let reason = reason.to_ascii_lowercase();
    KNOWN
        .iter()
        .find(|known| {
            known
                .words
                .iter()
                .any(|all| all.iter().all(|word| reason.contains(word)))
        })
        .map(|known| Remedy::new(known.operation, known.text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reasons_lose_what_only_identifies_a_request() {
        let cases = [
            (
                "Resource handler returned message: \"Table already exists: items (Service: DynamoDb, Status Code: 400, Request ID: 5ABC, SDK Attempt Count: 1)\" (RequestToken: 1d2e, HandlerErrorCode: AlreadyExists)",
                "Resource handler returned message: \"Table already exists: items (Service: DynamoDb, Status Code: 400)\" (HandlerErrorCode: AlreadyExists)",
                "Table already exists: items",
            ),
            (
                "Received response status [FAILED] from custom resource. Message returned: seeding failed (RequestId: 11-22)",
                "Received response status [FAILED] from custom resource. Message returned: seeding failed",
                "seeding failed",
            ),
            (
                "The bucket you tried to delete is not empty (Service: Amazon S3; Status Code: 409; Error Code: BucketNotEmpty; Request ID: A1; S3 Extended Request ID: b/c=; Proxy: null)",
                "The bucket you tried to delete is not empty (Service: Amazon S3; Status Code: 409; Error Code: BucketNotEmpty)",
                "The bucket you tried to delete is not empty",
            ),
            ("plain words", "plain words", "plain words"),
            ("", "", ""),
        ];
        for (reason, cleaned, inner) in cases {
            assert_eq!(clean(reason), cleaned);
            assert_eq!(cause(&clean(reason)), inner);
        }
    }

    #[test]
    fn known_causes_have_remedies() {
        let cases = [
            (
                "Replacement type updates not supported on stack with disable-rollback.",
                "deploy",
            ),
            ("ECS Deployment Circuit Breaker was triggered", "logs"),
            (
                "Provisioned Concurrency configuration failed to be applied",
                "logs",
            ),
            ("The maximum number of VPCs has been reached.", "aws"),
            ("shop-items already exists in stack arn:x", "deploy"),
            ("The bucket you tried to delete is not empty", "delete"),
            ("resource sg-1 has a dependent object", "delete"),
            ("Namespace still in use", "delete"),
            (
                "User: arn:aws:iam::1:user/a is not authorized to perform: sqs:CreateQueue",
                "deploy",
            ),
            (
                "Secrets Manager can't find the specified secret.",
                "secret_create",
            ),
        ];
        for (reason, operation) in cases {
            let remedy = known_remedy(reason).unwrap_or_else(|| panic!("{reason}"));
            assert_eq!(remedy.operation, operation, "{reason}");
        }
        assert_eq!(known_remedy("the moon is full"), None);
    }

    #[test]
    fn cancellations_are_no_cause() {
        assert!(is_cancellation("Resource creation cancelled"));
        assert!(is_cancellation(
            "Resource update cancelled (RequestToken: 1)"
        ));
        assert!(!is_cancellation("the order was cancelled by the shop"));
    }

    proptest! {
        #[test]
        fn cleaning_ends_and_is_done_once(reason in "[a-zA-Z ,;:()\\[\\]\"]{0,80}(Request ID: [a-z0-9]{1,8})?[a-z,;) ]{0,20}") {
            let once = clean(&reason);
            prop_assert_eq!(clean(&once), once.clone());
            prop_assert!(!once.contains("Request ID:"));
            let _ = cause(&once);
        }
    }
}
