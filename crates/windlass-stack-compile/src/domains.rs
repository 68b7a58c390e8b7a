//! Custom domains: DNS records in the account's hosted zones.

use serde_json::{Value, json};
use windlass_stack_config::model::common::CustomDomain;

use crate::name::logical;
use crate::stack::Stack;

/// A domain whose name is known.
pub(crate) struct Domain<'a> {
    pub name: &'a str,
    pub certificate: Option<Value>,
    pub wants_record: bool,
}

impl Stack<'_> {
    /// The custom domains of a resource; those whose name is not known are refused.
    pub fn domains<'d>(&mut self, domains: &'d [CustomDomain], property: &str) -> Vec<Domain<'d>> {
        let mut known = Vec::new();
        for (index, domain) in domains.iter().enumerate() {
            let path = format!("{property}.{index}.domainName");
            let certificate = self.maybe(domain.custom_certificate_arn.as_ref());
            if let Some(name) = self.known(&domain.domain_name, &path) {
                known.push(Domain {
                    name,
                    certificate,
                    wants_record: !domain.disable_dns_record_creation,
                });
            }
        }
        known
    }

    /// The certificate of a domain, which must be there.
    pub fn certificate(&mut self, domain: &Domain<'_>, property: &str) -> Value {
        match &domain.certificate {
            Some(certificate) => certificate.clone(),
            None => {
                self.refuse(
                    property,
                    format!("\"{}\" needs a certificate", domain.name),
                    Some("give customCertificateArn: certificates are not issued for you"),
                );
                json!("")
            }
        }
    }

    /// A DNS record that leads to something of AWS.
    pub fn dns_record(&mut self, domain: &Domain<'_>, property: &str, dns: Value, zone: Value) {
        if !domain.wants_record {
            return;
        }
        let (key, hosted_zone) = match &self.facts.hosted_zones {
            Some(zones) => {
                let best = zones
                    .iter()
                    .filter(|(zone, _)| belongs(domain.name, zone))
                    .max_by_key(|(zone, _)| zone.len());
                match best {
                    Some((_, id)) => ("HostedZoneId", id.clone()),
                    None => {
                        self.refuse(
                            property,
                            format!("the account has no hosted zone for \"{}\"", domain.name),
                            Some("create one, or set disableDnsRecordCreation: true"),
                        );
                        return;
                    }
                }
            }
            None => {
                let parent = match domain.name.split_once('.') {
                    Some((_, rest)) if rest.contains('.') => rest,
                    _ => domain.name,
                };
                self.warn(
                    property,
                    format!(
                        "hosted zones were not looked up; \"{parent}\" is assumed to be the zone"
                    ),
                );
                ("HostedZoneName", format!("{parent}."))
            }
        };
        self.add(
            logical(&["Stp", domain.name, "RecordSet"]),
            "AWS::Route53::RecordSet",
            json!({
                "Name": domain.name,
                "Type": "A",
                key: hosted_zone,
                "AliasTarget": { "DNSName": dns, "HostedZoneId": zone },
            }),
        );
    }
}

fn belongs(domain: &str, zone: &str) -> bool {
    let zone = zone.trim_end_matches('.');
    domain == zone || domain.ends_with(&format!(".{zone}"))
}
