//! How people sign in, as far as the spec says.

use crate::model::analysis::Analysis;

/// Words of the spec and the way of signing in they mean.
const WAYS: &[(&[&str], &str)] = &[
    (&["google"], "Google"),
    (&["github"], "GitHub"),
    (&["microsoft", "azure"], "Microsoft"),
    (&["apple id", "sign in with apple"], "Apple"),
    (&["facebook"], "Facebook"),
    (&["magic link", "email link"], "a link by email"),
    (
        &["one-time code", "one time code", "otp", "sms code"],
        "a one-time code by SMS",
    ),
    (&["saml", "single sign-on", "sso"], "single sign-on"),
    (&["password"], "email and password"),
];

/// The stated ways of signing in; none when the spec does not say.
pub(crate) fn ways(analysis: &Analysis) -> Vec<&'static str> {
    let text: String = analysis
        .spans
        .iter()
        .filter(|span| analysis.sign_in.contains(&span.id))
        .map(|span| span.text.to_lowercase() + "\n")
        .collect();
    WAYS.iter()
        .filter(|(words, _)| words.iter().any(|word| text.contains(word)))
        .map(|(_, way)| *way)
        .collect()
}

/// Whether anyone has to sign in: the spec says so, or something has an owner.
pub(crate) fn is_needed(analysis: &Analysis) -> bool {
    !analysis.sign_in.is_empty() || !analysis.entities.is_empty()
}

/// The strategy in one line.
pub(crate) fn strategy(analysis: &Analysis) -> String {
    if !is_needed(analysis) {
        return "No sign-in: the product keeps nothing".to_owned();
    }
    let ways = ways(analysis);
    if ways.is_empty() {
        "Supabase Auth with RLS".to_owned()
    } else {
        format!("Supabase Auth with RLS; sign-in by {}", ways.join(", "))
    }
}
