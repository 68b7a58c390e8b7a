//! Tests of hosts, rules for them, and what is protected in a home directory.

use super::*;

#[test]
fn hosts_have_one_spelling() {
    for (text, expected) in [
        ("Example.ORG", Ok("example.org")),
        ("a_b.example.org", Ok("a_b.example.org")),
        ("127.0.0.1", Ok("127.0.0.1")),
        ("::1", Ok("[::1]")),
        ("[::1]", Ok("[::1]")),
        ("xn--bcher-kva.example", Ok("xn--bcher-kva.example")),
        ("", Err("it is empty")),
        ("example.org.", Err("a part between dots is empty")),
        ("example..org", Err("a part between dots is empty")),
        (".example.org", Err("a part between dots is empty")),
        ("evil.org\0.example.org", Err("it has control characters")),
        ("evil.org\r\n", Err("it has control characters")),
        (
            "bücher.example",
            Err("write international names in their xn-- form"),
        ),
        (
            "example。org",
            Err("write international names in their xn-- form"),
        ),
        (
            "exa mple.org",
            Err("only letters, digits, hyphens and dots may be in a name"),
        ),
        (
            "ada@example.org",
            Err("only letters, digits, hyphens and dots may be in a name"),
        ),
        (
            "%31%32%37.0.0.1",
            Err("only letters, digits, hyphens and dots may be in a name"),
        ),
        ("-example.org", Err("a part begins or ends with a hyphen")),
        (
            "2130706433",
            Err("write an IPv4 address as four decimal numbers"),
        ),
        (
            "0x7f.1",
            Err("write an IPv4 address as four decimal numbers"),
        ),
        (
            "0x7f000001",
            Err("write an IPv4 address as four decimal numbers"),
        ),
        (
            "127.1",
            Err("write an IPv4 address as four decimal numbers"),
        ),
        (
            "0177.0.0.1",
            Err("write an IPv4 address as four decimal numbers"),
        ),
        ("fe80::1%eth0", Err("it is not an IPv6 address")),
        (
            "[127.0.0.1]",
            Err("the brackets do not hold an IPv6 address"),
        ),
    ] {
        let found = Host::parse(text).map(|host| host.to_string());
        let expected = expected.map(str::to_owned);
        assert_eq!(found.map_err(|error| error.why), expected, "{text:?}");
    }
}

#[test]
fn rules_fit_hosts_and_ports() {
    for (rule, host, port, expected) in [
        ("example.org", "example.org", 443, true),
        ("example.org", "EXAMPLE.org", 80, true),
        ("example.org", "example.org", 22, false),
        ("example.org:22", "example.org", 22, true),
        ("example.org:22", "example.org", 443, false),
        ("example.org", "a.example.org", 443, false),
        ("*.example.org", "a.example.org", 443, true),
        ("*.example.org", "a.b.example.org", 443, true),
        ("*.example.org", "example.org", 443, false),
        ("*.example.org", "evilexample.org", 443, false),
        ("127.0.0.1:8080", "127.0.0.1", 8080, true),
        ("127.0.0.1:8080", "localhost", 8080, false),
        ("[::1]:8080", "::1", 8080, true),
        ("::1", "::1", 443, true),
    ] {
        let rule = HostRule::parse(rule).unwrap();
        let host = Host::parse(host).unwrap();
        assert_eq!(rule.fits(&host, port), expected, "{rule:?} {host} {port}");
    }
    for text in [
        "*",
        "*.org",
        "*.127.0.0.1",
        "example.org:0",
        "example.org:x",
        "0.0.0.0",
        "a:b:c",
    ] {
        assert!(HostRule::parse(text).is_err(), "{text}");
    }
}

#[test]
fn a_home_that_may_be_written_keeps_its_start_files_and_credentials() {
    let home = Path::new("/home/ada");
    let protected = |root: &str| {
        let confinement =
            Confinement::read_only(root.into(), Some(home)).writing([root.into()], Some(home));
        let paths = confinement.protected.into_iter().map(|entry| entry.path);
        paths.collect::<Vec<_>>()
    };
    assert!(protected("/home/ada").contains(&"/home/ada/.bashrc".into()));
    assert!(protected("/home").contains(&"/home/ada/.ssh".into()));
    let project = protected("/home/ada/shop");
    assert!(project.contains(&"/home/ada/shop/.git/hooks".into()));
    assert!(!project.contains(&"/home/ada/.bashrc".into()));
}
