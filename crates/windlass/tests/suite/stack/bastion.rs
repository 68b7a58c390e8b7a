//! A database that only a bastion reaches: asked, and used by scripts, over real WebSockets.
//!
//! Needs PostgreSQL's programs; `cargo xtask test` says where they are. The agent on the bastion is
//! the test kit's; behind it is the real server.

use std::net::{SocketAddr, TcpListener};

use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio_tungstenite::tungstenite::{Message, handshake::server};
use windlass_ports::{MessageSockets as _, SocketMessage};
use windlass_testkit::agent::{Place, SessionAgent};
use windlass_testkit::servers::Postgres;
use windlass_types::Secret;

use super::databases::{certificates, instance, trust, xml};
use super::world::{REGION, World, args};
use crate::suite::support::loopback::{Answer, Loopback, json_answer};

/// A name that no resolver knows.
const HOST: &str = "db.shop.invalid";
const PORT: u16 = 5432;

const CONFIG: &str = "
serviceName: shop
resources:
  jump:
    type: bastion
  db:
    type: relational-database
    properties:
      credentials:
        masterUserName: postgres
        masterUserPassword: $Secret('shop.password')
      accessibility:
        accessibilityMode: vpc
      engine:
        type: postgres
        properties:
          version: '16.6'
          primaryInstance:
            instanceSize: db.t4g.micro
stackConfig:
  outputs:
    - name: host
      value: $ResourceParam('db', 'host')
    - name: port
      value: $ResourceParam('db', 'port')
scripts:
  ask:
    type: local-script-with-bastion-tunneling
    properties:
      executeCommand: |
        bash -c 'exec 3<>/dev/tcp/$STP_DB_HOST/$STP_DB_PORT
        printf \"\\0\\0\\0\\10\\4\\322\\26\\57\" >&3
        read -r -N 1 -u 3 answer && echo \"TLS: $answer\"'
      connectTo: [db]
  there:
    type: bastion-script
    properties:
      executeCommands: ['echo over there', 'exit 3']
";

/// The channels of an agent as real WebSockets. Ends with its runtime.
fn channels(runtime: &Runtime, agent: &SessionAgent) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let agent = agent.clone();
    runtime.spawn(async move {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(carry(agent.clone(), stream));
        }
    });
    address
}

