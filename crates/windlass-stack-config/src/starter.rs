//! A first config, from what is in a directory.
//!
//! Reads manifests only, starts nothing, writes nothing. What it makes is a valid config.

use std::path::Path as FilePath;

use serde_json::Value;
use windlass_types::Problem;

/// A first config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Starter {
    /// The config's text.
    pub text: String,
    /// What was found, for people.
    pub found: Vec<String>,
}

/// A larger manifest is not read.
const MAX_BYTES: u64 = 1024 * 1024;

/// Makes a first config for a directory.
pub fn starter(directory: &FilePath) -> Result<Starter, Problem> {
    let project = Project::read(directory);
    let mut found = Vec::new();
    let app = app(&project, &mut found);
    let stores = stores(&project, &mut found);
    if found.is_empty() {
        found.push("nothing known; the config begins with a function".to_owned());
    }
    Ok(Starter {
        text: text(&app, &stores),
        found,
    })
}

/// The manifests of a directory.
struct Project<'a> {
    directory: &'a FilePath,
    package: Option<Value>,
    python: Option<String>,
}

impl<'a> Project<'a> {
    fn read(directory: &'a FilePath) -> Self {
        let text = |name: &str| {
            let path = directory.join(name);
            let is_small = fs_err::metadata(&path).is_ok_and(|data| data.len() <= MAX_BYTES);
            is_small
                .then(|| fs_err::read_to_string(path).ok())
                .flatten()
        };
        let python = ["requirements.txt", "pyproject.toml", "Pipfile"]
            .into_iter()
            .filter_map(text)
            .reduce(|all, more| all + "\n" + &more);
        Self {
            directory,
            package: text("package.json").and_then(|text| serde_json::from_str(&text).ok()),
            python,
        }
    }

    fn has(&self, name: &str) -> bool {
        self.directory.join(name).is_file()
    }

    fn first<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        names.iter().copied().find(|name| self.has(name))
    }

    /// Whether a package of npm is used.
    fn uses(&self, name: &str) -> bool {
        self.package.as_ref().is_some_and(|package| {
            ["dependencies", "devDependencies"]
                .iter()
                .any(|section| package[section].get(name).is_some())
        })
    }

    /// Whether a package of Python is named.
    fn names(&self, package: &str) -> bool {
        self.python.as_ref().is_some_and(|text| {
            text.to_lowercase()
                .split(|letter: char| !(letter.is_ascii_alphanumeric() || "-_".contains(letter)))
                .any(|word| word == package)
        })
    }

    fn script(&self, name: &str) -> bool {
        self.package
            .as_ref()
            .is_some_and(|package| package["scripts"][name].is_string())
    }
}

/// What the directory holds.
enum App {
    /// A function behind an HTTP API.
    Function { entry: String },
    /// A container that serves HTTP.
    Service {
        packaging: Vec<String>,
        note: &'static str,
    },
    /// A website.
    Site {
        directory: &'static str,
        build: bool,
        kind: &'static str,
    },
}

const NODE_ENTRIES: &[&str] = &[
    "src/index.ts",
    "src/main.ts",
    "src/server.ts",
    "src/app.ts",
    "index.ts",
    "server.ts",
    "app.ts",
    "src/index.js",
    "src/server.js",
    "src/app.js",
    "index.js",
    "server.js",
    "app.js",
];
const HANDLERS: &[&str] = &[
    "src/handler.ts",
    "src/lambda.ts",
    "handler.ts",
    "lambda.ts",
    "src/handler.js",
    "src/lambda.js",
    "handler.js",
    "lambda.js",
    "handler.py",
    "lambda_function.py",
    "src/handler.py",
];
const PYTHON_ENTRIES: &[&str] = &[
    "main.py",
    "app.py",
    "src/main.py",
    "src/app.py",
    "app/main.py",
];

