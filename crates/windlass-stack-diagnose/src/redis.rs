//! Keys and values of a Redis of the stack, by commands that read.

use std::time::Duration;

use serde_json::{Map, Value, json};
use windlass_ports::database::{Access, DatabaseAddress, RedisAsk, RedisReply, RedisRequest, Tls};
use windlass_types::Problem;

use crate::answer::Answer;
use crate::arguments::{Arguments, invalid, missing};
use crate::call::Call;
use crate::credentials;
use crate::failure::{aws_problem, database_problem, not_found, refused};
use crate::guard::redis as guard;
use crate::info_stacks::counted;
use crate::names;
use crate::shapes::{list, number, reading, text};
use crate::through::{Through, Way};

const TYPES: &[&str] = &["AWS::ElastiCache::ReplicationGroup"];
const BYTES: usize = 1 << 20;
const WAIT: Duration = Duration::from_secs(15);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Keys,
    Get,
    Ttl,
    Info,
    Type,
    Command,
}

pub(crate) struct Ask {
    resource: String,
    verb: Verb,
    key: Option<String>,
    field: Option<String>,
    section: Option<String>,
    pattern: String,
    command: Vec<Vec<u8>>,
    limit: usize,
    through: Through,
}

impl Ask {
    pub(crate) fn read(arguments: &Arguments) -> Result<Self, Problem> {
        let owned = |name: &str| Ok::<_, Problem>(arguments.text(name)?.map(str::to_owned));
        let verb = arguments.choice(
            "operation",
            Verb::Info,
            &[
                ("keys", Verb::Keys),
                ("get", Verb::Get),
                ("ttl", Verb::Ttl),
                ("info", Verb::Info),
                ("type", Verb::Type),
                ("command", Verb::Command),
            ],
        )?;
        let key = owned("key")?;
        let command = owned("command")?;
        if matches!(verb, Verb::Get | Verb::Ttl | Verb::Type) && key.is_none() {
            return Err(missing("key"));
        }
        if command.is_some() && verb != Verb::Command {
            return Err(invalid(
                "command",
                "command goes with operation \"command\"",
            ));
        }
        let command = match (verb, &command) {
            (Verb::Command, None) => return Err(missing("command")),
            (Verb::Command, Some(line)) => {
                guard::words(line).map_err(|refusal| invalid("command", refusal.to_string()))?
            }
            _ => Vec::new(),
        };
        Ok(Self {
            resource: arguments.needed("resourceName")?.to_owned(),
            verb,
            key,
            field: owned("field")?,
            section: owned("section")?,
            pattern: owned("pattern")?.unwrap_or_else(|| "*".to_owned()),
            command,
            limit: arguments.count("limit", 100, 10_000)?,
            through: Through::read(arguments)?,
        })
    }
}

pub(crate) async fn answer(call: &mut Call<'_>, ask: &Ask) -> Result<Answer, Problem> {
    if ask.verb == Verb::Command {
        let allowed = &call.outside.settings.allowed_redis_commands;
        guard::check(&ask.command, allowed).map_err(|refusal| refused(&refusal))?;
    }
    let (address, way) = address(call, ask).await?;
    let session = Session {
        call,
        address,
        resource: &ask.resource,
        wait: WAIT + ask.through.opening(),
    };
    let answered = asked(&session, ask).await;
    way.leave(answered).await
}

