//! Tests of pages: what is seen while data is on its way, is there, is missing or cannot be had, and
//! what happens when somebody does something.
//! Long because every kind of page has the tests of its states here.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use windlass_pipeline_model::architecture::FieldType;

use super::super::components::counted;
use super::super::data::function_name;
use super::super::{Draft, pages, views};
use super::{Case, case, key, sample, sample_name, value};
use crate::blueprint::{
    Blueprint, Component, ComponentKind, Entity, Field, Operation, Page, PageKind, Reference, Way,
    capabilities, told,
};
use crate::escape::{ts_key, ts_string};
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
    /// Data functions by module, so that each is told what to give.
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

    fn list(&mut self, at: usize, recent: bool) {
        let entity = &self.blueprint.entities[at];
        self.give_lists(&[at]);
        let list = self.function(entity, Operation::List);
        let sample = self.sample(entity);
        let title = entity
            .columns()
            .first()
            .and_then(|field| self.shown(at, field));
        let mut lines = vec![self.render()];
        lines.push(format!(
            "const table = await screen.findByRole(\"table\", {{ name: {} }});",
            ts_string(&entity.label_plural)
        ));
        if let Some(title) = &title {
            lines.push(format!("expect(table.textContent).toContain({title});"));
        } else {
            lines.push("expect(table.querySelectorAll(\"tbody tr\").length).toBe(1);".to_owned());
        }
        let trace = self.page.trace.clone();
        let what = if recent { "shows the newest" } else { "shows" };
        self.cases.push(case(
            self.blueprint,
            &trace,
            &format!("{what} {}", entity.human_plural),
            lines,
        ));
        let render = self.render();
        self.case(
            &format!("says so when there are no {}", entity.human_plural),
            vec![
                format!("vi.mocked({list}).mockResolvedValue([]);"),
                render.clone(),
                format!(
                    "expect(await screen.findByText({})).toBeTruthy();",
                    ts_string(&format!("No {} yet", entity.human_plural))
                ),
            ],
        );
        self.case(
            &format!("says why {} cannot be loaded and tries again", entity.human_plural),
            vec![
                format!("vi.mocked({list}).mockRejectedValue(new Error(\"The network is down.\"));"),
                render,
                "expect((await screen.findAllByRole(\"alert\")).map((alert) => alert.textContent).join()).toContain(\"The network is down.\");".to_owned(),
                format!("vi.mocked({list}).mockResolvedValue([{sample}]);"),
                "screen.getAllByRole(\"button\", { name: \"Try again\" }).forEach((button) => fireEvent.click(button));".to_owned(),
                format!("expect(await screen.findByRole(\"table\", {{ name: {} }})).toBeTruthy();", ts_string(&entity.label_plural)),
            ],
        );
    }

    fn detail(&mut self, at: usize) {
        let entity = &self.blueprint.entities[at];
        let read = self.function(entity, Operation::Read);
        let sample = self.sample(entity);
        self.prepare
            .push(format!("vi.mocked({read}).mockResolvedValue({sample});"));
        let mut others: Vec<usize> = self
            .blueprint
            .entities
            .iter()
            .enumerate()
            .filter(|(child, other)| {
                *child != at
                    && other.reference_to(at).is_some()
                    && self
                        .blueprint
                        .component(&ComponentKind::List(*child))
                        .is_some()
            })
            .map(|(child, _)| child)
            .collect();
        for action in &entity.actions {
            others.extend(references(
                action
                    .inputs
                    .iter()
                    .filter_map(|column| entity.field(column)),
            ));
        }
        others.sort_unstable();
        others.dedup();
        self.give_lists(&others);
        let render = self.render();
        let title = entity.title().and_then(|field| self.shown(at, field));
        let mut lines = vec![render.clone()];
        match &title {
            Some(title) => lines.push(format!("expect(await screen.findByRole(\"heading\", {{ level: 2, name: {title} }})).toBeTruthy();")),
            None => lines.push("expect((await screen.findAllByRole(\"heading\", { level: 2 })).length).toBeGreaterThan(0);".to_owned()),
        }
        let trace = self.page.trace.clone();
        self.cases.push(case(
            self.blueprint,
            &trace,
            &format!("shows one {}", entity.human),
            lines,
        ));
        self.case(
            &format!("says why one {} cannot be loaded", entity.human),
            vec![
                format!("vi.mocked({read}).mockRejectedValue(new Error(\"The network is down.\"));"),
                render.clone(),
                "expect((await screen.findByRole(\"alert\")).textContent).toContain(\"The network is down.\");".to_owned(),
            ],
        );
        let id = ts_string(&key(self.blueprint, at).unwrap_or_default());
        for action in entity
            .actions
            .iter()
            .filter(|action| action.inputs.is_empty())
        {
            self.note(entity, &action.name);
            self.cases.push(case(
                self.blueprint,
                &action.trace,
                &format!("offers to {}", action.label.to_lowercase()),
                vec![
                    format!("vi.mocked({}).mockResolvedValue({sample});", action.name),
                    render.clone(),
                    format!(
                        "fireEvent.click(await screen.findByRole(\"button\", {{ name: {} }}));",
                        ts_string(&action.label)
                    ),
                    format!(
                        "await waitFor(() => expect({}).toHaveBeenCalledWith({id}));",
                        action.name
                    ),
                ],
            ));
        }
        if let Some(trace) = entity.operations.get(&Operation::Delete) {
            let remove = self.function(entity, Operation::Delete);
            self.cases.push(case(
                self.blueprint,
                trace,
                &format!("removes one {} after asking", entity.human),
                vec![
                    format!("vi.mocked({remove}).mockResolvedValue();"),
                    "const confirm = vi.spyOn(window, \"confirm\").mockReturnValue(false);"
                        .to_owned(),
                    render,
                    "const button = await screen.findByRole(\"button\", { name: \"Delete\" });"
                        .to_owned(),
                    "fireEvent.click(button);".to_owned(),
                    format!("expect({remove}).not.toHaveBeenCalled();"),
                    "confirm.mockReturnValue(true);".to_owned(),
                    "fireEvent.click(button);".to_owned(),
                    "await waitFor(() => expect(goTo).toHaveBeenCalled());".to_owned(),
                    format!("expect({remove}).toHaveBeenCalledWith({id});"),
                ],
            ));
        }
    }

    fn form(&mut self, at: usize) {
        let entity = &self.blueprint.entities[at];
        let edits = self.page.kind == PageKind::Form
            && self.page.takes_own_id
            && self.page.entity == Some(at);
        if !edits && !entity.has(Operation::Create) {
            return;
        }
        let others = references(entity.inputs());
        self.give_lists(&others);
        let operation = if edits {
            Operation::Update
        } else {
            Operation::Create
        };
        let save = self.function(entity, operation);
        let sample = self.sample(entity);
        self.prepare
            .push(format!("vi.mocked({save}).mockResolvedValue({sample});"));
        if edits {
            let read = self.function(entity, Operation::Read);
            self.prepare
                .push(format!("vi.mocked({read}).mockResolvedValue({sample});"));
        }
        let mut lines = vec![self.render()];
        lines.push(format!(
            "const form = await screen.findByRole(\"form\", {{ name: {} }});",
            ts_string(&entity.label)
        ));
        let mut expected = Vec::new();
        for (place, field) in entity.inputs().enumerate() {
            let given_by_page = self.page.entity == Some(at)
                && self.page.parent.map(Reference::Entity) == field.reference
                && self.page.parent.is_some();
            let stored = value(self.blueprint, at, field).ts();
            if given_by_page {
                expected.push(format!("{}: {stored}", ts_key(&field.column)));
                continue;
            }
            let control = ts_string(&kebab(&field.column, &format!("field-{}", place + 1)));
            match (field.kind, field.reference) {
                (FieldType::Boolean, _) => continue,
                (_, Some(Reference::Entity(other))) => {
                    let other_key = ts_string(&key(self.blueprint, other).unwrap_or_default());
                    lines.push(format!("await waitFor(() => expect(control({control}).querySelector(`option[value=\"${{{other_key}}}\"]`)).not.toBeNull());"));
                }
                _ => {}
            }
            let typed = match field.kind {
                FieldType::Datetime => "\"2026-01-02T09:00\"".to_owned(),
                FieldType::Json => "\"[]\"".to_owned(),
                FieldType::Integer | FieldType::Decimal => ts_string(&stored),
                _ => stored.clone(),
            };
            lines.push(format!(
                "fireEvent.change(control({control}), {{ target: {{ value: {typed} }} }});"
            ));
            if field.kind != FieldType::Datetime {
                expected.push(format!("{}: {stored}", ts_key(&field.column)));
            }
        }
        lines.push("fireEvent.submit(form);".to_owned());
        let arguments = if edits {
            let id = ts_string(&key(self.blueprint, at).unwrap_or_default());
            format!(
                "{id}, expect.objectContaining({{ {} }})",
                expected.join(", ")
            )
        } else {
            format!("expect.objectContaining({{ {} }})", expected.join(", "))
        };
        lines.push(format!(
            "await waitFor(() => expect({save}).toHaveBeenCalledWith({arguments}));"
        ));
        let trace = entity
            .operations
            .get(&operation)
            .cloned()
            .unwrap_or_default();
        self.cases.push(case(
            self.blueprint,
            &trace,
            &format!("saves a {}", entity.human),
            lines,
        ));
        let needed = entity.inputs().find(|field| {
            field.is_required()
                && matches!(field.kind, FieldType::String | FieldType::Text)
                && field.reference.is_none()
        });
        if let Some(field) = needed
            && !edits
        {
            let control = ts_string(&kebab(&field.column, ""));
            let render = self.render();
            self.case(
                &format!("asks for what is missing before a {} is saved", entity.human),
                vec![
                    render,
                    format!("fireEvent.submit(await screen.findByRole(\"form\", {{ name: {} }}));", ts_string(&entity.label)),
                    format!("await waitFor(() => expect(control({control}).getAttribute(\"aria-invalid\")).toBe(\"true\"));"),
                    format!("expect({save}).not.toHaveBeenCalled();"),
                ],
            );
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
            ComponentKind::Told(_, ref about) => {
                self.texts(told(self.page, about, self.blueprint.requirements));
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
            self.cases.push(Case::of(all, "is told", lines));
        }
    }

    fn sign_in(&mut self, component: &Component) {
        let registers = component.kind == ComponentKind::SignUp;
        let (function, label, gives) = if registers {
            ("signUp", "Sign up", "{ confirmationNeeded: false }")
        } else {
            ("signIn", "Sign in", "")
        };
        self.auth.insert(function);
        let render = self.render();
        let fill = vec![
            render.clone(),
            format!("const form = screen.getByRole(\"form\", {{ name: \"{label}\" }});"),
            "fireEvent.change(within(form).getByLabelText(\"Email\"), { target: { value: \"ada@example.com\" } });".to_owned(),
            "fireEvent.change(within(form).getByLabelText(\"Password\"), { target: { value: \"correct horse\" } });".to_owned(),
            "fireEvent.submit(form);".to_owned(),
        ];
        let mut lines = vec![format!("vi.mocked({function}).mockResolvedValue({gives});")];
        lines.extend(fill.clone());
        lines.push(format!("await waitFor(() => expect({function}).toHaveBeenCalledWith(\"ada@example.com\", \"correct horse\"));"));
        lines.push("await waitFor(() => expect(goTo).toHaveBeenCalled());".to_owned());
        let trace = self.page.trace.clone();
        self.cases.push(case(
            self.blueprint,
            &trace,
            "takes email and password",
            lines,
        ));
        let mut lines = vec![format!(
            "vi.mocked({function}).mockRejectedValue(new Error(\"That did not work.\"));"
        )];
        lines.extend(fill);
        lines.push("expect((await screen.findByRole(\"alert\")).textContent).toContain(\"That did not work.\");".to_owned());
        lines.push("expect(goTo).not.toHaveBeenCalled();".to_owned());
        self.case("says why it did not work", lines);
    }

    fn sign_in_options(&mut self) {
        let render = self.render();
        let trace = self.page.trace.clone();
        for way in self.blueprint.ways.clone() {
            let (what, lines) = match way {
                Way::Provider(id, label) => {
                    self.options.insert("signInWithProvider");
                    (
                        format!("signs in with {label}"),
                        vec![
                            render.clone(),
                            format!(
                                "fireEvent.click(screen.getByRole(\"button\", {{ name: \"Continue with {label}\" }}));"
                            ),
                            format!(
                                "await waitFor(() => expect(signInWithProvider).toHaveBeenCalledWith(\"{id}\"));"
                            ),
                        ],
                    )
                }
                Way::Link => {
                    self.options.insert("sendLink");
                    (
                        "sends a link".to_owned(),
                        vec![
                            "vi.mocked(sendLink).mockResolvedValue();".to_owned(),
                            render.clone(),
                            "fireEvent.change(screen.getByLabelText(\"Email for a link\"), { target: { value: \"ada@example.com\" } });".to_owned(),
                            "fireEvent.submit(screen.getByRole(\"form\", { name: \"Link by email\" }));".to_owned(),
                            "expect(await screen.findByText(\"Check your inbox for the link.\")).toBeTruthy();".to_owned(),
                            "expect(sendLink).toHaveBeenCalledWith(\"ada@example.com\");".to_owned(),
                        ],
                    )
                }
                Way::Code => {
                    self.options.extend(["checkCode", "sendCode"]);
                    (
                        "sends a code and takes it".to_owned(),
                        vec![
                            "vi.mocked(sendCode).mockResolvedValue();".to_owned(),
                            "vi.mocked(checkCode).mockResolvedValue();".to_owned(),
                            render.clone(),
                            "fireEvent.change(screen.getByLabelText(\"Phone number\"), { target: { value: \"+4912345\" } });".to_owned(),
                            "fireEvent.submit(screen.getByRole(\"form\", { name: \"Code by SMS\" }));".to_owned(),
                            "fireEvent.change(await screen.findByRole(\"textbox\", { name: \"Code\" }), { target: { value: \"123456\" } });".to_owned(),
                            "fireEvent.submit(screen.getByRole(\"form\", { name: \"Code\" }));".to_owned(),
                            "await waitFor(() => expect(goTo).toHaveBeenCalled());".to_owned(),
                            "expect(checkCode).toHaveBeenCalledWith(\"+4912345\", \"123456\");".to_owned(),
                        ],
                    )
                }
            };
            self.cases.push(case(self.blueprint, &trace, &what, lines));
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
