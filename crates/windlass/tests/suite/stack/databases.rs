//! Real PostgreSQL and Redis behind a stack: found as AWS describes them, read, and not written.
//!
//! Needs the servers' programs; `cargo xtask test` says where they are.

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use serde_json::{Value, json};
use windlass_testkit::servers::{Postgres, Redis};

use super::{
    tool_client::ToolClient,
    world::{REGION, World, args},
};
use crate::suite::support::{
    binary::free_address,
    loopback::{Answer, Loopback},
};

const LOCAL: &str = "127.0.0.1";

const CONFIG: &str = "
serviceName: shop
resources:
  db:
    type: relational-database
    properties:
      credentials:
        masterUserName: postgres
        masterUserPassword: $Secret('shop.password')
      engine:
        type: postgres
        properties:
          version: '16.6'
          primaryInstance:
            instanceSize: db.t4g.micro
  cache:
    type: redis-cluster
    properties:
      instanceSize: cache.t4g.micro
      defaultUserPassword: $Secret('shop.password')
";

/// A root certificate, and a certificate and key for a host.
pub(super) fn certificates(host: &str) -> (String, String, String) {
    let root_key = KeyPair::generate().unwrap();
    let mut root = CertificateParams::new(Vec::new()).unwrap();
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root_pem = root.self_signed(&root_key).unwrap().pem();
    let issuer = Issuer::new(root, root_key);
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec![host.to_owned()])
        .unwrap()
        .signed_by(&key, &issuer)
        .unwrap();
    (root_pem, certificate.pem(), key.serialize_pem())
}

pub(super) fn xml(body: String) -> Answer {
    (200, vec![("content-type", "text/xml".to_owned())], body)
}

/// The one PostgreSQL that RDS knows.
pub(super) fn instance(host: &str, port: u16) -> Answer {
    xml(format!(
        "<DescribeDBInstancesResponse xmlns=\"http://rds.amazonaws.com/doc/2014-10-31/\">\
         <DescribeDBInstancesResult><DBInstances><DBInstance>\
         <DBInstanceIdentifier>shop-dev-db</DBInstanceIdentifier><Engine>postgres</Engine>\
         <DBInstanceStatus>available</DBInstanceStatus>\
         <MasterUsername>postgres</MasterUsername>\
         <Endpoint><Address>{host}</Address><Port>{port}</Port></Endpoint>\
         </DBInstance></DBInstances></DescribeDBInstancesResult>\
         <ResponseMetadata><RequestId>1</RequestId></ResponseMetadata>\
         </DescribeDBInstancesResponse>"
    ))
}

/// Makes databases trusted by these roots.
pub(super) fn trust(world: &World, roots: &str) {
    world.file("roots.pem", roots);
    let roots = world.project().join("roots.pem");
    let settings = format!(
        "[stack]\ndatabase_roots = {:?}\nallowed_functions = [\"pg_sleep\"]\n",
        roots.display().to_string()
    );
    fs_err::write(world.place.home().join("config.toml"), settings).unwrap();
}

/// RDS and ElastiCache, which know one server each.
fn control_plane(postgres: u16, redis: u16) -> Loopback {
    Loopback::start(move |request| {
        if request.body.contains("DescribeDBInstances") {
            return instance(LOCAL, postgres);
        }
        xml(format!(
            "<DescribeReplicationGroupsResponse \
             xmlns=\"http://elasticache.amazonaws.com/doc/2015-02-02/\">\
             <DescribeReplicationGroupsResult><ReplicationGroups><ReplicationGroup>\
             <ReplicationGroupId>shop-dev-cache</ReplicationGroupId><Status>available</Status>\
             <TransitEncryptionEnabled>false</TransitEncryptionEnabled>\
             <AuthTokenEnabled>true</AuthTokenEnabled>\
             <NodeGroups><NodeGroup><NodeGroupId>0001</NodeGroupId>\
             <PrimaryEndpoint><Address>127.0.0.1</Address><Port>{redis}</Port></PrimaryEndpoint>\
             </NodeGroup></NodeGroups></ReplicationGroup></ReplicationGroups>\
             </DescribeReplicationGroupsResult>\
             <ResponseMetadata><RequestId>1</RequestId></ResponseMetadata>\
             </DescribeReplicationGroupsResponse>"
        ))
    })
}

/// A deployed stack whose databases are at these ports.
fn deployed(postgres: u16, redis: u16, roots: &str, password: &str) -> (World, ToolClient) {
    let plane = control_plane(postgres, redis);
    let url = format!("http://{}", plane.address);
    let world = World::new()
        .env("AWS_ENDPOINT_URL_RDS", &url)
        .env("AWS_ENDPOINT_URL_ELASTICACHE", &url);
    trust(&world, roots);
    world.config(CONFIG);
    let mut tool_client = world.tool_client();
    let value = json!({ "password": password }).to_string();
    let secret = json!({ "secretName": "shop", "secretValue": value, "region": REGION });
    tool_client.ops("secret_create", &secret).worked();
    tool_client.ops("deploy", &args(json!({}))).worked();
    (world, tool_client)
}

