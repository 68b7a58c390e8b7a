//! What Hugo gets: its arguments and its whole environment.
//!
//! Nothing of this process's environment reaches it. Settings given here win over the site's
//! own configuration.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
};

use windlass_ports::HugoJob;

use crate::hugo::Private;

/// Folders that may hold one configuration file instead of `_default`.
const CONFIG_FILES: [&str; 8] = [
    "hugo.toml",
    "hugo.yaml",
    "hugo.yml",
    "hugo.json",
    "config.toml",
    "config.yaml",
    "config.yml",
    "config.json",
];

/// The arguments that say which configuration is meant.
pub fn configuration(site: &Path, config_dir: Option<&str>) -> Vec<OsString> {
    let mut arguments = vec![OsString::from("--environment"), "production".into()];
    let folder = config_dir.map(|folder| folder.trim_start_matches("./").trim_end_matches('/'));
    let Some(folder) = folder.filter(|folder| !folder.is_empty() && *folder != ".") else {
        return arguments;
    };
    arguments.extend(["--configDir".into(), folder.into()]);
    let file_in = |folder: &Path| {
        let found = CONFIG_FILES.iter().map(|name| folder.join(name));
        found.into_iter().find(|path| site.join(path).is_file())
    };
    // Hugo looks for single files in the site's root only.
    if let (None, Some(file)) = (file_in(Path::new("")), file_in(Path::new(folder))) {
        arguments.extend(["--config".into(), file.into()]);
    }
    arguments
}

/// The environment of a build; `search` is the `PATH` of programs it may start.
pub fn variables(
    private: &Private,
    program: &Path,
    job: &HugoJob<'_>,
    search: &OsStr,
) -> Vec<(&'static str, OsString)> {
    let own_folder = program.parent().unwrap_or(Path::new("/"));
    let (path, allowed) = match job.exec_allow {
        [] => (own_folder.into(), "none".to_owned()),
        // One pattern is kept as it is: Hugo knows forms that are no regular expressions.
        [one] => (search.to_owned(), one.clone()),
        many => {
            let each: Vec<String> = many.iter().map(|one| format!("(?:{one})")).collect();
            (search.to_owned(), each.join("|"))
        }
    };
    let urls = match job.http_allow {
        [] => "none".to_owned(),
        some => {
            let each: Vec<String> = some
                .iter()
                .map(|url| format!("^{}", literally(url)))
                .collect();
            each.join("|")
        }
    };
    let proxy = job.module_proxy.unwrap_or("off");
    vec![
        ("PATH", path),
        ("HOME", private.home().into()),
        ("TMPDIR", private.temporary().into()),
        ("LANG", "C.UTF-8".into()),
        ("TZ", "UTC".into()),
        ("HUGO_CACHEDIR", private.cache().into()),
        ("HUGO_RESOURCEDIR", "resources".into()),
        ("HUGO_SECURITY_EXEC_ALLOW", allowed.into()),
        ("HUGO_SECURITY_HTTP_URLS", urls.into()),
        // The copy has no history, and git is not among the programs that may be started.
        ("HUGO_ENABLEGITINFO", "false".into()),
        // Modules come with the site or from where they are allowed to come from.
        ("HUGO_MODULE_PROXY", proxy.into()),
        ("HUGO_MODULE_WORKSPACE", "off".into()),
        ("GOPROXY", proxy.into()),
        ("GOTOOLCHAIN", "local".into()),
        ("GOENV", "off".into()),
        ("GIT_CONFIG_NOSYSTEM", "1".into()),
        ("GIT_TERMINAL_PROMPT", "0".into()),
    ]
}

/// An address as a pattern that fits it alone.
fn literally(url: &str) -> String {
    let mut pattern = String::with_capacity(url.len() + 8);
    for character in url.chars() {
        if !character.is_alphanumeric() && !matches!(character, '/' | ':' | '-' | '_') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_configuration() {
        let site = tempfile::tempdir().unwrap();
        for folder in ["config/_default", "single", "empty"] {
            fs_err::create_dir_all(site.path().join(folder)).unwrap();
        }
        fs_err::write(site.path().join("single/hugo.yaml"), "").unwrap();
        let arguments = |config_dir| {
            let arguments = configuration(site.path(), config_dir);
            arguments.join(OsStr::new(" ")).into_string().unwrap()
        };
        for (config_dir, expected) in [
            (None, "--environment production"),
            (Some("."), "--environment production"),
            (Some("./"), "--environment production"),
            (
                Some("./config/"),
                "--environment production --configDir config",
            ),
            (
                Some("single"),
                "--environment production --configDir single --config single/hugo.yaml",
            ),
            (Some("empty"), "--environment production --configDir empty"),
        ] {
            assert_eq!(arguments(config_dir), expected);
        }
        fs_err::write(site.path().join("config.toml"), "").unwrap();
        assert_eq!(
            arguments(Some("single")),
            "--environment production --configDir single"
        );
    }

    #[test]
    fn programs_that_may_be_started() {
        let folder = tempfile::tempdir().unwrap();
        let private = Private::below(folder.path()).unwrap();
        for (exec_allow, path, allowed) in [
            (&[][..], "/opt/hugo", "none"),
            (&["^npx$"][..], "/usr/bin:/bin", "^npx$"),
            (&["^a$", "b|c"][..], "/usr/bin:/bin", "(?:^a$)|(?:b|c)"),
        ] {
            let exec_allow: Vec<String> = exec_allow.iter().map(ToString::to_string).collect();
            let http_allow = ["https://files.acme.dev/a".to_owned()];
            let mut job = HugoJob {
                site: folder.path(),
                config_dir: None,
                out: folder.path(),
                exec_allow: &exec_allow,
                http_allow: &[],
                module_proxy: None,
                limit: std::time::Duration::ZERO,
                stopped: &|| false,
            };
            let with = |job: &HugoJob<'_>| {
                let (program, path) = (Path::new("/opt/hugo/hugo"), OsStr::new("/usr/bin:/bin"));
                variables(&private, program, job, path)
            };
            let given = with(&job);
            let value = |name| {
                let found = given.iter().find(|(known, _)| *known == name);
                found.and_then(|(_, value)| value.to_str()).unwrap()
            };
            assert_eq!(
                (value("PATH"), value("HUGO_SECURITY_EXEC_ALLOW")),
                (path, allowed)
            );
            assert_eq!(value("HUGO_SECURITY_HTTP_URLS"), "none");
            assert_eq!(
                (value("GOPROXY"), value("HUGO_MODULE_PROXY")),
                ("off", "off")
            );
            job.http_allow = &http_allow;
            job.module_proxy = Some("https://proxy.golang.org");
            let given = with(&job);
            let value = |name| {
                let found = given.iter().find(|(known, _)| *known == name);
                found.and_then(|(_, value)| value.to_str()).unwrap()
            };
            assert_eq!(
                value("HUGO_SECURITY_HTTP_URLS"),
                r"^https://files\.acme\.dev/a"
            );
            assert_eq!(value("GOPROXY"), "https://proxy.golang.org");
        }
    }
}
