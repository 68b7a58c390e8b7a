//! Other spellings mean the same, nonsense is refused, and nothing says yes by accident.

use clap::Parser as _;
use serde_json::json;

use super::tests::{asked, parsed};
use crate::cli::Cli;

#[test]
fn camel_case_flags_mean_the_same() {
    let pairs: &[(&str, &str)] = &[
        (
            "deploy --projectName shop --configPath s.yml --timeoutSeconds 5 --confirmToken t --noCache --disableAutoRollback --dockerArgs x",
            "deploy --project-name shop --config-path s.yml --timeout-seconds 5 --confirm-token t --no-cache --disable-auto-rollback --docker-arg x",
        ),
        (
            "preview --detectDrift --estimateCost --currentWorkingDirectory d",
            "preview --detect-drift --estimate-cost --current-working-directory d",
        ),
        ("delete --retainResources A", "delete --retain-resources A"),
        (
            "rollback --targetVersion v1 --resourcesToSkip A --listVersions",
            "rollback --target-version v1 --resources-to-skip A --list-versions",
        ),
        ("rollback --rollbackSteps 2", "rollback --rollback-steps 2"),
        (
            "script run --scriptName m --assumeRoleOfResource r",
            "script run --script-name m --assume-role-of-resource r",
        ),
        ("template --outFile f", "template --out-file f"),
        ("validate --withPackage", "validate --with-package"),
        (
            "secret create --secretName s --secretValue v --forceUpdate",
            "secret create s --value v --force-update",
        ),
        (
            "secret create s --secretFile /f",
            "secret create s --value-file /f",
        ),
        (
            "secret delete s --recoveryDays 8",
            "secret delete s --recovery-days 8",
        ),
        (
            "logs --resourceName a --startTime 1h --endTime 5m --stackName s",
            "logs a --start-time 1h --end-time 5m --stack-name s",
        ),
        ("exec w --taskArn t", "exec w --task-arn t"),
        (
            "redis c --bastionResource b",
            "redis c --bastion-resource b",
        ),
        (
            "info operations --currentUserOnly",
            "info operations --current-user-only",
        ),
        (
            "dev start --agentPort 1 --freshDb",
            "dev start --agent-port 1 --fresh-db",
        ),
        (
            "docs x --resourceType t --maxItems 1",
            "docs x --resource-type t --max-items 1",
        ),
    ];
    for (camel, kebab) in pairs {
        assert_eq!(asked(camel), asked(kebab), "{camel}");
    }
}

#[test]
fn invalid_combinations_are_refused() {
    for line in [
        "sql --resource-name db --sql 'select 1' 'select 2'",
        "redis cache get a b",
        "redis cache get a --key b",
        "exec web --command ls -- ls",
        "aws s3 ListBuckets --input {",
    ] {
        let problem = parsed(line).call().request().unwrap_err();
        assert_eq!(
            problem.details().get("constraint"),
            Some(&json!("usage")),
            "{line}"
        );
    }
    for line in [
        "windlass stack deploy --satge dev",
        "windlass stack deploy extra",
        "windlass stack rollback --target-version v1 --rollback-steps 2",
        "windlass stack logs api --follow --cursor c",
        "windlass stack secret create s --value v --value-file f",
        "windlass stack docs",
        "windlass stack dev --stage dev status",
    ] {
        assert!(Cli::try_parse_from(line.split(' ')).is_err(), "{line}");
    }
}

#[test]
fn a_secret_is_not_in_the_debug_text_of_its_command() {
    let command = parsed("secret create s --value hunter2");
    assert!(!format!("{command:?}").contains("hunter2"));
}

#[test]
fn agent_mode_confirms_nothing() {
    for line in [
        "delete --project-name shop --stage dev --agent",
        "deploy --stage dev --agent",
        "exec web --agent -- ls",
        "secret delete s --force --agent",
    ] {
        assert_eq!(asked(line).1.get("confirm"), None, "{line}");
    }
}
