//! Reads what a tool was called with. Members nobody knows are accepted, ignored and named; a
//! known member that does not fit is refused with its field and the rule it breaks.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use serde_path_to_error::{Path, Segment};
use windlass_pipeline_design::model::{
    Architecture, InputProblem, Phase, Preset, Requirements, UxSpec,
};
use windlass_pipeline_design::spec::{analyse, names_a_product, read_requirements, says_nothing};
use windlass_types::Problem;

use crate::{fault::invalid, given};

/// The longest spec, in bytes.
pub(crate) const LONGEST_SPEC: usize = 256 * 1024;
const LONGEST_KEY: usize = 200;

/// What a job is asked to do: all that its run needs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Wanted {
    /// The spec, trimmed.
    pub(crate) spec: String,
    /// Industry, audience, budget.
    #[serde(default)]
    pub(crate) context: SpecContext,
    /// In the order they run.
    pub(crate) phases: Vec<Phase>,
    /// Given, so that it is not derived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) requirements: Option<Requirements>,
    /// The same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) architecture: Option<Architecture>,
    /// The same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ux_spec: Option<UxSpec>,
    /// Only these files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) target_files: Vec<String>,
    /// For which kind of project.
    #[serde(default)]
    pub(crate) preset: Preset,
    /// How it should look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) style_preference: Option<String>,
    /// Preferences that no preset fits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) not_honoured: Vec<String>,
    /// Members that mean nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ignored_fields: Vec<String>,
    /// Where to say that it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) webhook_url: Option<String>,
}

/// `context` of `aios_strategize`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SpecContext {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) industry: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) target_audience: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) budget_tier: Option<String>,
}

/// The members of a call, taken out one by one.
pub(crate) struct Members(Map<String, Value>);

impl Members {
    pub(crate) fn read(input: Value) -> Result<Self, Problem> {
        match input {
            Value::Object(members) => Ok(Self(members)),
            Value::Null => Ok(Self(Map::new())),
            other => Err(invalid(
                "",
                "type",
                format!("the input must be an object, not {}", kind(&other)),
            )),
        }
    }

    fn take(&mut self, key: &str) -> Option<Value> {
        self.0.remove(key).filter(|value| !value.is_null())
    }

