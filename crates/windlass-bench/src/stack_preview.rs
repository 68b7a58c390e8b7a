//! What a preview adds to the calls it makes.
//!
//! The whole command, from process start to the printed plan, compared with the same calls made one
//! after the other by the same AWS client on a connection that is open already; both against a
//! CloudFormation in this process whose clock moves with every call, so nothing is waited for.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Instant,
};

use anyhow::{Context as _, Result, bail, ensure};
use fs_err as fs;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use windlass_aws::Aws;
use windlass_cfn_double::{CallRecord, Double, Handle, Options, Pace};
use windlass_config::Environment;
use windlass_ports::aws::{
    ActionShape, AwsCalls as _, AwsFailure, ChangeSetAddress, ChangeSetKind, CloudFormation as _,
    CreateChangeSet, DeleteStack, Identity as _, ListObjects, ObjectStore as _, PropertyValues,
    SignedCall, StackCall, Target, TemplateSource, services,
};
use windlass_system::{OsEntropy, SystemClock};

use crate::{
    process,
    report::{self, Samples},
};

const ROUNDS: usize = 7;
/// More than anything takes that a call begins.
const CLOCK_PER_CALL: u64 = 600_000;
const STACK: &str = "notes-dev";
/// Records of versions are far below it.
const OBJECT_LIMIT: u64 = 16 * 1024 * 1024;
/// What a preview may take above its calls, in milliseconds.
const GOAL: f64 = 250.0;
const DESCRIBE_SECRET: ActionShape = ActionShape::new(&services::SECRETSMANAGER, "DescribeSecret");

pub(crate) fn run(windlass: &Path, base: &Path) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let options = Options {
        pace: Pace::PerCall(CLOCK_PER_CALL),
        ..Options::default()
    };
    let double = runtime.block_on(Double::start(options))?;
    let bench = Bench {
        windlass: windlass.to_owned(),
        project: base.join("preview-app"),
        home: base.join("preview-home"),
        double,
        runtime,
    };
    bench.prepare()?;
    report::heading("stack: a preview of the example app (40 resources in CloudFormation)");
    bench.compare("a new stack", ChangeSetKind::Create)?;
    bench.windlass(&["stack", "deploy", "--stage", "dev", "--yes"])?;
    let config = bench.project.join("stacktape.yml");
    let before = fs::read_to_string(&config)?;
    let after = before.replace("value: hello", "value: good day");
    ensure!(before != after, "the example's config changed");
    fs::write(&config, after)?;
    bench.compare("a change", ChangeSetKind::Update)
}

struct Bench {
    windlass: PathBuf,
    project: PathBuf,
    home: PathBuf,
    double: Handle,
    runtime: Runtime,
}