async fn carry(agent: SessionAgent, stream: tokio::net::TcpStream) {
    let mut path = String::new();
    #[expect(
        clippy::result_large_err,
        reason = "the type is the library's; nothing is refused"
    )]
    let seen = |request: &server::Request, response: server::Response| {
        path = request.uri().path().to_owned();
        Ok(response)
    };
    let mut client = tokio_tungstenite::accept_hdr_async(stream, seen)
        .await
        .unwrap();
    let url = Secret::new(format!("wss://agent.invalid{path}"));
    let mut channel = agent.open(&url).await.unwrap();
    loop {
        tokio::select! {
            from_client = client.next() => {
                let sent = match from_client {
                    Some(Ok(Message::Text(text))) => SocketMessage::Text(text.as_str().to_owned()),
                    Some(Ok(Message::Binary(bytes))) => SocketMessage::Binary(bytes.to_vec()),
                    Some(Ok(_)) => continue,
                    Some(Err(_)) | None => return,
                };
                if channel.send(sent).await.is_err() {
                    return;
                }
            }
            from_agent = channel.receive() => {
                let sent = match from_agent {
                    Ok(Some(SocketMessage::Binary(bytes))) => Message::binary(bytes),
                    Ok(Some(SocketMessage::Text(text))) => Message::text(text),
                    Ok(None) | Err(_) => return,
                };
                if client.send(sent).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// RDS, Auto Scaling and Systems Manager, as far as a session needs them.
fn control_plane(agent: &SessionAgent, channels: SocketAddr) -> Loopback {
    let agent = agent.clone();
    Loopback::start(move |request| {
        if request.body.contains("DescribeDBInstances") {
            return instance(HOST, PORT);
        }
        if request.body.contains("DescribeAutoScalingGroups") {
            return group(&request.body);
        }
        let (_, action) = request.header("x-amz-target").split_once('.').unwrap();
        let answer = agent.answer(&format!("ssm:{action}"), &request.json());
        let mut answer = answer.unwrap().unwrap();
        if let Some(url) = answer["StreamUrl"].as_str() {
            let real = url.replace("wss://agent.invalid", &format!("ws://{channels}"));
            answer["StreamUrl"] = json!(real);
        }
        json_answer(200, &answer)
    })
}

/// The one machine of a group, which must be asked for by its name.
fn group(body: &str) -> Answer {
    let name = body
        .split('&')
        .find_map(|it| it.strip_prefix("AutoScalingGroupNames.member.1="));
    let name = name.unwrap();
    xml(format!(
        "<DescribeAutoScalingGroupsResponse \
         xmlns=\"http://autoscaling.amazonaws.com/doc/2011-01-01/\">\
         <DescribeAutoScalingGroupsResult><AutoScalingGroups><member>\
         <AutoScalingGroupName>{name}</AutoScalingGroupName><Instances><member>\
         <InstanceId>i-0123456789</InstanceId><LifecycleState>InService</LifecycleState>\
         <HealthStatus>Healthy</HealthStatus></member></Instances></member></AutoScalingGroups>\
         </DescribeAutoScalingGroupsResult>\
         <ResponseMetadata><RequestId>1</RequestId></ResponseMetadata>\
         </DescribeAutoScalingGroupsResponse>"
    ))
}

#[test]
fn a_database_behind_a_bastion_is_asked_and_used() {
    let (roots, certificate, key) = certificates(HOST);
    let files = [("server.crt", certificate.as_str()), ("server.key", &key)];
    let Some(postgres) = Postgres::start_with("bastion", &files) else {
        return;
    };
    let runtime = Runtime::new().unwrap();
    let agent = SessionAgent::default();
    let behind = SocketAddr::from(([127, 0, 0, 1], postgres.port()));
    agent.knows(HOST, PORT, Place::Tcp(behind));
    let plane = control_plane(&agent, channels(&runtime, &agent));
    let url = format!("http://{}", plane.address);
    let world = World::new()
        .env("AWS_ENDPOINT_URL_RDS", &url)
        .env("AWS_ENDPOINT_URL_AUTO_SCALING", &url)
        .env("AWS_ENDPOINT_URL_SSM", &url);
    trust(&world, &roots);
    world.config(CONFIG);
    world.trust();
    let mut tool_client = world.tool_client();
    let (_, password) = Postgres::superuser();
    let value = json!({ "password": password }).to_string();
    let secret = json!({ "secretName": "shop", "secretValue": value, "region": REGION });
    tool_client.ops("secret_create", &secret).worked();
    let deployed = tool_client.ops("deploy", &args(json!({})));
    let outputs = &deployed.worked()["outputs"];
    let stated = |name: &str| outputs[name].as_str().unwrap().to_owned();

    // Straight, nobody knows the way; through the bastion, the certificate is still checked.
    let call = |more: Value| {
        let mut call = json!({ "resourceName": "db", "sql": "select 6 * 7 as answer" });
        let members = call.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        args(call)
    };
    let lost = tool_client.diagnose("sql", &call(json!({})));
    assert_eq!(lost.body["ok"], false, "{:#}", lost.body);
    let found = tool_client.diagnose("sql", &call(json!({ "bastionResource": "jump" })));
    assert_eq!(found.worked()["rows"], json!([{ "answer": 42 }]));
    let unknown = tool_client.diagnose("sql", &call(json!({ "bastionResource": "jumb" })));
    unknown.refused("NOT_FOUND");

    // A script of this machine reaches the server where the bastion does, and what went wrong is
    // reported where it does not; one on the bastion runs there.
    let stranded = tool_client.ops("script_run", &args(json!({ "scriptName": "ask" })));
    stranded.refused_for("INTERNAL_ERROR", "script_failed");
    let tail = stranded.body["rawTail"].to_string();
    assert!(tail.contains("could not reach"), "{:#}", stranded.body);
    let (host, port) = (stated("host"), stated("port").parse().unwrap());
    agent.knows(&host, port, Place::Tcp(behind));
    let asked = tool_client.ops("script_run", &args(json!({ "scriptName": "ask" })));
    let tail = asked.worked()["outputTail"].to_string();
    assert!(tail.contains("TLS: S"), "{:#}", asked.body);
    let there = tool_client.ops("script_run", &args(json!({ "scriptName": "there" })));
    let data = there.refused_for("INTERNAL_ERROR", "script_failed");
    assert_eq!(data["exitCode"], 3, "{:#}", there.body);
    assert!(
        data["outputTail"].to_string().contains("over there"),
        "{data:#}"
    );

    // Every session was ended, that of each command too; no secret was said.
    assert_eq!(agent.started().len(), 5);
    assert_eq!(agent.terminated().len(), 5);
    for answer in [&found, &asked, &there] {
        assert!(!answer.body.to_string().contains(password));
    }
}