    pub(crate) fn text(&mut self, key: &str) -> Result<Option<String>, Problem> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong_type(key, "a string", &other)),
        }
    }

    pub(crate) fn required_text(&mut self, key: &str) -> Result<String, Problem> {
        let text = self.text(key)?.unwrap_or_default();
        if text.trim().is_empty() {
            return Err(invalid(
                key,
                "required",
                format!("The '{key}' field is required and must be a non-empty string"),
            ));
        }
        Ok(text)
    }

    /// The spec.
    pub(crate) fn spec(&mut self) -> Result<String, Problem> {
        let spec = self.required_text("spec")?;
        let spec = spec.trim();
        if spec.len() > LONGEST_SPEC {
            return Err(invalid(
                "spec",
                "maxLength",
                format!("The 'spec' field must not be longer than {LONGEST_SPEC} bytes"),
            )
            .with("limit", LONGEST_SPEC)
            .with("actual", spec.len()));
        }
        if is_binary(spec) {
            return Err(invalid(
                "spec",
                "text",
                "The 'spec' field must be text, and this looks like a binary file; export it as \
                 Markdown or plain text",
            ));
        }
        if says_nothing(spec) {
            return Err(no_product());
        }
        Ok(spec.to_owned())
    }

    /// Industry, audience, budget.
    pub(crate) fn context(&mut self) -> Result<SpecContext, Problem> {
        let Some(given) = self.take("context") else {
            return Ok(SpecContext::default());
        };
        let Value::Object(given) = given else {
            return Err(wrong_type("context", "an object", &given));
        };
        let mut given = Self(given);
        let mut text = |key: &str| match given.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong_type(&format!("/context/{key}"), "a string", &other)),
        };
        let context = SpecContext {
            industry: text("industry")?,
            target_audience: text("target_audience")?,
            budget_tier: text("budget_tier")?,
        };
        let tiers = ["startup", "scaleup", "enterprise"];
        match &context.budget_tier {
            Some(tier) if !tiers.contains(&tier.as_str()) => Err(invalid(
                "/context/budget_tier",
                "enum",
                format!(
                    "The '/context/budget_tier' field must be one of {}",
                    tiers.join(", ")
                ),
            )
            .with("allowed", tiers.to_vec())),
            _ => Ok(context),
        }
    }

    /// Requirements of an earlier output: the whole of it, or what is inside.
    pub(crate) fn requirements(&mut self) -> Result<Option<Requirements>, Problem> {
        let Some(given) = self.take("requirements") else {
            return Ok(None);
        };
        if !given.is_object() {
            return Err(wrong_type("requirements", "an object", &given));
        }
        let read = read_requirements(&given).map_err(|problem| refused(&problem))?;
        Ok(Some(read))
    }

    /// The same of an architecture.
    pub(crate) fn architecture(&mut self) -> Result<Option<Architecture>, Problem> {
        let Some((root, read)) = self.upstream::<Architecture>("architecture")? else {
            return Ok(None);
        };
        given::check_architecture(&root, &read)?;
        Ok(Some(read))
    }

    /// The same of a UX spec.
    pub(crate) fn ux_spec(&mut self) -> Result<Option<UxSpec>, Problem> {
        let Some((root, read)) = self.upstream::<UxSpec>("ux_spec")? else {
            return Ok(None);
        };
        given::check_ux(&root, &read)?;
        Ok(Some(read))
    }

    /// A part of an earlier output, and the pointer it was found at.
    fn upstream<T: DeserializeOwned>(&mut self, key: &str) -> Result<Option<(String, T)>, Problem> {
        let Some(given) = self.take(key) else {
            return Ok(None);
        };
        if !given.is_object() {
            return Err(wrong_type(key, "an object", &given));
        }
        let (root, inner) = match given.get(key) {
            Some(inner) if inner.is_object() => (format!("/{key}/{key}"), inner.clone()),
            _ => (format!("/{key}"), given),
        };
        read_at(&root, inner).map(|read| Some((root, read)))
    }

    /// Only these files.
    pub(crate) fn target_files(&mut self) -> Result<Vec<String>, Problem> {
        let Some(given) = self.take("target_files") else {
            return Ok(Vec::new());
        };
        let Value::Array(items) = given else {
            return Err(wrong_type("target_files", "an array", &given));
        };
        items
            .into_iter()
            .enumerate()
            .map(|(index, item)| match item {
                Value::String(path) => Ok(path),
                other => Err(wrong_type(
                    &format!("/target_files/{index}"),
                    "a string",
                    &other,
                )),
            })
            .collect()
    }

    /// For which kind of project; a name nobody knows is refused.
    pub(crate) fn framework(&mut self) -> Result<Preset, Problem> {
        let Some(name) = self.text("framework")? else {
            return Ok(Preset::default());
        };
        Preset::by_name(&name).ok_or_else(|| {
            let allowed: Vec<_> = Preset::ALL.iter().map(|preset| preset.as_str()).collect();
            invalid(
                "framework",
                "enum",
                format!(
                    "The 'framework' field must be one of {}",
                    allowed.join(", ")
                ),
            )
            .with("allowed", allowed)
        })
    }

    /// For which kind of project, as a wish; the preset, and the wish where no preset fits.
    pub(crate) fn stack_preference(&mut self) -> Result<(Preset, Vec<String>), Problem> {
        match self.text("stack_preference")? {
            None => Ok((Preset::default(), Vec::new())),
            Some(wish) => Ok(match Preset::by_preference(&wish) {
                Some(preset) => (preset, Vec::new()),
                None => (Preset::default(), vec![format!("stack_preference: {wish}")]),
            }),
        }
    }

    /// The phases, in the order they run, each once.
    pub(crate) fn phases(&mut self) -> Result<Vec<Phase>, Problem> {
        let Some(given) = self.take("phases") else {
            return Ok(Phase::ALL.to_vec());
        };
        let Value::Array(items) = given else {
            return Err(wrong_type("phases", "an array", &given));
        };
        let names = Phase::ALL.map(Phase::as_str);
        let mut phases = Vec::new();
        for item in &items {
            let phase = item.as_str().and_then(Phase::by_name).ok_or_else(|| {
                invalid(
                    "phases",
                    "enum",
                    format!("The 'phases' field may hold {}", names.join(", ")),
                )
                .with("allowed", names.to_vec())
            })?;
            phases.push(phase);
        }
        phases.sort_unstable();
        phases.dedup();
        if phases.is_empty() {
            return Err(invalid(
                "phases",
                "minItems",
                "The 'phases' field must name at least one phase",
            ));
        }
        Ok(phases)
    }

    /// The key a repeated call is recognised by.
    pub(crate) fn idempotency_key(&mut self) -> Result<Option<String>, Problem> {
        let Some(key) = self.text("idempotency_key")? else {
            return Ok(None);
        };
        let length = key.chars().count();
        if length == 0 || length > LONGEST_KEY || key.chars().any(char::is_control) {
            return Err(invalid(
                "idempotency_key",
                "length",
                "The 'idempotency_key' field must have 1 to 200 printable characters",
            ));
        }
        Ok(Some(key))
    }

    /// What was not taken out.
    pub(crate) fn rest(self) -> Vec<String> {
        let mut rest: Vec<String> = self.0.into_iter().map(|(key, _)| key).collect();
        rest.sort();
        rest
    }
}