impl Bench {
    fn prepare(&self) -> Result<()> {
        copy(&example(), &self.project)?;
        fs::create_dir_all(&self.home)?;
        // Nothing is fetched while times are taken.
        fs::write(
            self.home.join("config.toml"),
            "[stack]\nrefuse_downloads = true\n",
        )?;
        for secret in ["notes-database", "notes-cache"] {
            let value = self.home.join("value");
            fs::write(&value, r#"{"password":"of the benchmark"}"#)?;
            let value = value.to_str().context("a home with a plain name")?;
            self.windlass(&["stack", "secret", "create", secret, "--value-file", value])?;
        }
        Ok(())
    }

    fn compare(&self, what: &str, kind: ChangeSetKind) -> Result<()> {
        let template = self.windlass(&["stack", "template", "--stage", "dev"])?;
        let seen = self.double.control.calls().len();
        self.preview()?;
        let records = self.double.control.calls().split_off(seen);
        let aws = self.aws();
        let bare = Bare {
            aws: &aws,
            target: Target::in_region("eu-west-1"),
            template: template["data"]["template"].to_string(),
            kind,
        };
        // Opens the connection.
        self.runtime.block_on(bare.calls(&records, "first"))?;
        let (mut whole, mut calls, mut start) =
            (Samples::default(), Samples::default(), Samples::default());
        for round in 0..ROUNDS {
            let began = Instant::now();
            self.preview()?;
            whole.push(process::millis(began.elapsed()));
            let began = Instant::now();
            self.runtime
                .block_on(bare.calls(&records, &format!("round{round}")))?;
            calls.push(process::millis(began.elapsed()));
            let began = Instant::now();
            self.windlass(&["stack", "info", "whoami"])?;
            start.push(process::millis(began.elapsed()));
        }
        report::figure(
            &format!("{what}: windlass stack preview, start to end"),
            &whole,
            "ms",
        );
        report::figure(
            &format!(
                "{what}: floor, its {} calls and nothing else",
                records.len()
            ),
            &calls,
            "ms",
        );
        report::figure("a command that makes one call", &start, "ms");
        report::value("preview / its calls", whole.median() / calls.median(), "×");
        let share = (whole.median() - calls.median()) / GOAL;
        report::ratio(
            "above its calls, of 250 ms allowed",
            share,
            "≤ 1",
            share <= 1.0,
        );
        Ok(())
    }

    fn preview(&self) -> Result<()> {
        let answer = self.windlass(&["stack", "preview", "--stage", "dev"])?;
        ensure!(
            answer["data"]["source"] == "change-set" && answer["data"]["noChanges"] == false,
            "not the preview that is measured: {answer}"
        );
        Ok(())
    }

    /// Runs the binary in the project and reads its JSON.
    fn windlass(&self, arguments: &[&str]) -> Result<Value> {
        let output = Command::new(&self.windlass)
            .arg("--json")
            .args(arguments)
            .current_dir(&self.project)
            .env("WINDLASS_HOME", &self.home)
            .env_remove("AWS_PROFILE")
            .envs(self.variables())
            .output()
            .with_context(|| arguments.join(" "))?;
        if !output.status.success() {
            bail!(
                "{}: {}{}",
                arguments.join(" "),
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        serde_json::from_slice(&output.stdout).with_context(|| arguments.join(" "))
    }

    fn variables(&self) -> [(&str, &str); 6] {
        [
            ("AWS_ENDPOINT_URL", &self.double.endpoint),
            ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
            ("AWS_SECRET_ACCESS_KEY", "of-the-benchmark"),
            ("AWS_REGION", "eu-west-1"),
            ("AWS_CONFIG_FILE", "/dev/null"),
            ("AWS_SHARED_CREDENTIALS_FILE", "/dev/null"),
        ]
    }

    fn aws(&self) -> Aws {
        let environment = Environment::from_pairs(self.variables());
        Aws::new(&environment, Arc::new(SystemClock), Arc::new(OsEntropy))
    }
}

/// The calls of a preview without the preview.
struct Bare<'a> {
    aws: &'a Aws,
    target: Target,
    template: String,
    kind: ChangeSetKind,
}

impl Bare<'_> {
    async fn calls(&self, records: &[CallRecord], name: &str) -> Result<()> {
        let mut address = ChangeSetAddress {
            stack: STACK.to_owned(),
            change_set: format!("bench-{name}"),
        };
        for record in records {
            let answer = self.call(record, &mut address).await?;
            // What a preview is refused, it is refused here.
            if record.outcome == "ok" {
                answer?;
            }
        }
        Ok(())
    }

    async fn call(
        &self,
        record: &CallRecord,
        address: &mut ChangeSetAddress,
    ) -> Result<Result<(), AwsFailure>> {
        let (aws, target) = (self.aws, &self.target);
        let subject = record.subject.as_deref().unwrap_or_default();
        let (bucket, key) = subject
            .trim_start_matches('/')
            .split_once('/')
            .unwrap_or_default();
        Ok(match record.action.as_str() {
            "GetCallerIdentity" => aws.caller(target).await.map(drop),
            "DescribeSecret" => {
                let input = json!({ "SecretId": "notes-database" });
                let call = SignedCall::new(DESCRIBE_SECRET, input);
                aws.call(target, call).await.map(drop)
            }
            "ListObjectsV2" => {
                let request = ListObjects {
                    bucket: bucket.to_owned(),
                    prefix: format!("stacks/{STACK}/"),
                    limit: None,
                };
                aws.list_objects(target, request).await.map(drop)
            }
            "GetObject" => aws
                .get_object(target, bucket, key, OBJECT_LIMIT)
                .await
                .map(drop),
            "DescribeStacks" => aws.describe_stack(target, &address.stack).await.map(drop),
            "CreateChangeSet" => {
                let body = TemplateSource::Body(self.template.clone());
                let mut request = CreateChangeSet::new(STACK, &address.change_set, self.kind, body);
                request.capabilities = vec!["CAPABILITY_NAMED_IAM".to_owned()];
                let created = aws.create_change_set(target, request).await;
                created.map(|created| address.stack = created.stack_id)
            }
            "DescribeChangeSet" => {
                let values = PropertyValues::Include;
                let described = aws.describe_change_set(target, address, values).await;
                described.map(drop)
            }
            "ListChangeSets" => aws.list_change_sets(target, &address.stack).await.map(drop),
            "DeleteChangeSet" => aws.delete_change_set(target, address).await,
            "DeleteStack" => {
                let request = DeleteStack {
                    call: StackCall::new(&address.stack, &address.change_set),
                    retain_resources: Vec::new(),
                };
                aws.delete_stack(target, request).await
            }
            other => bail!("a preview calls {other}; add it to its floor"),
        })
    }
}

/// The example app, as users find it.
pub(crate) fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/stack/api")
}

/// Copies a directory of plain files, without what a session left there.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_name() == ".windlass" {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
