//! Scripts on the bastion, and scripts with tunnels through it.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use windlass_stack_lifecycle::lines::Level;
use windlass_testkit::agent::{Machine, Manner, Place, SessionAgent};

use super::world::{World, resource, stack};

const HOST: &str = "db-1.rds.invalid";
const PASSWORD: &str = "passw'ord-$x";

/// A deployed stack with a database and a bastion, and a script of this type.
fn world(kind: &str, script: Value, agent: &SessionAgent) -> World {
    let mut world = World::new(script);
    world.config["scripts"]["it"]["type"] = json!(kind);
    world = world.resources(json!({
        "db": { "type": "relational-database", "properties": {
            "engine": { "type": "postgres", "properties": {
                "version": "16.6", "primaryInstance": { "instanceSize": "db.t4g.micro" },
            } },
            "credentials": { "masterUserPassword": { "$runtime": { "directive": "secret", "name": "db-password" } } },
        } },
        "jump": { "type": "bastion", "properties": {} },
    }));
    world.cloud.stack = Some(stack(&[("DbHost", HOST), ("DbPort", "5432")]));
    world.cloud.resources = vec![
        resource("DbDbInstance", "AWS::RDS::DBInstance", "db-1"),
        resource(
            "JumpAutoScalingGroup",
            "AWS::AutoScaling::AutoScalingGroup",
            "shop-dev-jump-1",
        ),
    ];
    world.cloud.template = json!({ "Outputs": {
        "DbHost": { "Value": { "Fn::GetAtt": ["DbDbInstance", "Endpoint.Address"] } },
        "DbPort": { "Value": { "Fn::GetAtt": ["DbDbInstance", "Endpoint.Port"] } },
    } })
    .to_string();
    let secret = (
        "secretsmanager:GetSecretValue".to_owned(),
        "db-password".to_owned(),
    );
    let answer = json!({ "SecretString": PASSWORD });
    world.cloud.answers.insert(secret, answer);
    world.agent = Some(agent.clone());
    world
}

fn lines(done: &super::world::Done) -> Vec<&str> {
    done.lines.iter().map(|(_, line)| line.as_str()).collect()
}

#[tokio::test]
async fn commands_run_on_the_bastion_with_the_stacks_values_and_nothing_of_this_machine() {
    let agent = SessionAgent::default();
    let script = json!({
        "executeCommands": [
            "pwd; echo \"$STP_DB_HOST:$STP_DB_PORT $AWS_REGION $OWN\"",
            "echo \"[$HERE]\" \"$GIVEN\"; case $STP_DB_CONNECTION_STRING in *\"$HOST_OF_DB\"*) echo same;; esac",
        ],
        "connectTo": ["db"],
        "environment": [
            { "name": "OWN", "value": "it's mine" },
            { "name": "HOST_OF_DB", "value": { "$runtime": { "directive": "resourceParam", "resource": "db", "param": "host" } } },
        ],
    });
    let mut world = world("bastion-script", script, &agent);
    world
        .inherited
        .insert("HERE".to_owned(), "this machine".to_owned());
    world.env = vec![("GIVEN".to_owned(), "by the call".to_owned())];
    let done = world.run().await;
    assert_eq!(done.result.as_ref().unwrap().exit_code, 0);
    assert_eq!(
        lines(&done),
        [
            "/",
            "db-1.rds.invalid:5432 eu-west-1 it's mine",
            "[] by the call",
            "same"
        ]
    );
    assert_eq!(done.tail(), lines(&done).join("\n"));
    let started = agent.started();
    assert_eq!(started.len(), 2);
    // What AWS keeps of the session holds no value of the stack.
    let kept = json!(started).to_string();
    assert!(!kept.contains("rds.invalid") && !kept.contains("passw"));
    assert_eq!(agent.terminated(), ["session-0", "session-1"]);
}

#[tokio::test]
async fn what_ends_a_script_on_the_bastion_is_reported() {
    let cut = Manner {
        cut_after: Some(500),
        ..Manner::default()
    };
    let missing = Manner {
        machine: Machine::Missing,
        ..Manner::default()
    };
    for (script, manner, time, code, reason) in [
        (
            json!({ "executeCommands": ["echo before; exit 7", "echo never"] }),
            Manner::default(),
            60,
            "STEP_FAILED",
            "script_failed",
        ),
        (
            json!({ "executeCommand": "true", "cwd": "/no/such/place" }),
            Manner::default(),
            60,
            "STEP_FAILED",
            "script_failed",
        ),
        (
            json!({ "executeCommand": "echo begun; sleep 600" }),
            Manner::default(),
            1,
            "TIMEOUT",
            "script_timeout",
        ),
        (
            json!({ "executeCommand": "while true; do echo more; done" }),
            cut,
            60,
            "STEP_FAILED",
            "script_interrupted",
        ),
        (
            json!({ "executeCommand": "true" }),
            missing,
            60,
            "NOT_FOUND",
            "bastion_not_running",
        ),
        (
            json!({ "executeCommand": "true", "environment": [{ "name": "A-B", "value": "x" }] }),
            Manner::default(),
            60,
            "INVALID_INPUT",
            "invalid_variable",
        ),
        (
            json!({ "executeCommand": "true", "bastionResource": "jumpp" }),
            Manner::default(),
            60,
            "NOT_FOUND",
            "not_found",
        ),
    ] {
        let agent = SessionAgent::new(manner);
        let mut world = world("bastion-script", script.clone(), &agent);
        world.time = Duration::from_secs(time);
        let done = world.run().await;
        assert_eq!(
            done.code_and_reason(),
            (code, reason.to_owned()),
            "{script}"
        );
        if script["executeCommands"].is_array() {
            let problem = done.result.as_ref().unwrap_err();
            assert_eq!(problem.details()["exitCode"], 7);
            assert_eq!(problem.details()["step"], "echo before; exit 7");
            assert_eq!(problem.details()["bastion"], "jump");
            assert_eq!(done.tail(), "before");
        }
        assert_eq!(agent.terminated().len(), agent.started().len());
    }
}

