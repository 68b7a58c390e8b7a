//! Stacks: a config of a hundred resources read and compiled, compared with just writing its
//! template. Then what a preview adds to its calls (`stack_preview`) and how fast local
//! development begins and follows a change (`stack_dev`).

use std::{fmt::Write as _, path::Path, time::Instant};

use anyhow::{Result, anyhow, ensure};
use windlass_stack_compile::{Artifact, Compiled, Facts, compile, needed_artifacts};
use windlass_stack_config::{Config, ConfigText, Context, NoLookups, load};

use crate::{
    pack, process,
    report::{self, Samples},
    stack_dev, stack_preview,
};

const ROUNDS: usize = 15;
/// The config has one gateway, and this many groups of a queue, a table and a function.
const GROUPS: usize = 33;
/// Config to template, in milliseconds.
const GOAL: f64 = 100.0;

pub(crate) fn run() -> Result<()> {
    compilation()?;
    let windlass = process::windlass()?;
    let base = pack::base()?;
    stack_preview::run(&windlass, base.path())?;
    stack_dev::run(&windlass, base.path())
}

fn compilation() -> Result<()> {
    let text = config_text();
    let (mut loads, mut compiles, mut floor) =
        (Samples::default(), Samples::default(), Samples::default());
    let config = loaded(&text)?;
    let facts = facts(&config);
    let template = compiled(&config, &facts)?.template;
    let count = |value: &serde_json::Value| value.as_object().map_or(0, serde_json::Map::len);
    ensure!(config.resources.len() == 100, "the config changed");
    report::heading(&format!(
        "stack: a config of {} resources, {} in CloudFormation, template of {} KB",
        config.resources.len(),
        count(&template["Resources"]),
        serde_json::to_string(&template)?.len() / 1024
    ));
    for _ in 0..ROUNDS {
        loads.push(timed(|| loaded(&text))?);
        compiles.push(timed(|| compiled(&config, &facts))?);
        floor.push(timed(|| Ok(serde_json::to_string(&template)?))?);
    }
    report::figure("load: text to checked config", &loads, "ms");
    report::figure("compile: config to template", &compiles, "ms");
    report::figure("floor: writing the template as JSON", &floor, "ms");
    let whole = loads.median() + compiles.median();
    report::value("load and compile / floor", whole / floor.median(), "×");
    let share = whole / GOAL;
    report::ratio(
        "load and compile, of 100 ms allowed",
        share,
        "≤ 1",
        share <= 1.0,
    );
    Ok(())
}

fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<f64> {
    let start = Instant::now();
    let made = work()?;
    let taken = process::millis(start.elapsed());
    std::hint::black_box(made);
    Ok(taken)
}

fn loaded(text: &str) -> Result<Config> {
    let source = ConfigText {
        file: "stacktape.yml",
        text,
    };
    let nowhere = Path::new("/nonexistent");
    let context = Context {
        project_name: Some("shop".to_owned()),
        stage: Some("dev".to_owned()),
        region: Some("eu-west-1".to_owned()),
        profile: None,
        arguments: serde_json::Map::new(),
        project_root: nowhere.to_owned(),
        config_directory: nowhere.to_owned(),
        allowed: Default::default(),
        lookups: &NoLookups,
    };
    load(&source, &context)
        .map(|loaded| loaded.config)
        .map_err(|failure| anyhow!("{}", failure.into_problem().message()))
}

fn compiled(config: &Config, facts: &Facts) -> Result<Compiled> {
    compile(config, facts).map_err(|refusals| anyhow!("{}", refusals.to_problem().message()))
}

/// What packaging would have found out.
fn facts(config: &Config) -> Facts {
    let digest = "0123456789abcdef".repeat(4);
    let zip = Artifact::Zip {
        bucket: "windlass-assets-123456789012-eu-west-1".to_owned(),
        key: format!("zips/{digest}.zip"),
        sha256: digest,
        handler: None,
    };
    Facts {
        account_id: Some("123456789012".to_owned()),
        artifacts: needed_artifacts(config)
            .into_iter()
            .map(|need| (need.name, zip.clone()))
            .collect(),
        ..Facts::new("shop", "dev", "eu-west-1")
    }
}

fn config_text() -> String {
    let mut text = String::from("resources:\n  gateway:\n    type: http-api-gateway\n");
    for group in 0..GROUPS {
        // Writing to a String does not fail.
        let _ = write!(
            text,
            r#"
  jobs{group}:
    type: sqs-queue
    properties:
      visibilityTimeoutSeconds: 60
  items{group}:
    type: dynamo-db-table
    properties:
      primaryKey:
        partitionKey:
          name: id
          type: string
  worker{group}:
    type: function
    properties:
      packaging:
        type: stacktape-lambda-buildpack
        properties:
          entryfilePath: src/worker{group}.ts
      memory: 512
      environment:
        - name: STAGE
          value: $Stage()
        - name: QUEUE
          value: $ResourceParam('jobs{group}', 'url')
      connectTo:
        - items{group}
        - jobs{group}
      events:
        - type: sqs
          properties:
            sqsQueueName: jobs{group}
            batchSize: 10
        - type: http-api-gateway
          properties:
            httpApiGatewayName: gateway
            method: POST
            path: /items{group}/{{id}}
"#
        );
    }
    text
}
