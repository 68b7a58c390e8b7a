//! Checks what is reported: a run, a change to one, a commit that came of one.
//!
//! By hand and field by field, because a batch says of each of its runs what is wrong with it.

use serde_json::{Map, Value, json};
use windlass_types::{Problem, Timestamp};

use super::run::{Changes, CommitSource, JobType, Run, Status};
use crate::{
    arguments::{kind, missing},
    fault::invalid,
    uuid::parse_uuid4,
};

/// Names, addresses, ids.
const SHORT: usize = 500;
/// Summaries.
const LONG: usize = 20_000;
/// Objects, as text.
const OBJECT: usize = 256 * 1024;

/// The fields a run has from its beginning.
const OF_RUN: [&str; 14] = [
    "event_id",
    "run_id",
    "agent_name",
    "job_type",
    "start_time",
    "parent_run_id",
    "product",
    "product_family",
    "platform",
    "subdomain",
    "website_section",
    "item_name",
    "git_repo",
    "git_branch",
];

/// The fields that may change.
const OF_CHANGES: [&str; 12] = [
    "status",
    "end_time",
    "duration_ms",
    "items_discovered",
    "items_succeeded",
    "items_failed",
    "items_skipped",
    "output_summary",
    "error_summary",
    "error_details",
    "metrics_json",
    "context_json",
];

/// Reads a reported run. One that has ended may say so at once.
pub(super) fn run(given: Value) -> Result<Run, Problem> {
    let known: Vec<&str> = OF_RUN.iter().chain(&OF_CHANGES).copied().collect();
    let mut fields = Fields::read(given, &known)?;
    let event_id = event_id(&fields.required("event_id", SHORT)?)?;
    let run_id = fields.required("run_id", SHORT)?;
    let agent_name = fields.required("agent_name", SHORT)?;
    let job_type = job_type(&fields.required("job_type", SHORT)?)?;
    let start_time = fields
        .time("start_time")?
        .ok_or_else(|| missing("start_time"))?;
    let mut run = Run::begun(event_id, run_id, agent_name, job_type, start_time);
    run.parent_run_id = fields.text("parent_run_id", SHORT)?;
    run.product = fields.text("product", SHORT)?;
    run.product_family = fields.text("product_family", SHORT)?;
    run.platform = fields.text("platform", SHORT)?;
    run.subdomain = fields.text("subdomain", SHORT)?;
    run.website_section = fields.text("website_section", SHORT)?;
    run.item_name = fields.text("item_name", SHORT)?;
    run.git_repo = fields.text("git_repo", SHORT)?;
    run.git_branch = fields.text("git_branch", SHORT)?;
    run.apply(fields.changes()?);
    Ok(run)
}

/// Reads a change to a run.
pub(super) fn changes(given: Value) -> Result<Changes, Problem> {
    Fields::read(given, &OF_CHANGES)?.changes()
}

/// Reads a commit that came of a run.
pub(super) fn commit(given: Value) -> Result<Changes, Problem> {
    let mut fields = Fields::read(given, &["commit_hash", "commit_source"])?;
    let hash = fields.required("commit_hash", SHORT)?;
    let is_hash = (7..=40).contains(&hash.len()) && hash.bytes().all(|b| b.is_ascii_hexdigit());
    if !is_hash {
        let message = "commit_hash is 7 to 40 hexadecimal digits";
        return Err(invalid("/commit_hash", "format", message));
    }
    let source = fields.required("commit_source", SHORT)?;
    let known = CommitSource::ALL;
    let source = known.into_iter().find(|known| known.as_str() == source);
    let source = source.ok_or_else(|| {
        let words = known.map(CommitSource::as_str).join(", ");
        let message = format!("commit_source is one of {words}");
        invalid("/commit_source", "unknown", message)
    })?;
    Ok(Changes {
        commit_hash: Some(hash.to_ascii_lowercase()),
        commit_source: Some(source),
        ..Changes::default()
    })
}

