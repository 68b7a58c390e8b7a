//! Images: their digests without a build, their builds by programs.

use std::sync::Mutex;
use std::time::Duration;

use serde_json::json;
use windlass_stack_lifecycle::package::{CliEngine, ContainerEngine, ImageBuild};
use windlass_types::Problem;

use super::fixture::{Project, detail};

/// Remembers what it was asked to build.
#[derive(Default)]
struct Recorder(Mutex<Vec<(ImageBuild, String)>>);

impl ContainerEngine for Recorder {
    fn build(&self, build: &ImageBuild) -> Result<(), Problem> {
        let text = fs_err::read_to_string(&build.dockerfile).unwrap();
        self.0.lock().unwrap().push((build.clone(), text));
        Ok(())
    }
    fn has(&self, _: &str, _: &str) -> Result<bool, Problem> {
        Ok(false)
    }
    fn login(&self, _: &str, _: &str, _: &str, _: &str) -> Result<(), Problem> {
        Ok(())
    }
    fn name(&self, _: &str, _: &str, _: &str) -> Result<(), Problem> {
        Ok(())
    }
    fn push(&self, _: &str, _: &str) -> Result<(), Problem> {
        Ok(())
    }
}

/// The Dockerfile an image is built from.
fn built(project: &Project, kind: &str, properties: serde_json::Value) -> (ImageBuild, String) {
    let engine = Recorder::default();
    let plan = project.image(kind, properties).unwrap().unwrap();
    project
        .with(|shop| shop.build_image(&plan, &engine, "app:1"))
        .unwrap();
    engine.0.into_inner().unwrap().remove(0)
}

#[test]
fn the_digest_follows_what_the_build_sees() {
    let project = Project::new(&[
        ("app/Dockerfile", "FROM scratch"),
        ("app/.dockerignore", "*.log"),
        ("app/main.js", "1"),
    ]);
    let digest = |value: &str| {
        let properties =
            json!({"buildContextPath": "app", "buildArgs": [{"argName": "A", "value": value}]});
        project
            .image("custom-dockerfile", properties)
            .unwrap()
            .unwrap()
            .digest
    };
    let first = digest("1");
    assert_ne!(digest("2"), first);
    project.write("app/noise.log", "x");
    project.write("elsewhere.js", "x");
    assert_eq!(digest("1"), first);
    project.write("app/main.js", "2");
    assert_ne!(digest("1"), first);
    project.write("app/main.js", "1");
    assert_eq!(digest("1"), first);
    // A link is its target's name; nothing outside is read.
    std::os::unix::fs::symlink("/etc/passwd", project.root().join("app/link")).unwrap();
    assert_ne!(digest("1"), first);
}

