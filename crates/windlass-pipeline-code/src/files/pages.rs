//! Pages: one view per page, and the routes that lead to it.

use serde::Serialize;
use windlass_pipeline_design::model::trace::rule;
use windlass_pipeline_design::model::ux::Layout;
use windlass_pipeline_design::model::{Preset, Trace};

use super::import_lines::Imports;
use super::{Draft, data, form, views};
use crate::blueprint::{Blueprint, ComponentKind, Entity, Page, PageKind, Segment};
use crate::escape::ts_string;
use crate::templates::{TemplateError, render, verbatim};

#[derive(Serialize)]
struct View {
    name: String,
    client: bool,
    imports: Vec<String>,
    takes_id: bool,
    setup: Vec<String>,
    title: String,
    description: Option<String>,
    layout: &'static str,
    hero: bool,
    body: Vec<String>,
}

/// Where one is led after something was saved: to the row, else to all of them, else home.
fn after_save(blueprint: &Blueprint<'_>, entity: &Entity, at: usize) -> (String, bool) {
    if let Some(page) = blueprint
        .page_of(PageKind::Detail, at)
        .filter(|page| page.takes_own_id)
    {
        return (page.address_of(&data::key_of(entity, "saved")), true);
    }
    let list = blueprint
        .page_of(PageKind::List, at)
        .filter(|page| page.is_open());
    (
        list.map_or_else(|| "\"/\"".to_owned(), |page| ts_string(&page.path)),
        false,
    )
}

/// What a page without a name of its own is headed with: a landing page shows the product's name.
pub(super) fn heading<'a>(blueprint: &'a Blueprint<'_>, page: &'a Page) -> &'a str {
    let generic = ["home", "homepage", "landing", "start", "welcome"];
    let words = windlass_pipeline_design::model::naming::words(&page.name);
    let is_generic = words
        .iter()
        .all(|word| generic.contains(&word.as_str()) || word == "page");
    if page.kind == PageKind::Landing && is_generic {
        &blueprint.product
    } else {
        &page.name
    }
}

