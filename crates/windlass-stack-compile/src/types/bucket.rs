//! Buckets: access, encryption, ageing, notifications, files that are put there.
//!
//! A bucket goes with its stack: a delete empties it first, after a confirmation.

use serde_json::{Value, json};
use windlass_stack_config::model::common::{CorsMethod, KeyValue};
use windlass_stack_config::model::storage::{
    Bucket, BucketAccessibilityMode, BucketCors, LifecycleRule, StorageClass,
};

use super::function::cors_method;
use crate::cf::{attribute, join, reference, sub};
use crate::compiled::SyncedBucket;
use crate::name::{bounded, digest, logical, plain};
use crate::shared::policy;
use crate::stack::Stack;

/// Whether the public is kept out.
pub(crate) fn blocked(is_blocked: bool) -> Value {
    json!({
        "BlockPublicAcls": is_blocked,
        "BlockPublicPolicy": is_blocked,
        "IgnorePublicAcls": is_blocked,
        "RestrictPublicBuckets": is_blocked,
    })
}

impl Stack<'_> {
    /// A bucket's name: the whole world shares them, hence the hash.
    pub fn bucket_name(&self, name: &str) -> String {
        let stack = self.facts.stack_name();
        let account = self.facts.account_id.as_deref().unwrap_or_default();
        let hash = digest(&format!("{} {stack} {account}", self.facts.region), 8);
        let name = bounded(&plain(&format!("{stack}-{name}")), 63 - 9);
        format!("{name}-{hash}")
    }

    pub fn bucket(&mut self, name: &str, it: &Bucket) {
        let mode = it.accessibility.accessibility_mode;
        for (index, rule) in it.lifecycle_rules.iter().enumerate() {
            if let LifecycleRule::AbortIncompleteMultipartUpload(rule) = rule
                && !rule.tags.is_empty()
            {
                self.refuse(
                    &format!("lifecycleRules.{index}.properties.tags"),
                    "an upload that was never finished has no tags",
                    Some("use prefix, or leave it out"),
                );
            }
        }
        let rules: Vec<Value> = it
            .lifecycle_rules
            .iter()
            .enumerate()
            .map(|(index, rule)| lifecycle_rule(index, rule))
            .collect();
        let extra = json!({
            "BucketEncryption": it.encryption.then(|| json!({
                "ServerSideEncryptionConfiguration": [
                    { "ServerSideEncryptionByDefault": { "SSEAlgorithm": "AES256" } }
                ],
            })),
            "VersioningConfiguration": it.versioning.then(|| json!({ "Status": "Enabled" })),
            "LifecycleConfiguration": (!rules.is_empty()).then(|| json!({ "Rules": rules })),
            "CorsConfiguration": it.cors.as_ref().filter(|it| it.enabled).map(cors),
            "PublicAccessBlockConfiguration": blocked(mode == BucketAccessibilityMode::Private),
        });
        self.plain_bucket(name, extra, it.enable_event_bus_notifications);
        if let Some(cdn) = &it.cdn {
            self.cdn(name, cdn);
        }
        let objects = join([attribute(&logical(&[name, "Bucket"]), "Arn"), json!("/*")]);
        let mut statements = Vec::new();
        let public: &[&str] = match mode {
            BucketAccessibilityMode::Private => &[],
            BucketAccessibilityMode::PublicRead => &["s3:GetObject"],
            BucketAccessibilityMode::PublicReadWrite => {
                &["s3:DeleteObject", "s3:GetObject", "s3:PutObject"]
            }
        };
        if !public.is_empty() {
            statements.push(json!({
                "Effect": "Allow",
                "Principal": "*",
                "Action": public,
                "Resource": [objects],
            }));
        }
        let itself = [attribute(&logical(&[name, "Bucket"]), "Arn"), objects];
        for statement in &it.accessibility.access_policy_statements {
            statements.push(self.policy_statement(statement, &itself));
        }
        self.bucket_policy(name, statements);
        if let Some(upload) = &it.directory_upload {
            let invalidates = it
                .cdn
                .as_ref()
                .filter(|cdn| cdn.enabled && !cdn.disable_invalidation_after_deploy)
                .map(|_| logical(&[name, "CDN", "Distribution0"]));
            if upload.disable_s3_transfer_acceleration {
                self.warn(
                    "directoryUpload.disableS3TransferAcceleration",
                    "transfer acceleration is never used; this has no effect",
                );
            }
            self.synced_buckets.push(SyncedBucket {
                resource: name.to_owned(),
                logical_id: logical(&[name, "Bucket"]),
                bucket: self.bucket_name(name),
                invalidates,
            });
        }
    }

    /// The bucket itself, with its notifications.
    pub fn plain_bucket(&mut self, name: &str, extra: Value, to_event_bus: bool) {
        let notified = self.notified_by(name);
        let functions: Vec<Value> = notified
            .iter()
            .map(|it| {
                let filter = it.event.filter_rule.as_ref().map(|filter| {
                    let rules: Vec<Value> =
                        [("prefix", &filter.prefix), ("suffix", &filter.suffix)]
                            .into_iter()
                            .filter_map(|(name, value)| {
                                value
                                    .as_ref()
                                    .map(|value| json!({ "Name": name, "Value": value }))
                            })
                            .collect();
                    json!({ "S3Key": { "Rules": rules } })
                });
                json!({
                    "Event": it.event.s3_event_type,
                    "Function": it.target,
                    "Filter": filter,
                })
            })
            .collect();
        let notifications = (to_event_bus || !functions.is_empty()).then(|| {
            json!({
                "EventBridgeConfiguration": to_event_bus.then(|| json!({
                    "EventBridgeEnabled": true,
                })),
                "LambdaConfigurations": (!functions.is_empty()).then_some(functions),
            })
        });
        let mut properties = json!({
            "BucketName": self.bucket_name(name),
            "OwnershipControls": { "Rules": [{ "ObjectOwnership": "BucketOwnerEnforced" }] },
            "NotificationConfiguration": notifications,
        });
        if let (Some(properties), Value::Object(extra)) = (properties.as_object_mut(), extra) {
            properties.extend(extra);
        }
        let part = self
            .add(logical(&[name, "Bucket"]), "AWS::S3::Bucket", properties)
            .on_removal("Delete");
        for it in notified {
            part.after(it.permission);
        }
    }

    /// The bucket's policy: what is given, and the distributions that read from it.
    pub fn bucket_policy(&mut self, name: &str, mut statements: Vec<Value>) {
        let bucket = logical(&[name, "Bucket"]);
        let distributions: Vec<Value> = self
            .distributions_of_bucket(name)
            .into_iter()
            .map(|id| {
                join([
                    sub("arn:${AWS::Partition}:cloudfront::${AWS::AccountId}:distribution/"),
                    reference(&id),
                ])
            })
            .collect();
        if !distributions.is_empty() {
            let arn = attribute(&bucket, "Arn");
            statements.push(json!({
                "Effect": "Allow",
                "Principal": { "Service": "cloudfront.amazonaws.com" },
                // Without listing, a missing object looks like a forbidden one.
                "Action": ["s3:GetObject", "s3:ListBucket"],
                "Resource": [arn.clone(), join([arn, json!("/*")])],
                "Condition": { "StringEquals": { "AWS:SourceArn": distributions } },
            }));
        }
        if !statements.is_empty() {
            self.add(
                logical(&[name, "BucketPolicy"]),
                "AWS::S3::BucketPolicy",
                json!({ "Bucket": reference(&bucket), "PolicyDocument": policy(statements) }),
            );
        }
    }
}

