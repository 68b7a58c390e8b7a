//! Names: logical ids of the template, physical names of what AWS makes, names of outputs and
//! variables. All of them follow from the config, so they stay the same from deploy to deploy.

use sha2::{Digest as _, Sha256};

/// A logical id from its parts: words in Pascal case, acronyms folded, other letters dropped.
pub(crate) fn logical(parts: &[&str]) -> String {
    parts
        .iter()
        .flat_map(|part| words(part))
        .map(|word| capital(&word))
        .collect()
}

/// The logical id of the role that a workload acts with.
pub fn role_id(resource: &str) -> String {
    logical(&[resource, "Role"])
}

/// The logical id of the group that keeps a bastion's machine running.
pub fn bastion_group_id(resource: &str) -> String {
    logical(&[resource, "AutoScalingGroup"])
}

/// The variable that a connected resource's parameter is given in.
pub fn variable(resource: &str, param: &str) -> String {
    let words: Vec<String> = words("STP")
        .into_iter()
        .chain(words(resource))
        .chain(words(param))
        .map(|word| word.to_uppercase())
        .collect();
    words.join("_")
}

/// A name of at most `limit` characters: too long ones end in a hash of the whole.
pub(crate) fn bounded(name: &str, limit: usize) -> String {
    if name.chars().count() <= limit {
        return name.to_owned();
    }
    let kept: String = name.chars().take(limit - 7).collect();
    format!("{kept}-{}", digest(name, 6))
}

/// The first hexadecimal digits of a text's SHA-256.
pub(crate) fn digest(text: &str, digits: usize) -> String {
    let mut digest = hex::encode(Sha256::digest(text.as_bytes()));
    digest.truncate(digits);
    digest
}

/// Lower case, letters, digits and single hyphens only, beginning with a letter.
pub(crate) fn plain(name: &str) -> String {
    let mut out = String::new();
    for letter in name.chars() {
        match letter.to_ascii_lowercase() {
            letter if letter.is_ascii_alphanumeric() => out.push(letter),
            _ if out.is_empty() || out.ends_with('-') => {}
            _ => out.push('-'),
        }
    }
    let out = out.trim_end_matches('-');
    match out.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => out.to_owned(),
        _ => format!("s-{out}"),
    }
}

/// The words of a name: at changes of case and at everything that is neither letter nor digit.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (index, &letter) in letters.iter().enumerate() {
        if !letter.is_ascii_alphanumeric() {
            words.push(std::mem::take(&mut word));
            continue;
        }
        let before = index.checked_sub(1).and_then(|index| letters.get(index));
        let after = letters.get(index + 1);
        let begins = letter.is_ascii_uppercase()
            && before.is_some_and(|before| {
                before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_ascii_uppercase() && after.is_some_and(char::is_ascii_lowercase))
            });
        if begins {
            words.push(std::mem::take(&mut word));
        }
        word.push(letter);
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    match letters.next() {
        Some(first) => first
            .to_uppercase()
            .chain(letters.flat_map(char::to_lowercase))
            .collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logical_ids() {
        let cases: [(&[&str], &str); 12] = [
            (&["api", "Function"], "ApiFunction"),
            (
                &["worker", "Event0", "EventSourceMapping"],
                "WorkerEvent0EventSourceMapping",
            ),
            (&["api", "Stp", "Alias"], "ApiStpAlias"),
            (&["items", "GlobalTable"], "ItemsGlobalTable"),
            (&["database", "DBInstance"], "DatabaseDbInstance"),
            (&["Stp", "VPC"], "StpVpc"),
            (&["Stp", "Public", "Subnet0"], "StpPublicSubnet0"),
            (&["Stp", "EcsExecution", "Role"], "StpEcsExecutionRole"),
            (
                &["web", "Port443Priority1", "ListenerRule"],
                "WebPort443Priority1ListenerRule",
            ),
            (
                &["Stp", "apiGateway-Any-/records/{proxy+}", "Route"],
                "StpApiGatewayAnyRecordsProxyRoute",
            ),
            (
                &["Stp", "gate-GET-/v1/2020/x", "Route"],
                "StpGateGetV12020XRoute",
            ),
            (
                &["my_dbTable", "CDN", "Distribution0"],
                "MyDbTableCdnDistribution0",
            ),
        ];
        for (parts, expected) in cases {
            assert_eq!(logical(parts), expected, "{parts:?}");
        }
    }

    #[test]
    fn variables() {
        assert_eq!(
            variable("mainDatabase", "connectionString"),
            "STP_MAIN_DATABASE_CONNECTION_STRING"
        );
        assert_eq!(variable("my-api.v2", "url"), "STP_MY_API_V2_URL");
    }

    #[test]
    fn long_names_keep_what_makes_them_unique() {
        let one = bounded(&"a".repeat(70), 64);
        let other = bounded(&"a".repeat(71), 64);
        assert_eq!((one.len(), other.len()), (64, 64));
        assert_ne!(one, other);
        assert_eq!(bounded("short", 64), "short");
    }

    #[test]
    fn plain_names() {
        for (name, expected) in [
            ("Shop-Prod_db", "shop-prod-db"),
            ("--9lives--", "s-9lives"),
            ("a__b", "a-b"),
        ] {
            assert_eq!(plain(name), expected);
        }
    }
}
