//! Names that are taken and refused, and what policy is asked about.

use serde_json::json;
use windlass_engine::operation::Terms;
use windlass_types::{Principal, Surface};

use super::*;

fn context(directory: &Path) -> CallContext {
    CallContext {
        principal: Principal::local("ada"),
        surface: Surface::Cli,
        request_id: "req_1".to_owned(),
        directory: Some(directory.to_owned()),
        terms: Terms::default(),
    }
}

fn read(directory: &Path, arguments: Value) -> Result<Place, Problem> {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object");
    };
    Place::read(&context(directory), &arguments)
}

#[test]
fn names_that_aws_bears() {
    let long = "a".repeat(100);
    let too_long = "a".repeat(101);
    let cases = [
        ("dev", true, true),
        ("d", true, true),
        ("Pr-123", true, true),
        ("twelve-signs", true, true),
        ("thirteen-sign", false, true),
        (&long, false, true),
        (&too_long, false, false),
        ("", false, false),
        ("1st", false, false),
        ("-dev", false, false),
        ("my_app", false, false),
        ("my.app", false, false),
        ("dév", false, false),
        ("a b", false, false),
        ("dev\n", false, false),
    ];
    for (name, is_stage, is_project) in cases {
        assert_eq!(check_stage(name).is_ok(), is_stage, "{name:?}");
        assert_eq!(check_project(name).is_ok(), is_project, "{name:?}");
    }
    let refused = check_stage("my_app").unwrap_err();
    assert_eq!(refused.details()["argument"], "stage");
    assert!(refused.message().contains("\"my_app\""), "{refused}");
}

#[test]
fn a_call_says_where_it_points() {
    let place = read(
        Path::new("/app"),
        json!({
            "projectName": "shop", "stage": "dev", "region": "eu-west-1", "profile": "work",
            "currentWorkingDirectory": "infra",
        }),
    )
    .unwrap();
    assert_eq!(place.directory, Path::new("/app/infra"));
    assert_eq!(place.stack_name().as_deref(), Some("shop-dev"));
    let target = place.target();
    assert_eq!(target.region.as_deref(), Some("eu-west-1"));
    assert_eq!(target.profile.as_deref(), Some("work"));

    let elsewhere = read(
        Path::new("/app"),
        json!({ "currentWorkingDirectory": "/srv" }),
    )
    .unwrap();
    assert_eq!(elsewhere.directory, Path::new("/srv"));
    assert_eq!(elsewhere.stack_name(), None);
    for wrong in [
        json!({ "stage": "my_stage" }),
        json!({ "projectName": "1st" }),
    ] {
        assert!(read(Path::new("/app"), wrong.clone()).is_err(), "{wrong}");
    }
}

#[test]
fn the_stack_is_named_as_far_as_its_text_tells() {
    let folder = tempfile::tempdir().unwrap();
    let named = json!({ "projectName": "shop", "stage": "dev" });
    let unnamed = json!({ "stage": "dev" });
    let cases = [
        ("serviceName: web\nresources: {}\n", &named, "shop-dev"),
        ("serviceName: web\nresources: {}\n", &unnamed, "web-dev"),
        (
            "\"serviceName\": 'web' # the shop\nresources: {}\n",
            &unnamed,
            "web-dev",
        ),
        (
            "serviceName: $Stage()\nresources: {}\n",
            &unnamed,
            "dev-dev",
        ),
        ("serviceName:\n", &unnamed, "*-dev"),
        ("resources: {}\n", &unnamed, "*-dev"),
        ("nested:\n  serviceName: web\n", &unnamed, "*-dev"),
        ("serviceName: web\n", &json!({}), ""),
        ("serviceName: web\n", &json!({ "projectName": "shop" }), ""),
    ];
    for (config, arguments, target) in cases {
        fs_err::write(folder.path().join("stacktape.yml"), config).unwrap();
        let place = read(folder.path(), arguments.clone()).unwrap();
        assert_eq!(place.shown_stack(), target, "{config:?} {arguments}");
    }
    let nowhere = read(Path::new("/nonexistent"), unnamed).unwrap();
    assert_eq!(nowhere.shown_stack(), "*-dev");
}