async fn asked(session: &Session<'_>, ask: &Ask) -> Result<Answer, Problem> {
    let key = ask.key.as_deref().unwrap_or_default();
    let (message, mut data) = match ask.verb {
        Verb::Keys => {
            let keys = RedisAsk::Keys {
                pattern: ask.pattern.clone(),
                limit: ask.limit,
            };
            let RedisReply::Keys { keys, truncated } = session.ask(keys).await? else {
                return Err(Problem::internal(
                    "redis",
                    "keys were requested and not returned",
                ));
            };
            let count = keys.len();
            (
                counted(count, "key"),
                json!({ "keys": keys, "count": count, "truncated": truncated, "pattern": ask.pattern }),
            )
        }
        Verb::Get => {
            let kind = session.command(&["TYPE", key]).await?;
            let kind = kind.as_str().unwrap_or_default().to_owned();
            let (result, truncated) = session.value(&kind, key, ask).await?;
            (
                format!("{key} is a {kind}"),
                json!({ "key": key, "type": kind, "result": result, "truncated": truncated }),
            )
        }
        Verb::Ttl => {
            let seconds = session.command(&["TTL", key]).await?;
            let meaning = match seconds.as_i64() {
                Some(-2) => "does not exist",
                Some(-1) => "does not expire",
                _ => "expires",
            };
            (
                format!("{key} {meaning}"),
                json!({ "key": key, "result": seconds, "meaning": meaning }),
            )
        }
        Verb::Type => {
            let kind = session.command(&["TYPE", key]).await?;
            (
                format!("{key} is {}", kind.as_str().unwrap_or_default()),
                json!({ "key": key, "result": kind, "type": kind }),
            )
        }
        Verb::Info => {
            let words: Vec<&str> = std::iter::once("INFO")
                .chain(ask.section.as_deref())
                .collect();
            let text = session.command(&words).await?;
            (
                "server information".to_owned(),
                json!({ "info": information(text.as_str().unwrap_or_default()) }),
            )
        }
        Verb::Command => {
            let (result, truncated) = bounded(session.words(ask.command.clone()).await?, ask.limit);
            (
                "answered".to_owned(),
                json!({ "result": result, "truncated": truncated }),
            )
        }
    };
    data["resource"] = json!(ask.resource);
    Ok(Answer::new(message, data))
}

struct Session<'a> {
    call: &'a Call<'a>,
    address: DatabaseAddress,
    resource: &'a str,
    /// How long one question may take.
    wait: Duration,
}

impl Session<'_> {
    async fn ask(&self, ask: RedisAsk) -> Result<RedisReply, Problem> {
        let request = RedisRequest {
            address: self.address.clone(),
            access: Access::ReadOnly,
            ask,
            byte_limit: BYTES,
            timeout: self.wait.min(self.call.left()),
        };
        self.call
            .outside
            .databases
            .redis(&request)
            .await
            .map_err(|failure| database_problem(self.resource, &failure))
    }

    async fn words(&self, words: Vec<Vec<u8>>) -> Result<Value, Problem> {
        let allowed = &self.call.outside.settings.allowed_redis_commands;
        guard::check(&words, allowed).map_err(|refusal| refused(&refusal))?;
        match self.ask(RedisAsk::Command(words)).await? {
            RedisReply::Value(value) => Ok(value),
            RedisReply::Keys { keys, .. } => Ok(json!(keys)),
        }
    }

    async fn command(&self, words: &[&str]) -> Result<Value, Problem> {
        self.words(words.iter().map(|word| word.as_bytes().to_vec()).collect())
            .await
    }

    /// The value of a key, by its type, at most this many members of it.
    async fn value(&self, kind: &str, key: &str, ask: &Ask) -> Result<(Value, bool), Problem> {
        if let Some(field) = &ask.field {
            if kind != "hash" {
                return Err(invalid(
                    "field",
                    format!("{key} is a {kind}; field goes with a hash"),
                ));
            }
            return Ok((self.command(&["HGET", key, field]).await?, false));
        }
        // One more than is shown, to know whether there are more.
        let last = ask.limit.to_string();
        let count = (ask.limit + 1).to_string();
        let value = match kind {
            "string" => return Ok((self.command(&["GET", key]).await?, false)),
            "list" => self.command(&["LRANGE", key, "0", &last]).await?,
            "zset" => {
                self.command(&["ZRANGE", key, "0", &last, "WITHSCORES"])
                    .await?
            }
            "stream" => {
                self.command(&["XRANGE", key, "-", "+", "COUNT", &count])
                    .await?
            }
            "hash" => return self.scanned("HSCAN", key, &count, ask.limit * 2).await,
            "set" => return self.scanned("SSCAN", key, &count, ask.limit).await,
            "none" => {
                return Err(not_found("key", key, format!("there is no key {key}"), []));
            }
            _ => {
                return Err(invalid(
                    "key",
                    format!("{key} is a {kind}, which cannot be shown"),
                ));
            }
        };
        let limit = if kind == "zset" {
            ask.limit * 2
        } else {
            ask.limit
        };
        Ok(bounded(value, limit))
    }

    /// Members of a hash (name, value, …) or a set, by a cursor that never blocks the server.
    async fn scanned(
        &self,
        command: &str,
        key: &str,
        count: &str,
        most: usize,
    ) -> Result<(Value, bool), Problem> {
        let mut members: Vec<Value> = Vec::new();
        let mut cursor = "0".to_owned();
        loop {
            let page = self
                .command(&[command, key, &cursor, "COUNT", count])
                .await?;
            cursor = page
                .get(0)
                .and_then(Value::as_str)
                .unwrap_or("0")
                .to_owned();
            members.extend(
                page.get(1)
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .cloned(),
            );
            if cursor == "0" || members.len() >= most {
                break;
            }
        }
        let truncated = cursor != "0" || members.len() > most;
        members.truncate(most);
        if command == "SSCAN" {
            return Ok((Value::Array(members), truncated));
        }
        let mut hash = Map::new();
        let mut pairs = members.into_iter();
        while let (Some(name), Some(value)) = (pairs.next(), pairs.next()) {
            let name = name
                .as_str()
                .map_or_else(|| name.to_string(), str::to_owned);
            hash.insert(name, value);
        }
        Ok((Value::Object(hash), truncated))
    }
}

