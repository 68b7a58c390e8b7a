//! A stack with one of everything, and what stands around it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use windlass_ports::aws::{Stack, StackOutput, StackResource, StackTag};
use windlass_ports::database::{
    DatabaseFailure, DatabasePort, Field, RedisReply, RedisRequest, Rows, SqlRequest,
};
use windlass_ports::{BoxFuture, Clock as _};
use windlass_secrets::Redactor;
use windlass_stack_diagnose::{
    Answer, JournalAsk, JournalRecord, Operation, OperationJournal, Outside, ProjectNames,
    Settings, answer,
};
use windlass_testkit::{FakeClock, SeededEntropy};
use windlass_types::{Problem, Timestamp};

use super::cloud::ScriptedCloud;

pub const STACK_ID: &str = "arn:aws:cloudformation:eu-west-1:123456789012:stack/shop-dev/1";

pub struct World {
    pub cloud: ScriptedCloud,
    pub database: Arc<ScriptedDatabase>,
    pub journal: Vec<JournalRecord>,
    pub sockets: Option<Arc<dyn windlass_ports::MessageSockets>>,
    pub settings: Settings,
    pub redactor: Redactor,
    pub clock: FakeClock,
}

/// Databases with scripted answers.
#[derive(Default)]
pub struct ScriptedDatabase {
    pub sql: Mutex<Option<Result<Rows, DatabaseFailure>>>,
    pub redis: Mutex<Vec<Value>>,
    pub queries: Mutex<Vec<SqlRequest>>,
    pub commands: Mutex<Vec<RedisRequest>>,
}

impl DatabasePort for ScriptedDatabase {
    fn query<'a>(
        &'a self,
        request: &'a SqlRequest,
    ) -> BoxFuture<'a, Result<Rows, DatabaseFailure>> {
        self.queries.lock().unwrap().push(request.clone());
        let answer = self.sql.lock().unwrap().clone();
        Box::pin(async move { answer.unwrap_or_else(|| Ok(Rows::default())) })
    }

    fn redis<'a>(
        &'a self,
        request: &'a RedisRequest,
    ) -> BoxFuture<'a, Result<RedisReply, DatabaseFailure>> {
        self.commands.lock().unwrap().push(request.clone());
        let mut replies = self.redis.lock().unwrap();
        let reply = if replies.is_empty() {
            Value::Null
        } else {
            replies.remove(0)
        };
        Box::pin(async move {
            Ok(match reply.get("keys") {
                Some(keys) => RedisReply::Keys {
                    keys: serde_json::from_value(keys.clone()).unwrap(),
                    truncated: false,
                },
                None => RedisReply::Value(reply),
            })
        })
    }
}

pub struct Journal(pub Vec<JournalRecord>);

impl OperationJournal for Journal {
    fn recent<'a>(
        &'a self,
        ask: &'a JournalAsk,
    ) -> BoxFuture<'a, Result<Vec<JournalRecord>, Problem>> {
        let records = self.0.iter().take(ask.limit).cloned().collect();
        Box::pin(async move { Ok(records) })
    }
}

/// The config in the working directory is of the project `shop`.
pub struct Projects;

impl ProjectNames for Projects {
    fn project_name(&self, config: Option<&str>, _: &Path) -> Result<Option<String>, Problem> {
        Ok((config != Some("nameless.yml")).then(|| "shop".to_owned()))
    }
}

