//! What a site's configuration means for where pages go.

use super::*;
use crate::{test_input, tree::File};

fn look(files: &[(&str, &str)], change: impl FnOnce(&mut ScoutInput)) -> Site {
    let mut tree = Tree::default();
    for (path, text) in files {
        tree.files.insert(
            (*path).to_owned(),
            File {
                size: text.len() as u64,
                digest: windlass_types::Digest::ZERO,
                binary: false,
                text: Some((*text).into()),
            },
        );
    }
    let mut input = test_input();
    change(&mut input);
    site(&tree, &input)
}

#[test]
fn a_plain_site_has_its_sections_in_the_root() {
    let site = look(&[("docs/a.md", "")], |_| {});
    assert_eq!(site.context.site_kind, SiteKind::Markdown);
    assert_eq!(site.context.content_root, ".");
    assert_eq!(site.context.section_roots[&Section::Docs], "docs");
    assert_eq!(site.hugo, None);
}

#[test]
fn the_content_folder_of_the_language_wins() {
    let text = "contentDir = \"pages\"\n[languages.en]\ncontentDir = \"pages/en/\"\n";
    let site = look(&[("hugo.toml", text)], |_| {});
    assert_eq!(site.context.content_root, "pages/en");
    let site = look(&[("hugo.toml", text)], |input| {
        input.config.locales = vec!["de".to_owned()];
    });
    assert_eq!(site.context.content_root, "pages");
    let site = look(&[("hugo.toml", "")], |_| {});
    assert_eq!(site.context.content_root, "content");
    let site = look(&[("hugo.toml", text)], |input| {
        input.config.site_layout.content_root = Some("./mine/".to_owned());
        let roots = &mut input.config.site_layout.subdomain_roots;
        roots.insert(Section::Blog, "news".to_owned());
    });
    assert_eq!(site.context.section_roots[&Section::Docs], "mine/docs");
    assert_eq!(site.context.section_roots[&Section::Blog], "news");
}

#[test]
fn facts_of_a_site_with_languages() {
    let text = "baseURL = \"https://a.example/\"\ndefaultContentLanguage = \"de\"\n\
        defaultContentLanguageInSubdir = true\ndisableLanguages = [\"fr\"]\n\
        [permalinks]\nblog = \"/:year/:slug/\"\n[outputs]\nhome = [\"HTML\", \"RSS\"]\n\
        [languages.de]\n[languages.en]\n[languages.fr]\n[languages.it]\ndisabled = true\n";
    let site = look(&[("hugo.toml", text)], |_| {});
    insta::assert_snapshot!(serde_json::to_string_pretty(&site.hugo).unwrap(), @r#"
    {
      "schema_version": "1.0",
      "base_url": "https://a.example/",
      "content_dir": "content",
      "languages": [
        "de",
        "en"
      ],
      "disabled_languages": [
        "fr",
        "it"
      ],
      "default_language": "de",
      "default_language_in_subdir": true,
      "permalinks": {
        "blog": "/:year/:slug/"
      },
      "outputs": {
        "home": [
          "HTML",
          "RSS"
        ]
      },
      "taxonomies": {
        "category": "categories",
        "tag": "tags"
      },
      "source_files": [
        "hugo.toml"
      ]
    }
    "#);
    let targets = site.context.hugo.unwrap().build_matrix;
    let languages: Vec<&str> = targets
        .iter()
        .map(|target| target.language.as_str())
        .collect();
    assert_eq!(languages, ["de", "en"]);
}

#[test]
fn language_folders_are_detected() {
    let site = look(
        &[
            ("docs/acme-pdf/en/a.md", ""),
            ("blog/a.md", ""),
            ("kb/english/a.md", ""),
        ],
        |_| {},
    );
    let sections: Vec<Section> = site.with_language_folders.into_iter().collect();
    assert_eq!(sections, [Section::Docs]);
}
