//! Chapter 6: a stack deployed to a CloudFormation of our own, killed, changed, failed and rolled
//! back; then the same app on this machine, called over HTTP.

use windlass_types::Problem;

use crate::{
    loopback,
    sample::{Sample, samples, unpack},
    stage::Stage,
};

/// What a reader may do afterwards.
pub(crate) const NEXT: &str = "windlass stack init";

const FILES: &[Sample] = samples!("stack/api":
    "stacktape.yml";
    "src/notes.mjs";
    "src/visits.py";
    "src/lib/postgres.mjs";
);
const FOLDER: &str = "notes";
const STAGE_DEV: [&str; 2] = ["--stage", "dev"];
const STACK: [&str; 4] = ["--project-name", "notes", "--stage", "dev"];

pub(crate) fn play(stage: &mut Stage<'_>) -> Result<(), Problem> {
    let folder = stage.user().join(FOLDER);
    unpack(FILES, &folder)?;
    // The tour needs no network: plain JavaScript is packaged without a bundler.
    stage.configure("[stack]\nrefuse_downloads = true\n")?;
    let double = stage.start_double()?;
    stage.enter(FOLDER);
    stage.say(
        "Two functions behind an HTTP API, a PostgreSQL and a Redis, in one config. AWS is simulated by\n\
         a local CloudFormation double, so that nothing here costs anything.",
    );
    deploy(stage)?;
    change(stage, &double)?;
    go_back(stage)?;
    develop(stage)
}

fn command<'a>(words: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [&["stack"], words, more].concat()
}

fn deploy(stage: &mut Stage<'_>) -> Result<(), Problem> {
    stage
        .say("A preview works before the first deploy, changes nothing and names what is missing.");
    let seen = stage.run_briefly(&command(&["preview"], &STAGE_DEV), 0)?;
    stage.expect(
        seen.text.contains("to create") && seen.text.contains("notes-database"),
        "the preview lists what is created and the secret that is missing",
    )?;
    stage.say("Create the secrets from a file; no output shows their values.");
    for name in ["notes-database", "notes-cache"] {
        let value = format!("{{\"password\":\"{name}-0123456789\"}}");
        let file = stage.user().join(FOLDER).join("password.json");
        let failed = |error: std::io::Error| Problem::internal("tour", error);
        fs_err::write(&file, &value).map_err(failed)?;
        let made = ["secret", "create", name, "--value-file", "password.json"];
        stage.run(&command(&made, &[]), 0)?;
        fs_err::remove_file(file).map_err(failed)?;
    }
    stage.say("The deploy is a durable run. Kill it while CloudFormation is working.");
    let deploy = command(&["deploy", "--yes"], &STAGE_DEV);
    stage.run_and_kill(&deploy, |line| line.contains("NotesRole CREATE_COMPLETE"))?;
    stage.say("CloudFormation keeps working. The same command finds its run and continues it.");
    let resumed = stage.run_briefly(&deploy, 0)?;
    stage.expect(
        resumed.text.contains("notes-dev CREATE_COMPLETE"),
        "the run finished",
    )?;
    let again = stage.run_briefly(&deploy, 0)?;
    stage.expect(
        again.text.contains("no changes"),
        "deploying again changes nothing",
    )
}