/// Bytes of anything but text: a character that no text has, or many that are not printable.
fn is_binary(spec: &str) -> bool {
    let odd = spec
        .chars()
        .filter(|c| c.is_control() && !c.is_whitespace() || *c == char::REPLACEMENT_CHARACTER)
        .count();
    spec.contains('\0') || odd * 50 > spec.chars().count()
}

fn no_product() -> Problem {
    invalid(
        "spec",
        "product",
        "The 'spec' field describes no product; say what it is and what its users do, such as \
         \"A bakery shop: customers order bread for a day\"",
    )
}

/// The longest spec that is read as a whole before there is a job: a longer one is about something.
const SHORT: usize = 4096;

/// Refuses a short text that is about no product. Earlier outputs say what the product is.
pub(crate) fn check_product(wanted: &Wanted) -> Result<(), Problem> {
    let given =
        wanted.requirements.is_some() || wanted.architecture.is_some() || wanted.ux_spec.is_some();
    let is_json = serde_json::from_str::<Map<String, Value>>(&wanted.spec).is_ok();
    if given || is_json || wanted.spec.len() > SHORT {
        return Ok(());
    }
    let analysis = analyse(
        &wanted.spec,
        &windlass_pipeline_design::spec::SpecContext::default(),
    );
    if names_a_product(&wanted.spec, &analysis) {
        Ok(())
    } else {
        Err(no_product())
    }
}

/// Reads a part of an earlier output; a part that does not fit is named by its pointer.
fn read_at<T: DeserializeOwned>(root: &str, value: Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let field = format!("{root}{}", pointer(error.path()));
        // Which type of ours it would become is nothing to a caller.
        let reason = error.inner().to_string();
        let reason = match reason.split_once("expected struct ") {
            Some((before, _)) => format!("{before}expected an object"),
            None => reason,
        };
        let message = format!("The '{field}' field does not fit: {reason}");
        invalid(&field, "shape", message)
    })
}

/// A path of a deserialiser as a JSON pointer.
fn pointer(path: &Path) -> String {
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    path.iter()
        .map(|segment| match segment {
            Segment::Seq { index } => format!("/{index}"),
            Segment::Map { key } => format!("/{}", escaped(key)),
            Segment::Enum { .. } | Segment::Unknown => String::new(),
        })
        .collect()
}

/// Given input that does not fit what it refers to.
pub(crate) fn refused(error: &InputProblem) -> Problem {
    let mut problem = invalid(&error.field, &error.constraint, error.message.clone());
    for (key, detail) in &error.details {
        problem = problem.with(key, detail.clone());
    }
    problem
}

fn wrong_type(field: &str, wanted: &str, given: &Value) -> Problem {
    invalid(
        field,
        "type",
        format!("The '{field}' field must be {wanted}, not {}", kind(given)),
    )
}

