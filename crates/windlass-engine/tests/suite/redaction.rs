//! Secrets stay inside: everything that is told passes the one redaction pass. Content is
//! delivered as it was stored, or refused.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_engine::{
    operation::{Operation, operation},
    run::{RunError, WebhookRequest},
};
use windlass_testkit::{TestWorld, local, program::fn_kind};
use windlass_types::{Digest, NewArtifact, Problem, RunState, Secret, Visibility, code};

use super::support::{ended, world_of};

const SECRET: &str = "correct-horse-battery-staple";
/// Content that redaction would change if it were told.
const CONTENT: &str = "<input autoComplete=\"current-password\">\nauthorization: Bearer abcdefghijklmnop0123456789\n\
    password=hunter2hunter2\n";

fn world() -> TestWorld {
    let world = world_of(vec![leaky()], operations());
    world.redactor.register(&Secret::new(SECRET.to_owned()));
    world
}

/// A run that says its secret wherever it can.
fn leaky() -> Arc<dyn windlass_engine::run::RunKind> {
    fn_kind("leaky", |context, _| {
        Box::pin(async move {
            context
                .emit(
                    "said",
                    json!({ "text": format!("it is {SECRET}"), "password": "another one" }),
                )
                .await?;
            for (name, visibility) in [
                ("public", Visibility::Public),
                ("private", Visibility::Private),
            ] {
                let artifact = NewArtifact {
                    visibility,
                    ..NewArtifact::text(name, "text/plain", CONTENT)
                };
                context.put_artifact(artifact).await?;
            }
            let binary = [SECRET.as_bytes(), &[0xff, 0xfe]].concat();
            let mut artifact = NewArtifact {
                name: "binary".to_owned(),
                content_type: "application/octet-stream".to_owned(),
                bytes: binary,
                visibility: Visibility::Public,
                expires_at: None,
            };
            let refused = context.put_artifact(artifact.clone()).await;
            let Err(RunError::Failed(refused)) = refused else {
                panic!("a public artifact with a secret is refused");
            };
            assert!(refused.message().contains("\"binary\""), "{refused:?}");
            artifact.visibility = Visibility::Private;
            context.put_artifact(artifact).await?;
            let request = WebhookRequest {
                name: "tell".to_owned(),
                url: "https://hook.test/".to_owned(),
                event: "leaky.said".to_owned(),
                body: json!({ "text": SECRET }),
                secret_name: None,
            };
            context.notify(request).await?;
            Ok(json!(null))
        })
    })
}

fn operations() -> Vec<Arc<dyn Operation>> {
    let echo = operation("leaky", "echo")
        .describe("Echo", "Says it.")
        .discloses("confirm_token");
    let echo = echo.handle(|_, input: Value| async move { Ok::<Value, Problem>(input) });
    let made = operation("leaky", "made")
        .describe("Made", "Delivers what was made.")
        .delivers_content();
    let made = made.handle(|_, input: Value| async move { Ok::<Value, Problem>(input) });
    let fail = operation("leaky", "fail")
        .describe("Fail", "Fails.")
        .handle(|_, _: Value| async move {
            let problem = Problem::new(&code::UPSTREAM_ERROR, format!("they said {SECRET}"))
                .with("answer", json!({ "body": [SECRET] }))
                .next(format!("call them about {SECRET}"));
            Err::<Value, Problem>(problem)
        });
    vec![echo, made, fail]
}

#[tokio::test]
async fn runs_leave_no_secret_in_what_leaves_the_process() {
    let world = world();
    let process = world.driving().await;
    let run_id = process.start("leaky", json!(null)).await;
    assert_eq!(ended(&process, &run_id).await.state, RunState::Completed);
    process.idle().await;
    for event in process.store.journal(&run_id) {
        assert!(
            !event.payload.as_str().contains(SECRET),
            "{}",
            event.payload.as_str()
        );
        assert!(
            !event.payload.as_str().contains("another one"),
            "{}",
            event.payload.as_str()
        );
    }
    let binary = [SECRET.as_bytes(), &[0xff, 0xfe]].concat();
    for (name, made) in [
        ("public", CONTENT.as_bytes()),
        ("private", CONTENT.as_bytes()),
        ("binary", &binary),
    ] {
        let content = process
            .engine
            .artifact(&local(), &run_id, name)
            .await
            .unwrap();
        assert_eq!(content.bytes, made, "{name}");
        assert_eq!(content.artifact.sha256, Digest::of(made), "{name}");
        assert_eq!(content.artifact.size, made.len() as u64, "{name}");
    }
    let sent = world.outbound.sent();
    assert_eq!(sent.len(), 1);
    assert!(!String::from_utf8_lossy(&sent[0].request.body).contains(SECRET));
}

#[tokio::test]
async fn answers_and_errors_leave_no_secret_either() {
    let world = world();
    let process = world.process();
    let input = json!({ "text": SECRET, "nested": [{ "token": "hidden by its name" }], "count": 3, "confirm_token": "shown" });
    let answer = process.call("leaky.echo", input).await.unwrap();
    insta::assert_snapshot!(answer.output, @r#"{"confirm_token":"shown","count":3,"nested":[{"token":"[redacted:secret]"}],"text":"[redacted:secret-value]"}"#);
    let content = json!({ "files": [{ "path": "sign-in.tsx", "content": CONTENT }], "token": "t" });
    let answer = process.call("leaky.made", content.clone()).await.unwrap();
    assert_eq!(answer.output, content);
    let problem = process.call("leaky.fail", json!({})).await.unwrap_err();
    insta::assert_snapshot!(serde_json::to_string(&problem).unwrap(), @r#"{"code":"UPSTREAM_ERROR","message":"they said [redacted:secret-value]","details":{"answer":{"body":["[redacted:secret-value]"]}},"next_actions":["call them about [redacted:secret-value]"]}"#);
}
