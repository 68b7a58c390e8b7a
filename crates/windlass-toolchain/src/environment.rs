//! What Hugo gets: its arguments and its whole environment.
//!
//! Nothing of this process's environment reaches it. Settings given here win over the site's
//! own configuration.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
};

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
    exec_allow: &[String],
    search: &OsStr,
) -> Vec<(&'static str, OsString)> {
    let own_folder = program.parent().unwrap_or(Path::new("/"));
    let (path, allowed) = match exec_allow {
        [] => (own_folder.into(), "none".to_owned()),
        // One pattern is kept as it is: Hugo knows forms that are no regular expressions.
        [one] => (search.to_owned(), one.clone()),
        many => {
            let each: Vec<String> = many.iter().map(|one| format!("(?:{one})")).collect();
            (search.to_owned(), each.join("|"))
        }
    };
    vec![
        ("PATH", path),
        ("HOME", private.home().into()),
        ("TMPDIR", private.temporary().into()),
        ("LANG", "C.UTF-8".into()),
        ("TZ", "UTC".into()),
        ("HUGO_CACHEDIR", private.cache().into()),
        ("HUGO_RESOURCEDIR", "resources".into()),
        ("HUGO_SECURITY_EXEC_ALLOW", allowed.into()),
        ("HUGO_SECURITY_HTTP_URLS", "none".into()),
        // The copy has no history, and git is not among the programs that may be started.
        ("HUGO_ENABLEGITINFO", "false".into()),
        // Modules come with the site or not at all.
        ("HUGO_MODULE_PROXY", "off".into()),
        ("HUGO_MODULE_WORKSPACE", "off".into()),
        ("GOPROXY", "off".into()),
        ("GOTOOLCHAIN", "local".into()),
        ("GOENV", "off".into()),
        ("GIT_CONFIG_NOSYSTEM", "1".into()),
        ("GIT_TERMINAL_PROMPT", "0".into()),
    ]
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
            let given = variables(
                &private,
                Path::new("/opt/hugo/hugo"),
                &exec_allow,
                OsStr::new("/usr/bin:/bin"),
            );
            let value = |name| {
                let found = given.iter().find(|(known, _)| *known == name);
                found.and_then(|(_, value)| value.to_str()).unwrap()
            };
            assert_eq!(
                (value("PATH"), value("HUGO_SECURITY_EXEC_ALLOW")),
                (path, allowed)
            );
            assert_eq!(value("HUGO_SECURITY_HTTP_URLS"), "none");
        }
    }
}