fn bounded(value: Value, limit: usize) -> (Value, bool) {
    match value {
        Value::Array(mut items) if items.len() > limit => {
            items.truncate(limit);
            (Value::Array(items), true)
        }
        other => (other, false),
    }
}

/// `INFO` by section.
fn information(text: &str) -> Value {
    let mut sections = Map::new();
    let mut section = "Server".to_owned();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('#') {
            section = name.trim().to_owned();
        } else if let Some((name, value)) = line.split_once(':') {
            let members = sections
                .entry(section.clone())
                .or_insert_with(|| Value::Object(Map::new()));
            members[name] = json!(value);
        }
    }
    Value::Object(sections)
}

async fn address(call: &mut Call<'_>, ask: &Ask) -> Result<(DatabaseAddress, Way), Problem> {
    let stack = call.stack().await?;
    let resources = call.resources(&stack).await?;
    let found = names::find(&resources, &stack.stack_name, &ask.resource, TYPES)?;
    let answer = call
        .aws(
            reading("elasticache", "DescribeReplicationGroups")?,
            json!({ "ReplicationGroupId": found.physical_id }),
        )
        .await
        .map_err(|failure| aws_problem(&failure))?;
    let group = list(&answer, "ReplicationGroups").first().ok_or_else(|| {
        not_found(
            "database",
            &found.physical_id,
            format!("ElastiCache does not know {}", found.physical_id),
            [],
        )
    })?;
    let node = list(group, "NodeGroups").first();
    let endpoint = node
        .and_then(|node| node.get("ReaderEndpoint"))
        .filter(|endpoint| text(endpoint, "Address").is_some())
        .or_else(|| group.get("ConfigurationEndpoint"))
        .or_else(|| node.and_then(|node| node.get("PrimaryEndpoint")));
    let host = endpoint
        .and_then(|endpoint| text(endpoint, "Address"))
        .ok_or_else(|| {
            not_found(
                "endpoint",
                &ask.resource,
                format!("{} has no endpoint yet", ask.resource),
                [],
            )
        })?;
    let port = endpoint
        .and_then(|endpoint| number(endpoint.get("Port")?))
        .map_or(6379, |port| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a port outside its range saturates, and connecting to it fails"
            )]
            let port = port as u16;
            port
        });
    let is_true = |name: &str| {
        group
            .get(name)
            .is_some_and(|value| value == true || value == "true")
    };
    let password = if is_true("AuthTokenEnabled") {
        match credentials::property(call, &stack, &found.logical_id, "AuthToken").await? {
            Some(token) => {
                Some(credentials::resolve(call, &stack, &found.logical_id, &token).await?)
            }
            None => None,
        }
    } else {
        None
    };
    let way = ask
        .through
        .open(call, &stack, &resources, (host, port))
        .await?;
    let address = DatabaseAddress {
        listening: way.listening(),
        tls: if is_true("TransitEncryptionEnabled") {
            Tls::Verified {
                server_name: way.server_name(),
                roots: call.outside.settings.database_roots.clone(),
            }
        } else {
            Tls::Off
        },
        user: String::new(),
        password,
        database: String::new(),
    };
    Ok((address, way))
}
