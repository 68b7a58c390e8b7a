//! PageWeight: pages and their pictures load quickly.

use crate::gates::{
    addresses::{Addresses, Target},
    finding::{Checked, Finding, Limit},
    input::GateInput,
    outside::GateFault,
    run::Gate,
};

const PAGE: &str = "GATE_WEIGHT_PAGE";
const IMAGE: &str = "GATE_WEIGHT_IMAGE";

const MOST_PAGE: u64 = 500 * 1024;
const MOST_IMAGE: u64 = 200 * 1024;

/// The gate.
pub struct PageWeight;

impl Gate for PageWeight {
    fn name(&self) -> &'static str {
        "PageWeight"
    }

    fn limit(&self) -> Limit {
        Limit::Total(30, 60)
    }

    fn check(&self, input: &GateInput) -> Result<Checked, GateFault> {
        let addresses = Addresses::new(input);
        let mut findings = Vec::new();
        for (path, document) in input.changed_pages() {
            let size = document.text.len() as u64;
            if size >= MOST_PAGE {
                let message = format!(
                    "The page has {} KB, and should stay below 500 KB.",
                    size / 1024
                );
                findings.push(Finding::file(PAGE, path, "", message));
            }
            for link in document.links.iter().filter(|link| link.image) {
                let Target::File(file) = addresses.resolve(path, &link.target) else {
                    continue;
                };
                let size = input.site.get(&file).map_or(0, |file| file.size);
                if size >= MOST_IMAGE {
                    let line = document.line(link.range.start);
                    let message = format!(
                        "{file} has {} KB, and should stay below 200 KB.",
                        size / 1024
                    );
                    findings.push(Finding::at(IMAGE, path, line, &link.target, message));
                }
            }
        }
        Ok(Checked::Ran(findings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::sample::{GUIDE, codes, page_with, with_text};

    #[test]
    fn limits_are_kept() {
        let cases: [(usize, u64, &[&str]); 4] = [
            (10, 200 * 1024 - 1, &[]),
            (10, 200 * 1024, &[IMAGE]),
            (500 * 1024, 1, &[PAGE]),
            (499 * 1024, 1, &[]),
        ];
        for (text, image, expected) in cases {
            let body = format!("![a](/img/a.png)\n\n{}", "x".repeat(text));
            let mut subject = with_text(GUIDE, &page_with(&body));
            subject.site.insert_size("static/img/a.png", image);
            assert_eq!(codes(&PageWeight, subject), expected, "{text} {image}");
        }
    }
}