const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn phases_run_in_one_order_each_once() {
        let read = |given: Value| Members::read(json!({ "phases": given })).unwrap().phases();
        assert_eq!(
            read(json!(["code", "strategy", "code"])).unwrap(),
            [Phase::Strategy, Phase::Code]
        );
        for (given, constraint) in [
            (json!([]), "minItems"),
            (json!(["deploy"]), "enum"),
            (json!("code"), "type"),
            (json!([1]), "enum"),
        ] {
            let problem = read(given.clone()).unwrap_err();
            assert_eq!(problem.details()["constraint"], constraint, "{given}");
            assert_eq!(problem.details()["field"], "phases");
        }
    }

    #[test]
    fn an_earlier_output_may_come_whole_or_bare() {
        let bare =
            json!({ "functional": [{ "id": "FR-1", "description": "x", "priority": "must" }] });
        for given in [
            bare.clone(),
            json!({ "requirements": bare, "strategy_summary": "s" }),
        ] {
            let mut members = Members::read(json!({ "requirements": given })).unwrap();
            let read = members.requirements().unwrap().unwrap();
            assert_eq!(read.functional[0].id, "FR-1");
        }
    }

    #[test]
    fn a_part_that_does_not_fit_is_named() {
        let item = |id: &str, priority: &str| json!({ "id": id, "description": "x", "priority": priority });
        let two = |second: Value| json!({ "functional": [item("FR-1", "must"), second] });
        for (given, field, constraint) in [
            (
                two(item("FR-2", "urgent")),
                "/requirements/functional/1/priority",
                "enum",
            ),
            (
                two(item("FR-1", "must")),
                "/requirements/functional/1/id",
                "unique",
            ),
            (
                two(item("two", "must")),
                "/requirements/functional/1/id",
                "pattern",
            ),
            (
                json!({ "requirements": two(item("FR-1", "must")) }),
                "/requirements/requirements/functional/1/id",
                "unique",
            ),
            (
                json!({ "functional": "none" }),
                "/requirements/functional",
                "type",
            ),
            (json!(7), "requirements", "type"),
        ] {
            let mut members = Members::read(json!({ "requirements": given })).unwrap();
            let problem = members.requirements().unwrap_err();
            assert_eq!(problem.details()["field"], field, "{problem}");
            assert_eq!(problem.details()["constraint"], constraint, "{problem}");
        }
        for (given, field, reason) in [
            (
                json!({ "stack": 1 }),
                "/architecture/stack",
                "invalid type: integer `1`, expected an object",
            ),
            (
                json!({ "architecture": { "stack": { "frontend": 1 } } }),
                "/architecture/architecture/stack/frontend",
                "invalid type: integer `1`, expected a string",
            ),
            (json!({}), "/architecture", "missing field `stack`"),
        ] {
            let mut members = Members::read(json!({ "architecture": given })).unwrap();
            let problem = members.architecture().unwrap_err();
            assert_eq!(problem.details()["field"], field, "{problem}");
            assert_eq!(
                problem.message(),
                format!("The '{field}' field does not fit: {reason}")
            );
        }
    }

    #[test]
    fn a_text_about_no_product_is_refused_before_there_is_a_job() {
        let wanted = |spec: &str| Wanted {
            spec: spec.to_owned(),
            ..Wanted::default()
        };
        let problem = check_product(&wanted("Hello, how are you today?")).unwrap_err();
        assert_eq!(problem.details()["constraint"], "product");
        for spec in [
            "A quiz app",
            "Teachers create quizzes.",
            "{\"requirements\": {}}",
        ] {
            assert!(check_product(&wanted(spec)).is_ok(), "{spec}");
        }
        let given = Wanted {
            requirements: Some(Requirements::default()),
            ..wanted("Hello, how are you today?")
        };
        assert!(check_product(&given).is_ok());
    }

    #[test]
    fn specs_have_bounds() {
        let spec = |given: Value| Members::read(json!({ "spec": given })).unwrap().spec();
        assert_eq!(spec(json!("  a quiz  ")).unwrap(), "a quiz");
        assert!(spec(json!("x ".repeat(LONGEST_SPEC / 2))).is_ok());
        for (given, constraint) in [
            (json!(null), "required"),
            (json!(""), "required"),
            (json!(" \n"), "required"),
            (json!(5), "type"),
            (json!("x".repeat(LONGEST_SPEC + 1)), "maxLength"),
            (json!("%PDF-1.7 \u{0}\u{1}\u{2} shop"), "text"),
            (json!("\u{fffd}PNG\u{fffd}\u{1a} a shop"), "text"),
            (json!("hello"), "product"),
            (json!("--- 12 ---"), "product"),
        ] {
            assert_eq!(spec(given).unwrap_err().details()["constraint"], constraint);
        }
    }
}