fn app(project: &Project<'_>, found: &mut Vec<String>) -> App {
    if project.has("Dockerfile") {
        found.push("Dockerfile: a web service built from it".to_owned());
        return App::Service {
            packaging: vec![
                "type: custom-dockerfile".to_owned(),
                "properties:".to_owned(),
                "  buildContextPath: .".to_owned(),
            ],
            note: "The container must listen on the port in the variable PORT.",
        };
    }
    if let Some(handler) = project.first(HANDLERS) {
        found.push(format!("{handler}: a function behind an HTTP API"));
        return App::Function {
            entry: handler.to_owned(),
        };
    }
    let server = ["next", "nuxt", "@remix-run/node", "@sveltejs/kit"]
        .into_iter()
        .find(|name| project.uses(name));
    if let Some(name) = server {
        found.push(format!("{name}: a web service built by Nixpacks"));
        return App::Service {
            packaging: vec![
                "type: nixpacks".to_owned(),
                "properties:".to_owned(),
                "  sourceDirectoryPath: .".to_owned(),
            ],
            note: "The app is built and started by its own build and start scripts.",
        };
    }
    let framework = [
        "express",
        "fastify",
        "koa",
        "hono",
        "@nestjs/core",
        "@hapi/hapi",
    ]
    .into_iter()
    .find(|name| project.uses(name));
    if let Some(name) = framework {
        let entry = project.first(NODE_ENTRIES).unwrap_or("src/index.ts");
        found.push(format!("{name}: a web service from {entry}"));
        return buildpack(entry, &[]);
    }
    for (name, directory, kind) in [
        ("gatsby", "public", "gatsby-static-website"),
        ("astro", "dist", "astro-static-website"),
        ("react-scripts", "build", "single-page-app"),
        ("vite", "dist", "single-page-app"),
    ] {
        if project.uses(name) {
            found.push(format!("{name}: a website from {directory}/"));
            return App::Site {
                directory,
                build: project.script("build"),
                kind,
            };
        }
    }
    for (name, serves) in [("fastapi", "ASGI"), ("flask", "WSGI"), ("django", "WSGI")] {
        if project.names(name) {
            let entry = project.first(PYTHON_ENTRIES).unwrap_or("main.py");
            found.push(format!("{name}: a web service from {entry}"));
            return buildpack(
                &format!("{entry}:app"),
                &[
                    "languageSpecificConfig:".to_owned(),
                    format!("  runAppAs: {serves}"),
                ],
            );
        }
    }
    if project.has("go.mod") {
        found.push("go.mod: a web service from main.go".to_owned());
        return buildpack("main.go", &[]);
    }
    if project.package.is_some()
        && let Some(entry) = project.first(NODE_ENTRIES)
    {
        found.push(format!("package.json: a web service from {entry}"));
        return buildpack(entry, &[]);
    }
    if project.python.is_some()
        && let Some(entry) = project.first(PYTHON_ENTRIES)
    {
        found.push(format!("Python: a web service from {entry}"));
        return buildpack(entry, &[]);
    }
    if project.has("index.html") {
        found.push("index.html: a website from this directory".to_owned());
        return App::Site {
            directory: ".",
            build: false,
            kind: "static-website",
        };
    }
    App::Function {
        entry: "src/handler.js".to_owned(),
    }
}

fn buildpack(entry: &str, further: &[String]) -> App {
    let mut packaging = vec![
        "type: stacktape-image-buildpack".to_owned(),
        "properties:".to_owned(),
        format!("  entryfilePath: {entry}"),
    ];
    packaging.extend(further.iter().map(|line| format!("  {line}")));
    App::Service {
        packaging,
        note: "The app must listen on the port in the variable PORT.",
    }
}

/// A store the code uses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Store {
    Postgres,
    Mysql,
    Redis,
}

fn stores(project: &Project<'_>, found: &mut Vec<String>) -> Vec<Store> {
    let any = |node: &[&'static str], python: &[&'static str]| {
        node.iter()
            .copied()
            .find(|name| project.uses(name))
            .or_else(|| python.iter().copied().find(|name| project.names(name)))
    };
    let mut stores = Vec::new();
    let postgres = any(
        &["pg", "postgres", "@prisma/client", "slonik"],
        &["psycopg", "psycopg2", "psycopg2-binary", "asyncpg"],
    );
    if let Some(name) = postgres {
        found.push(format!("{name}: a PostgreSQL database"));
        stores.push(Store::Postgres);
    } else if let Some(name) = any(&["mysql", "mysql2"], &["pymysql", "mysqlclient"]) {
        found.push(format!("{name}: a MySQL database"));
        stores.push(Store::Mysql);
    }
    if let Some(name) = any(&["redis", "ioredis", "bullmq"], &["redis"]) {
        found.push(format!("{name}: a Redis cluster"));
        stores.push(Store::Redis);
    }
    stores
}

