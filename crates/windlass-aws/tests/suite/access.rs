//! Credentials, profiles, regions and endpoints: where they come from and what is said without.

use serde_json::json;
use windlass_ports::aws::{
    ActionShape, AwsCalls as _, AwsFailureKind, CloudFormation as _, Identity as _, SignedCall,
    Target, services,
};

use super::scripted::{KEY, KEY_ID, Server, aws, aws_at, reply, target};

const LIST: ActionShape = ActionShape::new(&services::LOGS, "DescribeLogGroups");

fn list() -> SignedCall {
    SignedCall::new(LIST, json!({}))
}

/// A file of profiles and the variables that point at it.
struct Profiles {
    folder: tempfile::TempDir,
}

impl Profiles {
    fn new(text: &str) -> Self {
        let profiles = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        profiles.write(text);
        profiles
    }

    fn write(&self, text: &str) {
        fs_err::write(self.folder.path().join("config"), text).unwrap();
    }

    fn path(&self) -> String {
        self.folder.path().join("config").display().to_string()
    }
}

#[tokio::test]
async fn without_credentials_nothing_is_sent_and_the_next_step_is_named() {
    let server = Server::start([reply("200 OK", "{}")]).await;
    let (aws, _) = aws(&[
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ENDPOINT_URL", &server.url()),
    ]);
    let by_call = aws.call(&target(), list()).await.unwrap_err();
    let by_client = aws.describe_stack(&target(), "a").await.unwrap_err();
    for failure in [by_call, by_client] {
        assert_eq!(failure.kind, AwsFailureKind::Auth);
        assert_eq!(failure.code, "NoCredentials");
        for part in [
            "AWS_ACCESS_KEY_ID",
            "profile `default`",
            "instance's role",
            "aws sso login",
        ] {
            assert!(failure.message.contains(part), "{failure}");
        }
    }
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn without_a_region_the_error_lists_the_ways_to_set_one() {
    let (aws, _) = aws(&[
        ("AWS_ACCESS_KEY_ID", KEY_ID),
        ("AWS_SECRET_ACCESS_KEY", KEY),
    ]);
    assert_eq!(aws.region(&target()).await, Ok(None));
    let failure = aws.call(&target(), list()).await.unwrap_err();
    assert_eq!(failure.code, "MissingRegion");
    assert!(failure.message.contains("AWS_REGION"), "{failure}");
    let elsewhere = Target::in_region("us-west-2");
    assert_eq!(
        aws.region(&elsewhere).await,
        Ok(Some("us-west-2".to_owned()))
    );
}

#[tokio::test]
async fn a_named_profile_wins_over_keys_of_the_environment() {
    let server = Server::start([reply("200 OK", "{}")]).await;
    let profiles = Profiles::new(
        "[profile dev]\nregion = ap-south-1\naws_access_key_id = AKIDPROFILE\naws_secret_access_key = x\n",
    );
    let (aws, _) = aws(&[
        ("AWS_ACCESS_KEY_ID", KEY_ID),
        ("AWS_SECRET_ACCESS_KEY", KEY),
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ENDPOINT_URL", &server.url()),
        ("AWS_CONFIG_FILE", &profiles.path()),
    ]);
    let named = |profile: &str| Target {
        profile: Some(profile.to_owned()),
        ..Target::default()
    };
    aws.call(&target(), list()).await.unwrap();
    aws.call(&named("dev"), list()).await.unwrap();
    let asked = server.asked();
    assert!(
        asked[0].contains(&format!("Credential={KEY_ID}/")),
        "{}",
        asked[0]
    );
    assert!(asked[1].contains("Credential=AKIDPROFILE/"), "{}", asked[1]);

    let failure = aws.call(&named("prod"), list()).await.unwrap_err();
    assert_eq!(failure.kind, AwsFailureKind::Auth);
    assert!(
        failure.message.contains("aws configure --profile prod"),
        "{failure}"
    );
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn renewed_credentials_are_found_after_expired_ones_were_refused() {
    let expired = "<ErrorResponse><Error><Code>ExpiredToken</Code><Message>The security token \
                   included in the request is expired</Message></Error></ErrorResponse>";
    let gone = "<ErrorResponse><Error><Code>ValidationError</Code><Message>Stack with id a does \
                not exist</Message></Error></ErrorResponse>";
    let server = Server::start([
        reply("403 Forbidden", expired),
        reply("400 Bad Request", gone),
    ])
    .await;
    let keys =
        |id: &str| format!("[default]\naws_access_key_id = {id}\naws_secret_access_key = x\n");
    let profiles = Profiles::new(&keys("AKIDOLD"));
    let (aws, _) = aws(&[
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ENDPOINT_URL", &server.url()),
        ("AWS_CONFIG_FILE", &profiles.path()),
    ]);
    let failure = aws.describe_stack(&target(), "a").await.unwrap_err();
    assert_eq!(failure.kind, AwsFailureKind::Auth);
    assert!(failure.is_expired());
    assert_eq!(failure.action, "cloudformation:DescribeStacks");

    profiles.write(&keys("AKIDNEW"));
    assert_eq!(aws.describe_stack(&target(), "a").await, Ok(None));
    let asked = server.asked();
    assert!(asked[0].contains("Credential=AKIDOLD/"));
    assert!(asked[1].contains("Credential=AKIDNEW/"));
}

#[tokio::test]
async fn an_endpoint_of_a_service_wins_over_the_one_for_all() {
    let logs = Server::start([reply("200 OK", "{}")]).await;
    let rest = Server::start([reply("200 OK", "{}")]).await;
    let (aws, _) = aws(&[
        ("AWS_ACCESS_KEY_ID", KEY_ID),
        ("AWS_SECRET_ACCESS_KEY", KEY),
        ("AWS_REGION", "eu-west-1"),
        ("AWS_ENDPOINT_URL", &rest.url()),
        ("AWS_ENDPOINT_URL_CLOUDWATCH_LOGS", &logs.url()),
    ]);
    aws.call(&target(), list()).await.unwrap();
    let clusters = ActionShape::new(&services::ECS, "ListClusters");
    aws.call(&target(), SignedCall::new(clusters, json!({})))
        .await
        .unwrap();
    assert_eq!((logs.asked().len(), rest.asked().len()), (1, 1));
    assert!(logs.asked()[0].contains("Logs_20140328.DescribeLogGroups"));
}

#[tokio::test]
async fn a_role_that_cannot_be_assumed_is_never_replaced_by_the_caller() {
    let denied = "<ErrorResponse><Error><Code>AccessDenied</Code><Message>User: \
                  arn:aws:iam::1:user/ada is not authorized to perform: sts:AssumeRole</Message>\
                  </Error></ErrorResponse>";
    let server = Server::start([reply("403 Forbidden", denied)]).await;
    let (aws, _) = aws_at(&server);
    let narrow = Target {
        role_arn: Some("arn:aws:iam::1:role/reader".to_owned()),
        ..Target::default()
    };
    let failure = aws.call(&narrow, list()).await.unwrap_err();
    assert_eq!(failure.kind, AwsFailureKind::Auth);
    assert_eq!(failure.code, "AssumeRoleFailed");
    assert!(
        failure.message.contains("arn:aws:iam::1:role/reader"),
        "{failure}"
    );
    for asked in server.asked() {
        assert!(asked.contains("Action=AssumeRole"), "{asked}");
    }
}

#[tokio::test]
async fn keys_are_in_no_failure_and_no_debug_text() {
    let server = Server::start([reply("403 Forbidden", "<oops>")]).await;
    let (aws, _) = aws_at(&server);
    let credentials = aws.credentials(&target()).await.unwrap();
    assert_eq!(credentials.secret_access_key.expose_secret(), KEY);
    let call = SignedCall::new(LIST, json!({ "SecretString": "canary-value" }));
    let shown = format!("{aws:?} {credentials:?} {call:?}");
    let failure = aws.call(&target(), call).await.unwrap_err();
    let stack = aws.describe_stack(&target(), "a").await.unwrap_err();
    for text in [
        shown,
        format!("{failure:?} {failure}"),
        format!("{stack:?} {stack}"),
    ] {
        assert!(!text.contains("canary"), "{text}");
        assert!(!text.contains(KEY_ID), "{text}");
    }
}
