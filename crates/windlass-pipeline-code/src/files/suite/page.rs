//! Tests of pages: what is seen while data is on its way, is there, is missing or cannot be had, and
//! what happens on each action.
//! Each kind of page has a file of its own below this one.

mod detail;
mod form;
mod list;
mod sign_in;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use windlass_pipeline_design::model::architecture::FieldType;

use super::super::components::counted;
use super::super::data::function_name;
use super::super::{Draft, pages, views};
use super::{Case, case, key, sample, sample_name, value};
use crate::blueprint::{
    Blueprint, Component, ComponentKind, Entity, Field, Operation, Page, Reference, capabilities,
    statements,
};
use crate::escape::ts_string;
use crate::names::kebab;
use crate::templates::{TemplateError, render};

#[derive(Serialize)]
struct Context {
    library: String,
    imports: Vec<String>,
    samples: String,
    mocks: Vec<String>,
    prepare: Vec<String>,
    fills: bool,
    goes: bool,
    label: String,
    cases: Vec<Case>,
}

/// Collects what a page's test is made of.
struct Draftsman<'a, 'b> {
    blueprint: &'a Blueprint<'b>,
    page: &'a Page,
    /// Data functions by module, so that each can be stubbed.
    functions: BTreeMap<String, BTreeSet<String>>,
    samples: BTreeSet<String>,
    prepare: Vec<String>,
    cases: Vec<Case>,
    auth: BTreeSet<&'static str>,
    options: BTreeSet<&'static str>,
}

impl Draftsman<'_, '_> {
    fn render(&self) -> String {
        let id = if pages::takes_id(self.blueprint, self.page) {
            let owner = self.page.parent.or(self.page.entity).unwrap_or_default();
            let key = key(self.blueprint, owner).unwrap_or_default();
            format!(" id={}", ts_string(&key))
        } else {
            String::new()
        };
        format!("render(<{}{id} />);", self.page.view)
    }

    fn function(&mut self, entity: &Entity, operation: Operation) -> String {
        let name = function_name(entity, operation);
        self.note(entity, &name);
        name
    }

    fn note(&mut self, entity: &Entity, name: &str) {
        self.functions
            .entry(format!("@/data/{}", entity.path))
            .or_default()
            .insert(name.to_owned());
    }

    fn sample(&mut self, entity: &Entity) -> String {
        let name = sample_name(entity);
        self.samples.insert(name.clone());
        name
    }

    /// Every data function that is called when the page appears gives the sample.
    fn give_lists(&mut self, entities: &[usize]) {
        for at in entities {
            let entity = &self.blueprint.entities[*at];
            let list = self.function(entity, Operation::List);
            let sample = self.sample(entity);
            let line = format!("vi.mocked({list}).mockResolvedValue([{sample}]);");
            if !self.prepare.contains(&line) {
                self.prepare.push(line);
            }
        }
    }

    fn case(&mut self, what: &str, lines: Vec<String>) {
        self.cases.push(Case::plain(what, lines));
    }

    fn shown(&self, at: usize, field: &Field) -> Option<String> {
        // Dates are shown in the reader's own format; everything else as it is.
        match value(self.blueprint, at, field) {
            sample::Sample::Text(text)
                if !matches!(field.kind, FieldType::Date | FieldType::Datetime) =>
            {
                Some(ts_string(&text))
            }
            sample::Sample::Number(number) => Some(format!("\"{number}\"")),
            _ => None,
        }
    }

    fn part(&mut self, component: &Component) {
        match component.kind {
            ComponentKind::List(at) => self.list(at, false),
            ComponentKind::Recent(at) => self.list(at, true),
            ComponentKind::Detail(at) => self.detail(at),
            ComponentKind::Form(at) => self.form(at),
            ComponentKind::ActionForm(..) => {}
            ComponentKind::Stats => {
                let all: Vec<usize> = counted(self.blueprint).map(|(at, _)| at).collect();
                self.give_lists(&all);
                let mut lines = vec![self.render()];
                for at in all {
                    lines.push(format!(
                        "expect((await screen.findAllByText({})).length).toBeGreaterThan(0);",
                        ts_string(&self.blueprint.entities[at].label_plural)
                    ));
                }
                let trace = self.page.trace.clone();
                self.cases
                    .push(case(self.blueprint, &trace, "counts what there is", lines));
            }
            ComponentKind::Links(_) => {
                let links = self
                    .blueprint
                    .pages
                    .iter()
                    .any(|page| page.is_open() && page.view != self.page.view);
                if links {
                    let lines = vec![
                        self.render(),
                        "expect(screen.getAllByRole(\"link\").length).toBeGreaterThan(0);"
                            .to_owned(),
                    ];
                    self.case("leads to other pages", lines);
                }
            }
            ComponentKind::Capabilities(_) => {
                let all = capabilities(self.page, self.blueprint.requirements).collect();
                self.texts(all);
            }
            ComponentKind::Statements(_, ref about) => {
                self.texts(statements(self.page, about, self.blueprint.requirements));
            }
            ComponentKind::SignIn | ComponentKind::SignUp => self.sign_in(component),
            ComponentKind::SignInOptions => self.sign_in_options(),
        }
    }