fn view(blueprint: &Blueprint<'_>, page: &Page) -> View {
    let mut imports = Imports::default();
    imports.add("@/components/layout/page-layout", "PageLayout");
    let mut setup: Vec<String> = Vec::new();
    let mut body: Vec<String> = Vec::new();
    let mut links: Vec<String> = Vec::new();
    let mut statements: Vec<String> = Vec::new();
    let mut uses_id = false;
    // A list and the form that makes its rows on one page: the list is read again after a save.
    let lists: Vec<usize> = page
        .parts
        .iter()
        .filter_map(|part| match blueprint.components[*part].kind {
            ComponentKind::List(at) => Some(at),
            _ => None,
        })
        .collect();
    let refreshes = page.kind != PageKind::Form
        && page.parts.iter().any(|part| {
            matches!(blueprint.components[*part].kind, ComponentKind::Form(at) if lists.contains(&at))
        });
    if refreshes {
        imports.add("react", "useState");
        setup.push("const [version, setVersion] = useState(0);".to_owned());
    }
    // Numbers come before what they count.
    let (numbers, others): (Vec<usize>, Vec<usize>) = page
        .parts
        .iter()
        .partition(|part| blueprint.components[**part].kind == ComponentKind::Stats);
    for part in numbers.iter().chain(&others) {
        let component = &blueprint.components[*part];
        let name = &component.name;
        let module = format!("@/components/{name}");
        match component.kind {
            // A row's own page shows what belongs to it, and shows it once.
            ComponentKind::List(at) if belongs_to_detail(blueprint, page, at) => {}
            ComponentKind::List(at) => {
                imports.add(&module, name);
                let mut tag = format!("<{name}");
                if refreshes {
                    tag.push_str(" key={version}");
                }
                let parent = page
                    .parent
                    .filter(|_| page.entity == Some(at))
                    .and_then(|parent| blueprint.entities[at].reference_to(parent));
                if let Some(field) = parent {
                    uses_id = true;
                    tag.push_str(&format!(" {}={{id}}", field.column));
                }
                body.push(format!("{tag} />"));
            }
            ComponentKind::Detail(_) => {
                imports.add(&module, name);
                uses_id = true;
                body.push(format!("<{name} id={{id}} />"));
            }
            ComponentKind::Form(at) => {
                let entity = &blueprint.entities[at];
                let edits = page.kind == PageKind::Form
                    && page.takes_own_id
                    && page.entity == Some(at)
                    && blueprint.edit_page(at).is_some();
                let parent = page
                    .parent
                    .filter(|_| page.entity == Some(at))
                    .and_then(|parent| entity.reference_to(parent))
                    .map_or_else(String::new, |field| {
                        uses_id = true;
                        format!(" {}={{id}}", field.column)
                    });
                if refreshes {
                    imports.add(&module, name);
                    body.push(format!(
                        "<section aria-label={} className=\"flex flex-col gap-4\">",
                        crate::escape::jsx_attribute(&format!("New {}", entity.human))
                    ));
                    body.push(format!(
                        "  <h2 className=\"text-h2 font-semibold\">{}</h2>",
                        crate::escape::jsx_text(&format!("New {}", entity.human))
                    ));
                    body.push(format!(
                        "  <{name}{parent} onSaved={{() => setVersion(version + 1)}} />"
                    ));
                    body.push("</section>".to_owned());
                    continue;
                }
                let (address, uses_saved) = after_save(blueprint, entity, at);
                let argument = if uses_saved { "saved" } else { "" };
                imports.add("@/lib/navigation", "useGoTo");
                let line = "const goTo = useGoTo();".to_owned();
                if !setup.contains(&line) {
                    setup.push(line);
                }
                if edits {
                    let loader = form::edit_name(name);
                    imports.add(&module, &loader);
                    uses_id = true;
                    body.push(format!(
                        "<{loader} id={{id}} onSaved={{({argument}) => goTo({address})}} />"
                    ));
                } else {
                    imports.add(&module, name);
                    body.push(format!(
                        "<{name}{parent} onSaved={{({argument}) => goTo({address})}} />"
                    ));
                }
            }
            ComponentKind::ActionForm(..) => {}
            ComponentKind::Links(_) => {
                imports.add(&module, name);
                let tag = format!("<{name} />");
                body.push(tag.clone());
                links.push(tag);
            }
            ComponentKind::Statements(..) => {
                imports.add(&module, name);
                statements.push(format!("  <{name} />"));
            }
            ComponentKind::Recent(_)
            | ComponentKind::Stats
            | ComponentKind::Capabilities(_)
            | ComponentKind::SignIn
            | ComponentKind::SignUp
            | ComponentKind::SignInOptions => {
                imports.add(&module, name);
                body.push(format!("<{name} />"));
            }
        }
    }
    // What is only described comes after what is shown, side by side.
    if !statements.is_empty() {
        body.push(
            "<div className=\"grid grid-cols-[repeat(auto-fit,minmax(min(100%,20rem),1fr))] gap-4\">"
                .to_owned(),
        );
        body.append(&mut statements);
        body.push("</div>".to_owned());
    }
    // Where the whole product has a sidebar, a page has none of its own.
    let arranged = match page.layout {
        Layout::SidebarMain if has_sidebar(blueprint) => Layout::SingleColumn,
        other => other,
    };
    if arranged == Layout::SidebarMain {
        body = beside(body, &links);
    }
    View {
        name: page.view.clone(),
        client: blueprint.preset == Preset::NextjsReact && !setup.is_empty(),
        imports: imports.lines(),
        takes_id: uses_id,
        setup,
        title: heading(blueprint, page).to_owned(),
        description: (!page.purpose.is_empty()).then(|| page.purpose.clone()),
        layout: arranged.name(),
        hero: page.kind == PageKind::Landing,
        body,
    }
}

/// Whether rows of an entity belong to the row that a page shows; its detail lists them.
fn belongs_to_detail(blueprint: &Blueprint<'_>, page: &Page, child: usize) -> bool {
    page.parts.iter().any(|part| {
        matches!(blueprint.components[*part].kind, ComponentKind::Detail(at)
            if at != child && blueprint.entities[child].reference_to(at).is_some())
    })
}

/// Whether the navigation is next to every page: stated for more pages than the dashboard.
pub(super) fn has_sidebar(blueprint: &Blueprint<'_>) -> bool {
    blueprint
        .pages
        .iter()
        .any(|page| page.layout == Layout::SidebarMain && page.kind != PageKind::Dashboard)
}

/// Links go into the sidebar, everything else next to it.
fn beside(body: Vec<String>, links: &[String]) -> Vec<String> {
    let (aside, main): (Vec<String>, Vec<String>) =
        body.into_iter().partition(|line| links.contains(line));
    let mut lines = Vec::new();
    if !aside.is_empty() {
        lines.push("<aside className=\"flex flex-col gap-8\">".to_owned());
        lines.extend(aside.into_iter().map(|line| format!("  {line}")));
        lines.push("</aside>".to_owned());
    }
    if !main.is_empty() {
        lines.push("<div className=\"flex min-w-0 flex-col gap-8\">".to_owned());
        lines.extend(main.into_iter().map(|line| format!("  {line}")));
        lines.push("</div>".to_owned());
    }
    lines
}

/// Whether the view of a page takes a key.
pub(super) fn takes_id(blueprint: &Blueprint<'_>, page: &Page) -> bool {
    view(blueprint, page).takes_id
}

