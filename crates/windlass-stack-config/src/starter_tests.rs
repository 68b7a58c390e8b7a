//! What is found in a directory, and that the config made of it is accepted.

use std::path::Path;

use super::*;
use crate::{ConfigText, Context, LoadFailure, NoLookups, load};

fn made(files: &[(&str, &str)]) -> Starter {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }
    let starter = starter(folder.path()).unwrap();
    let context = Context {
        project_name: None,
        stage: None,
        region: None,
        profile: None,
        arguments: serde_json::Map::new(),
        project_root: Path::new("/nonexistent").to_owned(),
        config_directory: Path::new("/nonexistent").to_owned(),
        files_outside_project: false,
        lookups: &NoLookups,
    };
    let source = ConfigText {
        file: "stacktape.yml",
        text: &starter.text,
    };
    if let Err(LoadFailure::Invalid(faults)) = load(&source, &context) {
        panic!("{}\n{}", starter.text, faults.render());
    }
    starter
}

#[test]
fn directories_are_understood() {
    let dependencies =
        |names: &str| format!("{{\"scripts\": {{\"build\": \"x\"}}, \"dependencies\": {{{names}}}}}");
    let mut said = String::new();
    for files in [
        vec![],
        vec![("Dockerfile", String::new()), ("package.json", dependencies("\"pg\": \"8\""))],
        vec![("package.json", dependencies("\"express\": \"5\", \"ioredis\": \"5\"")), ("src/server.ts", String::new())],
        vec![("package.json", dependencies("\"hono\": \"4\""))],
        vec![("package.json", dependencies("\"next\": \"15\", \"@prisma/client\": \"6\""))],
        vec![("package.json", dependencies("\"vite\": \"7\""))],
        vec![("package.json", dependencies("\"astro\": \"5\""))],
        vec![("package.json", dependencies("")), ("index.js", String::new())],
        vec![("package.json", "not json".to_owned()), ("handler.js", String::new())],
        vec![("requirements.txt", "fastapi==0.115\nasyncpg\n".to_owned()), ("app.py", String::new())],
        vec![("pyproject.toml", "dependencies = [\"Flask>=3\", \"redis\"]".to_owned())],
        vec![("requirements.txt", "boto3\nmysqlclient\n".to_owned()), ("handler.py", String::new())],
        vec![("go.mod", "module x".to_owned())],
        vec![("index.html", String::new())],
    ] {
        let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
        let files: Vec<(&str, &str)> = files
            .iter()
            .map(|(name, text)| (*name, text.as_str()))
            .collect();
        let found = made(&files).found.join("; ");
        said.push_str(&format!("{}\n    {found}\n", names.join(", ")));
    }
    insta::assert_snapshot!(said, @"");
}

#[test]
fn a_service_with_a_database() {
    let package = r#"{"dependencies": {"express": "5", "pg": "8"}}"#;
    insta::assert_snapshot!(made(&[("package.json", package), ("src/index.ts", "")]).text, @"");
}
