//! Which addresses and names reach git, and what is hidden in messages.

use super::*;

#[test]
fn must_25_addresses_that_git_may_see() {
    for url in [
        "https://example.com/a.git",
        "https://user:token@example.com/a b.git",
        "ssh://git@example.com:22/a.git",
        "git://example.com/a",
        "file:///srv/a.git",
        "git@example.com:team/a.git",
        "example.com:a",
    ] {
        assert_eq!(check_url(url), Ok(()), "{url}");
    }
}

#[test]
fn must_25_addresses_that_git_never_sees() {
    for (url, rule) in [
        ("", "it is empty"),
        ("-u", "it starts with `-`"),
        ("--upload-pack=touch x", "it starts with `-`"),
        ("https://a/\nb", "it contains a control character"),
        ("http://a/b", "http is not encrypted; use https"),
        (
            "ftp://a/b",
            "only https, ssh, git, file and `user@host:path` are allowed",
        ),
        (
            "HTTPS://a/b",
            "only https, ssh, git, file and `user@host:path` are allowed",
        ),
        (
            "ext::sh -c touch% x",
            "only https, ssh, git, file and `user@host:path` are allowed",
        ),
        (
            "ext::https://a/b",
            "only https, ssh, git, file and `user@host:path` are allowed",
        ),
        ("https:///b", "it names no host"),
        ("ssh://-oProxyCommand=x/b", "its host starts with `-`"),
        ("ssh://git@-oProxyCommand=x/b", "its host starts with `-`"),
        ("git@-oProxyCommand=x:b", "its host or path starts with `-`"),
        ("git@host:-b", "its host or path starts with `-`"),
        ("git@:b", "it is not `user@host:path`"),
        ("host:", "it is not `user@host:path`"),
        ("a host:b", "its host contains a blank"),
        (
            "file://host/b",
            "a file address is `file:///` and an absolute path",
        ),
        (
            "/srv/a.git",
            "a path is not an address; write `file:///` and the absolute path of the repository",
        ),
        (
            "./a:b",
            "a path is not an address; write `file:///` and the absolute path of the repository",
        ),
        (
            "c:\\a",
            "a path is not an address; write `file:///` and the absolute path of the repository",
        ),
    ] {
        assert_eq!(
            check_url(url).map_err(|refused| refused.rule),
            Err(rule),
            "{url}"
        );
    }
}

#[test]
fn references_are_names_and_nothing_else() {
    for name in [
        "main",
        "feature/x",
        "v1.0",
        "refs/heads/x",
        "a-b",
        "ä",
        "HEAD",
    ] {
        assert_eq!(check_reference(name), Ok(()), "{name}");
    }
    for name in [
        "", "-d", "a b", "a..b", "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "@", "a@{1}", "/a",
        "a/", "a//b", ".a", "a/.b", "a.lock", "a.lock/b", "a.", "a\n",
    ] {
        assert!(check_reference(name).is_err(), "{name}");
    }
}

#[test]
fn revisions_name_one_commit() {
    for revision in ["HEAD", "HEAD~2", "v1^{}", "main@{1}", "0123abc"] {
        assert_eq!(check_revision(revision), Ok(()), "{revision}");
    }
    for revision in ["", "-p", "a..b", "HEAD:x", "a b", "a\nb"] {
        assert!(check_revision(revision).is_err(), "{revision}");
    }
}

#[test]
fn credentials_are_hidden_in_every_address() {
    for (text, shown) in [
        ("https://u:secret@h/a.git", "https://***@h/a.git"),
        ("https://secret@h/a.git", "https://***@h/a.git"),
        ("ssh://git@h/a", "ssh://git@h/a"),
        ("ssh://git:secret@h/a", "ssh://***@h/a"),
        ("git@h:a", "git@h:a"),
        (
            "fatal: 'https://u:p@h/a' and https://t@h\nhttps://h/a@b",
            "fatal: 'https://***@h/a' and https://***@h\nhttps://h/a@b",
        ),
    ] {
        assert_eq!(hide_credentials(text), shown);
    }
    let refused = check_url("http://u:secret@h/a").unwrap_err();
    assert_eq!(
        refused.to_string(),
        "git address `http://***@h/a` is refused: http is not encrypted; use https"
    );
}

#[test]
fn a_failure_says_what_ran_where_and_what_git_said() {
    let error = GitError::Failed {
        args: vec!["push".into(), "origin".into()],
        cwd: "/repo".into(),
        stderr: "fatal: no\n".into(),
        code: Some(128),
    };
    assert_eq!(
        error.to_string(),
        "`git push origin` in /repo ended with exit code 128: fatal: no"
    );
}

#[test]
fn full_ids_have_one_of_two_lengths() {
    for (length, full) in [(39, false), (40, true), (41, false), (64, true), (0, false)] {
        assert_eq!(is_object_id(&"a".repeat(length)), full, "{length}");
    }
    assert!(!is_object_id(&"g".repeat(40)));
}

#[test]
fn a_moved_branch_says_where_it_is() {
    let moved = |expected: Option<&str>, found: Option<&str>| {
        let error = GitError::Moved {
            branch: "launch/x".to_owned(),
            expected: expected.map(str::to_owned),
            found: found.map(str::to_owned),
        };
        error.to_string()
    };
    assert_eq!(
        moved(None, Some("1")),
        "branch `launch/x` is at 1 and was expected absent"
    );
    assert_eq!(
        moved(Some("1"), None),
        "branch `launch/x` is absent and was expected at 1"
    );
}
