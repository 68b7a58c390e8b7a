//! Commands in containers, with a scripted peer on the data channel that runs nothing.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use windlass_ports::{BoxFuture, MessageSocket, MessageSockets, SocketFailure, SocketMessage};
use windlass_types::Secret;

use super::cloud::ScriptedCloud;
use super::world::{World, code_and_reason, of_stack};

/// Sends each text as one message of output, then closes.
#[derive(Clone, Default)]
pub struct Peer {
    pub output: Arc<Mutex<Vec<String>>>,
    sent: i64,
}

impl MessageSockets for Peer {
    fn open<'a>(
        &'a self,
        url: &'a Secret<String>,
    ) -> BoxFuture<'a, Result<Box<dyn MessageSocket>, SocketFailure>> {
        let opened = url.expose_secret().starts_with("wss://");
        let socket: Box<dyn MessageSocket> = Box::new(self.clone());
        Box::pin(async move {
            if opened {
                Ok(socket)
            } else {
                Err(SocketFailure {
                    message: "no route".to_owned(),
                })
            }
        })
    }
}

impl MessageSocket for Peer {
    fn send(&mut self, _: SocketMessage) -> BoxFuture<'_, Result<(), SocketFailure>> {
        Box::pin(async { Ok(()) })
    }

    fn receive(&mut self) -> BoxFuture<'_, Result<Option<SocketMessage>, SocketFailure>> {
        let mut output = self.output.lock().unwrap();
        let next = (!output.is_empty()).then(|| output.remove(0));
        let message = next.map(|text| SocketMessage::Binary(frame(self.sent, text.as_bytes())));
        self.sent += 1;
        Box::pin(async move { Ok(message) })
    }
}

/// A message of output, written here by the published layout and not by the code under test.
fn frame(sequence: i64, payload: &[u8]) -> Vec<u8> {
    let mut bytes = 116_u32.to_be_bytes().to_vec();
    bytes.extend(format!("{:<32}", "output_stream_data").bytes());
    bytes.extend(1_u32.to_be_bytes());
    bytes.extend(0_u64.to_be_bytes());
    bytes.extend(sequence.to_be_bytes());
    bytes.extend(0_u64.to_be_bytes());
    bytes.extend([9; 16]);
    bytes.extend(Sha256::digest(payload));
    bytes.extend(1_u32.to_be_bytes());
    bytes.extend(u32::try_from(payload.len()).unwrap().to_be_bytes());
    bytes.extend(payload);
    bytes
}

pub fn with_task(cloud: &ScriptedCloud, enabled: bool) {
    with_task_at(cloud, enabled, "wss://x");
}

fn with_task_at(cloud: &ScriptedCloud, enabled: bool, stream: &str) {
    cloud
        .answer("ecs:ListTasks", json!({ "taskArns": ["arn:task"] }))
        .answer(
            "ecs:DescribeTasks",
            json!({ "tasks": [{
            "taskArn": "arn:task", "lastStatus": "RUNNING", "group": "service:web-1",
            "enableExecuteCommand": enabled, "containers": [{ "name": "main" }],
        }] }),
        )
        .answer(
            "ecs:ExecuteCommand",
            json!({ "session": {
            "sessionId": "s", "streamUrl": stream, "tokenValue": "session-token-value" } }),
        );
}

/// The marker comes from seeded randomness; a call that fails shows it, the next has the same.
async fn marker() -> String {
    let mut world = World::new();
    with_task(&world.cloud, true);
    world.sockets = Some(Arc::new(Peer::default()));
    let (_, left) = world
        .ask("container_exec", exec(json!({ "confirm": true })))
        .await;
    let command = left.cloud.inputs("ecs:ExecuteCommand")[0]["command"]
        .as_str()
        .unwrap()
        .to_owned();
    let tail = command.rsplit("\\n'\"'\"' ").next().unwrap();
    let mut halves = tail.split(' ');
    format!("{}{}", halves.next().unwrap(), halves.next().unwrap())
}

fn exec(more: Value) -> Value {
    let mut arguments = of_stack(json!({ "resourceName": "web", "command": "ls" }));
    for (name, value) in more.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    arguments
}

#[tokio::test]
async fn a_command_runs_after_a_yes_and_its_exit_code_is_returned() {
    let (answered, left) = World::new().ask("container_exec", exec(json!({}))).await;
    assert_eq!(
        code_and_reason(&answered.unwrap_err()).0,
        "CONFIRM_REQUIRED"
    );
    assert!(left.cloud.asked.lock().unwrap().is_empty());

    let marker = marker().await;
    let mut world = World::new();
    with_task(&world.cloud, true);
    let peer = Peer::default();
    *peer.output.lock().unwrap() = vec![
        "\u{1b}[32mfile\u{1b}[0m\r\n".to_owned(),
        format!("\r\n{}", &marker[..5]),
        format!("{}:3\r\n", &marker[5..]),
    ];
    world.sockets = Some(Arc::new(peer));
    let (answered, left) = world
        .ask("container_exec", exec(json!({ "confirm": true })))
        .await;
    let answer = answered.unwrap();
    assert_eq!(answer.data["output"], "file\n");
    assert_eq!(answer.data["exitCode"], 3);
    assert_eq!(answer.data["containerName"], "main");
    assert_eq!(answer.raw_tail.as_deref(), Some("file"));
    let asked = &left.cloud.inputs("ecs:ExecuteCommand")[0];
    assert_eq!(
        (&asked["cluster"], &asked["interactive"]),
        (&json!("cluster"), &json!(true))
    );
}

