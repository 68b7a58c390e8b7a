//! Entities: their tables, types, labels and fields, with keys and owners made sure of.

use std::collections::{BTreeMap, BTreeSet};

use windlass_pipeline_design::model::architecture::{Architecture, EntityModel, FieldType};
use windlass_pipeline_design::model::trace::rule;
use windlass_pipeline_design::model::{InputProblem, Trace, naming};

use super::action::Action;
use super::route::Operation;
use crate::names::{self, Taken};
use crate::sql_fragment;

/// Fields that the database sets.
const SYSTEM: [&str; 4] = ["id", "owner_id", "created_at", "updated_at"];

/// Fields that identify a row to a reader, best first.
const TITLES: [&str; 9] = [
    "title", "name", "label", "subject", "headline", "question", "text", "email", "code",
];

/// What a field points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    /// A signed-in user.
    User,
    /// A row of another entity, by its place.
    Entity(usize),
}

/// A column.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) column: String,
    pub(crate) label: String,
    pub(crate) kind: FieldType,
    pub(crate) primary: bool,
    pub(crate) unique: bool,
    pub(crate) nullable: bool,
    /// As SQL.
    pub(crate) default: Option<String>,
    pub(crate) values: Vec<String>,
    pub(crate) reference: Option<Reference>,
    /// Whether the database sets it, so that the user is not asked for it.
    pub(crate) system: bool,
}

impl Field {
    /// Whether a row cannot be made without it.
    pub(crate) fn is_required(&self) -> bool {
        !self.nullable && self.default.is_none()
    }

    /// Whether the value is the one who asks.
    pub(crate) fn is_owner(&self) -> bool {
        self.reference == Some(Reference::User)
            && self
                .default
                .as_deref()
                .is_some_and(|default| default.contains("auth.uid()"))
    }
}

/// A table and everything that is called after it.
#[derive(Clone, Debug)]
pub(crate) struct Entity {
    /// As the architecture has it.
    pub(crate) source: String,
    /// `Quiz`.
    pub(crate) type_name: String,
    /// `quiz`, in front of `Schema`.
    pub(crate) camel: String,
    /// `Quizzes`, behind `list`.
    pub(crate) type_plural: String,
    /// `quiz`: the schema's file.
    pub(crate) file: String,
    /// `quizzes`: the data module's file and the path.
    pub(crate) path: String,
    pub(crate) table: String,
    /// `Quiz`, `Quizzes`, `quiz`, `quizzes` as shown.
    pub(crate) label: String,
    pub(crate) label_plural: String,
    pub(crate) human: String,
    pub(crate) human_plural: String,
    pub(crate) fields: Vec<Field>,
    pub(crate) unique_together: Vec<Vec<String>>,
    /// What can be done, and which requirements say so.
    pub(crate) operations: BTreeMap<Operation, Vec<Trace>>,
    pub(crate) actions: Vec<Action>,
    /// The columns that may be written: all inputs unless the architecture names fewer.
    pub(crate) writable: Option<BTreeSet<String>>,
    pub(crate) trace: Vec<Trace>,
}

impl Entity {
    /// The one column that is the key; nothing for a key of several.
    pub(crate) fn key(&self) -> Option<&Field> {
        let mut keys = self.fields.iter().filter(|field| field.primary);
        let key = keys.next()?;
        keys.next().is_none().then_some(key)
    }

    pub(crate) fn has(&self, operation: Operation) -> bool {
        self.operations.contains_key(&operation)
    }

    pub(crate) fn needs(&mut self, operation: Operation, trace: Vec<Trace>) {
        // Without a key of one column no single row can be named.
        if operation.names_one() && self.key().is_none() {
            return;
        }
        let known = self.operations.entry(operation).or_default();
        for reason in trace {
            if !known.contains(&reason) {
                known.push(reason);
            }
        }
    }

