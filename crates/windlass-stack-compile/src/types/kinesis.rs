//! Kinesis streams.

use serde_json::json;
use windlass_stack_config::model::messaging::{CapacityMode, KinesisStream};

use crate::name::logical;
use crate::stack::Stack;

impl Stack<'_> {
    /// `enableEnhancedFanOut` shows at the functions that read: each gets a consumer.
    pub fn kinesis_stream(&mut self, name: &str, it: &KinesisStream) {
        let (mode, shards) = match it.capacity_mode {
            CapacityMode::OnDemand => ("ON_DEMAND", None),
            CapacityMode::Provisioned => ("PROVISIONED", Some(it.shard_count)),
        };
        if it.capacity_mode == CapacityMode::OnDemand && it.shard_count != 1 {
            self.refuse(
                "shardCount",
                "shards are counted with provisioned capacity only",
                Some("set capacityMode: PROVISIONED"),
            );
        }
        let encryption = it.encryption.as_ref().filter(|it| it.enabled).map(|it| {
            let key = match &it.kms_key_arn {
                Some(key) => self.text(key),
                None => json!("alias/aws/kinesis"),
            };
            json!({ "EncryptionType": "KMS", "KeyId": key })
        });
        self.add(
            logical(&[name, "Stream"]),
            "AWS::Kinesis::Stream",
            json!({
                "Name": self.physical(name, 128),
                "RetentionPeriodHours": it.retention_period_hours,
                "ShardCount": shards,
                "StreamModeDetails": { "StreamMode": mode },
                "StreamEncryption": encryption,
            }),
        )
        .on_removal("Delete");
    }
}