#[tokio::test]
async fn a_bastion_that_is_not_deployed_or_not_reachable_is_named() {
    let script = json!({ "executeCommand": "true" });
    let mut undeployed = world("bastion-script", script.clone(), &SessionAgent::default());
    undeployed.cloud.resources.pop();
    let done = undeployed.run().await;
    assert_eq!(
        done.code_and_reason(),
        ("NOT_FOUND", "not_found".to_owned())
    );
    assert_eq!(
        done.result.unwrap_err().message(),
        "the script \"it\" needs the bastion \"jump\", which the stack shop-dev does not have"
    );
    let mut without = world("bastion-script", script, &SessionAgent::default());
    without.agent = None;
    assert_eq!(
        without.run().await.code_and_reason().1,
        "no_message_sockets"
    );
}

/// A database that says who it is to any client, and hangs up.
async fn database() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            let mut asked = [0; 4];
            connection.read_exact(&mut asked).await.unwrap();
            connection.write_all(b"I am the database\n").await.unwrap();
        }
    });
    address
}

/// Asks the database at a host and port, with what every machine has.
const ASK: &str = "import os, socket\n\
    c = socket.create_connection((os.environ['STP_DB_HOST'], int(os.environ['STP_DB_PORT'])))\n\
    c.sendall(b'who?')\n\
    print(c.makefile().read().strip() or 'nothing')\n";

#[tokio::test]
async fn a_local_script_reaches_the_database_through_the_bastion() {
    let agent = SessionAgent::default();
    agent.knows(HOST, 5432, Place::Tcp(database().await));
    let script = json!({
        "executeCommands": [
            "python3 ask.py",
            "test \"$STP_DB_HOST\" = 127.0.0.1 && test \"$URL\" = \"$STP_DB_CONNECTION_STRING\" && echo \"${URL##*@}\" | sed \"s/$STP_DB_PORT/PORT/\"",
        ],
        "connectTo": ["db"],
        "environment": [
            { "name": "URL", "value": { "$runtime": { "directive": "resourceParam", "resource": "db", "param": "connectionString" } } },
        ],
    });
    let world = world("local-script-with-bastion-tunneling", script, &agent).file("ask.py", ASK);
    let done = world.run().await;
    done.result.as_ref().unwrap();
    let heard = lines(&done);
    assert!(
        heard[0]
            .starts_with("db-1.rds.invalid:5432 is reached through the bastion jump at 127.0.0.1:"),
        "{heard:?}"
    );
    assert_eq!(heard[1], "I am the database");
    assert!(heard[2].starts_with("127.0.0.1:PORT/"), "{heard:?}");
    assert_eq!(agent.started()[0]["Parameters"]["host"], json!([HOST]));
    assert_eq!(agent.terminated(), ["session-0"]);
}

#[tokio::test]
async fn a_tunnel_that_leads_nowhere_is_reported_with_the_result_of_the_script() {
    let agent = SessionAgent::default();
    let script = json!({ "executeCommand": "python3 ask.py", "connectTo": ["db"] });
    let world = world("local-script-with-bastion-tunneling", script, &agent).file("ask.py", ASK);
    let done = world.run().await;
    let warned: Vec<&str> = done
        .lines
        .iter()
        .filter(|(level, _)| *level == Level::Warn)
        .map(|(_, line)| line.as_str())
        .collect();
    assert!(
        warned.contains(&"db: the bastion jump could not reach db-1.rds.invalid:5432"),
        "{warned:?}"
    );
    assert_eq!(agent.terminated().len(), agent.started().len());
    // Nothing to tunnel to: the script runs, and that is said.
    let script = json!({ "executeCommand": "echo ran" });
    let done = super::bastion::world("local-script-with-bastion-tunneling", script, &agent)
        .run()
        .await;
    assert_eq!(
        lines(&done),
        [
            "the script \"it\" connects to no database, so nothing goes through the bastion",
            "ran"
        ]
    );
}
