//! Lists: loading, empty, failed or shown, and what can be done from there.

use serde::Serialize;
use windlass_pipeline_design::model::architecture::FieldType;

use super::data;
use super::import_lines::Imports;
use crate::blueprint::{Blueprint, Component, Field, Operation, PageKind};
use crate::escape::ts_access;

/// How a value is shown, as an expression. Notes what it needs.
pub(super) fn show(field: &Field, row: &str, imports: &mut Imports) -> String {
    let value = format!("{row}{}", ts_access(&field.column));
    let function = match field.kind {
        FieldType::Date => "formatDate",
        FieldType::Datetime => "formatDateTime",
        _ => "formatValue",
    };
    imports.add("@/lib/format", function);
    format!("{function}({value})")
}

#[derive(Serialize)]
pub(super) struct ListContext {
    name: String,
    #[serde(rename = "type")]
    type_name: String,
    label_plural: String,
    human: String,
    human_plural: String,
    react_imports: String,
    imports: Vec<String>,
    filters: Vec<Named>,
    list: String,
    search: Option<String>,
    limit: Option<u32>,
    remove: Option<String>,
    create_path: Option<String>,
    detail_path: Option<String>,
    columns: Vec<Column>,
    row_key: String,
    item_id: String,
}

#[derive(Serialize)]
struct Named {
    column: String,
}

#[derive(Serialize)]
pub(super) struct Column {
    pub(super) label: String,
    pub(super) show: String,
    pub(super) badge: bool,
}

pub(super) fn context(
    blueprint: &Blueprint<'_>,
    component: &Component,
    at: usize,
    recent: bool,
) -> ListContext {
    let entity = &blueprint.entities[at];
    let mut imports = Imports::default();
    let filters: Vec<Named> = entity
        .filters()
        .filter(|_| !recent)
        .map(|field| Named {
            column: field.column.clone(),
        })
        .collect();
    let has_detail = blueprint
        .page_of(PageKind::Detail, at)
        .is_some_and(|page| page.takes_own_id);
    let removes = entity.has(Operation::Delete) && !has_detail && !recent;
    let create_path = entity
        .has(Operation::Create)
        .then(|| blueprint.create_page(at))
        .flatten()
        .map(|page| page.path.clone());
    let detail_path = blueprint
        .page_of(PageKind::Detail, at)
        .filter(|page| page.takes_own_id && entity.key().is_some())
        .map(|page| page.address_of(&data::key_of(entity, "item")));
    let columns: Vec<Column> = entity
        .columns()
        .into_iter()
        .map(|field| Column {
            label: field.label.clone(),
            show: show(field, "item", &mut imports),
            badge: field.kind == FieldType::Enum,
        })
        .collect();
    let data_module = format!("@/data/{}", entity.path);
    let list = data::function_name(entity, Operation::List);
    imports
        .ui("empty-state", "EmptyState")
        .ui("error-state", "ErrorState")
        .ui("skeleton", "Skeleton")
        .ui("table", "Table")
        .ui("table", "TableCell")
        .ui("table", "TableHead")
        .ui("table", "TableRow")
        .add(&data_module, &list)
        .add("@/lib/use-resource", "useResource");
    let mut hooks = Vec::new();
    if !filters.is_empty() {
        hooks.push("useCallback");
        imports.add(
            &format!("@/lib/schemas/{}", entity.file),
            &format!("type {}Filter", entity.type_name),
        );
    }
    if component.search {
        hooks.extend(["useId", "useState"]);
        imports
            .ui("label", "Label")
            .ui("input", "Input")
            .add("@/lib/format", "formatValue");
    }
    let remove = removes.then(|| data::function_name(entity, Operation::Delete));
    if let Some(remove) = &remove {
        if !hooks.contains(&"useState") {
            hooks.push("useState");
        }
        imports
            .add(&data_module, remove)
            .add("@/lib/errors", "toError")
            .ui("alert", "Alert")
            .ui("button", "Button");
    }
    if create_path.is_some() {
        imports
            .ui("button", "Button")
            .add("@/lib/navigation", "AppLink");
    }
    if detail_path.is_some() {
        imports.add("@/lib/navigation", "AppLink");
    }
    // A first column that is a link needs no badge.
    if columns
        .iter()
        .enumerate()
        .any(|(place, column)| column.badge && (place > 0 || detail_path.is_none()))
    {
        imports.ui("badge", "Badge");
    }
    let search = component.search.then(|| {
        entity
            .columns()
            .iter()
            .map(|field| format!("item{}", ts_access(&field.column)))
            .collect::<Vec<_>>()
            .join(", ")
    });
    let keys: Vec<String> = entity
        .fields
        .iter()
        .filter(|field| field.primary)
        .map(|field| format!("item{}", ts_access(&field.column)))
        .collect();
    ListContext {
        name: component.name.clone(),
        type_name: entity.type_name.clone(),
        label_plural: entity.label_plural.clone(),
        human: entity.human.clone(),
        human_plural: entity.human_plural.clone(),
        react_imports: hooks.join(", "),
        imports: imports.lines(),
        filters,
        list,
        search,
        limit: recent.then_some(5),
        remove,
        create_path,
        detail_path,
        columns,
        row_key: match keys.as_slice() {
            [one] => one.clone(),
            keys => format!("[{}].join(\" \")", keys.join(", ")),
        },
        item_id: data::key_of(entity, "item"),
    }
}
