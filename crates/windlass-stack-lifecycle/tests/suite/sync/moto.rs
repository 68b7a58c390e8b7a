//! Against moto: an independent implementation of S3 and CloudFront, behind the real adapter.
//!
//! Needs moto's server program in `WINDLASS_TEST_MOTO`; `cargo xtask test` sets it.

use std::sync::Arc;

use serde_json::json;
use windlass_aws::Aws;
use windlass_config::env::Environment;
use windlass_ports::aws::{
    ActionShape, AwsCalls as _, CreateBucket, Encryption, ObjectStore as _, Place as At,
    SignedCall, Target, Versioning, services,
};
use windlass_stack_lifecycle::sync::invalidate;
use windlass_system::{OsEntropy, SystemClock};
use windlass_testkit::servers;

use super::world::{BUCKET, World, counts, website};

struct Moto {
    _server: servers::Moto,
    url: String,
    home: tempfile::TempDir,
}

impl Moto {
    fn start() -> Option<Self> {
        let server = servers::Moto::start()?;
        Some(Self {
            url: server.url().to_owned(),
            _server: server,
            home: tempfile::tempdir().unwrap(),
        })
    }

    fn aws(&self) -> Aws {
        let home = self.home.path().display().to_string();
        let environment = Environment::from_pairs([
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
            ("AWS_REGION", "eu-west-1"),
            ("AWS_ENDPOINT_URL", self.url.as_str()),
            ("AWS_EC2_METADATA_DISABLED", "true"),
            ("HOME", home.as_str()),
        ]);
        Aws::new(&environment, Arc::new(SystemClock), Arc::new(OsEntropy))
    }
}

#[tokio::test]
async fn files_go_in_change_and_come_back() {
    let Some(moto) = Moto::start() else { return };
    let aws = Arc::new(moto.aws());
    let mut site = website();
    site["properties"]["fileOptions"] = json!([{
        "includePattern": "**/*.css",
        "headers": [{ "key": "x-amz-meta-Team", "value": "web" }],
        "tags": [{ "key": "kind", "value": "a b+c" }],
    }]);
    let world = World::new(Arc::clone(&aws) as _, site);
    let target = Target::default();
    for bucket in [BUCKET, &world.store.bucket] {
        let request = CreateBucket {
            bucket: bucket.to_owned(),
            versioning: Versioning::Off,
            encryption: Encryption::S3Managed,
            tags: [].into(),
        };
        aws.create_bucket(&target, request).await.unwrap();
    }
    let first: &[_] = &[
        ("index.html", "<head>1"),
        ("a/b c é.css", "x"),
        ("gone.js", "y"),
    ];
    let one = world.files(first).apply(None).await.unwrap();
    assert_eq!(counts(&one), (3, 0, 0));
    let sheet = aws.head_object(&target, BUCKET, "a/b c é.css").await;
    let sheet = sheet.unwrap().unwrap();
    assert_eq!(
        sheet.content_type.as_deref(),
        Some("text/css; charset=utf-8")
    );
    assert_eq!(sheet.metadata["team"], "web");

    // Without the manifest of the last time, metadata says what is there.
    assert_eq!(counts(&world.apply(None).await.unwrap()), (0, 0, 3));
    assert_eq!(
        counts(&world.apply(Some(&one.manifest)).await.unwrap()),
        (0, 0, 3)
    );

    world.files(&[("index.html", "<head>2"), ("a/b c é.css", "x")]);
    let two = world.apply(Some(&one.manifest)).await.unwrap();
    assert_eq!(counts(&two), (1, 1, 1));
    let back = world
        .restore(&one.manifest, Some(&two.manifest))
        .await
        .unwrap();
    assert_eq!(counts(&back), (2, 0, 1));
    let page = aws
        .get_object(&target, BUCKET, "index.html", 100)
        .await
        .unwrap();
    assert_eq!(page.bytes, b"<head>1");
}

const CREATE_DISTRIBUTION: ActionShape = ActionShape::rest(
    &services::CLOUDFRONT,
    "CreateDistribution",
    "POST",
    "/2020-05-31/distribution",
    &[("DistributionConfig", At::Payload)],
)
.with_list_names(&[("Items", "Origin")]);

#[tokio::test]
async fn a_distribution_drops_what_it_keeps() {
    let Some(moto) = Moto::start() else { return };
    let aws = Arc::new(moto.aws());
    let input = json!({ "DistributionConfig": {
        "CallerReference": "1", "Comment": "", "Enabled": true,
        "Origins": { "Quantity": 1, "Items": [{
            "Id": "o", "DomainName": "b.s3.amazonaws.com", "S3OriginConfig": { "OriginAccessIdentity": "" },
        }] },
        "DefaultCacheBehavior": { "TargetOriginId": "o", "ViewerProtocolPolicy": "allow-all" },
    } });
    let call = SignedCall::new(CREATE_DISTRIBUTION, input);
    let made = aws.call(&Target::default(), call).await.unwrap();
    let id = made["Id"].as_str().unwrap().to_owned();
    let world = World::new(aws, website());
    let invalidation = invalidate(&world.access, &id, "run_1").await.unwrap();
    assert!(!invalidation.is_empty());
    let problem = invalidate(&world.access, "E0", "run_1").await.unwrap_err();
    assert_eq!(problem.details()["distribution"], "E0");
}
