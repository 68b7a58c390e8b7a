//! What a script sees of a session.

use serde_json::json;

use super::*;

fn config(kind: &str, connect_to: &[&str]) -> Config {
    let database = json!({ "type": "redis-cluster", "properties": {
        "instanceSize": "cache.t4g.micro", "defaultUserPassword": "of-no-use",
    } });
    serde_json::from_value(json!({
        "resources": { "cache": database, "far": database, "jobs": { "type": "sqs-queue" } },
        "scripts": { "seed": { "type": kind, "properties": {
            "executeCommand": "true",
            "connectTo": connect_to,
            "assumeRoleOfResource": "cache",
            "environment": [
                { "name": "KEY", "value": { "$runtime": { "directive": "secret", "name": "key" } } },
            ],
        } } },
    }))
    .unwrap()
}

fn localised(config: &Config, remote: &'static [&'static str]) -> Result<Localised, Problem> {
    let folder = tempfile::tempdir().unwrap();
    let local = LocalParams::from([(
        "cache".to_owned(),
        BTreeMap::from([("port".to_owned(), "7000".to_owned())]),
    )]);
    let view = View {
        config,
        directory: folder.path(),
        is_remote: &|name| remote.contains(&name),
        uses_deployed: !remote.is_empty(),
        local: &local,
        emulators: &Emulators::from([("sqs".to_owned(), "http://127.0.0.1:1".to_owned())]),
    };
    let variables = BTreeMap::from([("KEY".to_owned(), "local-value".to_owned())]);
    view.localised("seed", &variables, &Redactor::new())
}

#[test]
fn a_script_gets_what_runs_here_and_needs_no_bastion_for_it() {
    for kind in ["local-script", "local-script-with-bastion-tunneling"] {
        let ready = localised(&config(kind, &["cache", "jobs"]), &[]).unwrap();
        let expected = [
            ("AWS_ENDPOINT_URL_SQS", "http://127.0.0.1:1"),
            ("AWS_ACCESS_KEY_ID", "local"),
            ("AWS_SECRET_ACCESS_KEY", "local"),
            ("STP_CACHE_PORT", "7000"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(ready.env, expected, "{kind}");
        assert_eq!(ready.absent, ["jobs"]);
        let Script::Local(script) = &ready.config.scripts["seed"] else {
            panic!("{kind} still has a tunnel");
        };
        assert!(script.connect_to.is_empty() && script.assume_role_of_resource.is_none());
        let value = serde_json::to_value(&script.environment[0].value).unwrap();
        assert_eq!(value, json!("local-value"));
    }
}

#[test]
fn what_is_deployed_stays_behind_the_bastion() {
    let config = config("local-script-with-bastion-tunneling", &["cache", "far"]);
    let ready = localised(&config, &["far"]).unwrap();
    let Script::LocalWithTunnel(script) = &ready.config.scripts["seed"] else {
        panic!("there is no tunnel to what is deployed");
    };
    assert_eq!(script.connect_to, ["far"]);
    assert_eq!(script.assume_role_of_resource.as_deref(), Some("cache"));
    let names: Vec<&str> = ready.env.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["AWS_ENDPOINT_URL_SQS", "STP_CACHE_PORT"]);
}
