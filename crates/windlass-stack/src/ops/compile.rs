//! The template without a deployment: shown, written, checked; and a first config.

use std::path::{Component, Path};

use serde_json::{Map, Value, json};
use windlass_engine::{
    access::is_below as is_within,
    operation::{Answer, CallContext},
};
use windlass_files::{Access, Directory, write_from};
use windlass_ports::aws::TemplateSource;
use windlass_stack_config::{CONFIG_NAMES, find_config, starter};
use windlass_stack_lifecycle::INLINE_LIMIT;
use windlass_types::{EffectClass, Problem, Surface, code};

use crate::desk::Desk;
use crate::fault;
use crate::place::Place;
use crate::prepare::{Ask, Prepared, prepare};

/// How large a template may be to be shown to a language model.
const MCP_LIMIT: usize = 24_000;

/// `compile_template`.
pub(super) async fn template(
    desk: &Desk,
    context: &CallContext,
    arguments: Map<String, Value>,
) -> Result<Answer, Problem> {
    let operation = "compile_template";
    let out = arguments.get("outFile").and_then(Value::as_str);
    if let Some(out) = out {
        check_result(desk, context, &Place::read(context, &arguments)?, out)?;
    }
    let place = desk
        .located(operation, Place::read(context, &arguments)?)
        .await?;
    let prepared = prepare(desk, &place, &arguments, operation, Ask::IfPossible).await?;
    let effect = match out {
        // The file may be one that was there.
        Some(_) => EffectClass::Write,
        None => EffectClass::Read,
    };
    context.require_effect(effect, &[prepared.stack_name().to_owned()])?;
    let text = prepared.proposal.template_text();
    let count = resource_count(&prepared);
    let mut data = json!({
        "message": format!("{} compiles to {count} resources", prepared.stack_name()),
        "stackName": prepared.stack_name(),
        "resourceCount": count,
        "sha256": prepared.proposal.template_digest(),
        "size": text.len(),
        "capabilities": prepared.proposal.capabilities,
        "configFile": prepared.config_file,
        "warnings": prepared.warnings,
    });
    let secrets = literal_secrets(desk, &prepared.proposal.template);
    if !secrets.is_empty() {
        data["literalSecrets"] = json!(secrets);
    }
    if !prepared.packages.placeholders.is_empty() {
        data["placeholders"] = json!(prepared.packages.placeholders);
    }
    if let Some(out) = out {
        let is_private = !secrets.is_empty();
        let access = match is_private {
            true => Access::Private,
            false => Access::Usual,
        };
        write_from(&place.directory, out.as_ref(), text.as_bytes(), access).map_err(|error| {
            error.into_problem(|error| fault::invalid("outFile", error.to_string()))
        })?;
        data["outFile"] = json!(out);
        if is_private {
            data["message"] = json!(format!(
                "{} compiles to {count} resources; {out} holds secrets, so only you can read it \
                 (mode 0600)",
                prepared.stack_name()
            ));
            data["fileMode"] = json!("0600");
        }
    } else if context.surface == Surface::Mcp && !secrets.is_empty() {
        data["withheld"] = json!(true);
        data["reason"] = json!(format!(
            "the template holds literal secrets at {}, which a language model is not given",
            secrets.join(", ")
        ));
        data["nextActions"] = json!([
            "repeat with outFile to have it written to a file of mode 0600",
            "write $Secret('NAME') in the config instead of the value",
        ]);
    } else if context.surface == Surface::Mcp && text.len() > MCP_LIMIT {
        data["truncated"] = json!(true);
        data["reason"] = json!(format!("the template has {} bytes", text.len()));
        data["nextActions"] = json!(["repeat with outFile to have it written to a file"]);
    } else {
        data["template"] = prepared.proposal.template.clone();
    }
    Ok(Answer::plain(data))
}

