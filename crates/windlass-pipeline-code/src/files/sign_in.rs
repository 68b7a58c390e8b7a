//! Forms for signing in and signing up, with a password and otherwise.

use serde::Serialize;
use windlass_pipeline_design::model::strategy::Priority;

use crate::blueprint::{Blueprint, Component, ComponentKind, PageKind, Way};

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
        home: home(blueprint),
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

/// Where one is led after signing in.
fn home(blueprint: &Blueprint<'_>) -> String {
    [PageKind::Dashboard, PageKind::List]
        .into_iter()
        .find_map(|kind| {
            blueprint
                .pages
                .iter()
                .find(|page| page.kind == kind && page.is_open())
        })
        .map_or_else(|| "/".to_owned(), |page| page.path.clone())
}

#[derive(Serialize)]
pub(super) struct OptionsContext {
    name: String,
    functions: String,
    link: bool,
    code: bool,
    home: String,
    providers: Vec<Provider>,
}

#[derive(Serialize)]
struct Provider {
    id: &'static str,
    label: &'static str,
}

/// Other ways to sign in.
pub(super) fn options(blueprint: &Blueprint<'_>, component: &Component) -> OptionsContext {
    let providers: Vec<Provider> = blueprint
        .ways
        .iter()
        .filter_map(|way| match way {
            Way::Provider(id, label) => Some(Provider { id, label }),
            Way::Link | Way::Code => None,
        })
        .collect();
    let (link, code) = (
        blueprint.ways.contains(&Way::Link),
        blueprint.ways.contains(&Way::Code),
    );
    let functions = [
        ("checkCode", code),
        ("sendCode", code),
        ("sendLink", link),
        ("signInWithProvider", !providers.is_empty()),
    ];
    OptionsContext {
        name: component.name.clone(),
        functions: functions
            .iter()
            .filter(|(_, used)| *used)
            .map(|(name, _)| *name)
            .collect::<Vec<_>>()
            .join(", "),
        link,
        code,
        home: home(blueprint),
        providers,
    }
}
