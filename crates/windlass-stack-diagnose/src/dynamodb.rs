//! Items of a table of the stack, as plain JSON; its keys and indices.

mod attribute;

use serde_json::{Map, Value, json};
use windlass_ports::aws::{ActionShape, services};
use windlass_types::Problem;

use crate::answer::Answer;
use crate::arguments::{Arguments, invalid, missing};
use crate::call::Call;
use crate::failure::{aws_problem, not_found, refused};
use crate::guard::dynamodb::{Read, check};
use crate::info_stacks::counted;
use crate::names;
use crate::shapes::{list, text};

const TYPES: &[&str] = &["AWS::DynamoDB::GlobalTable", "AWS::DynamoDB::Table"];
/// How many pages are read for one answer.
const PAGES: usize = 50;
/// How many items a sample has unless more are wanted.
const SAMPLE: usize = 10;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Scan,
    Query,
    Get,
    Schema,
    Sample,
}

pub(crate) struct Ask {
    resource: String,
    verb: Verb,
    pk: Option<Value>,
    sk: Option<Value>,
    key: Option<Map<String, Value>>,
    index: Option<String>,
    limit: usize,
}

impl Ask {
    pub(crate) fn read(arguments: &Arguments) -> Result<Self, Problem> {
        let verb = arguments.choice(
            "operation",
            Verb::Sample,
            &[
                ("scan", Verb::Scan),
                ("query", Verb::Query),
                ("get", Verb::Get),
                ("schema", Verb::Schema),
                ("sample", Verb::Sample),
            ],
        )?;
        let scalar = |name: &str| match arguments.value(name) {
            None => Ok(None),
            Some(value @ (Value::String(_) | Value::Number(_))) => Ok(Some(value.clone())),
            Some(_) => Err(invalid(name, format!("{name} is a text or a number"))),
        };
        let ask = Self {
            resource: arguments.needed("resourceName")?.to_owned(),
            verb,
            pk: scalar("pk")?,
            sk: scalar("sk")?,
            key: arguments.object("key")?,
            index: arguments.text("index")?.map(str::to_owned),
            limit: arguments.count(
                "limit",
                if verb == Verb::Sample { SAMPLE } else { 100 },
                1_000,
            )?,
        };
        match verb {
            Verb::Query if ask.pk.is_none() => Err(missing("pk")),
            Verb::Get if ask.pk.is_none() && ask.key.is_none() => Err(missing("key")),
            Verb::Get if ask.index.is_some() => Err(invalid(
                "index",
                "get reads the table itself; use query for an index",
            )),
            _ if ask.sk.is_some() && ask.pk.is_none() => Err(missing("pk")),
            _ => Ok(ask),
        }
    }
}

pub(crate) async fn answer(call: &mut Call<'_>, ask: &Ask) -> Result<Answer, Problem> {
    let stack = call.stack().await?;
    let resources = call.resources(&stack).await?;
    let found = names::find(&resources, &stack.stack_name, &ask.resource, TYPES)?;
    let table = found.physical_id.as_str();
    match ask.verb {
        Verb::Schema => schema(call, ask, table).await,
        Verb::Get => get(call, ask, table).await,
        Verb::Scan | Verb::Query | Verb::Sample => items(call, ask, table).await,
    }
}

async fn read(call: &Call<'_>, operation: &'static str, input: Value) -> Result<Value, Problem> {
    let read: Read = check(operation).map_err(|refusal| refused(&refusal))?;
    call.aws(ActionShape::new(&services::DYNAMODB, read.as_str()), input)
        .await
        .map_err(|failure| aws_problem(&failure))
}

async fn described(call: &Call<'_>, table: &str) -> Result<Value, Problem> {
    let answer = read(call, "DescribeTable", json!({ "TableName": table })).await?;
    Ok(answer.get("Table").cloned().unwrap_or_default())
}

async fn schema(call: &Call<'_>, ask: &Ask, table: &str) -> Result<Answer, Problem> {
    let found = described(call, table).await?;
    let indices = |name: &str| -> Vec<Value> {
        list(&found, name)
            .iter()
            .map(|index| {
                json!({
                    "name": text(index, "IndexName"),
                    "keySchema": index.get("KeySchema"),
                    "projection": index.get("Projection"),
                    "status": text(index, "IndexStatus"),
                    "itemCount": index.get("ItemCount"),
                })
            })
            .collect()
    };
    Ok(Answer::new(
        format!("the table {table}"),
        json!({
            "resource": ask.resource,
            "table": table,
            "status": text(&found, "TableStatus"),
            "keySchema": found.get("KeySchema"),
            "attributes": found.get("AttributeDefinitions"),
            "gsi": indices("GlobalSecondaryIndexes"),
            "lsi": indices("LocalSecondaryIndexes"),
            "itemCount": found.get("ItemCount"),
            "sizeBytes": found.get("TableSizeBytes"),
            "billingMode": found.pointer("/BillingModeSummary/BillingMode"),
        }),
    ))
}

