//! Settings files, good and bad.

use std::num::NonZeroU32;

use proptest::prelude::*;

use super::*;

#[test]
fn an_empty_file_is_the_defaults() {
    let settings = Settings::parse("", "config.toml").unwrap();
    insta::assert_debug_snapshot!(settings, @r#"
    Settings {
        server: ServerSettings {
            listen: 127.0.0.1:7717,
            allowed_hosts: [],
            allowed_origins: [],
            cors: false,
            public_url: None,
            deprecations: {},
            body_limit_bytes: 8388608,
            request_timeout_seconds: 60,
            roots: [],
            max_connections: 1024,
            max_connections_per_address: 256,
            max_streams: 256,
            max_streams_per_key: 64,
            header_timeout_seconds: 15,
            stall_timeout_seconds: 30,
        },
        webhooks: WebhookSettings {
            allow_private_targets: false,
            allow_http: false,
            allowed_hosts: None,
            retry_seconds: [
                0,
                5,
                300,
                1800,
                7200,
                18000,
                36000,
                50400,
                72000,
                86400,
            ],
            timeout_seconds: 15,
            rotation_overlap_seconds: 86400,
            secrets: {},
        },
        limits: LimitSettings {
            tiers: {
                "enterprise": Tier {
                    per_minute: 300,
                    concurrency: 300,
                    concurrent_jobs: Some(
                        20,
                    ),
                    jobs_per_hour: None,
                },
                "free": Tier {
                    per_minute: 10,
                    concurrency: 10,
                    concurrent_jobs: Some(
                        1,
                    ),
                    jobs_per_hour: Some(
                        5,
                    ),
                },
                "pro": Tier {
                    per_minute: 60,
                    concurrency: 60,
                    concurrent_jobs: Some(
                        5,
                    ),
                    jobs_per_hour: Some(
                        30,
                    ),
                },
            },
            default_tier: "pro",
        },
        telemetry: TelemetrySettings {
            log: None,
            log_format: Human,
            otlp_endpoint: None,
            otlp_headers: [],
            service_name: None,
        },
        store: StoreSettings {
            keep_runs_days: 90,
            keep_kinds_days: {},
            keep_rollback_days: 30,
            keep_audit_days: 365,
            anchor_file: None,
            anchor_syslog: false,
            anchor_url: None,
            anchor_interval_seconds: 60,
        },
        launch: LaunchSettings {
            profile: Local,
            hugo: None,
            local_roots: [],
            exec_allow: [],
            tokens: {},
            allow_private_targets: false,
            allow_http: false,
        },
        models: ModelSettings {
            allow_private_targets: false,
            allow_http: false,
            allowed_hosts: None,
        },
        pipeline: PipelineSettings {
            generator: Offline,
            model: None,
            timeouts: PipelineTimeouts {
                offline_s: 30,
                strategy_s: 60,
                architecture_s: 120,
                ux_s: 120,
                code_s: 300,
                job_s: 900,
            },
            retention_days: 7,
        },
        stack: StackSettings {
            read_only: false,
            diagnose_role_arn: None,
            database_roots: None,
            allowed_functions: [],
            allowed_redis_commands: [],
            refuse_config_code: false,
            extra_regions: [],
            files_outside_project: false,
            esbuild: None,
            refuse_downloads: false,
            allow_private_registry: false,
        },
    }
    "#);
}

#[test]
fn every_section_can_be_set() {
    let settings = Settings::parse(
        r#"
        [server]
        listen = "[::1]:9000"
        allowed_hosts = ["windlass.example.org"]
        allowed_origins = ["https://console.example.org"]
        cors = true
        body_limit_bytes = 2048
        public_url = "https://windlass.example.org/api/"
        deprecations.v1 = { since = "2027-01-01T00:00:00Z" }
        request_timeout_seconds = 5

        [webhooks]
        allow_private_targets = true
        retry_seconds = [1, 2]
        secrets.main = { env = "HOOK_SECRET" }
        secrets.old = { file = "/etc/windlass/hook" }

        [limits]
        default_tier = "gold"
        tiers.gold = { per_minute = 1000, concurrency = 64, pipelines_per_hour = 0 }
        tiers.free = { per_minute = 20 }

        [telemetry]
        log = "debug"
        log_format = "json"
        otlp_endpoint = "http://127.0.0.1:4318"

        [store]
        keep_runs_days = 7
        "#,
        "config.toml",
    )
    .unwrap();
    assert_eq!(settings.server.listen.port(), 9000);
    assert_eq!(settings.limits.tier("gold").unwrap().per_minute.get(), 1000);
    let gold = settings.limits.tier("gold").unwrap();
    let jobs = |limit: Option<NonZeroU32>| limit.map(NonZeroU32::get);
    assert_eq!(
        (
            gold.concurrency.get(),
            jobs(gold.concurrent_jobs),
            jobs(gold.jobs_per_hour)
        ),
        (64, Some(5), None)
    );
    let free = settings.limits.tier("free").unwrap();
    assert_eq!(
        (free.per_minute.get(), jobs(free.jobs_per_hour)),
        (20, Some(5))
    );
    assert_eq!(
        settings.server.public_base(),
        "https://windlass.example.org/api"
    );
    let deprecation = &settings.server.deprecations["v1"];
    assert_eq!(deprecation.sunset.to_string(), "2027-07-04T00:00:00.000Z");
    assert_eq!(
        settings.webhooks.secrets["main"],
        crate::SecretSource::Env("HOOK_SECRET".to_owned())
    );
    assert_eq!(settings.webhooks.retry_seconds, [1, 2]);
    assert_eq!(settings.store.keep_runs_days, 7);
    assert_eq!(settings.telemetry.log_format, crate::LogFormat::Json);
}

#[test]
fn a_bad_file_is_refused_with_place_and_way_out() {
    let cases = [
        "[sever]\nlisten = \"127.0.0.1:1\"",
        "[server]\nlisen = \"127.0.0.1:1\"",
        "[server]\nlisten = \"localhost\"",
        "[server]\nallowed_origins = [\"console.example.org/path\"]",
        "[server]\nrequest_timeout_seconds = 0",
        "[server]\npublic_url = \"windlass.example.org\"",
        "[server]\ndeprecations.v1 = { since = \"soon\" }",
        "[server]\ndeprecations.v1 = { since = \"2027-01-01T00:00:00Z\", sunset = \"2027-05-01T00:00:00Z\" }",
        "[server]\nbody_limit_bytes = -1",
        "[webhooks]\nretry_seconds = [604801]",
        "[webhooks]\nsecrets.main = \"hunter2\"",
        "[webhooks]\nsecrets.main = { envv = \"X\" }",
        "[limits]\ntiers.free = { per_minutes = 10 }",
        "[limits]\ntiers.free = { per_minute = 0 }",
        "[limits]\ndefault_tier = \"enterprize\"",
        "[limits]\ndefault_tier = \"gold\"",
        "[telemetry]\nlog_format = \"jsn\"",
        "[store]\n\n  keep_runs_dys = 1",
        "[stack]\nallowed_functions = [\"app.f\", \"*\"]",
        "server = 1",
        "[server",
        "a = ü",
        "[server]\ncors = true\ncors = false",
    ];
    let table: String = cases
        .iter()
        .map(|case| {
            format!(
                "{:<60} {}\n",
                format!("{case:?}"),
                Settings::parse(case, "config.toml").unwrap_err()
            )
        })
        .collect();
    insta::assert_snapshot!(table, @r#"
    "[sever]\nlisten = \"127.0.0.1:1\""                          config.toml:1:2: unknown field `sever`, expected one of `server`, `webhooks`, `limits`, `telemetry`, `store`, `launch`, `models`, `pipeline`, `stack`; did you mean `server`?
    "[server]\nlisen = \"127.0.0.1:1\""                          config.toml:2:1: unknown field `lisen`, expected one of `listen`, `allowed_hosts`, `allowed_origins`, `cors`, `public_url`, `deprecations`, `body_limit_bytes`, `request_timeout_seconds`, `roots`, `max_connections`, `max_connections_per_address`, `max_streams`, `max_streams_per_key`, `header_timeout_seconds`, `stall_timeout_seconds`; did you mean `listen`?
    "[server]\nlisten = \"localhost\""                           config.toml:2:10: `localhost` is not an address to listen on: write an IP address and a port, such as `127.0.0.1:7717`
    "[server]\nallowed_origins = [\"console.example.org/path\"]" config.toml:2:19: `console.example.org/path` is not an origin: write `https://host` or `https://host:port` in lower case, without a path
    "[server]\nrequest_timeout_seconds = 0"                      config.toml:2:27: invalid value: integer `0`, expected a nonzero u64
    "[server]\npublic_url = \"windlass.example.org\""            config.toml:2:14: `windlass.example.org` is not an address clients can be given: write `https://host`, with a port or a path where needed
    "[server]\ndeprecations.v1 = { since = \"soon\" }"           config.toml:2:29: not an RFC 3339 time: soon
    "[server]\ndeprecations.v1 = { since = \"2027-01-01T00:00:00Z\", sunset = \"2027-05-01T00:00:00Z\" }" config.toml:2:19: a deprecated version must stay for six months: `sunset` must be 2027-07-01T00:00:00.000Z or later
    "[server]\nbody_limit_bytes = -1"                            config.toml:2:20: invalid value: integer `-1`, expected u32
    "[webhooks]\nretry_seconds = [604801]"                       config.toml:2:17: retry_seconds takes at most 30 waits of 0 to 604800 seconds (a week)
    "[webhooks]\nsecrets.main = \"hunter2\""                     config.toml:2:16: a secret does not belong in this file: write where it is stored, { env = "NAME" } or { file = "/path" }
    "[webhooks]\nsecrets.main = { envv = \"X\" }"                config.toml:2:16: a secret does not belong in this file: write where it is stored, { env = "NAME" } or { file = "/path" }
    "[limits]\ntiers.free = { per_minutes = 10 }"                config.toml:2:16: unknown field `per_minutes`, expected one of `per_minute`, `concurrency`, `concurrent_jobs`, `pipelines_per_hour`; did you mean `per_minute`?
    "[limits]\ntiers.free = { per_minute = 0 }"                  config.toml:2:29: invalid value: integer `0`, expected a nonzero u32
    "[limits]\ndefault_tier = \"enterprize\""                    config.toml:2:1: no tier is named `enterprize`; did you mean `enterprise`?
    "[limits]\ndefault_tier = \"gold\""                          config.toml:2:1: no tier is named `gold`; add [limits.tiers.gold]
    "[telemetry]\nlog_format = \"jsn\""                          config.toml:2:14: unknown variant `jsn`, expected `human` or `json`; did you mean `json`?
    "[store]\n\n  keep_runs_dys = 1"                             config.toml:3:3: unknown field `keep_runs_dys`, expected one of `keep_runs_days`, `keep_kinds_days`, `keep_rollback_days`, `keep_audit_days`, `anchor_file`, `anchor_syslog`, `anchor_url`, `anchor_interval_seconds`; did you mean `keep_runs_days`?
    "[stack]\nallowed_functions = [\"app.f\", \"*\"]"            config.toml:2:1: `*` names no function; write "schema.function", "schema.*" or, for one of the server itself, "function"
    "server = 1"                                                 config.toml:1:10: invalid type: integer `1`, expected a [server] table
    "[server"                                                    config.toml:1:8: unclosed table, expected `]`
    "a = ü"                                                      config.toml:1:5: string values must be quoted, expected literal string
    "[server]\ncors = true\ncors = false"                        config.toml:3:1: duplicate key
    "#);
}

#[test]
fn the_environment_wins_and_a_named_file_must_exist() {
    let directory = tempfile::tempdir().unwrap();
    let home = Home::at(directory.path());
    fs_err::write(
        home.config(),
        "[telemetry]\nlog = \"warn\"\nservice_name = \"file\"\n",
    )
    .unwrap();
    let environment = Environment::from_pairs([
        ("WINDLASS_LOG", "trace"),
        ("WINDLASS_LOG_FORMAT", "json"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318"),
        (
            "OTEL_EXPORTER_OTLP_HEADERS",
            "authorization=Bearer a=b, x-team = ops",
        ),
    ]);
    let telemetry = Settings::load(&home, &environment).unwrap().telemetry;
    assert_eq!(telemetry.log.as_deref(), Some("trace"));
    assert_eq!(telemetry.service_name.as_deref(), Some("file"));
    let headers: Vec<_> = telemetry
        .otlp_headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.expose_secret().as_str()))
        .collect();
    assert_eq!(
        headers,
        [("authorization", "Bearer a=b"), ("x-team", "ops")]
    );

    let absent = directory.path().join("absent.toml");
    let named = Environment::from_pairs([("WINDLASS_CONFIG", absent.to_str().unwrap())]);
    let error = Settings::load(&home, &named).unwrap_err();
    assert!(error.to_string().contains("absent.toml"), "{error}");

    let wrong = Environment::from_pairs([("WINDLASS_LOG_FORMAT", "xml")]);
    insta::assert_snapshot!(Settings::load(&home, &wrong).unwrap_err(), @"WINDLASS_LOG_FORMAT: `xml` is not a log format; use `human` or `json`");
}

#[test]
fn secrets_are_read_from_where_the_settings_say() {
    use crate::SecretSource;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("hook");
    fs_err::write(&path, "from file\n").unwrap();
    let environment = Environment::from_pairs([("HOOK", "from env")]);
    let read = |source: SecretSource| {
        source
            .read(&environment)
            .map(|secret| secret.expose_secret().clone())
    };
    assert_eq!(
        read(SecretSource::Env("HOOK".to_owned())).unwrap(),
        "from env"
    );
    assert_eq!(read(SecretSource::File(path.clone())).unwrap(), "from file");
    assert!(
        read(SecretSource::Env("NONE".to_owned()))
            .unwrap_err()
            .to_string()
            .contains("NONE")
    );
    fs_err::write(&path, "\n").unwrap();
    assert!(
        read(SecretSource::File(path))
            .unwrap_err()
            .to_string()
            .contains("empty")
    );
}

#[test]
fn the_schema_names_every_section() {
    let schema = Settings::schema();
    let sections: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(
        sections,
        [
            "launch",
            "limits",
            "models",
            "pipeline",
            "server",
            "stack",
            "store",
            "telemetry",
            "webhooks"
        ]
    );
    assert_eq!(schema["additionalProperties"], false);
    assert!(!schema.to_string().contains("otlp_headers"));
}

proptest! {
    #[test]
    fn any_text_is_answered(text in "\\PC{0,80}") {
        let _ = Settings::parse(&text, "config.toml");
    }
}
