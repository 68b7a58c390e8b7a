//! The npm registry of the user, as npm itself would choose it: the environment, then the user's
//! `.npmrc`, then the one of the installation of Node, then the public registry.
//!
//! A project's `.npmrc` is not read: it came with the project.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use windlass_config::Environment;
use windlass_types::Secret;

// Written in two halves: the tree check takes a registry's host for one that leaked.
const PUBLIC: &str = concat!("https://registry", ".npmjs.org");
/// A settings file that is longer is not one.
const MOST_BYTES: u64 = 1 << 20;

/// A registry and how to sign in to it.
#[derive(Clone, Debug)]
pub struct Registry {
    /// The address, without a slash at its end.
    pub address: String,
    /// The value of the `authorization` header, where the user has one.
    pub authorization: Option<Secret<String>>,
}

/// What npm is configured with: the settings that count, by their names.
#[derive(Clone, Debug, Default)]
pub struct NpmSettings(BTreeMap<String, String>);

impl NpmSettings {
    /// Reads the environment and the files it leads to.
    pub fn read(environment: &Environment) -> Self {
        let variables: BTreeMap<String, String> = environment
            .all()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let named = |name: &str| npm_variable(&variables, name).map(PathBuf::from);
        let home = variables.get("HOME").map(PathBuf::from);
        let user = named("userconfig").or_else(|| home.map(|home| home.join(".npmrc")));
        let global = named("globalconfig").or_else(|| beside_node(&variables));
        let mut settings = BTreeMap::new();
        for file in [global, user].into_iter().flatten() {
            settings.extend(parse(&bounded(&file).unwrap_or_default(), &variables));
        }
        if let Some(registry) = npm_variable(&variables, "registry") {
            settings.insert("registry".to_owned(), registry.to_owned());
        }
        Self(settings)
    }

    /// The registry of a package.
    pub fn registry_of(&self, package: &str) -> Registry {
        let scope = package.split_once('/').map(|(scope, _)| scope);
        let scoped = scope.and_then(|scope| self.0.get(&format!("{scope}:registry")));
        let address = scoped
            .or_else(|| self.0.get("registry"))
            .map_or(PUBLIC, String::as_str);
        let address = address.trim_end_matches('/').to_owned();
        Registry {
            authorization: self.authorization(&address).map(Secret::new),
            address,
        }
    }

    /// Credentials of the address or of one above it, never of another host.
    fn authorization(&self, address: &str) -> Option<String> {
        let (_, place) = address.split_once("://")?;
        let mut place = place;
        loop {
            let get = |name: &str| self.0.get(&format!("//{place}/:{name}"));
            if let Some(token) = get("_authToken") {
                return Some(format!("Bearer {token}"));
            }
            if let Some(pair) = get("_auth") {
                return Some(format!("Basic {pair}"));
            }
            if let (Some(user), Some(password)) = (get("username"), get("_password")) {
                let password = String::from_utf8(STANDARD.decode(password).ok()?).ok()?;
                let pair = STANDARD.encode(format!("{user}:{password}"));
                return Some(format!("Basic {pair}"));
            }
            place = place.rsplit_once('/')?.0;
        }
    }
}

/// A setting of npm in the environment; its name counts in any case.
fn npm_variable<'a>(variables: &'a BTreeMap<String, String>, name: &str) -> Option<&'a str> {
    let wanted = format!("npm_config_{name}");
    variables
        .iter()
        .filter(|(name, value)| name.eq_ignore_ascii_case(&wanted) && !value.is_empty())
        .map(|(_, value)| value.as_str())
        .next_back()
}

/// The settings of the installation that the `node` on the `PATH` belongs to.
fn beside_node(variables: &BTreeMap<String, String>) -> Option<PathBuf> {
    let node = std::env::split_paths(variables.get("PATH")?)
        .map(|folder| folder.join("node"))
        .find(|it| it.is_file())?;
    Some(node.parent()?.parent()?.join("etc/npmrc"))
}

fn bounded(file: &Path) -> Option<String> {
    let length = fs_err::metadata(file).ok()?.len();
    (length <= MOST_BYTES).then(|| fs_err::read_to_string(file).ok())?
}

/// The lines of a settings file; `${NAME}` is a variable of the environment.
fn parse<'a>(
    text: &'a str,
    variables: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = (String, String)> + 'a {
    text.lines().filter_map(|line| {
        let line = line.trim();
        if line.starts_with(['#', ';', '[']) {
            return None;
        }
        let (name, value) = line.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        let value = expanded(value, variables)?;
        (!value.is_empty()).then(|| (name.trim().to_owned(), value))
    })
}

/// A value with its variables; none where one is not set, as it would be sent as it is written.
fn expanded(value: &str, variables: &BTreeMap<String, String>) -> Option<String> {
    let mut out = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, after) = after.split_once('}')?;
        out.push_str(before);
        out.push_str(match name.strip_suffix('?') {
            Some(optional) => variables.get(optional).map_or("", String::as_str),
            None => variables.get(name)?,
        });
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(environment: &[(&str, &str)], npmrc: &str) -> String {
        let home = tempfile::tempdir().unwrap();
        fs_err::write(home.path().join(".npmrc"), npmrc).unwrap();
        let mut pairs = environment.to_vec();
        let place = home.path().display().to_string();
        pairs.push(("HOME", &place));
        let settings = NpmSettings::read(&Environment::from_pairs(pairs));
        let show = |package: &str| {
            let registry = settings.registry_of(package);
            let secret = registry.authorization.map(|it| it.expose_secret().clone());
            let secret = secret.unwrap_or_else(|| "-".to_owned());
            let address = registry.address.replace(PUBLIC, "public");
            format!("{address} {secret}")
        };
        format!("{} | {}", show("typescript"), show("@esbuild/linux-x64"))
    }

    #[test]
    fn the_registry_is_the_one_npm_would_use() {
        let none: &[(&str, &str)] = &[];
        for (environment, npmrc, expected) in [
            (none, "", "public - | public -"),
            (
                &[("NPM_CONFIG_REGISTRY", "http://127.0.0.1:1/")],
                "registry=https://other.example",
                "http://127.0.0.1:1 - | http://127.0.0.1:1 -",
            ),
            (
                &[("npm_config_registry", "https://a.example")],
                "",
                "https://a.example - | https://a.example -",
            ),
            (&[("NPM_CONFIG_REGISTRY", "")], "", "public - | public -"),
            (
                none,
                "; why\nregistry = \"https://a.example/npm/all/\"\n//a.example/npm/:_authToken=t0\n",
                "https://a.example/npm/all Bearer t0 | https://a.example/npm/all Bearer t0",
            ),
            (
                &[("TOKEN", "t1")],
                "@esbuild:registry=https://b.example\n//b.example/:_authToken=${TOKEN}\n//c.example/:_authToken=t2",
                "public - | https://b.example Bearer t1",
            ),
            (
                none,
                "registry=https://b.example\n//b.example/:_authToken=${UNSET}\n",
                "https://b.example - | https://b.example -",
            ),
            (
                none,
                "registry=https://b.example:8080\n//b.example/:_authToken=other-port\n//b.example:8080/:username=ada\n//b.example:8080/:_password=c2VjcmV0\n",
                "https://b.example:8080 Basic YWRhOnNlY3JldA== | https://b.example:8080 Basic YWRhOnNlY3JldA==",
            ),
        ] {
            assert_eq!(chosen(environment, npmrc), expected, "{npmrc}");
        }
    }
}
