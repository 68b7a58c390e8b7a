//! Rights of the forty specs: hard rules that hold for all of them, and what each spec says.

use windlass_pipeline_design::model::architecture::{Architecture, Right};
use windlass_pipeline_design::model::{Preset, naming};

use super::fixture::{Product, specs};

fn architectures() -> impl Iterator<Item = (String, Architecture)> {
    specs()
        .into_iter()
        .map(|(name, spec)| (name, Product::of(&spec, Preset::ViteReact).architecture))
}

#[test]
fn visitors_change_nothing_and_leave_only_what_a_sentence_says() {
    for (name, architecture) in architectures() {
        for policy in &architecture.security.policies {
            if policy.role != "anon" {
                continue;
            }
            assert!(
                matches!(policy.command.as_str(), "select" | "insert"),
                "{name}: visitors {} {}",
                policy.command,
                policy.table
            );
            if policy.command == "insert" {
                assert_eq!(
                    policy.with_check.as_deref(),
                    Some("owner_id is null"),
                    "{name}"
                );
                let right = architecture.security.rights.iter().find(|right| {
                    naming::table_name(&right.entity) == policy.table
                        && right.verb == "create"
                        && right.who.starts_with("Visitors")
                });
                let basis = &right.unwrap().basis;
                assert!(!basis.starts_with("default: "), "{name}: {basis}");
            }
        }
    }
}

#[test]
fn rows_of_others_are_changed_only_by_roles_and_for_a_stated_reason() {
    for (name, architecture) in architectures() {
        for policy in &architecture.security.policies {
            let changes = matches!(policy.command.as_str(), "update" | "delete");
            let condition = policy.using.as_deref().unwrap_or_default();
            if changes {
                assert_ne!(condition, "true", "{name}: {}", policy.table);
            }
        }
        for right in &architecture.security.rights {
            let others = right.rows.starts_with("all ") && right.verb != "read";
            if others {
                assert!(!right.basis.starts_with("default: "), "{name}: {right:?}");
            }
        }
    }
}

#[test]
fn every_verb_on_every_entity_has_a_right_with_its_reason() {
    for (name, architecture) in architectures() {
        for entity in &architecture.data_model.entities {
            for verb in ["read", "create", "update", "delete"] {
                let rights: Vec<&Right> = architecture
                    .security
                    .rights
                    .iter()
                    .filter(|right| right.entity == entity.name && right.verb == verb)
                    .collect();
                assert!(
                    !rights.is_empty(),
                    "{name}: nobody may {verb} {}",
                    entity.name
                );
                for right in rights {
                    assert!(right.basis.len() > "default: ".len(), "{name}: {right:?}");
                }
            }
        }
    }
}

/// Who may do it, by the rights: `anon`, `user`, `role:…`, `owner`, nobody.
fn who(architecture: &Architecture, table: &str, command: &str) -> String {
    let condition = |role: &str| {
        architecture
            .security
            .policies
            .iter()
            .find(|policy| {
                policy.table == table && policy.command == command && policy.role == role
            })
            .and_then(|policy| policy.using.clone().or_else(|| policy.with_check.clone()))
    };
    let mut found: Vec<String> = Vec::new();
    if condition("anon").is_some() {
        found.push("anon".to_owned());
    }
    let signed_in = condition("authenticated").unwrap_or_else(|| panic!("no table {table}"));
    if signed_in == "true" {
        found.push("user".to_owned());
    } else {
        for role in signed_in.split("has_role('").skip(1) {
            found.push(role.split('\'').next().unwrap().to_owned());
        }
        if signed_in.contains("owner_id = (select auth.uid())") {
            found.push("owner".to_owned());
        }
    }
    found.sort();
    found.dedup();
    found.join(" ")
}

#[test]
fn rights_follow_what_each_spec_says() {
    let specs: std::collections::BTreeMap<String, String> = specs().into_iter().collect();
    for (name, table, command, expected) in GOLD {
        let product = Product::of(&specs[*name], Preset::ViteReact);
        assert_eq!(
            who(&product.architecture, table, command),
            *expected,
            "{name}: {command} {table}\n{:#?}",
            product.architecture.security.rls_policies
        );
    }
}

/// Spec, table, command, who: read from the specs by hand.
const GOLD: &[(&str, &str, &str, &str)] = &[
    // Visitors who put products into a cart do not write the catalogue.
    ("bakery-shop", "products", "select", "anon user"),
    ("bakery-shop", "products", "insert", "owner shop manager"),
    ("bakery-shop", "products", "update", "owner shop manager"),
    ("bakery-shop", "products", "delete", "owner shop manager"),
    ("bakery-shop", "orders", "insert", "customer owner"),
    ("bakery-shop", "orders", "delete", "owner"),
    // Posts of a forum are there to be read; a moderator deletes any of them, and edits none.
    ("board-game-forum", "threads", "select", "anon user"),
    ("board-game-forum", "posts", "select", "anon user"),
    ("board-game-forum", "posts", "update", "owner"),
    ("board-game-forum", "posts", "delete", "moderator owner"),
    // Players delete what they gave, and nothing else.
    ("quiz-night", "answers", "delete", "owner"),
    ("quiz-night", "quizzes", "delete", "owner"),
    (
        "dental-clinic",
        "appointments",
        "select",
        "owner receptionist",
    ),
    (
        "dental-clinic",
        "appointments",
        "update",
        "owner receptionist",
    ),
    (
        "dental-clinic",
        "appointments",
        "delete",
        "owner receptionist",
    ),
    (
        "pet-adoption",
        "adoption_enquiries",
        "select",
        "owner shelter staff",
    ),
    ("pet-adoption", "adoption_enquiries", "insert", "anon owner"),
    ("pet-adoption", "animals", "select", "anon user"),
    ("photo-portfolio", "messages", "select", "owner"),
    ("delivery-dispatch", "deliveries", "delete", "owner"),
    ("household-budget", "expenses", "select", "owner"),
    ("sensor-hub", "readings", "update", ""),
    ("sensor-hub", "readings", "delete", ""),
    ("sensor-hub", "readings", "insert", ""),
    ("news-site", "articles", "delete", "owner"),
    ("news-site", "comments", "delete", "editor owner"),
    ("recipe-box", "recipes", "select", "anon user"),
    ("recipe-box", "recipes", "delete", "owner"),
    ("event-tickets", "tickets", "select", "owner"),
    ("property-listings", "listings", "delete", "owner"),
    ("neighbourhood-help", "messages", "delete", "owner"),
    ("expense-claims", "claims", "delete", "owner"),
    ("language-school", "courses", "delete", "owner"),
    ("helpdesk", "support_tickets", "delete", "owner"),
];