fn text(app: &App, stores: &[Store]) -> String {
    let mut out = String::from(
        "# What this stack consists of. Every property is described in the docs:\n\
         #   windlass docs \"web-service\"\n\
         # Check it, and see what a deploy would do:\n\
         #   windlass stack validate --stage dev --region eu-west-1\n\
         #   windlass stack preview --stage dev --region eu-west-1\n\
         resources:\n",
    );
    match app {
        App::Function { entry } => {
            out.push_str(&format!(
                "  # The HTTP address of the stack.\n  \
                   api:\n    \
                     type: http-api-gateway\n    \
                     properties:\n      \
                       cors:\n        \
                         enabled: true\n\n  \
                   # Runs for each request to any path.\n  \
                   handler:\n    \
                     type: function\n    \
                     properties:\n      \
                       packaging:\n        \
                         type: stacktape-lambda-buildpack\n        \
                         properties:\n          \
                           entryfilePath: {entry}\n      \
                       memory: 512\n      \
                       timeout: 10\n"
            ));
            connect(&mut out, stores);
            out.push_str(
                "      events:\n        \
                   - type: http-api-gateway\n          \
                     properties:\n            \
                       httpApiGatewayName: api\n            \
                       method: '*'\n            \
                       path: '*'\n",
            );
        }
        App::Service { packaging, note } => {
            out.push_str(&format!(
                "  # A container that serves the internet. {note}\n  \
                   web:\n    \
                     type: web-service\n    \
                     properties:\n      \
                       packaging:\n"
            ));
            for line in packaging {
                out.push_str(&format!("        {line}\n"));
            }
            out.push_str(
                "      # A quarter of a processor and 512 MB; the smallest there is.\n      \
                   resources:\n        \
                     cpu: 0.25\n        \
                     memory: 512\n      \
                   scaling:\n        \
                     minInstances: 1\n        \
                     maxInstances: 2\n",
            );
            connect(&mut out, stores);
        }
        App::Site {
            directory,
            build,
            kind,
        } => {
            out.push_str(&format!(
                "  # Files in a bucket, behind a content delivery network.\n  \
                   site:\n    \
                     type: hosting-bucket\n    \
                     properties:\n      \
                       uploadDirectoryPath: {directory}\n      \
                       hostingContentType: {kind}\n"
            ));
            if *build {
                out.push_str("      build:\n        command: npm run build\n");
            }
        }
    }
    for store in stores {
        out.push_str(store.section());
    }
    out
}

/// What the app is connected to: it gets the variables, permissions and network access.
fn connect(out: &mut String, stores: &[Store]) {
    if stores.is_empty() {
        return;
    }
    out.push_str(
        "      # Gives the code STP_<NAME>_CONNECTION_STRING and network access.\n      \
           connectTo:\n",
    );
    for store in stores {
        out.push_str(&format!("        - {}\n", store.name()));
    }
}

impl Store {
    fn name(self) -> &'static str {
        match self {
            Self::Postgres | Self::Mysql => "database",
            Self::Redis => "cache",
        }
    }

    fn section(self) -> &'static str {
        match self {
            Self::Postgres => {
                "\n  # Create the password first:\n  \
                 #   windlass stack secret create database-password --region eu-west-1\n  \
                 database:\n    \
                   type: relational-database\n    \
                   properties:\n      \
                     credentials:\n        \
                       masterUserPassword: $Secret('database-password')\n      \
                     engine:\n        \
                       type: postgres\n        \
                       properties:\n          \
                         version: '16.6'\n          \
                         primaryInstance:\n            \
                           instanceSize: db.t4g.micro\n"
            }
            Self::Mysql => {
                "\n  # Create the password first:\n  \
                 #   windlass stack secret create database-password --region eu-west-1\n  \
                 database:\n    \
                   type: relational-database\n    \
                   properties:\n      \
                     credentials:\n        \
                       masterUserPassword: $Secret('database-password')\n      \
                     engine:\n        \
                       type: mysql\n        \
                       properties:\n          \
                         version: '8.0.40'\n          \
                         primaryInstance:\n            \
                           instanceSize: db.t4g.micro\n"
            }
            Self::Redis => {
                "\n  # Create the password first:\n  \
                 #   windlass stack secret create cache-password --region eu-west-1\n  \
                 cache:\n    \
                   type: redis-cluster\n    \
                   properties:\n      \
                     instanceSize: cache.t4g.micro\n      \
                     defaultUserPassword: $Secret('cache-password')\n"
            }
        }
    }
}

#[cfg(test)]
#[path = "starter_tests.rs"]
mod tests;
