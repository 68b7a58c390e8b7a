//! What every generated project is like.

use std::collections::BTreeMap;

use windlass_pipeline_code::{Error, file_plan};
use windlass_pipeline_design::model::strategy::Priority;
use windlass_pipeline_design::model::{GeneratedFile, Preset, versions};

use super::fixture::{EXAMPLES, Product, file, write};

/// Every product in every preset.
fn all() -> Vec<(String, Preset, Product)> {
    let mut all = Vec::new();
    for preset in Preset::ALL {
        all.push(("quiz".to_owned(), preset, Product::quiz()));
        for name in EXAMPLES {
            all.push((name.to_owned(), preset, Product::example(name, preset)));
        }
    }
    all
}

fn ids(file: &GeneratedFile) -> Vec<&str> {
    file.trace
        .iter()
        .filter_map(|trace| match trace.parts() {
            Some(("req", id)) => Some(id),
            _ => None,
        })
        .collect()
}

#[test]
fn every_check_passes_and_every_run_produces_the_same_bytes() {
    for (name, preset, product) in all() {
        let generated = product.generate(preset, &[]).unwrap();
        // For a look at what is generated: every project below the folder that is named.
        if let Some(folder) = std::env::var_os("WINDLASS_TEST_OUT") {
            let folder = std::path::Path::new(&folder)
                .join(&name)
                .join(preset.as_str());
            write(&generated, &folder);
        }
        for (check, result) in &generated.checks {
            assert_ne!(result["status"], "failed", "{name}: {check}: {result:#}");
        }
        assert!(generated.checks["syntax"]["checked"].as_u64() > Some(30));
        assert_eq!(generated, product.generate(preset, &[]).unwrap(), "{name}");
        assert!(generated.files.is_sorted_by_key(|file| &file.path));
        for file in &generated.files {
            assert_eq!(file.sha256.len(), 64, "{}", file.path);
            for word in [": any", "as any", "<any>", "@ts-", "eslint-disable"] {
                assert!(
                    !file.content.contains(word),
                    "{name}: {} has {word:?}",
                    file.path
                );
            }
        }
    }
}

#[test]
fn every_requirement_that_reaches_a_page_or_an_endpoint_is_tested_by_its_id() {
    for (name, preset, product) in all() {
        let generated = product.generate(preset, &[]).unwrap();
        let tests: String = generated
            .files
            .iter()
            .filter(|file| file.path.starts_with("tests/"))
            .map(|file| file.content.as_str())
            .collect();
        // `it("FR-1, FR-2: shows quizzes", …`
        let called = |id: &str| {
            tests.lines().any(|line| {
                line.trim_start()
                    .strip_prefix("it(\"")
                    .and_then(|name| name.split_once(": "))
                    .is_some_and(|(ids, _)| ids.split(", ").any(|known| known == id))
            })
        };
        let readme = file(&generated, "README.md");
        let reached = |id: &str| {
            let wanted = format!("req:{id}");
            let has = |trace: &[windlass_pipeline_design::model::Trace]| {
                trace.iter().any(|trace| trace.as_str() == wanted)
            };
            product
                .architecture
                .api_design
                .endpoints
                .iter()
                .any(|endpoint| has(&endpoint.trace))
                || product.ux.pages.iter().any(|page| has(&page.trace))
        };
        for requirement in &product.requirements.functional {
            let id = &requirement.id;
            assert!(
                readme.contains(&format!("| {id} |")),
                "{name}: {id} is not in the README"
            );
            if requirement.priority == Priority::Wont {
                assert!(!called(id), "{name}: {id} is out of scope");
            } else if reached(id) {
                assert!(called(id), "{name}: {id} has no test");
                let code = generated
                    .files
                    .iter()
                    .filter(|file| file.path.starts_with("src/"))
                    .any(|file| ids(file).contains(&id.as_str()));
                assert!(code, "{name}: {id} has no file");
            }
        }
        for file in &generated.files {
            assert!(!file.trace.is_empty(), "{name}: {}", file.path);
        }
    }
}

#[test]
fn stated_names_and_colours_are_there_verbatim() {
    for (name, preset, product) in all() {
        let generated = product.generate(preset, &[]).unwrap();
        let css = match preset {
            Preset::NextjsReact => file(&generated, "src/app/globals.css"),
            Preset::ViteReact => file(&generated, "src/index.css"),
        };
        let tokens = file(&generated, "design-tokens.json");
        let colors = &product.ux.design_tokens.colors;
        for colour in [
            &colors.primary,
            &colors.secondary,
            &colors.background,
            &colors.text,
        ] {
            assert!(
                css.contains(colour.as_str()) && tokens.contains(colour.as_str()),
                "{name}: {colour}"
            );
        }
        for token in product
            .ux
            .design_tokens
            .stated
            .iter()
            .filter(|token| token.value.starts_with('#'))
        {
            assert!(css.contains(&token.value), "{name}: {}", token.text);
        }
        for page in &product.ux.pages {
            let quoted = serde_json::to_string(&page.name).unwrap();
            let found = generated.files.iter().any(|file| {
                (file.path.starts_with("src/app/") || file.path == "src/App.tsx")
                    && (file.content.contains(&quoted)
                        || file.content.contains(&format!("\"{}\"", page.name)))
            });
            assert!(found, "{name}: the page {:?} has no title", page.name);
        }
    }
}