/// Reads the id a run is reported under.
pub(super) fn event_id(text: &str) -> Result<String, Problem> {
    parse_uuid4(text).ok_or_else(|| {
        let message = "event_id is a UUID of version 4, such as \
                       0b5c2b1e-7a4f-4c1d-9e57-2f0a6b7c8d9e";
        invalid("/event_id", "uuid4", message)
    })
}

/// Reads a status; other words for one are understood.
pub(super) fn status(text: &str) -> Result<Status, Problem> {
    Status::by_name(text).ok_or_else(|| {
        let words = Status::ALL.map(Status::as_str).join(", ");
        let shown: String = text.chars().take(40).collect();
        let message = format!("no status is called {shown:?}; it is one of {words}");
        invalid("/status", "unknown", message)
    })
}

/// Reads a job type.
pub(super) fn job_type(text: &str) -> Result<JobType, Problem> {
    JobType::by_name(text).ok_or_else(|| {
        let words = JobType::ALL.map(JobType::as_str).join(", ");
        let shown: String = text.chars().take(40).collect();
        let message = format!("no job_type is called {shown:?}; it is one of {words}");
        invalid("/job_type", "unknown", message)
    })
}

struct Fields(Map<String, Value>);

impl Fields {
    fn read(given: Value, known: &[&str]) -> Result<Self, Problem> {
        let Value::Object(fields) = given else {
            let message = format!("this is {}, not an object", kind(&given));
            return Err(invalid("", "type", message));
        };
        if let Some(unknown) = fields.keys().find(|key| !known.contains(&key.as_str())) {
            let shown: String = unknown.chars().take(64).collect();
            let message = format!(
                "{shown:?} is not a field here; known fields: {}",
                known.join(", ")
            );
            return Err(invalid(&format!("/{shown}"), "unknown_field", message));
        }
        Ok(Self(fields))
    }

    /// A field; null is as good as left out.
    fn take(&mut self, key: &str) -> Option<Value> {
        self.0.remove(key).filter(|value| !value.is_null())
    }

    fn text(&mut self, key: &str, limit: usize) -> Result<Option<String>, Problem> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let Value::String(text) = value else {
            return Err(wrong_type(key, &value, "a text"));
        };
        if text.chars().count() > limit {
            let message = format!("{key} has more than {limit} characters");
            return Err(invalid(&format!("/{key}"), "length", message));
        }
        Ok(Some(text))
    }

    fn required(&mut self, key: &str, limit: usize) -> Result<String, Problem> {
        let text = self.text(key, limit)?.ok_or_else(|| missing(key))?;
        if text.is_empty() {
            return Err(invalid(
                &format!("/{key}"),
                "empty",
                format!("{key} is empty"),
            ));
        }
        if text.chars().any(char::is_control) {
            let message = format!("{key} has a control character");
            return Err(invalid(&format!("/{key}"), "format", message));
        }
        Ok(text)
    }

    fn time(&mut self, key: &str) -> Result<Option<Timestamp>, Problem> {
        let Some(text) = self.text(key, SHORT)? else {
            return Ok(None);
        };
        text.parse().map(Some).map_err(|_| {
            let message =
                format!("{key} is a time of ISO 8601 with its zone, such as 2026-01-21T10:00:00Z");
            invalid(&format!("/{key}"), "time", message)
        })
    }

    fn count(&mut self, key: &str) -> Result<Option<u64>, Problem> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        value.as_u64().map(Some).ok_or_else(|| {
            let message = format!("{key} is a whole number that is not negative");
            invalid(&format!("/{key}"), "range", message)
        })
    }

    /// An object, or the text of one.
    fn object(&mut self, key: &str) -> Result<Option<Value>, Problem> {
        let value = match self.take(key) {
            None => return Ok(None),
            Some(Value::String(text)) => serde_json::from_str(&text).unwrap_or(json!(text)),
            Some(value) => value,
        };
        if !value.is_object() {
            return Err(wrong_type(key, &value, "an object"));
        }
        within_size(key, value).map(Some)
    }

    fn changes(&mut self) -> Result<Changes, Problem> {
        let given = self.text("status", SHORT)?;
        Ok(Changes {
            status: given.map(|given| status(&given)).transpose()?,
            end_time: self.time("end_time")?,
            duration_ms: self.count("duration_ms")?,
            items_discovered: self.count("items_discovered")?,
            items_succeeded: self.count("items_succeeded")?,
            items_failed: self.count("items_failed")?,
            items_skipped: self.count("items_skipped")?,
            output_summary: self.text("output_summary", LONG)?,
            error_summary: self.text("error_summary", LONG)?,
            error_details: self.error_details()?,
            metrics_json: self.object("metrics_json")?,
            context_json: self.object("context_json")?,
            ..Changes::default()
        })
    }

    fn error_details(&mut self) -> Result<Option<Value>, Problem> {
        match self.take("error_details") {
            None => Ok(None),
            Some(value @ (Value::String(_) | Value::Object(_))) => {
                within_size("error_details", value).map(Some)
            }
            Some(other) => Err(wrong_type("error_details", &other, "a text or an object")),
        }
    }
}

