//! Tests of source specs and their rules.

use super::*;

fn git(url: &str, reference: &str, subdir: &str, shallow: bool) -> Source {
    Source::Git(GitSource {
        url: url.into(),
        reference: reference.into(),
        subdir: subdir.into(),
        shallow,
    })
}

#[test]
fn specs_are_read() {
    for (spec, expected) in [
        (
            "local:modules/x",
            Source::LocalPath {
                path: "modules/x".into(),
            },
        ),
        (
            "git:https://host/o/r.git",
            git("https://host/o/r.git", "main", "", true),
        ),
        (
            "git:git@host:o/r.git#ref=v1&subdir=skills/a&shallow=0",
            git("git@host:o/r.git", "v1", "skills/a", false),
        ),
        (
            "git:ssh://git@host:22/o/r#&shallow=1&",
            git("ssh://git@host:22/o/r", "main", "", true),
        ),
    ] {
        assert_eq!(
            parse_source(spec, OutsidePaths::Refuse).unwrap(),
            expected,
            "{spec}"
        );
    }
}

#[test]
fn bad_specs_say_why() {
    for (spec, part) in [
        ("modules/x", "write local:<path>"),
        ("local:", "write local:<path>"),
        ("git:https://h/r#reff=x", "did you mean \"ref\"?"),
        ("git:https://h/r#ref", "not recognised"),
        ("git:https://h/r#subdir=../x", "subdir"),
        ("git:https://h/r#subdir=/etc", "absolute"),
        ("git:https://h/r#ref=--upload-pack=x", "dash"),
    ] {
        let error = parse_source(spec, OutsidePaths::Refuse).unwrap_err();
        assert!(error.to_string().contains(part), "{spec}: {error}");
    }
}

#[test]
fn must_24_add_refuses_paths_outside_unless_allowed() {
    for path in [
        "/etc/passwd",
        "../other",
        "a/../../b",
        "C:\\x",
        "c:/x",
        "\\\\server\\share",
        "a\\..\\..\\b",
    ] {
        let spec = format!("local:{path}");
        let error = parse_source(&spec, OutsidePaths::Refuse).unwrap_err();
        assert!(error.to_string().contains("--allow-outside"), "{path}");
        assert_eq!(Problem::from(error).code().name, "E_CONFIG_INVALID");
        assert!(parse_source(&spec, OutsidePaths::Allow).is_ok(), "{path}");
    }
    for path in ["a", "a/b.md", "./a", "..a", "a..b/c", "c:x"] {
        assert_eq!(leaves_repository(path), None, "{path}");
    }
}

#[test]
fn must_25_only_plain_git_addresses_are_used() {
    for url in [
        "https://github.com/o/r.git",
        "HTTPS://host/r",
        "ssh://git@host/r",
        "git://host/r",
        "file:///srv/r.git",
        "git@github.com:o/r.git",
        "host:r.git",
    ] {
        assert_eq!(check_git_url(url), Ok(()), "{url}");
    }
    for url in [
        "",
        "-oProxyCommand=x",
        "--upload-pack=touch x",
        "ext::sh -c x",
        "ext::sh",
        "http://host/r",
        "ftp://host/r",
        "/srv/r.git",
        "../r",
        "ssh://-oProxyCommand=x/r",
        "ssh://git@-oProxyCommand=x/r",
        "git@-oProxyCommand=x:r",
        "https://",
        "host:",
        ":r",
        "https://h/r\nx",
        "fd::17",
    ] {
        assert!(check_git_url(url).is_err(), "{url:?}");
    }
    for reference in ["main", "v1.0", "feature/x", "0123abcd", "refs/tags/v1"] {
        assert_eq!(check_git_reference(reference), Ok(()), "{reference}");
    }
    for reference in ["", "-x", "a b", "a..b", "a:b", "a\n", "a*", "@{-1}~"] {
        assert!(check_git_reference(reference).is_err(), "{reference:?}");
    }
}

#[test]
fn subdirs_are_cleaned() {
    let subdir = |text: &str| {
        let Source::Git(git) = git("https://h/r", "main", text, true) else {
            unreachable!()
        };
        git.subdir_path()
    };
    for (text, expected) in [
        ("", None),
        (".", None),
        ("./", None),
        ("a/b", Some("a/b")),
        ("a/b/", Some("a/b")),
        ("./a", Some("a")),
    ] {
        let path = subdir(text).unwrap();
        assert_eq!(path.as_ref().map(RelPath::as_str), expected, "{text:?}");
    }
    for text in ["..", "a/../..", "/", "/etc", "a//b", "a\\b", "a\0b"] {
        assert!(subdir(text).is_err(), "{text:?}");
    }
}

#[test]
fn default_ids_come_from_the_source() {
    for (spec, expected) in [
        ("local:modules/skills/demo", "skill:demo"),
        ("local:prompts/draft.pr.md", "skill:draft.pr"),
        ("local:modules/skills/demo/", "skill:demo"),
        ("git:https://h/o/tools.git", "skill:tools"),
        ("git:git@h:tools.git", "skill:git@h:tools"),
        ("git:https://h/o/r#subdir=a/b", "skill:b"),
        ("git:https://h/o/r#subdir=a/b/", "skill:b"),
    ] {
        let source = parse_source(spec, OutsidePaths::Refuse).unwrap();
        assert_eq!(
            default_module_id(ModuleType::Skill, &source),
            expected,
            "{spec}"
        );
    }
}
