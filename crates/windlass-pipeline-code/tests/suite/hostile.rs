//! Text that means something to TypeScript, JSX, SQL, Markdown or a shell stays text.

use proptest::prelude::*;
use windlass_pipeline_code::{Error, Generated};
use windlass_pipeline_design::model::{Preset, Trace};

use super::fixture::{Product, file};
use windlass_testkit::servers::Postgres;

/// Texts that break out of places which do not expect them.
pub const NASTY: &[&str] = &[
    "\"; drop table quizzes; --",
    "'); drop table quizzes; --",
    "</script><script>alert(1)</script>",
    "${process.env.SECRET}",
    "`rm -rf /`",
    "{x}",
    "{{ x }} {% raw %} {= x =} <% x %>",
    "*/ alert(1) /*",
    "$body$ select 1 $body$",
    "\\u0022 \\",
    "a\nb\r\nc\u{2028}d",
    "\u{202e}evil\u{202c}",
    "🎲🎲",
    "اختبار قصير",
    "class",
    "default",
    "order",
    "select",
    "Error",
    "Promise",
    "Table",
    "constructor",
    "__proto__",
    "| a | b |",
    "[link](javascript:alert(1))",
    "%s %d %o $1 $&",
    "  ",
    "",
    "..",
    "../../etc/passwd",
    "CON",
    "2fa",
];

/// The quiz platform with a text in every place that a spec fills.
pub fn with_text(text: &str) -> Product {
    let mut product = Product::quiz();
    product.name = format!("{text} app");
    // Policies name tables, which are called differently now: the owner's policies take their place.
    product.architecture.security.policies.clear();
    let mut renamed = std::collections::BTreeMap::new();
    for (at, entity) in product
        .architecture
        .data_model
        .entities
        .iter_mut()
        .enumerate()
    {
        let name = match at {
            0 => text.to_owned(),
            1 => format!("{text} one"),
            _ => continue,
        };
        renamed.insert(std::mem::replace(&mut entity.name, name.clone()), name);
        if let Some(field) = entity
            .fields
            .iter_mut()
            .find(|field| !field.values.is_empty())
        {
            field.values = vec![text.to_owned(), format!("{text}2"), text.to_owned()];
            field.default = None;
        }
        let mut extra = entity
            .fields
            .iter()
            .find(|field| field.name == "title" || field.name == "text")
            .unwrap()
            .clone();
        extra.name = text.to_owned();
        entity.fields.push(extra.clone());
        extra.name = format!("{text}!");
        entity.fields.push(extra);
    }
    for entity in &mut product.architecture.data_model.entities {
        for field in &mut entity.fields {
            if let Some(name) = field.references.as_ref().and_then(|name| renamed.get(name)) {
                field.references = Some(name.clone());
            }
        }
    }
    for endpoint in &mut product.architecture.api_design.endpoints {
        endpoint.description = text.to_owned();
        if let Some(name) = endpoint.entity.as_ref().and_then(|name| renamed.get(name)) {
            endpoint.entity = Some(name.clone());
        }
    }
    product.architecture.security.roles.push(text.to_owned());
    for (at, page) in product.ux.pages.iter_mut().enumerate() {
        page.purpose = text.to_owned();
        if at % 2 == 0 {
            page.name = text.to_owned();
            page.route = String::new();
            page.components.push(text.to_owned());
        }
        page.trace.push(Trace::page(text));
        if let Some(name) = page.entity.as_ref().and_then(|name| renamed.get(name)) {
            page.entity = Some(name.clone());
        }
    }
    for token in &mut product.ux.design_tokens.stated {
        token.text = text.to_owned();
    }
    product.ux.design_tokens.typography.font_family = text.to_owned();
    for requirement in &mut product.requirements.functional {
        requirement.description = text.to_owned();
    }
    product
}

fn assert_sound(text: &str, generated: &Generated) {
    for (name, check) in &generated.checks {
        assert_ne!(check["status"], "failed", "{text:?}: {name}: {check:#}");
    }
    for file in &generated.files {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-/[]".contains(c);
        assert!(file.path.chars().all(plain), "{text:?}: {}", file.path);
        assert!(
            !file
                .path
                .split('/')
                .any(|part| part == ".." || part.is_empty()),
            "{}",
            file.path
        );
        assert!(
            !file.content.contains('\u{202e}'),
            "{text:?}: {} can be read backwards",
            file.path
        );
        if file.path.ends_with(".ts") || file.path.ends_with(".tsx") {
            assert!(
                !file.content.contains("</script"),
                "{text:?}: {}",
                file.path
            );
        }
    }
}

#[test]
fn nasty_texts_stay_texts() {
    for text in NASTY {
        for preset in Preset::ALL {
            assert_sound(text, &with_text(text).generate(preset, &[]).unwrap());
        }
    }
}

#[test]
fn hostile_texts_produce_a_schema_that_postgres_accepts() {
    let Some(server) = Postgres::start("nasty") else {
        return;
    };
    server
        .run(include_str!("../fixtures/auth_shim.sql"))
        .unwrap();
    for text in NASTY {
        let generated = with_text(text).generate(Preset::ViteReact, &[]).unwrap();
        for path in ["supabase/migrations/0001_init.sql", "supabase/seed.sql"] {
            if let Err(error) = server.run(file(&generated, path)) {
                panic!("{text:?}: {path}: {error}");
            }
        }
        let tables = server
            .run("select 'open=' || relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and not relrowsecurity")
            .unwrap();
        assert!(!tables.contains("open="), "{text:?}: {tables}");
        server.run("drop schema public cascade; create schema public; grant usage on schema public to anon, authenticated, service_role; truncate auth.users").unwrap();
    }
}

#[test]
fn sql_of_an_architecture_cannot_leave_its_place() {
    let mut product = Product::quiz();
    product.architecture.security.policies[1].using = Some("true); drop table x; --".to_owned());
    let refused = product.generate(Preset::ViteReact, &[]);
    let Err(Error::Input(problem)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(problem.field, "/architecture/security/policies/1/using");

    let mut product = Product::quiz();
    product.architecture.data_model.entities[0].fields[2].default =
        Some("''; drop table x".to_owned());
    let Err(Error::Input(problem)) = product.generate(Preset::ViteReact, &[]) else {
        panic!("a default with a statement in it is taken");
    };
    assert_eq!(
        problem.field,
        "/architecture/data_model/entities/0/fields/2/default"
    );

    let mut product = Product::quiz();
    product.ux.design_tokens.colors.primary = "red; } body { display: none".to_owned();
    let Err(Error::Input(problem)) = product.generate(Preset::ViteReact, &[]) else {
        panic!("a colour with a rule in it is taken");
    };
    assert_eq!(problem.field, "/ux_spec/design_tokens/colors/primary");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn any_text_stays_text(text in "\\PC{0,40}|[\"'`${}<>/\\\\;*#|%\\[\\]a-z ]{0,30}") {
        for preset in Preset::ALL {
            assert_sound(&text, &with_text(&text).generate(preset, &[]).unwrap());
        }
    }
}