    /// What is asked for when one is made or changed.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| {
            !field.system
                && self
                    .writable
                    .as_ref()
                    .is_none_or(|names| field.is_required() || names.contains(&field.column))
        })
    }

    /// References to other entities that a list can be narrowed by.
    pub(crate) fn filters(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| {
            matches!(field.reference, Some(Reference::Entity(_)))
                && field.kind == FieldType::Uuid
                && names::is_variable(&field.column)
        })
    }

    /// The reference to another entity.
    pub(crate) fn reference_to(&self, entity: usize) -> Option<&Field> {
        self.filters()
            .find(|field| field.reference == Some(Reference::Entity(entity)))
    }

    pub(crate) fn field(&self, column: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.column == column)
    }

    /// The field a reader knows a row by.
    pub(crate) fn title(&self) -> Option<&Field> {
        let texts = || {
            self.fields
                .iter()
                .filter(|field| matches!(field.kind, FieldType::String | FieldType::Text))
        };
        TITLES
            .iter()
            .find_map(|name| texts().find(|field| field.column == *name))
            .or_else(|| texts().next())
            .or_else(|| {
                self.fields
                    .iter()
                    .find(|field| !field.system && field.reference.is_none())
            })
            .or_else(|| self.fields.first())
    }

    /// The fields worth a column in a table: the title first, then what is short.
    pub(crate) fn columns(&self) -> Vec<&Field> {
        let title = self.title();
        let mut columns: Vec<&Field> = title.into_iter().collect();
        let short = self.fields.iter().filter(|field| {
            !field.system
                && field.reference.is_none()
                && !matches!(
                    field.kind,
                    FieldType::Text | FieldType::Json | FieldType::Uuid
                )
                && title.is_none_or(|title| title.column != field.column)
        });
        columns.extend(short.take(4));
        columns
    }

    /// Whether the rows belong to their creator.
    pub(crate) fn owner(&self) -> Option<&Field> {
        self.fields.iter().find(|field| field.is_owner())
    }
}

/// All entities, in the order of the architecture.
pub(crate) fn entities(architecture: &Architecture) -> Result<Vec<Entity>, InputProblem> {
    let models = &architecture.data_model.entities;
    let mut types = Taken::types();
    let mut files = Taken::default();
    let mut paths = Taken::default();
    let mut plurals = Taken::default();
    let mut tables = Taken::default();
    tables.claim(super::RECORDED_ACTIONS, "_");
    let with_policies: BTreeSet<&str> = architecture
        .security
        .policies
        .iter()
        .map(|policy| policy.table.as_str())
        .collect();
    let mut entities = Vec::with_capacity(models.len());
    for (at, model) in models.iter().enumerate() {
        let pointer = format!("/architecture/data_model/entities/{at}");
        let fallback = format!("Entity{}", at + 1);
        let type_name = types.claim(&names::pascal(&model.name, &fallback), "");
        let table = tables.claim(
            &names::column(
                &naming::table_name(&model.name),
                &format!("entity_{}", at + 1),
            ),
            "_",
        );
        let label = shown(&naming::title(&model.name), &model.name, &fallback);
        let human = shown(&naming::human(&model.name), &model.name, &fallback);
        let plural = names::pascal(
            &naming::plural(&naming::human(&model.name)),
            &format!("{type_name}Rows"),
        );
        let has_policy = with_policies.contains(table.as_str());
        entities.push(Entity {
            source: model.name.clone(),
            camel: names::uncapitalised(&type_name),
            type_plural: plurals.claim(&plural, ""),
            file: files.claim(&names::kebab(&type_name, "entity"), "-"),
            path: paths.claim(
                &names::kebab(
                    &naming::path_name(&model.name),
                    &format!("entity-{}", at + 1),
                ),
                "-",
            ),
            label_plural: naming::plural(&label),
            human_plural: naming::plural(&human),
            label,
            human,
            fields: fields(model, models, has_policy, &pointer)?,
            unique_together: unique_together(model),
            operations: BTreeMap::new(),
            actions: Vec::new(),
            writable: None,
            trace: if model.trace.is_empty() {
                vec![Trace::entity(&model.name)]
            } else {
                model.trace.clone()
            },
            type_name,
            table,
        });
    }
    Ok(entities)
}

/// The words of a name; the name as it is when it has none.
fn shown(words: &str, name: &str, fallback: &str) -> String {
    [words.to_owned(), crate::escape::one_line(name)]
        .into_iter()
        .find(|text| !text.is_empty())
        .unwrap_or_else(|| fallback.to_owned())
}

fn unique_together(model: &EntityModel) -> Vec<Vec<String>> {
    let known: BTreeSet<String> = model
        .fields
        .iter()
        .map(|field| names::column(&field.name, ""))
        .collect();
    model
        .unique_together
        .iter()
        .map(|together| {
            together
                .iter()
                .map(|name| names::column(name, ""))
                .filter(|name| known.contains(name))
                .collect::<Vec<_>>()
        })
        .filter(|together| together.len() > 1)
        .collect()
}

