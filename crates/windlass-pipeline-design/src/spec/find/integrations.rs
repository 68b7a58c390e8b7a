//! Things outside that the product works with.

use crate::model::{analysis::Integration, strategy::Priority};
use crate::spec::{priority, reading::Reading, token::Kind};

/// Words of an integration, the kind they stand for, and whether it is a name.
const KNOWN: &[(&str, &str)] = &[
    ("stripe", "payment"),
    ("paypal", "payment"),
    ("adyen", "payment"),
    ("mollie", "payment"),
    ("klarna", "payment"),
    ("apple pay", "payment"),
    ("google pay", "payment"),
    ("payments", "payment"),
    ("payment", "payment"),
    ("credit card", "payment"),
    ("sendgrid", "email"),
    ("mailgun", "email"),
    ("postmark", "email"),
    ("resend", "email"),
    ("mailchimp", "email"),
    ("by email", "email"),
    ("an email", "email"),
    ("emailed", "email"),
    ("email notification", "email"),
    ("email notifications", "email"),
    ("emails", "email"),
    ("google maps", "maps"),
    ("mapbox", "maps"),
    ("openstreetmap", "maps"),
    ("geolocation", "maps"),
    ("google calendar", "calendar"),
    ("outlook", "calendar"),
    ("ical", "calendar"),
    ("caldav", "calendar"),
    ("s3", "storage"),
    ("dropbox", "storage"),
    ("google drive", "storage"),
    ("onedrive", "storage"),
    ("attach files", "storage"),
    ("file upload", "storage"),
    ("upload files", "storage"),
    ("openai", "ai"),
    ("chatgpt", "ai"),
    ("gpt-4", "ai"),
    ("claude", "ai"),
    ("ai answers", "ai"),
    ("machine learning", "ai"),
    ("language model", "ai"),
    ("webhook", "webhook"),
    ("webhooks", "webhook"),
    ("zapier", "webhook"),
    ("algolia", "search"),
    ("elasticsearch", "search"),
    ("meilisearch", "search"),
    ("typesense", "search"),
    ("twilio", "other"),
    ("slack", "other"),
    ("microsoft teams", "other"),
    ("discord", "other"),
    ("whatsapp", "other"),
    ("telegram", "other"),
    ("salesforce", "other"),
    ("hubspot", "other"),
    ("shopify", "other"),
    ("jira", "other"),
    ("github", "other"),
    ("zoom", "other"),
    ("firebase", "other"),
    ("quickbooks", "other"),
    ("xero", "other"),
    ("datev", "other"),
    ("sap", "other"),
    ("sms", "other"),
    ("push notifications", "other"),
    ("with google", "other"),
    ("google sign-in", "other"),
    ("single sign-on", "other"),
    ("sso", "other"),
    ("saml", "other"),
    ("barcode", "other"),
];

/// All integrations the product is to have, in the order of the text.
pub fn find(readings: &[Reading]) -> Vec<Integration> {
    let mut found: Vec<Integration> = Vec::new();
    for reading in readings.iter().filter(|reading| !reading.is_set_aside()) {
        if crate::spec::classify::addresses_reader(reading)
            || priority::of(reading, None) == Priority::Wont
        {
            continue;
        }
        for (word, kind) in KNOWN {
            if !reading.line.has(word) || reading.line.has(&format!("no {word}")) {
                continue;
            }
            let text = as_written(reading, word);
            match found.iter_mut().find(|known| {
                known.kind == *kind && known.text.to_lowercase() == text.to_lowercase()
            }) {
                Some(known) if known.spans.last() == Some(&reading.id) => {}
                Some(known) => known.spans.push(reading.id.clone()),
                None => found.push(Integration {
                    kind: (*kind).to_owned(),
                    text,
                    spans: vec![reading.id.clone()],
                }),
            }
        }
    }
    found
}

/// The word as the spec writes it, without the small word before it.
fn as_written(reading: &Reading, word: &str) -> String {
    let last = word.rsplit(' ').next().unwrap_or(word);
    let whole = !matches!(word, "by email" | "an email" | "with google");
    let wanted = if whole { word } else { last };
    let width = wanted.split(' ').count();
    reading
        .tokens
        .windows(width)
        .find(|tokens| {
            tokens.iter().all(|token| token.kind == Kind::Word)
                && tokens
                    .iter()
                    .map(|token| token.lower.as_str())
                    .collect::<Vec<_>>()
                    .join(" ")
                    == wanted
        })
        .map_or_else(
            || wanted.to_owned(),
            |tokens| crate::spec::token::slice(&reading.text, tokens).to_owned(),
        )
}
