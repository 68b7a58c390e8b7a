//! Emulators of AWS services: which ones the environment names, and how workloads learn of them.
//!
//! Not here: what is created at them (handed in, see outside).

use std::collections::BTreeMap;

use windlass_types::Secret;

/// Service → its address; `aws` is for every service without an address of its own, and an empty
/// address is AWS itself.
pub type Emulators = BTreeMap<String, String>;

/// One service that resources of a config belong to.
struct Service {
    name: &'static str,
    shown: &'static str,
    variable: &'static str,
}

const fn service(name: &'static str, shown: &'static str, variable: &'static str) -> Service {
    Service {
        name,
        shown,
        variable,
    }
}

const ALL: &str = "AWS_ENDPOINT_URL";
const SERVICES: [Service; 9] = [
    service("dynamodb", "DynamoDB", "AWS_ENDPOINT_URL_DYNAMODB"),
    service("opensearch", "OpenSearch", "AWS_ENDPOINT_URL_OPENSEARCH"),
    service("s3", "S3", "AWS_ENDPOINT_URL_S3"),
    service("sqs", "SQS", "AWS_ENDPOINT_URL_SQS"),
    service("sns", "SNS", "AWS_ENDPOINT_URL_SNS"),
    service("events", "EventBridge", "AWS_ENDPOINT_URL_EVENTBRIDGE"),
    service("kinesis", "Kinesis", "AWS_ENDPOINT_URL_KINESIS"),
    service("states", "Step Functions", "AWS_ENDPOINT_URL_SFN"),
    service(
        "cognito-idp",
        "Cognito",
        "AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER",
    ),
];

/// Hosts of AWS itself. An address there is no emulator: nothing may be created at it.
const AWS_HOSTS: [&str; 4] = [
    "amazonaws.com",
    "amazonaws.com.cn",
    "amazonwebservices.com.cn",
    "api.aws",
];

/// The key and the secret that emulators are called with.
pub const LOCAL_CREDENTIALS: &str = "local";

/// Those that an environment names.
pub fn emulators(environment: &BTreeMap<String, String>) -> Emulators {
    let ignored = environment.get("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS");
    if ignored.is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return Emulators::new();
    }
    let each = SERVICES.iter().map(|it| (it.variable, it.name));
    each.chain([(ALL, "aws")])
        .filter_map(|(variable, name)| {
            let address = environment.get(variable).filter(|it| !it.is_empty())?;
            let address = if is_aws(address) { "" } else { address };
            Some((name.to_owned(), address.to_owned()))
        })
        // Nothing is elsewhere than it would be without this one.
        .filter(|(name, address)| name != "aws" || !address.is_empty())
        .collect()
}

fn is_aws(address: &str) -> bool {
    let url = url::Url::parse(address).ok();
    let host = url.as_ref().and_then(url::Url::host_str);
    host.is_some_and(|host| {
        AWS_HOSTS.iter().any(|aws| {
            let before = host.strip_suffix(aws);
            before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
        })
    })
}

/// The address of a service's emulator.
pub fn address<'a>(emulators: &'a Emulators, service: &str) -> Option<&'a str> {
    let name = match service {
        // The name that calls use.
        "sfn" => "states",
        other => other,
    };
    let found = emulators.get(name).or_else(|| emulators.get("aws"));
    found
        .map(String::as_str)
        .filter(|address| !address.is_empty())
}

/// The variables by which programs find the emulators. A session without anything deployed has
/// credentials that AWS does not accept: what has no emulator is not reached by accident.
pub fn variables(emulators: &Emulators, is_local: bool) -> Vec<(String, Secret<String>)> {
    let each = SERVICES.iter().map(|it| (it.variable, it.name));
    let mut variables: Vec<(&str, &str)> = [(ALL, "aws")]
        .into_iter()
        .chain(each)
        .filter_map(|(variable, name)| Some((variable, emulators.get(name)?.as_str())))
        .filter(|(_, address)| !address.is_empty())
        .collect();
    if is_local && !variables.is_empty() {
        variables.extend([
            ("AWS_ACCESS_KEY_ID", LOCAL_CREDENTIALS),
            ("AWS_SECRET_ACCESS_KEY", LOCAL_CREDENTIALS),
        ]);
    }
    variables
        .into_iter()
        .map(|(name, value)| (name.to_owned(), Secret::new(value.to_owned())))
        .collect()
}

/// What is said of a resource whose service has no emulator.
pub(crate) fn not_local(service: &str, resource: &str) -> String {
    let known = SERVICES.iter().find(|it| it.name == service);
    let (shown, variable) = known.map_or((service, ALL), |it| (it.shown, it.variable));
    format!(
        "{shown} does not run locally: set {variable} to the address of an emulator and start again, or use the deployed one with --remote {resource}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn emulators_are_those_of_the_environment_and_never_aws() {
        const LOCAL: &str = "http://127.0.0.1:4566";
        for (given, dynamodb, sfn) in [
            (
                vec![("HOME", "/root"), ("AWS_ENDPOINT_URL", "")],
                None,
                None,
            ),
            (vec![("AWS_ENDPOINT_URL", LOCAL)], Some(LOCAL), Some(LOCAL)),
            (vec![("AWS_ENDPOINT_URL_SFN", LOCAL)], None, Some(LOCAL)),
            (
                vec![
                    ("AWS_ENDPOINT_URL", LOCAL),
                    (
                        "AWS_ENDPOINT_URL_DYNAMODB",
                        "https://dynamodb.eu-west-1.amazonaws.com",
                    ),
                ],
                None,
                Some(LOCAL),
            ),
            (
                vec![("AWS_ENDPOINT_URL", "https://amazonaws.com")],
                None,
                None,
            ),
            (
                vec![("AWS_ENDPOINT_URL", "http://notamazonaws.com:1")],
                Some("http://notamazonaws.com:1"),
                Some("http://notamazonaws.com:1"),
            ),
            (
                vec![
                    ("AWS_ENDPOINT_URL", LOCAL),
                    ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"),
                ],
                None,
                None,
            ),
        ] {
            let found = emulators(&environment(&given));
            assert_eq!(address(&found, "dynamodb"), dynamodb, "{given:?}");
            assert_eq!(address(&found, "sfn"), sfn, "{given:?}");
        }
    }

    #[test]
    fn workloads_are_told_of_each_emulator_by_itself() {
        let of = |pairs: &[(&str, &str)], is_local| -> Vec<String> {
            variables(&emulators(&environment(pairs)), is_local)
                .into_iter()
                .map(|(name, value)| format!("{name}={}", value.expose_secret()))
                .collect()
        };
        let one = [("AWS_ENDPOINT_URL_SQS", "http://127.0.0.1:9324")];
        assert_eq!(
            of(&one, true),
            [
                "AWS_ENDPOINT_URL_SQS=http://127.0.0.1:9324",
                "AWS_ACCESS_KEY_ID=local",
                "AWS_SECRET_ACCESS_KEY=local"
            ]
        );
        assert_eq!(
            of(&one, false),
            ["AWS_ENDPOINT_URL_SQS=http://127.0.0.1:9324"]
        );
        assert_eq!(of(&[], true), Vec::<String>::new());
    }
}