#[test]
fn dependencies_are_those_of_the_manifest_with_exact_versions() {
    for (name, preset, product) in all() {
        let generated = product.generate(preset, &[]).unwrap();
        let manifest: serde_json::Value =
            serde_json::from_str(file(&generated, "package.json")).unwrap();
        let listed = |member: &str| -> BTreeMap<String, String> {
            serde_json::from_value(manifest[member].clone()).unwrap()
        };
        assert_eq!(
            generated.dependencies.production,
            listed("dependencies"),
            "{name}"
        );
        assert_eq!(
            generated.dependencies.development,
            listed("devDependencies"),
            "{name}"
        );
        let both = generated
            .dependencies
            .production
            .iter()
            .chain(&generated.dependencies.development);
        for (package, version) in both {
            assert_eq!(version, versions::version(package), "{name}: {package}");
        }
    }
}

#[test]
fn some_files_are_those_of_the_whole_project() {
    let product = Product::quiz();
    for preset in Preset::ALL {
        let whole = product.generate(preset, &[]).unwrap();
        let some = product
            .generate(preset, &["src/components/**", "README.md"])
            .unwrap();
        assert!(some.files.len() > 5 && some.files.len() < whole.files.len());
        for file in &some.files {
            assert!(whole.files.contains(file), "{}", file.path);
        }
        assert_eq!(some.dependencies, whole.dependencies);
        assert_eq!(some.checks, whole.checks);
    }
    let Err(Error::Input(problem)) = product.generate(Preset::ViteReact, &["src/nope.ts"]) else {
        panic!("a file that is not there is taken");
    };
    assert_eq!(
        (problem.field.as_str(), problem.constraint.as_str()),
        ("target_files", "known_path")
    );
}

#[test]
fn the_plan_names_the_files_that_are_generated() {
    for (name, preset, product) in all() {
        let planned = file_plan(&product.architecture, &product.ux, preset).unwrap();
        let planned: Vec<&str> = planned.iter().map(|file| file.path.as_str()).collect();
        let generated = product.generate(preset, &[]).unwrap();
        let missing: Vec<&str> = planned
            .iter()
            .copied()
            .filter(|path| !generated.files.iter().any(|file| file.path == *path))
            .collect();
        assert_eq!(missing, Vec::<&str>::new(), "{name}");
    }
}

#[test]
fn a_design_with_nothing_but_the_contract_is_enough() {
    let mut product = Product::quiz();
    product.architecture = serde_json::from_value(serde_json::json!({
        "stack": { "frontend": "", "backend": "", "deployment": "" },
        "data_model": {
            "entities": [
                { "name": "User", "fields": [{ "name": "id", "type": "uuid", "primary": true }, { "name": "email", "type": "string", "unique": true }] },
                { "name": "Quiz", "fields": [{ "name": "title", "type": "string" }] },
            ],
            "relationships": [{ "from": "User", "to": "Quiz", "type": "one-to-many" }],
        },
        "api_design": { "endpoints": [{ "method": "GET", "path": "/api/quizzes", "description": "List quizzes" }] },
        "security": { "auth_strategy": "Supabase Auth with RLS", "rls_policies": ["Users can only read their own data"] },
    }))
    .unwrap();
    product.ux.pages = serde_json::from_value(serde_json::json!([
        { "name": "Dashboard", "components": ["Sidebar", "StatCards", "RecentActivity", "QuickActions"], "layout": "sidebar-main" },
        { "name": "Quizzes", "components": ["QuizList"], "layout": "grid" },
    ]))
    .unwrap();
    for preset in Preset::ALL {
        let generated = product.generate(preset, &[]).unwrap();
        for (check, result) in &generated.checks {
            assert_ne!(result["status"], "failed", "{check}: {result:#}");
        }
        let migration = file(&generated, "supabase/migrations/0001_init.sql");
        assert!(migration.contains("create table public.quizzes"));
        assert!(migration.contains("using (owner_id = (select auth.uid()))"));
    }
}

#[test]
fn a_product_that_stores_nothing_needs_no_database() {
    let mut product = Product::quiz();
    product.architecture.data_model = Default::default();
    product.architecture.api_design = Default::default();
    product.architecture.security = Default::default();
    product
        .ux
        .pages
        .retain(|page| page.kind == "landing" || page.kind == "custom");
    for preset in Preset::ALL {
        let generated = product.generate(preset, &[]).unwrap();
        for (check, result) in &generated.checks {
            assert_ne!(result["status"], "failed", "{check}: {result:#}");
        }
        assert!(
            !generated
                .files
                .iter()
                .any(|file| file.path.starts_with("supabase/"))
        );
        assert!(
            !generated
                .dependencies
                .production
                .contains_key("@supabase/supabase-js")
        );
    }
}

#[test]
fn what_belongs_to_a_row_is_listed_once_and_only_its_own() {
    let product = Product::example("warehouse", Preset::ViteReact);
    let generated = product.generate(Preset::ViteReact, &[]).unwrap();
    let page = file(&generated, "src/pages/PurchaseOrderDetailsPage.tsx");
    assert!(!page.contains("OrderLineList"), "{page}");
    let detail = file(&generated, "src/components/PurchaseOrderDetail.tsx");
    assert_eq!(
        detail
            .matches("<OrderLineList purchase_order_id={id} />")
            .count(),
        1,
        "{detail}"
    );
}