#[test]
fn images_from_source() {
    let project = Project::new(&[
        ("web.js", "require('./lib')"),
        ("lib.js", ""),
        ("other.js", ""),
    ]);
    let (build, text) = built(
        &project,
        "stacktape-image-buildpack",
        json!({"entryfilePath": "web.js", "customDockerBuildCommands": ["apk add curl"]}),
    );
    assert_eq!(
        (build.platform, build.tag.as_str()),
        ("linux/amd64", "app:1")
    );
    insta::assert_snapshot!(text, @r#"
    FROM docker.io/library/node:24-alpine
    WORKDIR /app
    ENV NODE_ENV=production
    COPY . .
    RUN apk add curl
    CMD ["node","--enable-source-maps","web.js"]
    "#);

    let project = Project::new(&[("requirements.txt", "flask==3"), ("app/main.py", "")]);
    let (_, text) = built(
        &project,
        "stacktape-image-buildpack",
        json!({
            "entryfilePath": "app/main.py:api",
            "requiresGlibcBinaries": true,
            "languageSpecificConfig": {"runAppAs": "ASGI", "pythonVersion": "3.12"},
        }),
    );
    insta::assert_snapshot!(text, @r#"
    FROM docker.io/library/python:3.12-slim
    WORKDIR /app
    ENV PYTHONUNBUFFERED=1
    COPY requirements.windlass.txt ./
    RUN pip install --no-cache-dir -r requirements.windlass.txt
    RUN pip install --no-cache-dir uvicorn
    COPY . .
    CMD ["sh","-c","exec uvicorn --host 0.0.0.0 --port ${PORT:-3000} main:api"]
    "#);
    let wrong =
        json!({"entryfilePath": "app/main.py:a;b", "languageSpecificConfig": {"runAppAs": "WSGI"}});
    assert!(project.image("stacktape-image-buildpack", wrong).is_err());
}

#[test]
fn an_image_that_exists_needs_nothing() {
    let project = Project::new(&[]);
    let plan = project
        .image("prebuilt-image", json!({"image": "nginx:1"}))
        .unwrap();
    assert!(plan.is_none());
}

#[test]
fn other_builders_are_named_when_missing_and_called_when_present() {
    let mut project = Project::new(&[("src/a.js", "1")]);
    let nixpacks = json!({"sourceDirectoryPath": "src", "startCmd": "node a.js", "phases": [{"name": "build", "cmds": ["x"]}]});
    for (kind, properties, tool) in [
        (
            "external-buildpack",
            json!({"sourceDirectoryPath": "src"}),
            "pack",
        ),
        ("nixpacks", nixpacks.clone(), "nixpacks"),
    ] {
        let plan = project.image(kind, properties).unwrap().unwrap();
        let problem = project.with(|shop| shop.build_image(&plan, &Recorder::default(), "app:1"));
        let problem = problem.unwrap_err();
        assert_eq!(detail(&problem, "tool"), tool);
        assert!(detail(&problem, "hint").starts_with("install "));
    }
    let script = r#"while [ "$1" != --config ]; do shift; done; cat "$2" >&2; exit 1"#;
    project.tools.nixpacks = Some(project.program("nixpacks", script));
    project.tools.environment = [("PATH".into(), "/usr/bin:/bin".into())].into();
    let plan = project.image("nixpacks", nixpacks).unwrap().unwrap();
    let problem = project.with(|shop| shop.build_image(&plan, &Recorder::default(), "app:1"));
    let problem = problem.unwrap_err();
    let config = detail(&problem, "output");
    assert_eq!(
        config,
        r#"{"phases":{"build":{"cmds":["x"]}},"start":{"cmd":"node a.js"}}"#
    );
}

#[test]
fn the_engine_s_program_gets_docker_s_commands() {
    let mut project = Project::new(&[]);
    let script = r#"echo "$@" >> "$LOG"; [ "$1" = login ] && cat >> "$LOG"; [ "$1" != push ]"#;
    project.tools.container = Some(project.program("podman", script));
    let log = project.outside("log");
    project.tools.environment = [
        ("LOG".into(), log.clone().into()),
        ("PATH".into(), "/usr/bin:/bin".into()),
    ]
    .into();
    let engine = CliEngine::of(&project.tools, "web", Duration::from_secs(60)).unwrap();
    engine
        .build(&ImageBuild {
            workload: "web".into(),
            context: "/c".into(),
            dockerfile: "/c/Dockerfile".into(),
            arguments: vec![("A".into(), "b c".into())],
            platform: "linux/arm64",
            tag: "x:1".into(),
        })
        .unwrap();
    assert!(!engine.has("web", "x:1").unwrap());
    engine.login("web", "r.example", "AWS", "hush\n").unwrap();
    engine.name("web", "x:1", "r.example/x:1").unwrap();
    let problem = engine.push("web", "r.example/x:1").unwrap_err();
    assert_eq!(detail(&problem, "tool"), "podman");
    insta::assert_snapshot!(fs_err::read_to_string(log).unwrap(), @r"
    build --platform linux/arm64 --tag x:1 --file /c/Dockerfile --build-arg A=b c /c
    images --quiet x:1
    login --username AWS --password-stdin r.example
    hush
    tag x:1 r.example/x:1
    push r.example/x:1
    ");
    project.tools.container = None;
    let missing = CliEngine::of(&project.tools, "web", Duration::ZERO).unwrap_err();
    assert_eq!(detail(&missing, "tool"), "podman or docker");
}
