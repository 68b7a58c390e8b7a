//! How the product is installed: the commands its documents state, in their order; where they
//! state none, the package manager's plain form for a published name.
//!
//! A command counts when it names the product or its package. No command is put together for
//! ecosystems in which a name is not enough: Go, Maven, Gradle, vcpkg, Swift.

use std::collections::BTreeSet;

use crate::{
    input::ScoutInput,
    kind::{Use, depth, extension, is_readme, use_of},
    manifests::{Manifest, is_snapshot},
    markdown::{BlockKind, blocks, from_rst},
    tree::Tree,
};

/// No more commands than this.
const MOST: usize = 8;

/// How commands begin that install something, with the name of the way; longest first where one
/// begins like another.
const WAYS: &[(&str, &str)] = &[
    ("python -m pip install", "pip"),
    ("python3 -m pip install", "pip"),
    ("pip install", "pip"),
    ("pip3 install", "pip"),
    ("pipx install", "pipx"),
    ("uv tool install", "uv"),
    ("uv pip install", "uv"),
    ("uv add", "uv"),
    ("poetry add", "poetry"),
    ("conda install", "conda"),
    ("npm install", "npm"),
    ("npm i", "npm"),
    ("yarn add", "yarn"),
    ("yarn global add", "yarn"),
    ("pnpm add", "pnpm"),
    ("bun add", "bun"),
    ("deno add", "deno"),
    ("cargo install", "cargo"),
    ("cargo add", "cargo"),
    ("cargo binstall", "cargo"),
    ("dotnet add package", "nuget"),
    ("dotnet tool install", "nuget"),
    ("install-package", "nuget"),
    ("go install", "go"),
    ("go get", "go"),
    ("gem install", "gem"),
    ("bundle add", "gem"),
    ("composer require", "composer"),
    ("brew install", "brew"),
    ("apt-get install", "apt"),
    ("apt install", "apt"),
    ("dnf install", "dnf"),
    ("yum install", "yum"),
    ("zypper install", "zypper"),
    ("pacman -s", "pacman"),
    ("apk add", "apk"),
    ("snap install", "snap"),
    ("port install", "port"),
    ("pkg install", "pkg"),
    ("emerge", "emerge"),
    ("scoop install", "scoop"),
    ("choco install", "choco"),
    ("winget install", "winget"),
    ("nix-env -ia", "nix"),
    ("guix install", "guix"),
    ("docker pull", "docker"),
];

/// For these a name is enough.
const PLAIN: &[&str] = &["pip", "npm", "cargo", "nuget", "gem", "composer"];

/// A command and where it is stated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stated {
    pub(crate) method: &'static str,
    pub(crate) identifier: String,
    pub(crate) command: String,
    pub(crate) path: String,
    pub(crate) line: u64,
}

/// The commands the documents state, README first.
pub(crate) fn stated(tree: &Tree, manifests: &[&Manifest], input: &ScoutInput) -> Vec<Stated> {
    let names = names(manifests, input);
    let mut documents: Vec<(&str, &str)> = tree
        .texts()
        .filter(|(path, _)| matches!(use_of(path, input), Use::Readme | Use::Docs))
        .collect();
    documents.sort_by_key(|(path, _)| (!(is_readme(path) && depth(path) == 0), depth(path), *path));
    let mut found: Vec<Stated> = Vec::new();
    for (path, text) in documents {
        // Once a document says how, others repeat it or say how to build it.
        if !found.is_empty() && found.iter().all(|one| one.path != path) && found.len() >= 2 {
            break;
        }
        let text = if extension(path) == "rst" {
            from_rst(text)
        } else {
            text.into()
        };
        for block in blocks(&text) {
            if is_for_contributors(&block.heading) {
                continue;
            }
            for (number, line) in &block.lines {
                let commands: Vec<&str> = match block.kind {
                    BlockKind::Fence(_) => vec![line.as_str()],
                    _ => line.split('`').skip(1).step_by(2).collect(),
                };
                for command in commands {
                    let Some((method, identifier, command)) = install(command, &names) else {
                        continue;
                    };
                    if found.len() < MOST && found.iter().all(|one| one.command != command) {
                        found.push(Stated {
                            method,
                            identifier,
                            command,
                            path: path.to_owned(),
                            line: *number,
                        });
                    }
                }
            }
        }
    }
    found
}

/// The plain form of a manifest, where its name is enough.
pub(crate) fn plain(manifest: &Manifest) -> Option<&str> {
    let command = manifest.install.as_deref()?;
    let published = !manifest
        .version
        .as_ref()
        .is_some_and(|version| version.text.starts_with("0.0.0"));
    (PLAIN.contains(&manifest.method) && published && !is_snapshot(command)).then_some(command)
}

fn is_for_contributors(heading: &str) -> bool {
    let heading = heading.to_lowercase();
    [
        "contribut",
        "develop",
        "from source",
        "building",
        "testing",
        "nightly",
        "upgrad",
    ]
    .iter()
    .any(|word| heading.contains(word))
}