/// Where the template has values that are secrets by their name or form.
fn literal_secrets(desk: &Desk, template: &Value) -> Vec<String> {
    fn walk(desk: &Desk, place: &str, key: &str, value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => members.iter().for_each(|(key, value)| {
                let dot = if place.is_empty() { "" } else { "." };
                walk(desk, &format!("{place}{dot}{key}"), key, value, found);
            }),
            Value::Array(items) => items
                .iter()
                .for_each(|item| walk(desk, place, key, item, found)),
            Value::String(text)
                if !text.starts_with("{{resolve:")
                    && (is_secret(key) || desk.engine.redactor.finds_in(text.as_bytes())) =>
            {
                found.push(place.to_owned());
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(desk, "", "", template, &mut found);
    found.dedup();
    found
}

/// Names of properties whose literal values are nobody's business.
fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    [
        "masteruserpassword",
        "authtoken",
        "clientsecret",
        "client_secret",
    ]
    .contains(&key.as_str())
        || key.ends_with("_password")
        || key.ends_with("_secret")
        || key.ends_with("_token")
        || key.ends_with("_api_key")
        || key == "password"
}

/// Where a result may be written: in or below the working directory, and that below where the
/// client or server was started, because a caller may name any; or where the user says at the
/// command line; and never in the home.
fn check_result(
    desk: &Desk,
    context: &CallContext,
    place: &Place,
    given: &str,
) -> Result<(), Problem> {
    if desk.outside.read_only {
        return Err(super::verb::read_only("compile_template with outFile"));
    }
    let path = Path::new(given);
    let is_below = path
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let target = place.directory.join(given);
    let may = match (context.surface, &context.directory) {
        (Surface::Cli, _) => is_below || path.is_absolute(),
        (_, Some(start)) => is_below && is_within(&place.directory, start),
        (_, None) => is_below && desk.engine.roots.allows(&place.directory),
    };
    if !may {
        return Err(fault::invalid(
            "outFile",
            format!("outFile is {given:?}; it must be in or below the working directory"),
        ));
    }
    desk.engine
        .roots
        .check_result(&target)
        .map_err(|problem| problem.with("argument", "outFile"))
}

fn resource_count(prepared: &Prepared) -> usize {
    let resources = prepared.proposal.template.get("Resources");
    resources.and_then(Value::as_object).map_or(0, Map::len)
}

/// `validate`.
pub(super) async fn validate(
    desk: &Desk,
    context: &CallContext,
    arguments: Map<String, Value>,
) -> Result<Answer, Problem> {
    let place = desk
        .located("validate", Place::read(context, &arguments)?)
        .await?;
    let says = |name: &str| arguments.get(name).and_then(Value::as_bool) == Some(true);
    let ask = if says("thorough") {
        Ask::ToAnswer
    } else {
        Ask::IfPossible
    };
    let prepared = match prepare(desk, &place, &arguments, "validate", ask).await {
        Ok(prepared) => prepared,
        // Who asks for packages or for CloudFormation's word wants that or nothing.
        Err(problem)
            if problem.code() == &code::NOT_TRUSTED
                && !says("withPackage")
                && !says("thorough") =>
        {
            let stack: Vec<String> = place.known_stack().into_iter().collect();
            context.require_targets(&stack)?;
            return Ok(unread(&place, &problem));
        }
        Err(problem) => return Err(problem),
    };
    context.require_target(prepared.stack_name())?;
    if says("thorough") {
        prepared.require_secrets()?;
        let body = prepared.proposal.template_text();
        if body.len() <= INLINE_LIMIT {
            let access = desk.access(place.target());
            access
                .cloud
                .validate_template(&access.target, TemplateSource::Body(body))
                .await
                .map_err(|failure| fault::problem(failure.into()))?;
        }
    }
    let count = resource_count(&prepared);
    Ok(Answer::plain(json!({
        "message": format!("{} is valid: {count} resources", prepared.config_file),
        "valid": true,
        "configFile": prepared.config_file,
        "stackName": prepared.stack_name(),
        "resourceCount": count,
        "checked": {
            "config": true,
            "resources": true,
            "template": true,
            "packaging": prepared.packages.placeholders.is_empty(),
            "cloudformation": says("thorough"),
        },
        "warnings": prepared.warnings,
    })))
}

/// The answer about a config that only code of the project could tell: nothing of it was run, and
/// whether it is valid is not known.
fn unread(place: &Place, problem: &Problem) -> Answer {
    let file = find_config(&place.directory, place.config_path.as_deref()).ok();
    let file = file.map(|file| {
        let below = file.strip_prefix(&place.directory).unwrap_or(&file);
        below.display().to_string()
    });
    let mut data = json!({
        "valid": null,
        "configFile": file,
        "checked": {
            "config": false,
            "resources": false,
            "template": false,
            "packaging": false,
            "cloudformation": false,
        },
        "unknown": [problem.message()],
        "warnings": [],
        "nextActions": problem.next_actions(),
    });
    if let Some(data) = data.as_object_mut() {
        let told = ["reason", "directory", "changed"].iter();
        let told = told.filter_map(|name| Some((*name, problem.details().get(*name)?)));
        data.extend(told.map(|(name, value)| (name.to_owned(), value.clone())));
        let message = format!(
            "whether the config is valid is not known: {}",
            problem.message()
        );
        data.insert("message".to_owned(), json!(message));
    }
    Answer::plain(data)
}

/// `init`.
pub(super) fn init(
    desk: &Desk,
    context: &CallContext,
    arguments: &Map<String, Value>,
) -> Result<Answer, Problem> {
    let place = Place::read(context, arguments)?;
    let says = |name: &str| arguments.get(name).and_then(Value::as_bool) == Some(true);
    let existing = CONFIG_NAMES
        .iter()
        .find(|name| place.directory.join(name).exists());
    let made = starter(&place.directory)?;
    let file = "stacktape.yml";
    if !says("print") {
        let result = place.directory.join(file);
        desk.engine.roots.check_result(&result)?;
        if let Some(existing) = existing.filter(|_| !says("force")) {
            return Err(Problem::new(
                &code::ALREADY_EXISTS,
                format!("there is a {existing} already"),
            )
            .with("reason", "exists")
            .next("repeat with force=true to write over it, or print=true to look"));
        }
        Directory::open(&place.directory)
            .and_then(|root| root.write(file.as_ref(), made.text.as_bytes(), Access::Usual))
            .map_err(|error| error.into_problem(|error| Problem::internal("config", error)))?;
    }
    let project = project_name(&place.directory);
    Ok(Answer::plain(json!({
        "message": if says("print") { "This would be written to stacktape.yml" } else { "Wrote stacktape.yml" },
        "file": file,
        "text": made.text,
        "found": made.found,
        "nextActions": [
            format!("windlass stack validate --project-name {project} --stage dev --region eu-west-1"),
            format!("windlass stack preview --project-name {project} --stage dev --region eu-west-1"),
        ],
    })))
}

/// A name for the project, from its directory's.
fn project_name(directory: &Path) -> String {
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let sound: String = name
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '-'
            }
        })
        .collect();
    let sound = sound.trim_matches('-');
    match sound.starts_with(|first: char| first.is_ascii_alphabetic()) {
        true => sound.to_owned(),
        false => "app".to_owned(),
    }
}
