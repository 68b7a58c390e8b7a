//! A service in a container, by a real Podman: served, rebuilt, killed, ended.

use serde_json::json;
use windlass_stack_dev::client;
use windlass_stack_dev::log::LogQuery;
use windlass_testkit::servers::Podman;

use super::project::{Project, call};

const CONFIG: &str = r#"
resources:
  web:
    type: web-service
    properties:
      resources: { cpu: 0.25, memory: 512 }
      environment:
        - { name: GREETING, value: hello from inside }
        - { name: HOME, value: /nowhere }
      packaging:
        type: custom-dockerfile
        properties: { buildContextPath: web }
"#;

const DOCKERFILE: &str = r#"FROM scratch
COPY busybox /bin/busybox
COPY page /www/page
CMD ["/bin/busybox", "sh", "-c", "echo serving; echo \"$GREETING, $HOME, $(busybox cat /www/page)\" > /www/index.html; exec busybox httpd -f -p 127.0.0.1:$PORT -h /www"]
"#;

const NAME: &str = "windlass-dev-notes-pod-web";

#[tokio::test(flavor = "multi_thread")]
async fn a_container_serves_is_rebuilt_and_never_outlives_its_session() {
    let Some(podman) = Podman::start() else {
        return;
    };
    let mut project = Project::new(
        "pod",
        &[
            ("stacktape.yml", CONFIG),
            ("web/Dockerfile", DOCKERFILE),
            ("web/page", "one"),
        ],
    );
    project.environment = podman.environment();
    podman.add_busybox(&project.path().join("web")).unwrap();

    let started = project.start().await.unwrap();
    assert!(started.ok, "{started:?}");
    let url = started.data.unwrap()["workloads"]["web"]
        .as_str()
        .unwrap()
        .to_owned();
    let (status, page) = call("GET", &url, None).await;
    assert_eq!(
        (status, page),
        (200, json!("hello from inside, /nowhere, one\n"))
    );
    assert_eq!(podman.containers(), [NAME]);
    let logs = client::logs(&project.wanted(), &LogQuery::default())
        .await
        .unwrap();
    let logs = logs.data.unwrap()["logs"].as_str().unwrap().to_owned();
    assert!(logs.contains("[web] serving"), "{logs}");

    // An image that cannot be built leaves the old container at work.
    project.write("web/Dockerfile", "FROM scratch\nCOPY missing /missing\n");
    let refused = client::rebuild(&project.wanted(), "web").await.unwrap();
    assert!(!refused.ok, "{refused:?}");
    assert_eq!(call("GET", &url, None).await.0, 200);
    project.write("web/Dockerfile", DOCKERFILE);
    project.write("web/page", "two");
    let rebuilt = client::rebuild(&project.wanted(), "web").await.unwrap();
    assert!(rebuilt.ok, "{rebuilt:?}");
    let (_, page) = call("GET", &url, None).await;
    assert_eq!(page, json!("hello from inside, /nowhere, two\n"));

    // The manager is killed: its container is found by its label and ended by the next one.
    project.kill().await;
    let restarted = project.start().await.unwrap();
    assert!(restarted.ok, "{restarted:?}");
    let (_, page) = call("GET", &url, None).await;
    assert_eq!(page, json!("hello from inside, /nowhere, two\n"));
    assert_eq!(podman.containers(), [NAME]);

    // Killed again, and stopped without a manager.
    project.kill().await;
    let stopped = client::stop(&project.wanted()).await.unwrap();
    assert!(stopped.ok, "{stopped:?}");
    assert_eq!(podman.containers(), [""; 0]);

    // Stopped in order.
    assert!(project.start().await.unwrap().ok);
    assert_eq!(podman.containers(), [NAME]);
    assert!(client::stop(&project.wanted()).await.unwrap().ok);
    assert_eq!(podman.containers(), [""; 0]);
}