/// What the product and its packages are called.
fn names(manifests: &[&Manifest], input: &ScoutInput) -> BTreeSet<String> {
    let config = &input.config;
    let repository = config
        .github_repo_url
        .trim_end_matches('/')
        .trim_end_matches(".git");
    let mut names: BTreeSet<String> = manifests
        .iter()
        .filter_map(|manifest| Some(manifest.name.as_ref()?.text.to_lowercase()))
        .collect();
    names.insert(config.product_name.to_lowercase());
    names.insert(config.product_slug.to_lowercase());
    names.extend(repository.rsplit(['/', ':']).next().map(str::to_lowercase));
    names.retain(|name| !name.is_empty());
    names
}

/// A command that installs one of these, without its prompt.
fn install(line: &str, names: &BTreeSet<String>) -> Option<(&'static str, String, String)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let words = match words.as_slice() {
        ["$" | ">" | "#" | "%" | "PS>", rest @ ..] => rest,
        all => all,
    };
    let command = words.join(" ");
    let odd = |c: char| {
        matches!(
            c,
            '|' | ';' | '&' | '<' | '>' | '$' | '`' | '{' | '}' | '*' | '(' | '\\'
        )
    };
    // A comment behind it is the author's note, not part of the command.
    let command = command.split(" # ").next().unwrap_or_default().to_owned();
    if command.is_empty() || command.len() > 120 || command.contains(odd) || is_snapshot(&command) {
        return None;
    }
    let bare = command.strip_prefix("sudo ").unwrap_or(&command);
    let lower = bare.to_lowercase();
    let (start, method) = WAYS.iter().find(|(start, _)| {
        lower
            .strip_prefix(start)
            .is_some_and(|rest| rest.starts_with(' '))
    })?;
    let arguments = bare.get(start.len()..)?.split_whitespace();
    let named = arguments
        .filter(|argument| !argument.starts_with('-'))
        .find(|argument| is_named(argument, names))?;
    Some((method, named.trim_matches(['"', '\'']).to_owned(), command))
}

/// Whether an argument is a package of the product: its name, in a scope or a module path, with or
/// without a version.
fn is_named(argument: &str, names: &BTreeSet<String>) -> bool {
    let argument = argument.trim_matches(['"', '\'']).to_lowercase();
    if argument.starts_with(['.', '/']) || argument.contains("git+") {
        return false;
    }
    let without_version = match argument.get(1..).and_then(|rest| rest.find('@')) {
        Some(at) => &argument[..=at],
        None => argument.as_str(),
    };
    let package = without_version
        .split(['[', '=', '~', '>', '<'])
        .next()
        .unwrap_or_default();
    let parts = || package.split(['/', ':']);
    names.contains(package)
        || parts().any(|part| names.contains(part))
        || names.iter().any(|name| {
            package
                .strip_prefix(name.as_str())
                .is_some_and(|rest| rest.starts_with('/'))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> BTreeSet<String> {
        ["acme", "acme-cli", "@acme/core", "github.com/acme/acme"]
            .map(str::to_owned)
            .into()
    }

    #[test]
    fn commands_that_install_the_product() {
        for (line, expected) in [
            ("pip install acme", Some("pip install acme")),
            ("$ pip install 'acme[all]>=2'", None),
            ("$ pip install acme[all]", Some("pip install acme[all]")),
            (
                "npm install --save-dev @acme/core@latest",
                Some("npm install --save-dev @acme/core@latest"),
            ),
            (
                "go install github.com/acme/acme/cmd/tool@latest",
                Some("go install github.com/acme/acme/cmd/tool@latest"),
            ),
            (
                "sudo apt-get install acme",
                Some("sudo apt-get install acme"),
            ),
            (
                "brew install acme/tap/acme # stable",
                Some("brew install acme/tap/acme"),
            ),
            (
                "cargo install acme-cli --locked",
                Some("cargo install acme-cli --locked"),
            ),
            ("go get ./...", None),
            ("pip install -e .", None),
            ("pip install -r requirements.txt", None),
            ("npm install", None),
            ("npm install other", None),
            ("npm install acme-extras", None),
            ("curl https://acme.dev/install.sh | sh", None),
            ("pip install acme && acme run", None),
            ("pip install acme==2.0.dev1", None),
            ("pip install git+https://example.org/acme", None),
            ("acme install pip", None),
        ] {
            let found = install(line, &names()).map(|(_, _, command)| command);
            assert_eq!(found.as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn a_plain_form_is_for_names_that_are_enough() {
        let manifest = |method, install: &str| Manifest {
            method,
            install: Some(install.to_owned()),
            ..Manifest::default()
        };
        for (method, command, expected) in [
            ("pip", "pip install acme", true),
            ("cargo", "cargo add acme", true),
            ("go", "go get example.org/acme", false),
            ("maven", "implementation 'dev.acme:acme:1.0'", false),
            (
                "nuget",
                "dotnet add package Acme --version 2.0.0-SNAPSHOT",
                false,
            ),
        ] {
            assert_eq!(
                plain(&manifest(method, command)).is_some(),
                expected,
                "{command}"
            );
        }
    }
}
