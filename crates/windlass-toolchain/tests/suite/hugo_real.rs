//! The real Hugo: what it builds, and how it fails.

use std::time::Duration;

use windlass_ports::{HugoJob, ToolError, Toolchain as _};

use super::support::{LONG, World};

/// The version `cargo xtask test` installs.
const PINNED: &str = "0.168.0";

/// Its output is shown also when it passes, so that tests which had no Hugo do not go unnoticed.
#[test]
fn the_real_hugo_is_there_or_missed_aloud() {
    if let Some(world) = World::real() {
        assert_eq!(world.hugo.hugo_version().as_deref(), Some(PINNED));
    }
}

#[test]
fn a_site_is_rendered() {
    let Some(world) = World::real() else { return };
    world.write(
        "site/content/docs/guide.md",
        "---\ntitle: Guide\n---\nReads **files**. <!-- claim_id: abc -->\n",
    );
    let log = world.success();
    assert!(log.contains("Total in"), "{log}");
    let page = world.read("out/docs/guide/index.html");
    assert_eq!(page.trim(), "Guide: <p>Reads <strong>files</strong>. </p>");
}

#[test]
fn the_configuration_may_be_in_a_folder() {
    let Some(world) = World::real() else { return };
    fs_err::remove_file(world.place("site/hugo.toml")).unwrap();
    world.write(
        "site/layouts/home.html",
        "{{ site.Title }} {{ hugo.Environment }}\n",
    );
    for (file, title) in [
        ("setup/_default/hugo.toml", "Split"),
        ("one/hugo.toml", "One"),
    ] {
        world.write(&format!("site/{file}"), &format!("title = '{title}'\n"));
        let built = world.hugo.hugo_build(&HugoJob {
            site: &world.place("site"),
            config_dir: file.split('/').next(),
            out: &world.place(title),
            exec_allow: &[],
            http_allow: &[],
            module_proxy: None,
            limit: LONG,
            stopped: &|| false,
        });
        let built = built.unwrap();
        assert!(built.success, "{}", built.log);
        assert_eq!(
            world.read(&format!("{title}/index.html")),
            format!("{title} production\n")
        );
    }
}

#[test]
fn mistakes_are_reported_with_their_place() {
    let Some(world) = World::real() else { return };
    let cases = [
        (
            "site/layouts/page.html",
            "{{ .NoSuchField }}",
            "layouts/page.html:1:3",
        ),
        ("site/layouts/page.html", "{{ end }}", "unexpected {{end}}"),
        (
            "site/content/page.md",
            "---\ntitle: [\n---\n",
            "content/page.md",
        ),
        ("site/hugo.toml", "title = \n", "hugo.toml:1"),
        (
            "site/hugo.toml",
            "theme = 'gone'\n",
            "module \"gone\" not found",
        ),
    ];
    for (file, text, expected) in cases {
        let Some(world) = World::real() else { return };
        world.write("site/content/page.md", "---\ntitle: Page\n---\n");
        world.write(file, text);
        let log = world.failure();
        let error_line = log.lines().find(|line| line.starts_with("ERROR"));
        assert!(
            error_line.is_some_and(|line| line.contains(expected)),
            "{log}"
        );
    }
    // The site as it was is fine.
    world.success();
}

#[test]
fn an_endless_build_is_stopped() {
    let Some(world) = World::real() else { return };
    let endless = "{{ range seq 100000 }}{{ range seq 100000 }}{{ end }}{{ end }}";
    world.write("site/layouts/home.html", endless);
    assert_eq!(
        world.build_with(&[], Duration::from_secs(3), &|| false),
        Err(ToolError::TimedOut)
    );
}