fn change(stage: &mut Stage<'_>, double: &str) -> Result<(), Problem> {
    stage.say("A change of the config updates only the resources it affects.");
    edit(stage, "value: hello", "value: good morning")?;
    let seen = stage.run_briefly(&command(&["preview"], &STAGE_DEV), 0)?;
    stage.expect(
        seen.text.contains("1 to update"),
        "one function would change",
    )?;
    stage.run_briefly(&command(&["deploy", "--yes"], &STAGE_DEV), 0)?;

    stage.say("A change that loses data is refused until exactly that plan is confirmed.");
    edit(stage, "dbName: notes", "dbName: archive")?;
    let refused = stage.run_briefly(&command(&["deploy", "--yes"], &STAGE_DEV), 1)?;
    stage.expect(
        refused.text.contains("would lose the data"),
        "the loss of the database is refused",
    )?;
    edit(stage, "dbName: archive", "dbName: notes")?;

    stage.say(
        "An update that fails is rolled back, and the report names what failed first and why.",
    );
    loopback::post(
        double,
        "/_double/fail-resource",
        r#"{"logical_id":"NotesFunction","on":"update","effect":{"kind":"fail","reason":"The runtime parameter is not supported"}}"#,
    )?;
    edit(stage, "value: good morning", "value: good evening")?;
    let failed = stage.run_briefly(&command(&["deploy", "--yes"], &STAGE_DEV), 1)?;
    stage.expect(
        failed.text.contains("DEPLOY_FAILED") && failed.text.contains("runtime parameter"),
        "the failure names its cause",
    )
}

fn go_back(stage: &mut Stage<'_>) -> Result<(), Problem> {
    stage.say("Every deploy creates a version; a rollback is a deploy like any other.");
    stage.run(&command(&["rollback", "--list-versions"], &STACK), 0)?;
    let back = ["rollback", "--target-version", "v000001", "--yes"];
    stage.run_briefly(&command(&back, &STACK), 0)?;
    stage.say("All operations are recorded.");
    stage.run(&command(&["info", "operations"], &STACK), 0)?;
    stage.say("A delete needs a yes and lists what is removed.");
    stage.run_briefly(&command(&["delete", "--yes"], &STACK), 0)?;
    Ok(())
}

/// The same app on this machine, as far as this machine has what it needs.
fn develop(stage: &mut Stage<'_>) -> Result<(), Problem> {
    stage.leave_double();
    stage.say("The same config runs locally: no account, no credentials, everything on loopback.");
    stage.say("This runs the project's code, so the project must be trusted first.");
    stage.run(&["trust", "--yes"], 0)?;
    let start = command(&["dev", "start"], &["--stage", "local"]);
    let started = stage.try_to_run(&start)?;
    if started.exit != Some(0) {
        stage.show(
            "skipped: this machine lacks a program the app needs, as shown above; functions need \
             Node and Python, databases their servers or a container engine",
        );
        // What was started before the missing program was noticed is stopped again.
        stage.ask(&command(&["dev", "stop"], &[]))?;
        return Ok(());
    }
    let called = call(stage);
    // Whatever the result, nothing is left running.
    stage.run(&command(&["dev", "stop"], &[]), 0)?;
    called
}

fn call(stage: &mut Stage<'_>) -> Result<(), Problem> {
    let status = stage.ask(&["stack", "dev", "status"])?;
    let address = status
        .pointer("/data/workloads/api")
        .and_then(|url| url.as_str())
        .unwrap_or_default()
        .to_owned();
    stage.say("A note goes through the gateway and the function into PostgreSQL and comes back.");
    let written = loopback::post(&address, "/notes", r#"{"text":"small, safe turns"}"#)?;
    stage.show(&format!("POST /notes  {written}"));
    let read = loopback::get(&address, "/notes")?;
    stage.show(&format!("GET  /notes  {read}"));
    stage.expect(
        read.contains("small, safe turns") && read.contains("good evening"),
        "the note comes back, with the greeting of the config",
    )
}

/// Replaces a text of the config.
fn edit(stage: &mut Stage<'_>, before: &str, after: &str) -> Result<(), Problem> {
    let failed = |error: std::io::Error| Problem::internal("tour", error);
    let file = stage.user().join(FOLDER).join("stacktape.yml");
    let text = fs_err::read_to_string(&file).map_err(failed)?;
    stage.expect(
        text.contains(before),
        "the config says what is to be changed",
    )?;
    fs_err::write(&file, text.replace(before, after)).map_err(failed)?;
    stage.show(&format!("stacktape.yml: {before} → {after}"));
    Ok(())
}
