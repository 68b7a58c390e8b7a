//! Forms for signing in and signing up.

use serde::Serialize;
use windlass_pipeline_model::strategy::Priority;

use crate::blueprint::{Blueprint, Component, ComponentKind, PageKind};

#[derive(Serialize)]
pub(super) struct SignInContext {
    name: String,
    label: &'static str,
    about: &'static str,
    functions: &'static str,
    sign_up: bool,
    both: bool,
    /// Whether it shares its page with the other form.
    headed: bool,
    home: String,
    autocomplete: &'static str,
    submit: &'static str,
}

/// Whether the form for signing in also makes accounts: accounts are stated, and no page is theirs.
fn registers(blueprint: &Blueprint<'_>) -> bool {
    let page = blueprint.component(&ComponentKind::SignUp).is_some();
    let stated = blueprint.requirements.functional.iter().any(|requirement| {
        let text = requirement.description.to_lowercase();
        requirement.priority != Priority::Wont
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

pub(super) fn context(blueprint: &Blueprint<'_>, component: &Component) -> SignInContext {
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
        headed: sign_up
            && !blueprint
                .pages
                .iter()
                .any(|page| page.kind == PageKind::SignUp),
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
