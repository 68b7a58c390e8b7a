//! Ruby: `*.gemspec`, searched for literal values.

use regex::Regex;

use super::{Manifest, Requirement, is_plain, literal, locate};

pub(super) fn gemspec(path: &str, text: &str) -> Option<Manifest> {
    let found = |key: &str| locate(text, key, &literal::quoted(text, key)?);
    let name = found("name");
    let dependency =
        Regex::new(r#"add_(?:runtime_)?dependency\s*\(?\s*["']([\w.-]{1,100})["']"#).ok()?;
    Some(Manifest {
        path: path.to_owned(),
        platform: "ruby",
        build_system: "rubygems".to_owned(),
        method: "gem",
        version: found("version"),
        description: found("summary").or_else(|| found("description")),
        license: found("license"),
        dependencies: dependency
            .captures_iter(text)
            .map(|found| found[1].to_owned())
            .collect(),
        runtimes: found("required_ruby_version")
            .map(|spec| Requirement {
                runtime: "Ruby",
                spec,
            })
            .into_iter()
            .collect(),
        install: name
            .as_ref()
            .filter(|name| is_plain(&name.text))
            .map(|name| format!("gem install {}", name.text)),
        has_program: text.contains(".executables"),
        has_library: true,
        name,
        ..Manifest::default()
    })
}
