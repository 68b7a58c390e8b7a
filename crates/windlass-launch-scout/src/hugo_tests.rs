//! Where Hugo's configuration is found, and how its files are put together.

use serde_json::json;

use super::*;

fn found(files: &[(&str, &str)], folder: Option<&str>) -> Option<HugoSettings> {
    let mut paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
    paths.sort_unstable();
    let text = |path: &str| {
        let mut files = files.iter();
        files
            .find(|(other, _)| *other == path)
            .map(|(_, text)| *text)
    };
    let files = Files {
        paths: &paths,
        text: &text,
    };
    hugo_settings(&files, folder)
}

#[test]
fn a_hugo_site_is_distinguished_from_another() {
    for (path, text, is_hugo) in [
        ("hugo.toml", "", true),
        ("hugo.yaml", "title: x", true),
        ("hugo.json", "{}", true),
        ("config.toml", "baseURL = \"/\"", true),
        ("config.yaml", "theme: x", true),
        ("config.yaml", "database: x", false),
        ("config/_default/hugo.toml", "", true),
        ("config/_default/params.toml", "", true),
        ("config/app.toml", "baseURL = \"/\"", false),
        ("README.md", "", false),
    ] {
        assert_eq!(
            found(&[(path, text)], None).is_some(),
            is_hugo,
            "{path} {text}"
        );
    }
}

#[test]
fn files_are_merged_into_one() {
    let config = found(
        &[
            ("hugo.toml", "baseURL = \"https://a/\"\ntitle = \"old\""),
            ("config/_default/hugo.yaml", "title: new"),
            (
                "config/_default/languages.toml",
                "[en]\ncontentDir = \"content/en\"",
            ),
            ("config/_default/languages.de.toml", "disabled = true"),
            (
                "config/_default/params.json",
                "{\"params\": {\"Color\": \"red\"}}",
            ),
            ("config/_default/menus.en.yaml", "main: []"),
            ("config/_default/broken.toml", "= ="),
            ("config/staging/hugo.toml", "title = \"staging\""),
        ],
        None,
    )
    .unwrap();
    assert_eq!(
        Value::Object(config.settings),
        json!({
            "baseurl": "https://a/",
            "title": "new",
            "languages": {
                "de": {"disabled": true},
                "en": {"contentdir": "content/en", "menus": {"main": []}},
            },
            "params": {"color": "red"},
        })
    );
    assert_eq!(config.broken, ["config/_default/broken.toml"]);
    assert_eq!(config.root, "config");
    assert_eq!(config.files.len(), 7);
}

#[test]
fn a_named_folder_is_looked_in() {
    let config = found(
        &[("site/cfg/_default/hugo.toml", "title = \"x\"")],
        Some("site/cfg/"),
    );
    assert_eq!(config.unwrap().root, "site/cfg");
    assert!(found(&[("site/cfg/hugo.toml", "")], Some("site/cfg")).is_some());
    assert!(found(&[("site/cfg/hugo.toml", "")], None).is_none());
}