    /// Requirements that are shown in their own words.
    fn texts(&mut self, all: Vec<(&str, &str)>) {
        let mut lines = vec![self.render()];
        lines.extend(all.iter().map(|(_, text)| {
            format!(
                "expect(screen.getAllByText({}).length).toBeGreaterThan(0);",
                ts_string(&crate::escape::one_line(text))
            )
        }));
        if !all.is_empty() {
            self.cases.push(Case::of(all, "is shown", lines));
        }
    }
}

/// The entities that fields point to.
fn references<'a>(fields: impl Iterator<Item = &'a Field>) -> Vec<usize> {
    fields
        .filter_map(|field| match field.reference {
            Some(Reference::Entity(other)) => Some(other),
            _ => None,
        })
        .collect()
}

fn context(blueprint: &Blueprint<'_>, page: &Page) -> Context {
    let mut made = Draftsman {
        blueprint,
        page,
        functions: BTreeMap::new(),
        samples: BTreeSet::new(),
        prepare: Vec::new(),
        cases: Vec::new(),
        auth: BTreeSet::new(),
        options: BTreeSet::new(),
    };
    for part in &page.parts {
        made.part(&blueprint.components[*part]);
    }
    let mut lines = vec![made.render()];
    lines.push(format!(
        "expect(screen.getByRole(\"heading\", {{ level: 1 }}).textContent).toBe({});",
        ts_string(pages::heading(blueprint, page))
    ));
    let heading = case(blueprint, &page.trace, "is headed by its name", lines);
    made.cases.insert(0, heading);
    let text: String = made
        .cases
        .iter()
        .flat_map(|case| case.lines.iter().map(String::as_str))
        .collect();
    let mut library = vec!["cleanup"];
    for (name, mark) in [
        ("fireEvent", "fireEvent."),
        ("render", "render("),
        ("screen", "screen."),
        ("waitFor", "waitFor("),
        ("within", "within("),
    ] {
        if text.contains(mark) {
            library.push(name);
        }
    }
    let mut imports: Vec<String> = Vec::new();
    let mut mocks: Vec<String> = Vec::new();
    for (module, names) in &made.functions {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        imports.push(format!(
            "import {{ {} }} from \"{module}\";",
            names.join(", ")
        ));
        mocks.push(module.clone());
    }
    for (module, names) in [
        ("@/lib/auth", &made.auth),
        ("@/lib/auth-options", &made.options),
    ] {
        if !names.is_empty() {
            let names: Vec<&str> = names.iter().copied().collect();
            imports.push(format!(
                "import {{ {} }} from \"{module}\";",
                names.join(", ")
            ));
            mocks.push(module.to_owned());
        }
    }
    imports.push(format!(
        "import {{ {0} }} from \"@/{1}/{0}\";",
        page.view,
        views(blueprint.preset)
    ));
    let used: String = made.prepare.concat() + &text;
    Context {
        library: library.join(", "),
        imports,
        samples: made
            .samples
            .iter()
            .filter(|name| used.contains(name.as_str()))
            .cloned()
            .collect::<Vec<_>>()
            .join(", "),
        mocks,
        prepare: made.prepare,
        fills: text.contains("control("),
        goes: text.contains("goTo"),
        label: page.name.clone(),
        cases: made.cases,
    }
}

pub(super) fn add(blueprint: &Blueprint<'_>, files: &mut Vec<Draft>) -> Result<(), TemplateError> {
    for page in &blueprint.pages {
        let mut trace = page.reasons();
        for part in &page.parts {
            trace.extend(blueprint.components[*part].trace.iter().cloned());
        }
        files.push(Draft::feature(
            format!(
                "tests/{}.page.test.tsx",
                kebab(page.view.strip_suffix("Page").unwrap_or(&page.view), "page")
            ),
            render("tests/page.test.tsx", &context(blueprint, page))?,
            &trace,
        ));
    }
    Ok(())
}
