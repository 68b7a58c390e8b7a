//! `src/components/*.tsx`: lists, details, forms and what else pages are made of.

use serde::Serialize;
use windlass_pipeline_model::architecture::FieldType;

use super::{Draft, data, form};
use crate::blueprint::{
    Blueprint, Component, ComponentKind, Entity, Field, Operation, PageKind, capabilities, told,
};
use crate::escape::{ts_access, ts_string};
use crate::templates::{TemplateError, render};

/// Imports, one line per module, sorted by module.
#[derive(Default)]
pub(super) struct Imports(std::collections::BTreeMap<String, Vec<String>>);

impl Imports {
    pub(super) fn add(&mut self, module: &str, name: &str) -> &mut Self {
        let names = self.0.entry(module.to_owned()).or_default();
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
        self
    }

    pub(super) fn ui(&mut self, file: &str, name: &str) -> &mut Self {
        self.add(&format!("@/components/ui/{file}"), name)
    }

    pub(super) fn lines(mut self) -> Vec<String> {
        // Types first, then by name without regard to case.
        for names in self.0.values_mut() {
            names.sort_by_key(|name| (!name.starts_with("type "), name.to_lowercase()));
        }
        self.0
            .into_iter()
            .map(|(module, names)| {
                let types = names.iter().all(|name| name.starts_with("type "));
                if types {
                    let names: Vec<&str> =
                        names.iter().map(|name| &name["type ".len()..]).collect();
                    format!("import type {{ {} }} from \"{module}\";", names.join(", "))
                } else {
                    format!("import {{ {} }} from \"{module}\";", names.join(", "))
                }
            })
            .collect()
    }
}

