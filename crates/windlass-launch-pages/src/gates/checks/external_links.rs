//! ExternalLinks: addresses on other hosts answer, and are asked for over https.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use windlass_launch_model::{Profile, markdown::Document};

use crate::gates::{
    finding::{Checked, Finding, Limit},
    input::GateInput,
    outside::{GateFault, LinkAnswer},
    run::Gate,
};

/// The address does not answer well.
pub const UNREACHABLE: &str = "GATE_LINK_EXTERNAL_UNREACHABLE";
/// The address does not answer in time.
pub const TIMEOUT: &str = "GATE_LINK_EXTERNAL_TIMEOUT";
/// The address may not be asked.
pub const NOT_PROBED: &str = "GATE_LINK_EXTERNAL_NOT_PROBED";
/// The address is not https.
pub const HTTP: &str = "GATE_LINK_INSECURE_HTTP";

/// The gate.
pub struct ExternalLinks;

impl Gate for ExternalLinks {
    fn name(&self) -> &'static str {
        "ExternalLinks"
    }

    fn limit(&self) -> Limit {
        Limit::Total(300, 600)
    }

    fn check(&self, input: &GateInput) -> Result<Checked, GateFault> {
        let mut findings = Vec::new();
        let mut asked: BTreeMap<String, Vec<(String, u64)>> = BTreeMap::new();
        for (path, document) in input.changed_pages() {
            for (url, at) in external(document) {
                let line = document.line(at);
                if is_insecure(&url) {
                    let message = format!("{url} does not use https.");
                    findings.push(Finding::at(HTTP, path, line, &url, message));
                }
                if !is_loopback(&url) {
                    let bare = url.split('#').next().unwrap_or_default().to_owned();
                    asked.entry(bare).or_default().push((path.to_owned(), line));
                }
            }
        }
        // On a developer's machine the network is not used.
        if input.profile != Profile::Local && !asked.is_empty() {
            findings.extend(probe(input, self.limit(), &asked));
        }
        Ok(Checked::Ran(findings))
    }
}

fn probe(
    input: &GateInput,
    limit: Limit,
    asked: &BTreeMap<String, Vec<(String, u64)>>,
) -> Vec<Finding> {
    let urls: Vec<String> = asked.keys().cloned().collect();
    let limit = Duration::from_secs(limit.seconds(input.profile, 0).saturating_sub(5));
    let answers = input.links.probe(&urls, limit);
    let mut found = Vec::new();
    for (url, places) in asked {
        let (code, why) = match answers.get(url) {
            Some(LinkAnswer::Status(200..=399)) => continue,
            Some(LinkAnswer::Status(status)) => (UNREACHABLE, format!("answers {status}")),
            Some(LinkAnswer::Unreachable(why)) => {
                (UNREACHABLE, format!("cannot be reached: {why}"))
            }
            Some(LinkAnswer::TimedOut) => (TIMEOUT, "does not answer in time".to_owned()),
            Some(LinkAnswer::NotAllowed) | None => (
                NOT_PROBED,
                "was not asked, because its host is not allowed".to_owned(),
            ),
        };
        for (path, line) in places {
            found.push(Finding::at(code, path, *line, url, format!("{url} {why}.")));
        }
    }
    found
}

/// Every address on another host, with where it stands.
pub fn external(document: &Document) -> Vec<(String, usize)> {
    let is_http = |url: &str| {
        let lower = url.get(..8).unwrap_or(url).to_ascii_lowercase();
        lower.starts_with("http://") || lower.starts_with("https://")
    };
    let mut seen = BTreeSet::new();
    document
        .links
        .iter()
        .filter(|link| is_http(&link.target))
        .map(|link| (link.target.clone(), link.range.start))
        .filter(|found| seen.insert(found.clone()))
        .collect()
}

/// Whether an address should be https and is not.
pub fn is_insecure(url: &str) -> bool {
    url.get(..7)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("http://"))
        && !is_loopback(url)
}

/// Whether an address is the reader's own machine.
pub fn is_loopback(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = if host.starts_with('[') {
        host.split(']')
            .next()
            .unwrap_or_default()
            .trim_start_matches('[')
    } else {
        host.split(':').next().unwrap_or_default()
    };
    let host = host.to_ascii_lowercase();
    host == "localhost"
        || host.ends_with(".localhost")
        || host == "::1"
        || host == "0.0.0.0"
        || (host.starts_with("127.") && host.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::gates::sample::{FakeLinks, GUIDE, codes, page_with, with_text};

    #[test]
    fn http_is_found_outside_code_and_loopback() {
        let cases: [(&str, &[&str]); 7] = [
            ("[a](https://a.example)", &[]),
            ("[a](http://a.example)", &[HTTP]),
            ("<HTTP://a.example/x>", &[HTTP]),
            ("[a](http://localhost:8080/x)", &[]),
            ("[a](http://127.0.0.1/x) [b](http://[::1]:1/)", &[]),
            ("[a](http://127.0.0.1.evil.example/)", &[HTTP]),
            ("`http://a.example`", &[]),
        ];
        for (body, expected) in cases {
            assert_eq!(
                codes(&ExternalLinks, with_text(GUIDE, &page_with(body))),
                expected,
                "{body}"
            );
        }
    }

    #[test]
    fn answers_are_judged() {
        let answers = [
            (LinkAnswer::Status(200), None),
            (LinkAnswer::Status(301), None),
            (LinkAnswer::Status(404), Some(UNREACHABLE)),
            (LinkAnswer::Status(500), Some(UNREACHABLE)),
            (
                LinkAnswer::Unreachable("no host".to_owned()),
                Some(UNREACHABLE),
            ),
            (LinkAnswer::TimedOut, Some(TIMEOUT)),
            (LinkAnswer::NotAllowed, Some(NOT_PROBED)),
        ];
        for (answer, expected) in answers {
            for profile in [Profile::Local, Profile::Ci] {
                let mut subject = with_text(GUIDE, &page_with("[a](https://a.example/x#y)"));
                subject.profile = profile;
                let link = ("https://a.example/x".to_owned(), answer.clone());
                subject.links = Arc::new(FakeLinks([link].into()));
                let expected = expected.filter(|_| profile == Profile::Ci);
                let expected: Vec<&str> = expected.into_iter().collect();
                assert_eq!(codes(&ExternalLinks, subject), expected, "{answer:?}");
            }
        }
    }
}
