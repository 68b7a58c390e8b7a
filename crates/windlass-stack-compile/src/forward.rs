//! Log forwarding: a subscription to the log group, a delivery stream to an HTTPS endpoint, and
//! a bucket for what could not be delivered.

use serde_json::{Value, json};
use windlass_stack_config::model::common::LogForwarding;

use crate::cf::{attribute, join, reference};
use crate::connect::allow;
use crate::name::logical;
use crate::stack::Stack;

impl Stack<'_> {
    /// Sends a copy of a log group elsewhere.
    pub fn forward_logs(&mut self, group: &str, forwarding: &LogForwarding) {
        let target = self.endpoint(forwarding);
        let bucket = logical(&[group, "LogForwardingFailedRecords", "Bucket"]);
        self.add(
            &bucket,
            "AWS::S3::Bucket",
            json!({
                "BucketEncryption": { "ServerSideEncryptionConfiguration": [
                    { "ServerSideEncryptionByDefault": { "SSEAlgorithm": "AES256" } }
                ] },
                "PublicAccessBlockConfiguration": crate::types::bucket::blocked(true),
                "LifecycleConfiguration": { "Rules": [
                    { "Id": "expire", "Status": "Enabled", "ExpirationInDays": 30 }
                ] },
            }),
        );
        let arn = attribute(&bucket, "Arn");
        let to_bucket = self.role(
            &logical(&[group, "LogForwardingS3", "Role"]),
            "firehose.amazonaws.com",
            &[],
            vec![
                allow(
                    &[
                        "s3:GetBucketLocation",
                        "s3:ListBucket",
                        "s3:ListBucketMultipartUploads",
                    ],
                    vec![arn.clone()],
                ),
                allow(
                    &["s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"],
                    vec![join([arn.clone(), json!("/*")])],
                ),
            ],
        );
        let stream = logical(&[group, "DeliveryStream"]);
        self.add(
            &stream,
            "AWS::KinesisFirehose::DeliveryStream",
            json!({
                "DeliveryStreamType": "DirectPut",
                "HttpEndpointDestinationConfiguration": {
                    "EndpointConfiguration": {
                        "Url": target.url,
                        "Name": target.name,
                        "AccessKey": target.access_key,
                    },
                    "BufferingHints": { "IntervalInSeconds": 60, "SizeInMBs": 1 },
                    "RequestConfiguration": {
                        "ContentEncoding": if target.gzip { "GZIP" } else { "NONE" },
                        "CommonAttributes": (!target.attributes.is_empty()).then_some(target.attributes),
                    },
                    "RetryOptions": { "DurationInSeconds": target.retry },
                    "RoleARN": to_bucket,
                    "S3BackupMode": "FailedDataOnly",
                    "S3Configuration": {
                        "BucketARN": arn,
                        "CompressionFormat": "GZIP",
                        "RoleARN": to_bucket,
                    },
                },
            }),
        );
        let stream_arn = attribute(&stream, "Arn");
        let to_stream = self.role(
            &logical(&[group, "CwToFirehose", "Role"]),
            "logs.amazonaws.com",
            &[],
            vec![allow(
                &["firehose:PutRecord", "firehose:PutRecordBatch"],
                vec![stream_arn.clone()],
            )],
        );
        self.add(
            logical(&[group, "SubscriptionFilter"]),
            "AWS::Logs::SubscriptionFilter",
            json!({
                "DestinationArn": stream_arn,
                "FilterPattern": "",
                "LogGroupName": reference(group),
                "RoleArn": to_stream,
            }),
        );
    }

    fn endpoint(&mut self, forwarding: &LogForwarding) -> Endpoint {
        match forwarding {
            LogForwarding::HttpEndpoint(target) => Endpoint {
                name: "endpoint",
                url: self.text(&target.endpoint_url),
                access_key: self.maybe(target.access_key.as_ref()),
                gzip: target.gzip_encoding_enabled,
                retry: target.retry_duration.unwrap_or(300),
                attributes: target
                    .parameters
                    .iter()
                    .flatten()
                    .map(|(name, value)| {
                        json!({ "AttributeName": name, "AttributeValue": self.text(value) })
                    })
                    .collect(),
            },
            LogForwarding::Highlight(target) => Endpoint {
                name: "highlight",
                url: match &target.endpoint_url {
                    Some(url) => self.text(url),
                    None => json!("https://pub.highlight.io/v1/logs/firehose"),
                },
                access_key: None,
                gzip: true,
                retry: 300,
                attributes: vec![json!({
                    "AttributeName": "x-highlight-project",
                    "AttributeValue": self.text(&target.project_id),
                })],
            },
            LogForwarding::Datadog(target) => Endpoint {
                name: "datadog",
                url: match &target.endpoint_url {
                    Some(url) => self.text(url),
                    None => json!("https://aws-kinesis-http-intake.logs.datadoghq.com/v1/input"),
                },
                access_key: Some(self.text(&target.api_key)),
                gzip: true,
                retry: 300,
                attributes: Vec::new(),
            },
        }
    }
}

struct Endpoint {
    name: &'static str,
    url: Value,
    access_key: Option<Value>,
    gzip: bool,
    retry: u32,
    attributes: Vec<Value>,
}
