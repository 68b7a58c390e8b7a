//! Forms: a control per field, the value it gives, and what happens when it is sent.

use serde::Serialize;
use windlass_pipeline_design::model::architecture::FieldType;

use super::data;
use super::import_lines::Imports;
use super::schema;
use crate::blueprint::{Blueprint, Component, ComponentKind, Entity, Field, Operation, Reference};
use crate::escape::{ts_access, ts_key, ts_string};
use crate::names;

#[derive(Serialize)]
pub(super) struct Context {
    name: String,
    #[serde(rename = "type")]
    type_name: String,
    label: String,
    human: String,
    react_imports: String,
    imports: Vec<String>,
    /// The schema that is checked against.
    schema: String,
    fields: Vec<Control>,
    presets: Vec<Preset>,
    choices: Vec<Choice>,
    /// What makes a new one.
    create: Option<String>,
    /// What changes the one that is there.
    update: Option<String>,
    initial_id: String,
    edit: Option<Edit>,
}

#[derive(Serialize)]
struct Control {
    key: String,
    column: String,
    id: String,
    label: String,
    /// As TypeScript.
    required: &'static str,
    access: String,
    read: String,
    control: Vec<String>,
    preset: bool,
}

#[derive(Serialize)]
struct Preset {
    key: String,
    column: String,
}

#[derive(Serialize)]
struct Choice {
    variable: String,
    list: String,
}

#[derive(Serialize)]
struct Edit {
    name: String,
    read: String,
}

/// The name of what loads a row into a form.
pub(super) fn edit_name(form: &str) -> String {
    format!("{form}ById")
}

/// Whether a page's own parameter may set a field, so that the user is not asked for it.
fn is_preset(blueprint: &Blueprint<'_>, entity: usize, field: &Field) -> bool {
    names::is_variable(&field.column)
        && blueprint.pages.iter().any(|page| {
            page.entity == Some(entity)
                && page.parent.map(Reference::Entity) == field.reference
                && page.parent.is_some()
        })
}

/// How the value is read from the form.
fn read(field: &Field, id: &str, preset: bool, imports: &mut Imports) -> String {
    let name = ts_string(id);
    let function = match field.kind {
        FieldType::Integer | FieldType::Decimal => "readNumber",
        FieldType::Boolean => "readBoolean",
        FieldType::Datetime => "readDateTime",
        FieldType::Json => "readJson",
        _ => "readText",
    };
    imports.add("@/lib/form", function);
    let mut value = format!("{function}(form, {name})");
    if preset {
        value = format!("{} ?? {value}", field.column);
    }
    // Left empty, the database's own default counts.
    if field.default.is_some() && !field.nullable && field.kind != FieldType::Boolean {
        value = format!("{value} ?? undefined");
    }
    value
}

/// The value a control starts with.
fn start(field: &Field, has_initial: bool, imports: &mut Imports) -> Option<String> {
    let access = ts_access(&field.column);
    let given = format!(
        "initial?{}",
        if access.starts_with('.') {
            access
        } else {
            format!(".{access}")
        }
    );
    if !has_initial {
        return None;
    }
    Some(match field.kind {
        FieldType::Datetime => {
            imports.add("@/lib/form", "toLocalDateTime");
            format!("defaultValue={{toLocalDateTime({given})}}")
        }
        FieldType::Json => format!(
            "defaultValue={{initial === undefined ? undefined : JSON.stringify({given}, null, 2)}}"
        ),
        FieldType::Boolean if field.nullable => format!("defaultChecked={{{given} ?? false}}"),
        FieldType::Boolean => format!("defaultChecked={{{given}}}"),
        _ => format!("defaultValue={{{given} ?? undefined}}"),
    })
}

fn control(
    blueprint: &Blueprint<'_>,
    field: &Field,
    id: &str,
    has_initial: bool,
    imports: &mut Imports,
) -> Vec<String> {
    let access = ts_access(&field.column);
    let mut attributes = vec![
        format!("id={{`${{formId}}-{id}`}}"),
        format!("name={}", ts_string(id)),
    ];
    attributes.extend(start(field, has_initial, imports));
    if !field.nullable && field.default.is_none() && field.kind != FieldType::Boolean {
        attributes.push("required".to_owned());
    }
    attributes.push(format!("aria-invalid={{errors{access} !== undefined}}"));
    attributes.push(format!(
        "aria-describedby={{errors{access} === undefined ? undefined : `${{formId}}-{id}-error`}}"
    ));
    let mut simple = |tag: &str, file: &str, extra: &[&str]| {
        imports.ui(file, tag);
        let mut lines = vec![format!("<{tag}")];
        let all = extra
            .iter()
            .map(ToString::to_string)
            .chain(attributes.iter().cloned());
        lines.extend(all.map(|attribute| format!("  {attribute}")));
        lines.push("/>".to_owned());
        lines
    };
    match (field.kind, field.reference) {
        (FieldType::Enum, _) => {
            let options = field
                .values
                .iter()
                .map(|value| {
                    format!(
                        "  <option value={}>{}</option>",
                        crate::escape::jsx_attribute(value),
                        crate::escape::jsx_text(value)
                    )
                })
                .collect();
            select(&attributes, options, imports)
        }
        (_, Some(Reference::Entity(other))) => {
            let other = &blueprint.entities[other];
            let resource = choice_variable(other);
            imports.add("@/lib/format", "formatValue");
            let title = other
                .title()
                .map_or_else(String::new, |title| ts_access(&title.column));
            let options = vec![
                format!("  {{{resource}.status === \"ready\""),
                format!("    ? {resource}.data.map((option) => ("),
                format!(
                    "        <option key={{{0}}} value={{{0}}}>",
                    data::key_of(other, "option")
                ),
                format!("          {{formatValue(option{title})}}"),
                "        </option>".to_owned(),
                "      ))".to_owned(),
                "    : null}".to_owned(),
            ];
            select(&attributes, options, imports)
        }
        (FieldType::Text | FieldType::Json, _) => simple("Textarea", "textarea", &[]),
        (FieldType::Boolean, _) => simple("Checkbox", "checkbox", &[]),
        (FieldType::Integer, _) => simple("Input", "input", &["type=\"number\"", "step=\"1\""]),
        (FieldType::Decimal, _) => simple("Input", "input", &["type=\"number\"", "step=\"any\""]),
        (FieldType::Date, _) => simple("Input", "input", &["type=\"date\""]),
        (FieldType::Datetime, _) => simple("Input", "input", &["type=\"datetime-local\""]),
        (FieldType::String, _) if schema::is_email(&field.column) => {
            simple("Input", "input", &["type=\"email\""])
        }
        (FieldType::String, _) if schema::is_url(&field.column) => {
            simple("Input", "input", &["type=\"url\""])
        }
        _ => simple("Input", "input", &["type=\"text\""]),
    }
}

