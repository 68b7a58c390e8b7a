//! What is read as configuration, and what is left to git.

use super::*;

fn plain(text: &str) -> Option<bool> {
    Config::read(text).map(|config| config.is_plain())
}

#[test]
fn the_form_that_git_writes_is_read() {
    let text = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfilemode\n# c\n; c\n\n\
                [remote \"origin\"]\n\turl = https://h/a\n[branch \"a b.c\"]\n\tmerge = \"x\" # y\n";
    assert_eq!(plain(text), Some(true));
}

#[test]
fn anything_that_points_elsewhere_is_not_plain() {
    for text in [
        "[core]\n\tworktree = ../x\n",
        "[core]\n\tbare = true\n",
        "[core]\n\tbare\n",
        "[CORE]\n\tBare = true\n",
        "[core]\n\trepositoryformatversion = 1\n",
        "[extensions]\n\tworktreeConfig = true\n",
        "[include]\n\tpath = x\n",
        "[includeIf \"gitdir:x\"]\n\tpath = x\n",
        "[url \"https://h/\"]\n\tinsteadOf = h:\n",
    ] {
        assert_eq!(plain(text), Some(false), "{text:?}");
    }
}

#[test]
fn unusual_syntax_is_left_to_git() {
    for text in [
        "\u{feff}[core]\n",
        "[core]\r\n",
        "[core] bare = true\n",
        "[remote.origin]\n",
        "[remote \"a\\\"b\"]\n",
        "[remote  \"a\"]\n",
        "[ core]\n",
        "[core\n",
        "key = value\n",
        "[a]\n\tb = c\\\n\td\n",
        "[a]\n\tb c = d\n",
        "[]\n",
    ] {
        assert_eq!(plain(text), None, "{text:?}");
    }
}

#[test]
fn only_silent_files_are_passed_over() {
    for (text, silent) in [
        (
            "[user]\n\tname = A\n[push]\n\tautoSetupRemote = true\n",
            true,
        ),
        ("[alias]\n\tx = \"!f() { :; }; f\"\n", true),
        ("[Include]\n\tpath = x\n", false),
        ("[includeIf \"onbranch:x\"]\n", false),
        ("[url \"x\"] INSTEADOF = y\n", false),
        ("[remote \"origin\"]\n\turl = x\n", false),
        ("[ remote \"origin\"]\n", false),
    ] {
        assert_eq!(is_silent(text), silent, "{text:?}");
    }
}

#[test]
fn a_script_called_git_may_do_anything() {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("git");
    fs_err::write(&script, "#!/bin/sh\n").unwrap();
    assert_eq!(starts_like_a_binary(&script), Some(false));
    assert_eq!(system_files(&script), None);
    // A binary in a place that says nothing.
    fs_err::write(&script, "\x7fELF...").unwrap();
    assert_eq!(starts_like_a_binary(&script), Some(true));
    assert_eq!(system_files(&script), None);
    assert_eq!(system_files(&directory.path().join("absent")), None);
}