async fn get(call: &Call<'_>, ask: &Ask, table: &str) -> Result<Answer, Problem> {
    let found = described(call, table).await?;
    let keys = keys(&found, None)?;
    let mut key = Map::new();
    match &ask.key {
        Some(given) => {
            for name in given.keys() {
                if !keys.iter().any(|known| known.name == *name) {
                    let names: Vec<&str> = keys.iter().map(|key| key.name.as_str()).collect();
                    return Err(invalid(
                        "key",
                        format!(
                            "{name} is not a key of {table}; its key is {}",
                            names.join(" and ")
                        ),
                    ));
                }
            }
            for known in &keys {
                let value = given
                    .get(&known.name)
                    .ok_or_else(|| invalid("key", format!("key lacks {}", known.name)))?;
                key.insert(known.name.clone(), known.value("key", value)?);
            }
        }
        None => {
            for (known, (argument, given)) in keys.iter().zip([("pk", &ask.pk), ("sk", &ask.sk)]) {
                let value = given.as_ref().ok_or_else(|| missing(argument))?;
                key.insert(known.name.clone(), known.value(argument, value)?);
            }
        }
    }
    let answer = read(call, "GetItem", json!({ "TableName": table, "Key": key })).await?;
    match answer.get("Item") {
        Some(item) => Ok(Answer::new(
            "1 item",
            json!({ "resource": ask.resource, "table": table, "item": attribute::plain_item(item) }),
        )),
        None => Err(not_found(
            "item",
            &ask.resource,
            format!("{table} has no item with this key"),
            [],
        )),
    }
}

async fn items(call: &Call<'_>, ask: &Ask, table: &str) -> Result<Answer, Problem> {
    let mut input = json!({ "TableName": table });
    if let Some(index) = &ask.index {
        input["IndexName"] = json!(index);
    }
    let operation = if ask.verb == Verb::Query {
        let found = described(call, table).await?;
        let keys = keys(&found, ask.index.as_deref())?;
        let mut condition = Vec::new();
        for (number, (known, (argument, given))) in keys
            .iter()
            .zip([("pk", &ask.pk), ("sk", &ask.sk)])
            .enumerate()
        {
            if let Some(value) = given {
                condition.push(format!("#k{number} = :v{number}"));
                input["ExpressionAttributeNames"][format!("#k{number}")] = json!(known.name);
                input["ExpressionAttributeValues"][format!(":v{number}")] =
                    known.value(argument, value)?;
            }
        }
        if ask.sk.is_some() && keys.len() < 2 {
            return Err(invalid("sk", format!("{table} has no sort key here")));
        }
        input["KeyConditionExpression"] = json!(condition.join(" AND "));
        "Query"
    } else {
        "Scan"
    };
    let mut items: Vec<Value> = Vec::new();
    let mut scanned = 0;
    let mut more = false;
    for _ in 0..PAGES {
        input["Limit"] = json!(ask.limit - items.len());
        let page = read(call, operation, input.clone()).await?;
        items.extend(list(&page, "Items").iter().map(attribute::plain_item));
        scanned += page
            .get("ScannedCount")
            .and_then(Value::as_u64)
            .unwrap_or(0);
        let last = page.get("LastEvaluatedKey").filter(|key| key.is_object());
        more = last.is_some();
        match last {
            Some(last) if items.len() < ask.limit => input["ExclusiveStartKey"] = last.clone(),
            _ => break,
        }
    }
    let count = items.len();
    let answer = Answer::new(
        counted(count, "item"),
        json!({
            "resource": ask.resource,
            "table": table,
            "items": items,
            "count": count,
            "scannedCount": scanned,
            "truncated": more,
        }),
    );
    Ok(if more && ask.verb != Verb::Sample {
        answer.next("repeat with a larger limit, or query a narrower key")
    } else {
        answer
    })
}

/// A part of a key and its type.
struct Key {
    name: String,
    kind: String,
}

impl Key {
    fn value(&self, argument: &str, given: &Value) -> Result<Value, Problem> {
        attribute::key(&self.kind, given).ok_or_else(|| {
            invalid(
                argument,
                format!(
                    "{} is of type {}, which {argument} is not",
                    self.name, self.kind
                ),
            )
        })
    }
}

/// The key of a table or of an index: partition first, then sort.
fn keys(table: &Value, index: Option<&str>) -> Result<Vec<Key>, Problem> {
    let holder = match index {
        None => table,
        Some(wanted) => {
            let all: Vec<&Value> = ["GlobalSecondaryIndexes", "LocalSecondaryIndexes"]
                .into_iter()
                .flat_map(|name| list(table, name))
                .collect();
            let found = all
                .iter()
                .find(|index| text(index, "IndexName") == Some(wanted))
                .copied();
            match found {
                Some(index) => index,
                None => {
                    return Err(not_found(
                        "index",
                        wanted,
                        format!("the table has no index {wanted}"),
                        all.iter().filter_map(|index| text(index, "IndexName")),
                    ));
                }
            }
        }
    };
    let attributes = list(table, "AttributeDefinitions");
    let mut parts: Vec<&Value> = list(holder, "KeySchema").iter().collect();
    parts.sort_by_key(|part| text(part, "KeyType") != Some("HASH"));
    Ok(parts
        .iter()
        .filter_map(|part| text(part, "AttributeName"))
        .map(|name| Key {
            name: name.to_owned(),
            kind: attributes
                .iter()
                .find(|attribute| text(attribute, "AttributeName") == Some(name))
                .and_then(|attribute| text(attribute, "AttributeType"))
                .unwrap_or("S")
                .to_owned(),
        })
        .collect())
}
