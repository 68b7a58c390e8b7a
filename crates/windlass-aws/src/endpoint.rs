//! Where a service answers and for which region its requests are signed. Pure.
//!
//! Not here: addresses the user sets, which win over all of this (session.rs).

use windlass_ports::aws::{Reach, ServiceShape};

/// What the user asked for besides the region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Variant {
    pub fips: bool,
    pub dual_stack: bool,
}

/// An address and the region of its signatures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// Without a slash at the end.
    pub url: String,
    pub region: String,
}

struct Partition {
    region_prefix: &'static str,
    suffix: &'static str,
    dual_stack_suffix: &'static str,
    /// What stands between a global service's name and the suffix.
    global_label: &'static str,
    global_region: &'static str,
}

/// The last one is for every region no other claims.
const PARTITIONS: &[Partition] = &[
    Partition {
        region_prefix: "cn-",
        suffix: "amazonaws.com.cn",
        dual_stack_suffix: "api.amazonwebservices.com.cn",
        global_label: ".cn-north-1",
        global_region: "cn-north-1",
    },
    Partition {
        region_prefix: "us-gov-",
        suffix: "amazonaws.com",
        dual_stack_suffix: "api.aws",
        global_label: ".us-gov",
        global_region: "us-gov-west-1",
    },
    Partition {
        region_prefix: "us-iso-",
        suffix: "c2s.ic.gov",
        dual_stack_suffix: "c2s.ic.gov",
        global_label: ".us-iso-east-1",
        global_region: "us-iso-east-1",
    },
    Partition {
        region_prefix: "us-isob-",
        suffix: "sc2s.sgov.gov",
        dual_stack_suffix: "sc2s.sgov.gov",
        global_label: ".us-isob-east-1",
        global_region: "us-isob-east-1",
    },
    Partition {
        region_prefix: "",
        suffix: "amazonaws.com",
        dual_stack_suffix: "api.aws",
        global_label: "",
        global_region: "us-east-1",
    },
];

/// AWS's own address of a service.
pub(crate) fn public(service: &ServiceShape, region: &str, variant: Variant) -> Endpoint {
    let Some(partition) = partition(region) else {
        return Endpoint {
            url: format!("https://{}.{region}.amazonaws.com", service.endpoint_prefix),
            region: region.to_owned(),
        };
    };
    let fips = if variant.fips { "-fips" } else { "" };
    let prefix = service.endpoint_prefix;
    match service.reach {
        Reach::Global => Endpoint {
            url: format!(
                "https://{prefix}{fips}{}.{}",
                partition.global_label, partition.suffix
            ),
            region: partition.global_region.to_owned(),
        },
        Reach::Regional => {
            let (label, suffix) = match (service.name, variant.dual_stack) {
                ("s3", true) => (".dualstack", partition.suffix),
                (_, true) => ("", partition.dual_stack_suffix),
                (_, false) => ("", partition.suffix),
            };
            Endpoint {
                url: format!("https://{prefix}{fips}{label}.{region}.{suffix}"),
                region: region.to_owned(),
            }
        }
    }
}

/// The region whose signatures a service wants, also at an address the user set.
pub(crate) fn signing_region(service: &ServiceShape, region: &str) -> String {
    match (service.reach, partition(region)) {
        (Reach::Global, Some(partition)) => partition.global_region.to_owned(),
        _ => region.to_owned(),
    }
}

fn partition(region: &str) -> Option<&'static Partition> {
    PARTITIONS
        .iter()
        .find(|partition| region.starts_with(partition.region_prefix))
}

#[cfg(test)]
mod tests {
    use windlass_ports::aws::services;

    use super::*;

    #[test]
    fn addresses_of_aws() {
        let plain = Variant::default();
        let fips = Variant {
            fips: true,
            ..plain
        };
        let dual = Variant {
            dual_stack: true,
            ..plain
        };
        let cases = [
            (
                &services::LOGS,
                "eu-west-1",
                plain,
                "https://logs.eu-west-1.amazonaws.com",
                "eu-west-1",
            ),
            (
                &services::ECR,
                "us-east-1",
                plain,
                "https://api.ecr.us-east-1.amazonaws.com",
                "us-east-1",
            ),
            (
                &services::IAM,
                "eu-west-1",
                plain,
                "https://iam.amazonaws.com",
                "us-east-1",
            ),
            (
                &services::IAM,
                "cn-north-1",
                plain,
                "https://iam.cn-north-1.amazonaws.com.cn",
                "cn-north-1",
            ),
            (
                &services::IAM,
                "us-gov-east-1",
                plain,
                "https://iam.us-gov.amazonaws.com",
                "us-gov-west-1",
            ),
            (
                &services::SSM,
                "us-gov-east-1",
                plain,
                "https://ssm.us-gov-east-1.amazonaws.com",
                "us-gov-east-1",
            ),
            (
                &services::SSM,
                "us-east-1",
                fips,
                "https://ssm-fips.us-east-1.amazonaws.com",
                "us-east-1",
            ),
            (
                &services::LAMBDA,
                "us-east-1",
                dual,
                "https://lambda.us-east-1.api.aws",
                "us-east-1",
            ),
            (
                &services::S3,
                "us-east-1",
                dual,
                "https://s3.dualstack.us-east-1.amazonaws.com",
                "us-east-1",
            ),
        ];
        for (service, region, variant, url, signed_for) in cases {
            let endpoint = public(service, region, variant);
            assert_eq!(endpoint.url, url);
            assert_eq!(endpoint.region, signed_for, "{url}");
        }
    }
}
