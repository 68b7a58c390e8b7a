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
        allowed: Default::default(),
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
    let dependencies = |names: &str| {
        format!("{{\"scripts\": {{\"build\": \"x\"}}, \"dependencies\": {{{names}}}}}")
    };
    let mut said = String::new();
    for files in [
        vec![],
        vec![
            ("Dockerfile", String::new()),
            ("package.json", dependencies("\"pg\": \"8\"")),
        ],
        vec![
            (
                "package.json",
                dependencies("\"express\": \"5\", \"ioredis\": \"5\""),
            ),
            ("src/server.ts", String::new()),
        ],
        vec![("package.json", dependencies("\"hono\": \"4\""))],
        vec![(
            "package.json",
            dependencies("\"next\": \"15\", \"@prisma/client\": \"6\""),
        )],
        vec![("package.json", dependencies("\"vite\": \"7\""))],
        vec![("package.json", dependencies("\"astro\": \"5\""))],
        vec![
            ("package.json", dependencies("")),
            ("index.js", String::new()),
        ],
        vec![
            ("package.json", "not json".to_owned()),
            ("handler.js", String::new()),
        ],
        vec![
            ("requirements.txt", "fastapi==0.115\nasyncpg\n".to_owned()),
            ("app.py", String::new()),
        ],
        vec![(
            "pyproject.toml",
            "dependencies = [\"Flask>=3\", \"redis\"]".to_owned(),
        )],
        vec![
            ("requirements.txt", "boto3\nmysqlclient\n".to_owned()),
            ("handler.py", String::new()),
        ],
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
    insta::assert_snapshot!(said, @"

        nothing known; the config begins with a function
    Dockerfile, package.json
        Dockerfile: a web service built from it; pg: a PostgreSQL database
    package.json, src/server.ts
        express: a web service from src/server.ts; ioredis: a Redis cluster
    package.json
        hono: a web service from src/index.ts
    package.json
        next: a web service built by Nixpacks; @prisma/client: a PostgreSQL database
    package.json
        vite: a website from dist/
    package.json
        astro: a website from dist/
    package.json, index.js
        package.json: a web service from index.js
    package.json, handler.js
        handler.js: a function behind an HTTP API
    requirements.txt, app.py
        fastapi: a web service from app.py; asyncpg: a PostgreSQL database
    pyproject.toml
        flask: a web service from main.py; redis: a Redis cluster
    requirements.txt, handler.py
        handler.py: a function behind an HTTP API; mysqlclient: a MySQL database
    go.mod
        go.mod: a web service from main.go
    index.html
        index.html: a website from this directory
    ");
}

#[test]
fn a_service_with_a_database() {
    let package = r#"{"dependencies": {"express": "5", "pg": "8"}}"#;
    insta::assert_snapshot!(made(&[("package.json", package), ("src/index.ts", "")]).text, @r#"
    # What this stack consists of. Every property is described in the docs:
    #   windlass docs "web-service"
    # Check it, and see what a deploy would do:
    #   windlass stack validate --stage dev --region eu-west-1
    #   windlass stack preview --stage dev --region eu-west-1
    resources:
      # A container that serves the internet. The app must listen on the port in the variable PORT.
      web:
        type: web-service
        properties:
          packaging:
            type: stacktape-image-buildpack
            properties:
              entryfilePath: src/index.ts
          # A quarter of a processor and 512 MB; the smallest there is.
          resources:
            cpu: 0.25
            memory: 512
          scaling:
            minInstances: 1
            maxInstances: 2
          # Gives the code STP_<NAME>_CONNECTION_STRING and network access.
          connectTo:
            - database

      # Create the password first:
      #   windlass stack secret create database-password --region eu-west-1
      database:
        type: relational-database
        properties:
          credentials:
            masterUserPassword: $Secret('database-password')
          engine:
            type: postgres
            properties:
              version: '16.6'
              primaryInstance:
                instanceSize: db.t4g.micro
    "#);
}