/// How a value is shown, as an expression. Notes what it needs.
fn show(field: &Field, row: &str, imports: &mut Imports) -> String {
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
struct ListContext {
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
struct Column {
    label: String,
    show: String,
    badge: bool,
}

fn list(blueprint: &Blueprint<'_>, component: &Component, at: usize, recent: bool) -> ListContext {
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

#[derive(Serialize)]
struct DetailContext {
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

fn detail(blueprint: &Blueprint<'_>, component: &Component, at: usize) -> DetailContext {
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

#[derive(Serialize)]
struct StatsContext {
    name: String,
    imports: Vec<String>,
    stats: Vec<Stat>,
}

#[derive(Serialize)]
struct Stat {
    variable: String,
    label: String,
    list: String,
    href: String,
}

fn stats(blueprint: &Blueprint<'_>, component: &Component) -> StatsContext {
    let mut imports = Imports::default();
    let stats = counted(blueprint)
        .map(|(at, entity)| {
            let list = data::function_name(entity, Operation::List);
            imports.add(&format!("@/data/{}", entity.path), &list);
            let page = blueprint
                .page_of(PageKind::List, at)
                .filter(|page| page.is_open());
            Stat {
                variable: format!("{}Rows", entity.camel),
                label: entity.label_plural.clone(),
                list,
                href: page.map_or_else(|| "null".to_owned(), |page| ts_string(&page.path)),
            }
        })
        .collect();
    StatsContext {
        name: component.name.clone(),
        imports: imports.lines(),
        stats,
    }
}

/// The entities that numbers are shown of.
pub(super) fn counted<'a>(
    blueprint: &'a Blueprint<'_>,
) -> impl Iterator<Item = (usize, &'a Entity)> {
    blueprint
        .entities
        .iter()
        .enumerate()
        .filter(|(_, entity)| entity.has(Operation::List))
}

#[derive(Serialize)]
struct LinksContext {
    name: String,
    label: String,
    links: Vec<Link>,
}

#[derive(Serialize)]
struct Link {
    href: String,
    label: String,
}

/// Where a page leads to: pages that show something first, then those that make something.
fn links(blueprint: &Blueprint<'_>, component: &Component, at: usize) -> LinksContext {
    let rank = |kind: PageKind| match kind {
        PageKind::Dashboard => 0,
        PageKind::List => 1,
        PageKind::Custom => 2,
        PageKind::Form => 3,
        _ => 4,
    };
    let mut pages: Vec<_> = blueprint
        .pages
        .iter()
        .enumerate()
        .filter(|(other, page)| *other != at && page.is_open())
        .map(|(_, page)| page)
        .collect();
    pages.sort_by_key(|page| rank(page.kind));
    LinksContext {
        name: component.name.clone(),
        label: format!("From {}", blueprint.pages[at].name),
        links: pages
            .into_iter()
            .take(6)
            .map(|page| Link {
                href: page.path.clone(),
                label: page.name.clone(),
            })
            .collect(),
    }
}

#[derive(Serialize)]
struct CapabilitiesContext {
    name: String,
    label: String,
    items: Vec<Capability>,
}

#[derive(Serialize)]
struct Capability {
    id: String,
    text: String,
}

/// Requirements as they are shown.
fn texts(component: &Component, label: &str, all: Vec<(&str, &str)>) -> CapabilitiesContext {
    CapabilitiesContext {
        name: component.name.clone(),
        label: label.to_owned(),
        items: all
            .into_iter()
            .map(|(id, text)| Capability {
                id: id.to_owned(),
                text: crate::escape::one_line(text),
            })
            .collect(),
    }
}

#[derive(Serialize)]
struct SignInContext {
    name: String,
    label: &'static str,
    about: &'static str,
    functions: &'static str,
    sign_up: bool,
    both: bool,
    home: String,
    autocomplete: &'static str,
    submit: &'static str,
}

/// Whether the form for signing in also makes accounts: accounts are stated, and no page is theirs.
fn registers(blueprint: &Blueprint<'_>) -> bool {
    let page = blueprint.component(&ComponentKind::SignUp).is_some();
    let stated = blueprint.requirements.functional.iter().any(|requirement| {
        let text = requirement.description.to_lowercase();
        requirement.priority != windlass_pipeline_model::strategy::Priority::Wont
            && [
                "sign up",
                "sign-up",
                "signup",
                "register",
                "registration",
                "create an account",
                "create account",
            ]
            .iter()
            .any(|words| text.contains(words))
    });
    stated && !page
}

fn sign_in(blueprint: &Blueprint<'_>, component: &Component) -> SignInContext {
    let sign_up = component.kind == ComponentKind::SignUp;
    let both = !sign_up && registers(blueprint);
    let home = [PageKind::Dashboard, PageKind::List]
        .into_iter()
        .find_map(|kind| {
            blueprint
                .pages
                .iter()
                .find(|page| page.kind == kind && page.is_open())
        })
        .map_or_else(|| "/".to_owned(), |page| page.path.clone());
    SignInContext {
        name: component.name.clone(),
        label: if sign_up { "Sign up" } else { "Sign in" },
        about: if sign_up {
            "Makes an account with email and password."
        } else {
            "Signs in with email and password."
        },
        functions: match (sign_up, both) {
            (_, true) => "signIn, signUp",
            (true, _) => "signUp",
            _ => "signIn",
        },
        sign_up: sign_up || both,
        both,
        home,
        autocomplete: match (sign_up, both) {
            (_, true) => "{registering ? \"new-password\" : \"current-password\"}",
            (true, _) => "\"new-password\"",
            _ => "\"current-password\"",
        },
        submit: match (sign_up, both) {
            (_, true) => "{registering ? \"Sign up\" : \"Sign in\"}",
            (true, _) => "Sign up",
            _ => "Sign in",
        },
    }
}

pub(super) fn add(blueprint: &Blueprint<'_>, files: &mut Vec<Draft>) -> Result<(), TemplateError> {
    for component in &blueprint.components {
        let content = match &component.kind {
            ComponentKind::List(at) => {
                render("code/list.tsx", &list(blueprint, component, *at, false))?
            }
            ComponentKind::Recent(at) => {
                render("code/list.tsx", &list(blueprint, component, *at, true))?
            }
            ComponentKind::Form(_) | ComponentKind::ActionForm(..) => {
                render("code/form.tsx", &form::context(blueprint, component))?
            }
            ComponentKind::Detail(at) => {
                render("code/detail.tsx", &detail(blueprint, component, *at))?
            }
            ComponentKind::Stats => render("code/stats.tsx", &stats(blueprint, component))?,
            ComponentKind::Links(at) => {
                render("code/links.tsx", &links(blueprint, component, *at))?
            }
            ComponentKind::Capabilities(at) => {
                let page = &blueprint.pages[*at];
                let all = capabilities(page, blueprint.requirements).collect();
                render("code/capabilities.tsx", &texts(component, &page.name, all))?
            }
            ComponentKind::Told(at, about) => {
                let all = told(&blueprint.pages[*at], about, blueprint.requirements);
                let label = windlass_pipeline_model::naming::sentence(about);
                render("code/capabilities.tsx", &texts(component, &label, all))?
            }
            ComponentKind::SignIn | ComponentKind::SignUp => {
                render("code/sign-in.tsx", &sign_in(blueprint, component))?
            }
        };
        files.push(Draft::feature(
            format!("src/components/{}.tsx", component.name),
            content,
            &component.trace,
        ));
    }
    Ok(())
}