/// The file of a page's route: `src/app/quizzes/[id]/page.tsx`.
pub(super) fn route_file(segments: &[Segment]) -> String {
    let mut path = String::from("src/app");
    for segment in segments {
        match segment {
            Segment::Fixed(name) => path.push_str(&format!("/{name}")),
            Segment::Parameter(name) => path.push_str(&format!("/[{name}]")),
        }
    }
    path + "/page.tsx"
}

#[derive(Serialize)]
struct NextPage {
    view: String,
    title: String,
    parameter: Option<String>,
}

#[derive(Serialize)]
struct Layouts {
    name: String,
    template_name: String,
    description: String,
}

#[derive(Serialize)]
struct Redirect {
    path: String,
}

#[derive(Serialize)]
struct App {
    redirect: Option<String>,
    parameters: bool,
    pages: Vec<AppPage>,
}

#[derive(Serialize)]
struct AppPage {
    view: String,
    path: String,
    title: String,
    parameter: Option<String>,
}

/// Where the start page leads when no page is at `/`.
pub(super) fn redirect(blueprint: &Blueprint<'_>) -> Option<String> {
    if blueprint.pages.iter().any(|page| page.path == "/") {
        return None;
    }
    let open = || blueprint.pages.iter().filter(|page| page.is_open());
    open()
        .find(|page| page.kind == PageKind::Dashboard)
        .or_else(|| open().find(|page| !matches!(page.kind, PageKind::SignIn | PageKind::SignUp)))
        .or_else(|| open().next())
        .map(|page| page.path.clone())
}

/// One line on the product for browsers and search engines.
pub(super) fn description(blueprint: &Blueprint<'_>) -> String {
    let purpose = blueprint
        .pages
        .iter()
        .find(|page| page.path == "/" && !page.purpose.is_empty())
        .or_else(|| blueprint.pages.iter().find(|page| !page.purpose.is_empty()))
        .map(|page| page.purpose.clone());
    purpose.unwrap_or_else(|| blueprint.product.clone())
}

pub(super) fn add(blueprint: &Blueprint<'_>, files: &mut Vec<Draft>) -> Result<(), TemplateError> {
    let folder = views(blueprint.preset);
    let mut app_pages = Vec::new();
    for page in &blueprint.pages {
        let view = view(blueprint, page);
        let trace = page.reasons();
        let parameter = view
            .takes_id
            .then(|| page.parameters.last().cloned())
            .flatten();
        files.push(Draft::feature(
            format!("src/{folder}/{}.tsx", page.view),
            render("code/view.tsx", &view)?,
            &trace,
        ));
        match blueprint.preset {
            Preset::NextjsReact => {
                let context = NextPage {
                    view: page.view.clone(),
                    title: page.name.clone(),
                    parameter,
                };
                files.push(Draft::feature(
                    route_file(&page.segments),
                    render("next/page.tsx", &context)?,
                    &trace,
                ));
            }
            Preset::ViteReact => app_pages.push(AppPage {
                view: page.view.clone(),
                path: page.path.clone(),
                title: page.name.clone(),
                parameter,
            }),
        }
    }
    let redirect = redirect(blueprint);
    let trace: Vec<Trace> = blueprint
        .pages
        .iter()
        .map(|page| Trace::page(&page.name))
        .chain([Trace::default_rule(rule::SCAFFOLDING)])
        .collect();
    match blueprint.preset {
        Preset::NextjsReact => {
            if let Some(path) = redirect {
                let content = render("next/redirect.tsx", &Redirect { path })?;
                files.push(Draft::scaffolding("src/app/page.tsx", content));
            }
            let context = Layouts {
                name: blueprint.product.clone(),
                template_name: blueprint.product.replace("%s", "% s"),
                description: description(blueprint),
            };
            files.push(Draft::scaffolding(
                "src/app/layout.tsx",
                render("next/layout.tsx", &context)?,
            ));
            files.push(Draft::scaffolding(
                "src/app/not-found.tsx",
                verbatim("next/not-found.tsx").unwrap_or_default(),
            ));
        }
        Preset::ViteReact => {
            let context = App {
                redirect,
                parameters: app_pages.iter().any(|page| page.parameter.is_some()),
                pages: app_pages,
            };
            files.push(Draft::feature(
                "src/App.tsx".to_owned(),
                render("vite/App.tsx", &context)?,
                &trace,
            ));
            let page = Layouts {
                name: blueprint.product.clone(),
                template_name: String::new(),
                description: description(blueprint),
            };
            files.push(Draft::scaffolding(
                "index.html",
                render("vite/index.html", &page)?,
            ));
            files.push(Draft::scaffolding(
                "src/pages/NotFoundPage.tsx",
                verbatim("vite/NotFoundPage.tsx").unwrap_or_default(),
            ));
        }
    }
    Ok(())
}
