//! Which environment variables a confined program gets.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt as _,
};

use windlass_ports::sandbox::Network;

/// Say who and where, how to print, and where tools are; none holds a credential or names a socket.
const HARMLESS: [&str; 24] = [
    "CARGO_HOME",
    "CI",
    "CLICOLOR",
    "COLORTERM",
    "COLUMNS",
    "FORCE_COLOR",
    "GOPATH",
    "GOROOT",
    "HOME",
    "JAVA_HOME",
    "LANG",
    "LANGUAGE",
    "LINES",
    "LOGNAME",
    "NO_COLOR",
    "NVM_DIR",
    "PYENV_ROOT",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "SHELL",
    "SOURCE_DATE_EPOCH",
    "TERM",
    "TZ",
    "USER",
];

/// Where the proxy listens inside the sandbox. Its network is its own, so the port is always free.
pub const PROXY_PORT: u16 = 3128;

/// The environment of a confined program: harmless variables and named ones, never the loader's.
pub fn allowed(
    given: &[(OsString, OsString)],
    named: &[String],
    network: &Network,
    temporary: Option<&str>,
) -> Vec<(OsString, OsString)> {
    let mut kept: Vec<(OsString, OsString)> = given
        .iter()
        .filter(|(name, _)| is_allowed(name, named))
        .cloned()
        .collect();
    if let Some((_, path)) = given.iter().find(|(name, _)| name == "PATH") {
        let absolute = windlass_process::absolute_entries(path);
        kept.push(("PATH".into(), absolute));
    }
    kept.extend(temporary.map(|folder| ("TMPDIR".into(), folder.into())));
    if let Network::Hosts(rules) = network {
        let proxy = format!("http://127.0.0.1:{PROXY_PORT}");
        for name in ["http_proxy", "https_proxy", "all_proxy"] {
            kept.push((name.to_uppercase().into(), proxy.clone().into()));
            kept.push((name.into(), proxy.clone().into()));
        }
        // Servers of the program's own, except those that the list means outside.
        let own = ["localhost", "127.0.0.1", "::1"].into_iter().filter(|own| {
            let listed = |rule: &windlass_ports::sandbox::HostRule| {
                rule.host.to_string().trim_matches(['[', ']']) == *own
            };
            !rules.iter().any(listed)
        });
        let direct = own.collect::<Vec<_>>().join(",");
        kept.push(("no_proxy".into(), direct.clone().into()));
        kept.push(("NO_PROXY".into(), direct.into()));
        kept.push(("NODE_USE_ENV_PROXY".into(), "1".into()));
    }
    kept
}

fn is_allowed(name: &OsStr, named: &[String]) -> bool {
    let bytes = name.as_bytes();
    // The loader obeys these before the program's first instruction.
    if bytes.starts_with(b"LD_") || bytes.starts_with(b"GLIBC_") || bytes == b"PATH" {
        return false;
    }
    let Some(text) = name.to_str() else {
        return false;
    };
    HARMLESS.contains(&text) || text.starts_with("LC_") || named.iter().any(|own| own == text)
}

#[cfg(test)]
mod tests {
    use windlass_ports::sandbox::HostRule;

    use super::*;

    fn shown(named: &[&str], network: &Network) -> String {
        let given = [
            ("PATH", "/usr/bin:.:/bin"),
            ("HOME", "/home/ada"),
            ("LC_ALL", "C.UTF-8"),
            ("LD_PRELOAD", "/tmp/x.so"),
            ("GITHUB_TOKEN", "t"),
            ("SSH_AUTH_SOCK", "/tmp/agent"),
            ("HTTP_PROXY", "http://elsewhere"),
        ]
        .map(|(name, value)| (name.into(), value.into()));
        let named: Vec<String> = named.iter().map(|name| (*name).to_owned()).collect();
        allowed(&given, &named, network, Some("/tmp"))
            .iter()
            .map(|(name, value)| format!("{}={}\n", name.display(), value.display()))
            .collect()
    }

    #[test]
    fn harmless_and_named_variables_remain() {
        insta::assert_snapshot!(shown(&[], &Network::Off), @r"
        HOME=/home/ada
        LC_ALL=C.UTF-8
        PATH=/usr/bin:/bin
        TMPDIR=/tmp
        ");
        insta::assert_snapshot!(shown(&["GITHUB_TOKEN", "LD_PRELOAD"], &Network::On), @r"
        HOME=/home/ada
        LC_ALL=C.UTF-8
        GITHUB_TOKEN=t
        PATH=/usr/bin:/bin
        TMPDIR=/tmp
        ");
    }

    #[test]
    fn a_list_of_hosts_names_the_proxy() {
        let rules = vec![HostRule::parse("127.0.0.1:8080").unwrap()];
        let found = shown(&[], &Network::Hosts(rules));
        assert!(
            found.contains("https_proxy=http://127.0.0.1:3128\n"),
            "{found}"
        );
        assert!(found.contains("no_proxy=localhost,::1\n"), "{found}");
        assert!(!found.contains("elsewhere"), "{found}");
    }
}