fn fields(
    model: &EntityModel,
    models: &[EntityModel],
    has_policy: bool,
    pointer: &str,
) -> Result<Vec<Field>, InputProblem> {
    let mut taken = Taken::default();
    let mut fields: Vec<Field> = Vec::new();
    for (at, field) in model.fields.iter().enumerate() {
        let pointer = format!("{pointer}/fields/{at}");
        let column = names::column(&field.name, &format!("field_{}", at + 1));
        // The same field twice is one field; another name that comes out the same is another one.
        if model
            .fields
            .iter()
            .take(at)
            .any(|known| known.name == field.name)
        {
            continue;
        }
        let column = taken.claim(&column, "_");
        if let Some(default) = &field.default {
            sql_fragment::check(default, &format!("{pointer}/default"))?;
        }
        let reference = match field.references.as_deref() {
            None => None,
            Some("auth.users") => Some(Reference::User),
            Some(target) => Some(reference(target, models, &pointer)?),
        };
        let kind = match field.kind {
            _ if reference.is_some() => FieldType::Uuid,
            FieldType::Enum if field.values.is_empty() => FieldType::String,
            kind => kind,
        };
        let mut values: Vec<String> = Vec::new();
        if kind == FieldType::Enum {
            for value in &field.values {
                if !values.contains(value) {
                    values.push(value.clone());
                }
            }
        }
        fields.push(Field {
            label: shown(
                &naming::sentence(
                    field
                        .name
                        .strip_suffix("_id")
                        .filter(|_| reference.is_some())
                        .unwrap_or(&field.name),
                ),
                &field.name,
                &column,
            ),
            kind,
            primary: field.primary,
            unique: field.unique && !field.primary,
            nullable: field.nullable && !field.primary,
            default: field.default.clone(),
            values,
            reference,
            system: false,
            column,
        });
    }
    complete(&mut fields, has_policy);
    Ok(fields)
}

fn reference(
    target: &str,
    models: &[EntityModel],
    pointer: &str,
) -> Result<Reference, InputProblem> {
    let known: Vec<&str> = models.iter().map(|model| model.name.as_str()).collect();
    match known.iter().position(|name| *name == target) {
        Some(at) => Ok(Reference::Entity(at)),
        None => Err(InputProblem::new(
            format!("{pointer}/references"),
            "known_id",
            format!("{target:?} is no entity of the data model; name one of them or auth.users"),
        )
        .with("known", known)),
    }
}

/// Adds the key, the owner and the moments where they are missing, and marks what the database sets.
fn complete(fields: &mut Vec<Field>, has_policy: bool) {
    let plain = |column: &str, kind, default: &str| Field {
        column: column.to_owned(),
        label: naming::sentence(column),
        kind,
        primary: false,
        unique: false,
        nullable: false,
        default: Some(default.to_owned()),
        values: Vec::new(),
        reference: None,
        system: true,
    };
    let known = |fields: &[Field], name: &str| fields.iter().any(|field| field.column == name);
    if !fields.iter().any(|field| field.primary) {
        match fields.iter_mut().find(|field| field.column == "id") {
            Some(id) => id.primary = true,
            None => fields.insert(
                0,
                Field {
                    primary: true,
                    ..plain("id", FieldType::Uuid, "gen_random_uuid()")
                },
            ),
        }
    }
    let keys = fields.iter().filter(|field| field.primary).count();
    for field in fields.iter_mut() {
        field.nullable &= !field.primary;
        if field.primary && keys == 1 {
            field.system = true;
            if field.kind == FieldType::Uuid && field.default.is_none() {
                field.default = Some("gen_random_uuid()".to_owned());
            }
        }
        if field.column == "owner_id" && field.reference.is_none() && field.kind == FieldType::Uuid
        {
            field.reference = Some(Reference::User);
        }
        if field.column == "owner_id"
            && field.reference == Some(Reference::User)
            && field.default.is_none()
        {
            field.default = Some("auth.uid()".to_owned());
        }
        if matches!(field.column.as_str(), "created_at" | "updated_at") && field.default.is_none() {
            field.default = Some("now()".to_owned());
        }
        field.system |= SYSTEM.contains(&field.column.as_str()) && !(field.primary && keys > 1)
            || field.is_owner();
    }
    if !has_policy && !fields.iter().any(Field::is_owner) && !known(fields, "owner_id") {
        let at = usize::from(keys == 1 && fields.first().is_some_and(|field| field.primary));
        fields.insert(
            at,
            Field {
                reference: Some(Reference::User),
                ..plain("owner_id", FieldType::Uuid, "auth.uid()")
            },
        );
    }
    if !known(fields, "created_at") {
        fields.push(plain("created_at", FieldType::Datetime, "now()"));
    }
}

/// The reason for what is added here.
pub(crate) fn default_trace() -> Vec<Trace> {
    vec![Trace::default_rule(rule::SYSTEM_FIELDS)]
}