fn within_size(key: &str, value: Value) -> Result<Value, Problem> {
    if value.to_string().len() > OBJECT {
        let message = format!("{key} is longer than {OBJECT} bytes");
        return Err(invalid(&format!("/{key}"), "length", message));
    }
    Ok(value)
}

fn wrong_type(key: &str, value: &Value, wanted: &str) -> Problem {
    let message = format!("{key} is {}, not {wanted}", kind(value));
    invalid(&format!("/{key}"), "type", message)
}

/// The schema of a reported run.
pub(super) fn run_schema() -> Value {
    let mut properties = change_properties();
    let short = |description: &str| {
        json!({
            "type": ["string", "null"],
            "maxLength": SHORT,
            "description": description,
        })
    };
    let required = |description: &str| {
        json!({
            "type": "string",
            "minLength": 1,
            "maxLength": SHORT,
            "description": description,
        })
    };
    for (name, schema) in [
        (
            "event_id",
            json!({
                "type": "string",
                "format": "uuid",
                "description": "A UUID of version 4. Reporting it again changes nothing.",
            }),
        ),
        ("run_id", required("What the run is called.")),
        ("agent_name", required("Who did the work.")),
        ("job_type", json!({ "enum": JobType::ALL })),
        (
            "start_time",
            json!({
                "type": "string",
                "format": "date-time",
                "description": "ISO 8601 with its zone.",
            }),
        ),
        ("parent_run_id", short("The run it is a part of.")),
        ("product", short("The product.")),
        ("product_family", short("The family of the product.")),
        ("platform", short("The platform of the product.")),
        ("subdomain", short("The part of the site, by its name.")),
        ("website_section", short("The section of the site.")),
        ("item_name", short("What was worked on.")),
        ("git_repo", short("The repository.")),
        ("git_branch", short("The branch.")),
    ] {
        properties.insert(name.to_owned(), schema);
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": ["event_id", "run_id", "agent_name", "job_type", "start_time"],
        "additionalProperties": false,
    })
}

/// The fields that may change, for schemas.
pub(super) fn change_properties() -> Map<String, Value> {
    let mut words: Vec<&str> = Status::ALL.iter().map(|status| status.as_str()).collect();
    words.extend(Status::ALIASES.iter().map(|(word, _)| *word));
    let count = || json!({ "type": ["integer", "null"], "minimum": 0 });
    let summary = || json!({ "type": ["string", "null"], "maxLength": LONG });
    let object = |description: &str| {
        json!({
            "type": ["object", "string", "null"],
            "description": format!("{description} An object, or the text of one."),
        })
    };
    let schemas = [
        json!({
            "enum": words,
            "default": "running",
            "description": "failed, completed and succeeded are kept as the word they stand for.",
        }),
        json!({ "type": ["string", "null"], "format": "date-time" }),
        count(),
        count(),
        count(),
        count(),
        count(),
        summary(),
        summary(),
        json!({ "type": ["string", "object", "null"] }),
        object("Figures."),
        object("Particulars, such as trace_id and span_id."),
    ];
    OF_CHANGES
        .iter()
        .zip(schemas)
        .map(|(name, schema)| ((*name).to_owned(), schema))
        .collect()
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