impl World {
    pub fn new() -> Self {
        Self {
            cloud: ScriptedCloud {
                stacks: vec![stack()],
                resources: resources(),
                region: Some("eu-west-1".to_owned()),
                template: template().to_string(),
                ..ScriptedCloud::default()
            },
            database: Arc::default(),
            journal: Vec::new(),
            sockets: None,
            settings: Settings {
                principal: "local:ada".to_owned(),
                working_directory: PathBuf::from("."),
                ..Settings::default()
            },
            redactor: Redactor::new(),
            clock: FakeClock::new(),
        }
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub async fn ask(self, name: &str, arguments: Value) -> (Result<Answer, Problem>, Outcome) {
        let cloud = Arc::new(self.cloud);
        let outside = Outside {
            cloud: Arc::clone(&cloud) as _,
            databases: Arc::clone(&self.database) as _,
            journal: Arc::new(Journal(self.journal)),
            projects: Arc::new(Projects),
            sockets: self.sockets,
            clock: Arc::new(self.clock),
            entropy: Arc::new(SeededEntropy::new(7)),
            redactor: self.redactor,
            settings: self.settings,
        };
        let operation = Operation::named(name).unwrap();
        let answered = answer(&outside, operation, &arguments).await;
        if let Ok(answer) = &answered {
            assert!(answer.data.is_object(), "{name}: data is an object");
        }
        (
            answered,
            Outcome {
                cloud,
                database: self.database,
            },
        )
    }
}

/// What is left to look at after a call.
pub struct Outcome {
    pub cloud: Arc<ScriptedCloud>,
    pub database: Arc<ScriptedDatabase>,
}

/// The arguments of the stack with these added.
pub fn of_stack(more: Value) -> Value {
    let mut arguments = json!({ "projectName": "shop", "stage": "dev", "region": "eu-west-1" });
    for (name, value) in more.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    arguments
}

/// The contract's code and the reason of a problem.
pub fn code_and_reason(problem: &Problem) -> (&'static str, String) {
    let reason = problem.details().get("reason").and_then(Value::as_str);
    (problem.code().name, reason.unwrap_or_default().to_owned())
}

pub fn rows(values: &[Value]) -> Rows {
    Rows {
        fields: vec![Field {
            name: "v".to_owned(),
            kind: "text".to_owned(),
        }],
        rows: values
            .iter()
            .map(|value| [("v".to_owned(), value.clone())].into_iter().collect())
            .collect(),
        truncated: false,
        affected: None,
    }
}

pub fn stack() -> Stack {
    Stack {
        stack_id: STACK_ID.to_owned(),
        stack_name: "shop-dev".to_owned(),
        description: Some("windlass-stack shop dev".to_owned()),
        stack_status: "UPDATE_COMPLETE".to_owned(),
        outputs: vec![StackOutput {
            output_key: "ApiUrl".to_owned(),
            output_value: "https://x".to_owned(),
            ..StackOutput::default()
        }],
        tags: [
            ("windlass:project", "shop"),
            ("windlass:stage", "dev"),
            ("windlass:version", "v000002"),
        ]
        .map(|(key, value)| StackTag {
            key: key.to_owned(),
            value: value.to_owned(),
        })
        .to_vec(),
        ..Stack::default()
    }
}

pub fn resource(logical: &str, kind: &str, physical: &str) -> StackResource {
    StackResource {
        logical_resource_id: logical.to_owned(),
        physical_resource_id: Some(physical.to_owned()),
        resource_type: kind.to_owned(),
        resource_status: "CREATE_COMPLETE".to_owned(),
        ..StackResource::default()
    }
}

fn resources() -> Vec<StackResource> {
    vec![
        resource("ApiFunction", "AWS::Lambda::Function", "shop-dev-api"),
        resource(
            "ApiLogGroup",
            "AWS::Logs::LogGroup",
            "/aws/lambda/shop-dev-api",
        ),
        resource(
            "WebMainLogGroup",
            "AWS::Logs::LogGroup",
            "/windlass/shop-dev/ecs/web/main",
        ),
        resource(
            "WebSideLogGroup",
            "AWS::Logs::LogGroup",
            "/windlass/shop-dev/ecs/web/side",
        ),
        resource(
            "WebService",
            "AWS::ECS::Service",
            "arn:aws:ecs:eu-west-1:1:service/cluster/web-1",
        ),
        resource("BareFunction", "AWS::Lambda::Function", "bare"),
        resource(
            "ItemsGlobalTable",
            "AWS::DynamoDB::GlobalTable",
            "shop-dev-items",
        ),
        resource("DbDbInstance", "AWS::RDS::DBInstance", "shop-dev-db"),
        resource("AuroraDbCluster", "AWS::RDS::DBCluster", "shop-dev-aurora"),
        resource(
            "CacheReplicationGroup",
            "AWS::ElastiCache::ReplicationGroup",
            "shop-dev-cache",
        ),
        resource(
            "SearchDomain",
            "AWS::OpenSearchService::Domain",
            "shop-dev-search",
        ),
        resource(
            "ApiErrorsAlarm",
            "AWS::CloudWatch::Alarm",
            "shop-dev-api-errors",
        ),
    ]
}

fn template() -> Value {
    json!({ "Resources": {
        "DbDbInstance": { "Properties": {
            "MasterUserPassword": "{{resolve:secretsmanager:db-secret:SecretString:password}}" } },
        "AuroraDbCluster": { "Properties": { "MasterUserPassword": { "Ref": "Hidden" } } },
        "CacheReplicationGroup": { "Properties": {
            "AuthToken": { "Fn::Join": ["", ["{{resolve:ssm-secure:/cache/token:1}}"]] } } },
    } })
}

/// The database as RDS describes it, with the secret its template names.
pub fn with_database(cloud: &ScriptedCloud, engine: &str, password: &str) {
    cloud
        .answer("rds:DescribeDBInstances", json!({ "DBInstances": [{
            "Engine": engine, "MasterUsername": "admin", "DBName": "shop",
            "DBInstanceStatus": "available",
            "Endpoint": { "Address": "db.example", "Port": "5433" },
        }] }))
        .answer("secretsmanager:GetSecretValue", json!({
            "Name": "db-secret", "ARN": "arn:secret", "VersionId": "1", "CreatedDate": 1_700_000_000.5,
            "SecretString": json!({ "username": "admin", "password": password }).to_string(),
        }));
}

pub fn with_cache(cloud: &ScriptedCloud, token: &str) {
    cloud
        .answer(
            "elasticache:DescribeReplicationGroups",
            json!({ "ReplicationGroups": [{
            "MemberClusters": ["shop-dev-cache-001"],
            "TransitEncryptionEnabled": "true", "AuthTokenEnabled": true,
            "NodeGroups": [{
                "PrimaryEndpoint": { "Address": "primary.cache", "Port": 6379 },
                "ReaderEndpoint": { "Address": "reader.cache", "Port": 6380 },
            }],
        }] }),
        )
        .answer(
            "ssm:GetParameter",
            json!({ "Parameter": { "Value": token } }),
        );
}