fn cors(cors: &BucketCors) -> Value {
    let every = || vec!["*".to_owned()];
    let rule = |origins: Option<Vec<String>>,
                headers: Option<Vec<String>>,
                methods: Option<&[CorsMethod]>,
                exposed: Option<&Vec<String>>,
                age: Option<u32>| {
        let all = ["GET", "PUT", "HEAD", "POST", "DELETE"];
        let methods: Vec<&str> = match methods {
            Some(methods) if !methods.contains(&CorsMethod::Any) => methods
                .iter()
                .map(|method| cors_method(*method))
                .filter(|method| all.contains(method))
                .collect(),
            _ => all.into(),
        };
        json!({
            "AllowedOrigins": origins.unwrap_or_else(every),
            "AllowedHeaders": headers.unwrap_or_else(every),
            "AllowedMethods": methods,
            "ExposedHeaders": exposed,
            "MaxAge": age,
        })
    };
    let rules: Vec<Value> = match cors.cors_rules.is_empty() {
        true => vec![rule(None, None, None, None, None)],
        false => cors
            .cors_rules
            .iter()
            .map(|it| {
                rule(
                    it.allowed_origins.clone(),
                    it.allowed_headers.clone(),
                    it.allowed_methods.as_deref(),
                    it.exposed_response_headers.as_ref(),
                    it.max_age,
                )
            })
            .collect(),
    };
    json!({ "CorsRules": rules })
}

fn lifecycle_rule(index: usize, rule: &LifecycleRule) -> Value {
    let (prefix, tags, what) = match rule {
        LifecycleRule::Expiration(it) => (
            &it.prefix,
            &it.tags,
            json!({ "ExpirationInDays": it.days_after_upload }),
        ),
        LifecycleRule::NonCurrentVersionExpiration(it) => (
            &it.prefix,
            &it.tags,
            json!({ "NoncurrentVersionExpiration": { "NoncurrentDays": it.days_after_versioned } }),
        ),
        LifecycleRule::ClassTransition(it) => (
            &it.prefix,
            &it.tags,
            json!({ "Transitions": [{
                "StorageClass": storage_class(it.storage_class),
                "TransitionInDays": it.days_after_upload,
            }] }),
        ),
        LifecycleRule::NonCurrentVersionClassTransition(it) => (
            &it.prefix,
            &it.tags,
            json!({ "NoncurrentVersionTransitions": [{
                "StorageClass": storage_class(it.storage_class),
                "TransitionInDays": it.days_after_versioned,
            }] }),
        ),
        LifecycleRule::AbortIncompleteMultipartUpload(it) => (
            &it.prefix,
            &it.tags,
            json!({ "AbortIncompleteMultipartUpload": {
                "DaysAfterInitiation": it.days_after_initiation,
            } }),
        ),
    };
    let mut entry = json!({
        "Id": format!("rule-{index}"),
        "Status": "Enabled",
        "Prefix": prefix,
        "TagFilters": (!tags.is_empty()).then(|| tags.iter().map(tag).collect::<Vec<_>>()),
    });
    if let (Some(entry), Value::Object(what)) = (entry.as_object_mut(), what) {
        entry.extend(what);
    }
    entry
}

fn tag(tag: &KeyValue) -> Value {
    json!({ "Key": tag.key, "Value": tag.value })
}

fn storage_class(class: StorageClass) -> &'static str {
    match class {
        StorageClass::DeepArchive => "DEEP_ARCHIVE",
        StorageClass::Glacier => "GLACIER",
        StorageClass::GlacierIr => "GLACIER_IR",
        StorageClass::IntelligentTiering => "INTELLIGENT_TIERING",
        StorageClass::OnezoneIa => "ONEZONE_IA",
        StorageClass::StandardIa => "STANDARD_IA",
    }
}