#[test]
fn postgres_is_read_and_not_written() {
    let (roots, certificate, key) = certificates(LOCAL);
    let files = [("server.crt", certificate.as_str()), ("server.key", &key)];
    let Some(server) = Postgres::start_with("stack", &files) else {
        return;
    };
    let fill = "create table users (id int, name text, note text);
        insert into users values (1, 'ada', 'sk_live_51CanaryCanaryCanaryCanary'),
            (2, 'bob', 'AKIAIOSFODNN7EXAMPLE'), (3, 'cy', 'postgres://u:hunter2222@db/x');";
    server.run(fill).unwrap();
    let (_, password) = Postgres::superuser();
    let (_world, mut tool_client) = deployed(server.port(), 1, &roots, password);
    let mut sql = |text: &str, more: Value| {
        let mut call = json!({ "resourceName": "db", "sql": text });
        call.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        tool_client.diagnose("sql", &args(call))
    };
    let two = sql(
        "select id, name from users order by id",
        json!({ "limit": 2 }),
    );
    let data = two.worked();
    assert_eq!(
        data["rows"],
        json!([{ "id": 1, "name": "ada" }, { "id": 2, "name": "bob" }])
    );
    assert_eq!(data["fields"], json!(["id", "name"]));
    assert_eq!(
        (&data["rowCount"], &data["truncated"]),
        (&json!(2), &json!(true))
    );
    assert_eq!(data["engine"], "postgres");
    let with = sql(
        "-- all\nwith u as (select * from users) select count(*)::int as n from u",
        json!({}),
    );
    assert_eq!(with.worked()["rows"], json!([{ "n": 3 }]));
    let secrets = sql("select note from users", json!({}));
    let said = secrets.worked().to_string();
    for secret in [
        "sk_live_51Canary",
        "AKIAIOSFODNN7EXAMPLE",
        "hunter2222",
        password,
    ] {
        assert!(!said.contains(secret), "{said}");
    }
    let slow = "select count(*) from generate_series(1, 1000000000)";
    sql(slow, json!({ "timeout": 200 })).refused("TIMEOUT");
    sql("select * from nothing", json!({})).refused_for("VALIDATION_ERROR", "sql_error");
    // Allowed by the settings.
    sql("select pg_sleep(0)::text as slept", json!({})).worked();
    for text in [
        "select pg_sleep_for('1 second')",
        "select * from crosstab2('select 1')",
        "select (1).lo_unlink",
        "insert into users values (4, 'd', '')",
        "select 1; delete from users",
        "explain analyze delete from users",
        "select * into others from users",
        "select pg_terminate_backend(1)",
        "select set_config('transaction_read_only', 'off', true)",
        "select lo_create(1)",
        "select * from users for update",
        "copy users to '/tmp/out'",
        "create table x (a int)",
    ] {
        let answer = sql(text, json!({}));
        assert_eq!(
            answer.body["code"], "READ_ONLY_VIOLATION",
            "{text}: {:#}",
            answer.body
        );
    }
    let count = sql("select count(*)::int as n from users", json!({}));
    assert_eq!(count.worked()["rows"], json!([{ "n": 3 }]));
}

/// A server that cannot prove its identity does not get the password.
#[test]
fn an_unknown_certificate_is_refused() {
    let (_, certificate, key) = certificates(LOCAL);
    let (other_roots, ..) = certificates(LOCAL);
    let files = [("server.crt", certificate.as_str()), ("server.key", &key)];
    let Some(server) = Postgres::start_with("stack-tls", &files) else {
        return;
    };
    let (_, password) = Postgres::superuser();
    let (_world, mut tool_client) = deployed(server.port(), 1, &other_roots, password);
    let call = json!({ "resourceName": "db", "sql": "select 1" });
    let answer = tool_client.diagnose("sql", &args(call));
    assert_eq!(answer.body["ok"], false, "{:#}", answer.body);
    assert!(!answer.body.to_string().contains(password));
}

#[test]
fn a_password_that_is_wrong_is_no_access() {
    let (roots, certificate, key) = certificates(LOCAL);
    let files = [("server.crt", certificate.as_str()), ("server.key", &key)];
    let Some(server) = Postgres::start_with("stack-password", &files) else {
        return;
    };
    let (_world, mut tool_client) = deployed(server.port(), 1, &roots, "not-the-password");
    let call = json!({ "resourceName": "db", "sql": "select 1" });
    let answer = tool_client.diagnose("sql", &args(call));
    answer.refused("AUTH_ERROR");
    assert!(!answer.body.to_string().contains("not-the-password"));
}

#[test]
fn redis_is_read_and_not_written() {
    let password = "redis-only-for-tests";
    let port = free_address().port();
    let number = port.to_string();
    let options = [
        "--port",
        &number,
        "--bind",
        "127.0.0.1",
        "--requirepass",
        password,
    ];
    let Some(_server) = Redis::start(&options) else {
        return;
    };
    let (roots, ..) = certificates(LOCAL);
    let (_world, mut tool_client) = deployed(1, port, &roots, password);
    let mut ask = |more: Value| {
        let mut call = json!({ "resourceName": "cache" });
        call.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        tool_client.diagnose("redis", &args(call))
    };
    let info = ask(json!({}));
    assert!(info.worked()["info"].is_object() || info.worked()["info"].is_string());
    let keys = ask(json!({ "operation": "keys" }));
    assert_eq!(keys.worked()["keys"], json!([]), "{:#}", keys.body);
    ask(json!({ "operation": "get", "key": "nothing" }));
    for command in [
        "SET a 1",
        "FLUSHALL",
        "EVAL 'return 1' 0",
        "GETDEL a",
        "CONFIG GET requirepass",
        "KEYS *",
        "CLIENT LIST",
        "ZRANGESTORE a b 0 1",
    ] {
        let answer = ask(json!({ "operation": "command", "command": command }));
        assert_eq!(
            answer.body["code"], "READ_ONLY_VIOLATION",
            "{command}: {:#}",
            answer.body
        );
    }
    let pong = ask(json!({ "operation": "command", "command": "PING" }));
    assert_eq!(pong.worked()["result"], "PONG", "{:#}", pong.body);
}