#[tokio::test]
async fn what_keeps_a_command_from_running_is_reported() {
    for (enabled, tasks, sockets, more, expected) in [
        (
            false,
            true,
            true,
            json!({}),
            ("INVALID_INPUT", "remote_sessions_disabled"),
        ),
        (
            true,
            true,
            false,
            json!({}),
            ("INVALID_INPUT", "no_message_sockets"),
        ),
        (
            true,
            true,
            true,
            json!({ "container": "other" }),
            ("NOT_FOUND", "not_found"),
        ),
        (
            true,
            true,
            true,
            json!({ "resourceName": "api" }),
            ("INVALID_INPUT", "wrong_resource_type"),
        ),
        (true, false, true, json!({}), ("NOT_FOUND", "not_found")),
        // The peer closes before the marker.
        (
            true,
            true,
            true,
            json!({}),
            ("UPSTREAM_ERROR", "interrupted"),
        ),
    ] {
        let mut world = World::new();
        if !tasks {
            world
                .cloud
                .answer("ecs:ListTasks", json!({ "taskArns": [] }));
        }
        if tasks {
            with_task(&world.cloud, enabled);
        }
        world.sockets = sockets.then(|| Arc::new(Peer::default()) as Arc<dyn MessageSockets>);
        let mut arguments = exec(more);
        arguments["confirm"] = json!(true);
        let (answered, _) = world.ask("container_exec", arguments).await;
        let (code, reason) = code_and_reason(&answered.unwrap_err());
        assert_eq!((code, reason.as_str()), expected);
    }
}

/// The other side of the data channel, on a real socket: it waits to be greeted, shakes hands,
/// sends its output twice, and continues only once everything is acknowledged.
async fn remote_side(listener: tokio::net::TcpListener, output: Vec<String>) -> Vec<String> {
    use futures::{SinkExt as _, StreamExt as _};
    use tokio_tungstenite::tungstenite::Message;
    let (stream, _) = listener.accept().await.unwrap();
    let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
    let greeting = socket.next().await.unwrap().unwrap();
    let greeting: Value = serde_json::from_str(greeting.to_text().unwrap()).unwrap();
    let mut heard = vec![greeting["TokenValue"].as_str().unwrap().to_owned()];
    let handshake = json!({ "RequestedClientActions": [{ "ActionType": "SessionType" }] });
    let mut messages = vec![(5, handshake.to_string())];
    messages.extend(output.into_iter().map(|text| (1, text)));
    for (sequence, (kind, payload)) in messages.iter().enumerate() {
        let mut bytes = frame(i64::try_from(sequence).unwrap(), payload.as_bytes());
        bytes[112..116].copy_from_slice(&u32::to_be_bytes(*kind));
        // Whatever is not acknowledged in time is sent again.
        for _ in 0..2 {
            socket.send(Message::binary(bytes.clone())).await.unwrap();
        }
        let mut acknowledged = 0;
        while acknowledged < 2 {
            let Some(Ok(Message::Binary(answer))) = socket.next().await else {
                return heard;
            };
            let name = String::from_utf8(answer[4..36].to_vec()).unwrap();
            acknowledged += usize::from(name.trim_end_matches([' ', '\0']) == "acknowledge");
            heard.push(name.trim_end_matches([' ', '\0']).to_owned());
        }
    }
    heard
}

#[tokio::test]
async fn a_command_is_run_over_a_real_socket() {
    let marker = marker().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let output = vec!["total 0\r\n".to_owned(), format!("\r\n{marker}:0\r\n")];
    let remote = tokio::spawn(remote_side(listener, output));
    let mut world = World::new();
    with_task_at(
        &world.cloud,
        true,
        &format!("ws://{address}/v1/data-channel/s?role=p"),
    );
    let policy = windlass_net::OutboundPolicy {
        allow_private: true,
        allow_http: true,
        allowed_hosts: None,
    };
    world.sockets = Some(Arc::new(windlass_net::WebSockets::new(policy)));
    let (answered, _) = world
        .ask("container_exec", exec(json!({ "confirm": true })))
        .await;
    let answer = answered.unwrap();
    assert_eq!(
        (&answer.data["output"], &answer.data["exitCode"]),
        (&json!("total 0\n"), &json!(0))
    );
    let heard = remote.await.unwrap();
    assert_eq!(heard[0], "session-token-value");
    assert!(heard.contains(&"input_stream_data".to_owned()), "{heard:?}");
}