fn select(attributes: &[String], options: Vec<String>, imports: &mut Imports) -> Vec<String> {
    imports.ui("select", "Select");
    let mut lines = vec!["<Select".to_owned()];
    lines.extend(attributes.iter().map(|attribute| format!("  {attribute}")));
    lines.push(">".to_owned());
    lines.push("  <option value=\"\">Choose…</option>".to_owned());
    lines.extend(options);
    lines.push("</Select>".to_owned());
    lines
}

/// The variable that holds the rows one can choose from.
fn choice_variable(entity: &Entity) -> String {
    format!("{}Choices", entity.camel)
}

pub(super) fn context(blueprint: &Blueprint<'_>, component: &Component) -> Context {
    let (at, action) = match component.kind {
        ComponentKind::ActionForm(at, place) => (at, Some(place)),
        ComponentKind::Form(at) => (at, None),
        _ => (0, None),
    };
    let entity = &blueprint.entities[at];
    let action = action.map(|place| &entity.actions[place]);
    let data_module = format!("@/data/{}", entity.path);
    let schema_module = format!("@/lib/schemas/{}", entity.file);
    let mut imports = Imports::default();
    let function = |operation| {
        (action.is_none() && entity.has(operation)).then(|| data::function_name(entity, operation))
    };
    let create = function(Operation::Create);
    let update = action
        .map(|action| action.name.clone())
        .or_else(|| function(Operation::Update));
    for name in create.iter().chain(&update) {
        imports.add(&data_module, name);
    }
    let schema = action.map_or_else(
        || format!("{}CreateSchema", entity.camel),
        |action| format!("{}Schema", action.name),
    );
    imports
        .ui("alert", "Alert")
        .ui("button", "Button")
        .ui("field", "Field")
        .add("@/lib/errors", "toError")
        .add("@/lib/form", "type FieldErrors")
        .add("@/lib/form", "fieldErrors")
        .add(&schema_module, &format!("type {}", entity.type_name))
        .add(&schema_module, &schema);
    let asked: Vec<&Field> = match action {
        Some(action) => action
            .inputs
            .iter()
            .filter_map(|column| entity.field(column))
            .collect(),
        None => entity.inputs().collect(),
    };
    let mut choices: Vec<Choice> = Vec::new();
    let mut fields = Vec::new();
    for (place, field) in asked.into_iter().enumerate() {
        if let Some(Reference::Entity(other)) = field.reference {
            let other = &blueprint.entities[other];
            let variable = choice_variable(other);
            let list = data::function_name(other, Operation::List);
            imports
                .add(&format!("@/data/{}", other.path), &list)
                .add("@/lib/use-resource", "useResource");
            if !choices.iter().any(|known| known.variable == variable) {
                choices.push(Choice { variable, list });
            }
        }
        let id = names::kebab(&field.column, &format!("field-{}", place + 1));
        let preset = action.is_none() && is_preset(blueprint, at, field);
        fields.push(Control {
            key: ts_key(&field.column),
            column: field.column.clone(),
            label: if field.kind == FieldType::Json {
                format!("{} (JSON)", field.label)
            } else {
                field.label.clone()
            },
            required: if field.is_required() || field.kind == FieldType::Boolean {
                "true"
            } else {
                "false"
            },
            access: ts_access(&field.column),
            read: read(field, &id, preset, &mut imports),
            control: control(blueprint, field, &id, update.is_some(), &mut imports),
            preset,
            id,
        });
    }
    let edit =
        (action.is_none() && blueprint.edit_page(at).is_some() && entity.has(Operation::Update))
            .then(|| Edit {
                name: edit_name(&component.name),
                read: data::function_name(entity, Operation::Read),
            });
    let mut hooks = vec!["useId", "useState"];
    if let Some(edit) = &edit {
        hooks.insert(0, "useCallback");
        imports
            .add(&data_module, &edit.read)
            .add("@/lib/use-resource", "useResource")
            .ui("error-state", "ErrorState")
            .ui("skeleton", "Skeleton");
    }
    Context {
        name: component.name.clone(),
        type_name: entity.type_name.clone(),
        label: action.map_or_else(
            || entity.label.clone(),
            |action| format!("{} {}", action.label, entity.human),
        ),
        human: entity.human.clone(),
        react_imports: hooks.join(", "),
        imports: imports.lines(),
        schema,
        presets: fields
            .iter()
            .filter(|field| field.preset)
            .map(|field| Preset {
                key: field.key.clone(),
                column: field.column.clone(),
            })
            .collect(),
        fields,
        choices,
        create,
        update,
        initial_id: data::key_of(entity, "initial"),
        edit,
    }
}
