//! One row: what is shown of it, what can be done with it, what belongs to it.

use serde::Serialize;

use super::data;
use super::import_lines::Imports;
use super::list::{Column, show};
use crate::blueprint::{Blueprint, Component, ComponentKind, Operation, PageKind};
use crate::escape::ts_string;

#[derive(Serialize)]
pub(super) struct DetailContext {
    name: String,
    human: String,
    react_imports: String,
    imports: Vec<String>,
    read: String,
    title: String,
    fields: Vec<Column>,
    /// Whether anything can go wrong after it is shown.
    acts: bool,
    actions: Vec<ActionButton>,
    forms: Vec<ActionFormUse>,
    inline_edit: Option<String>,
    edit_path: Option<String>,
    remove: Option<String>,
    after_delete: String,
    related: Vec<Related>,
    below: Vec<Below>,
}

#[derive(Serialize)]
struct Below {
    address: String,
    label: String,
}

#[derive(Serialize)]
struct ActionButton {
    label: String,
    name: String,
}

#[derive(Serialize)]
struct ActionFormUse {
    label: String,
    component: String,
}

#[derive(Serialize)]
struct Related {
    label: String,
    component: String,
    filter: String,
}

pub(super) fn context(
    blueprint: &Blueprint<'_>,
    component: &Component,
    at: usize,
) -> DetailContext {
    let entity = &blueprint.entities[at];
    let mut imports = Imports::default();
    let read = data::function_name(entity, Operation::Read);
    let data_module = format!("@/data/{}", entity.path);
    imports
        .ui("card", "Card")
        .ui("card", "CardTitle")
        .ui("error-state", "ErrorState")
        .ui("skeleton", "Skeleton")
        .add(&data_module, &read)
        .add("@/lib/use-resource", "useResource");
    let title = entity.title();
    let title_column = title.map(|field| field.column.clone());
    let fields = entity
        .fields
        .iter()
        .filter(|field| {
            !field.primary
                && field.reference.is_none()
                && field.column != "updated_at"
                && Some(&field.column) != title_column.as_ref()
        })
        .map(|field| Column {
            label: field.label.clone(),
            show: show(field, "item", &mut imports),
            badge: false,
        })
        .collect();
    let title = title.map_or_else(
        || ts_string(&entity.label),
        |field| show(field, "item", &mut imports),
    );
    let mut hooks = vec!["useCallback"];
    let actions: Vec<ActionButton> = entity
        .actions
        .iter()
        .filter(|action| action.inputs.is_empty())
        .map(|action| {
            imports.add(&data_module, &action.name);
            ActionButton {
                label: action.label.clone(),
                name: action.name.clone(),
            }
        })
        .collect();
    let forms: Vec<ActionFormUse> = entity
        .actions
        .iter()
        .enumerate()
        .filter_map(|(place, action)| {
            let form = blueprint.component(&ComponentKind::ActionForm(at, place))?;
            imports.add(&format!("@/components/{}", form.name), &form.name);
            Some(ActionFormUse {
                label: action.label.clone(),
                component: form.name.clone(),
            })
        })
        .collect();
    let edit_path = blueprint
        .edit_page(at)
        .filter(|_| entity.has(Operation::Update))
        .map(|page| page.address_of("id"));
    let inline_edit = (edit_path.is_none() && entity.has(Operation::Update))
        .then(|| blueprint.component(&ComponentKind::Form(at)))
        .flatten()
        .map(|form| {
            imports.add(&format!("@/components/{}", form.name), &form.name);
            form.name.clone()
        });
    let remove = entity
        .has(Operation::Delete)
        .then(|| data::function_name(entity, Operation::Delete));
    if let Some(remove) = &remove {
        imports
            .add(&data_module, remove)
            .add("@/lib/navigation", "useGoTo");
    }
    let acts = !actions.is_empty() || remove.is_some();
    if acts {
        imports.add("@/lib/errors", "toError").ui("alert", "Alert");
    }
    if acts || inline_edit.is_some() {
        hooks.push("useState");
    }
    if acts || edit_path.is_some() || inline_edit.is_some() {
        imports.ui("button", "Button");
    }
    // Pages that begin with this row: its questions, a new question.
    let below: Vec<Below> = blueprint
        .pages
        .iter()
        .filter(|page| page.parent == Some(at) && page.parameters.len() == 1)
        .map(|page| Below {
            address: page.address_of("id"),
            label: page.name.clone(),
        })
        .collect();
    if !below.is_empty() {
        imports.ui("button", "Button");
    }
    if edit_path.is_some() || !below.is_empty() {
        imports.add("@/lib/navigation", "AppLink");
    }
    let related = blueprint
        .entities
        .iter()
        .enumerate()
        .filter(|(child, _)| *child != at)
        .filter_map(|(child, other)| {
            let field = other.reference_to(at)?;
            let list = blueprint.component(&ComponentKind::List(child))?;
            imports.add(&format!("@/components/{}", list.name), &list.name);
            Some(Related {
                label: other.label_plural.clone(),
                component: list.name.clone(),
                filter: field.column.clone(),
            })
        })
        .collect();
    DetailContext {
        name: component.name.clone(),
        human: entity.human.clone(),
        react_imports: hooks.join(", "),
        imports: imports.lines(),
        read,
        title,
        fields,
        acts,
        actions,
        forms,
        inline_edit,
        edit_path,
        after_delete: blueprint
            .page_of(PageKind::List, at)
            .filter(|page| page.is_open())
            .map_or_else(|| "/".to_owned(), |page| page.path.clone()),
        remove,
        related,
        below,
    }
}
