//! What a hostile site gets out of the real Hugo: nothing.

use std::{io::ErrorKind, net::TcpListener, os::unix::fs::symlink};

use super::support::World;

/// Lets a site do everything, as far as the site has a say in it.
const OPEN: &str = "\
[security.exec]
allow = ['.*']
osEnv = ['.*']
[security.funcs]
getenv = ['.*']
[security.http]
urls = ['.*']
methods = ['.*']
";

fn hostile(configuration: &str, home: &str) -> Option<World> {
    let world = World::real()?;
    world.write("site/hugo.toml", &format!("{configuration}\n{OPEN}"));
    world.write("site/layouts/home.html", home);
    world.write("outside/secret.txt", "the secret");
    Some(world)
}

#[test]
fn the_environment_holds_nothing() {
    // All of them are set for this process, by Cargo or the shell.
    let names = ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", super::support::REAL];
    assert!(
        names[..2]
            .iter()
            .all(|name| std::env::var_os(name).is_some())
    );
    let asked = names
        .map(|name| format!("[{{{{ getenv {name:?} }}}}]"))
        .join("");
    let home = format!("{asked} [{{{{ getenv \"TZ\" }}}}]");
    let Some(world) = hostile("", &home) else {
        return;
    };
    world.success();
    assert_eq!(world.read("out/index.html"), "[][][] [UTC]");
}

#[test]
fn no_program_is_started_unless_allowed() {
    let Some(world) = hostile("", "home") else {
        return;
    };
    world.write("site/content/page.adoc", "= Page\n\ntext\n");
    world.script(
        "bin/asciidoctor",
        "cat > /dev/null; echo '<p>converted</p>'\n",
    );
    let log = world.failure();
    assert!(log.contains("asciidoctor not found in $PATH"), "{log}");
    assert!(
        log.ends_with("name those it needs in hugo.exec_allow\n"),
        "{log}"
    );
    // What else there is stays forbidden when one program is allowed.
    let others = world.build_with(&["^other$"], super::support::LONG, &|| false);
    let others = others.unwrap();
    assert!(!others.success);
    let refused = "\"asciidoctor\" is not whitelisted in policy \"security.exec.allow\"";
    assert!(others.log.contains(refused), "{}", others.log);
    for allowed in [&["^asciidoctor$"][..], &["^npx$", "^asciidoctor$"][..]] {
        let build = world
            .build_with(allowed, super::support::LONG, &|| false)
            .unwrap();
        assert!(build.success, "{}", build.log);
        let page = world.read("out/page/index.html");
        assert!(page.contains("<p>converted</p>"), "{page}");
        fs_err::remove_dir_all(world.place("out")).unwrap();
    }
}

#[test]
fn nothing_is_fetched() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let home = format!("{{{{ (resources.GetRemote \"http://{address}/\").Content }}}}");
    let Some(world) = hostile("", &home) else {
        return;
    };
    let log = world.failure();
    assert!(
        log.contains("is not whitelisted in policy \"security.http.urls\""),
        "{log}"
    );
    assert!(
        log.contains(&format!("http_allow: [\"http://{address}/\"]")),
        "{log}"
    );
    let called = listener.accept().map(drop).map_err(|error| error.kind());
    assert_eq!(called, Err(ErrorKind::WouldBlock));
}

#[test]
fn what_is_allowed_is_fetched() {
    use std::io::{Read as _, Write as _};

    use windlass_ports::Toolchain as _;

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let home = format!("{{{{ (resources.GetRemote \"http://{address}/a.txt\").Content }}}}");
    let Some(world) = hostile("", &home) else {
        return;
    };
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 7\r\nConnection: close\r\n\r\nfetched",
            );
        }
    });
    let allowed = [format!("http://{address}/")];
    let build = |http_allow: &[String]| {
        let built = world.hugo.hugo_build(&windlass_ports::HugoJob {
            site: &world.place("site"),
            config_dir: None,
            out: &world.place("out"),
            exec_allow: &[],
            http_allow,
            module_proxy: None,
            limit: super::support::LONG,
            stopped: &|| false,
        });
        built.unwrap()
    };
    let built = build(&allowed);
    assert!(built.success, "{}", built.log);
    assert_eq!(world.read("out/index.html").trim(), "fetched");
    // Another address is refused as before.
    let built = build(&["http://127.0.0.1:1/".to_owned()]);
    assert!(!built.success, "{}", built.log);
}

#[test]
fn modules_are_not_downloaded() {
    let Some(world) = hostile(
        "[[module.imports]]\npath = 'git.example/acme/theme'",
        "home",
    ) else {
        return;
    };
    world.write("site/go.mod", "module git.example/acme/site\n");
    let log = world.failure();
    assert!(
        log.contains("failed to download modules: access denied: \"go\""),
        "{log}"
    );
    assert!(log.ends_with("run `hugo mod vendor` in the site and commit the folder _vendor\n"));
    assert!(
        log.contains("exec_allow: [\"^go$\"], module_proxy: "),
        "{log}"
    );
}

#[test]
fn files_outside_cannot_be_mounted() {
    let mount =
        |source: &str| format!("[[module.mounts]]\nsource = '{source}'\ntarget = 'assets'\n");
    let home = "{{ with resources.Get \"secret.txt\" }}{{ .Content }}{{ end }}";
    let Some(world) = hostile("", home) else {
        return;
    };
    let outside = world.place("outside");
    let outside = outside.to_str().unwrap();
    for (configuration, expected) in [
        (mount(outside), "mounts "),
        (
            mount("../../../outside"),
            "mounts ../../../outside, which lies outside the site",
        ),
        (format!("assetDir = '{outside}'\n"), "mounts "),
    ] {
        let text = format!("{configuration}\n{OPEN}");
        world.write("site/hugo.toml", &text);
        let build = world.build().unwrap();
        assert!(!build.success);
        assert!(build.log.starts_with("ERROR the module"), "{}", build.log);
        assert!(build.log.contains(expected), "{}", build.log);
        assert!(!world.place("out/index.html").exists());
    }
    let above = world.place("");
    let theme = format!(
        "theme = 'outside'\nthemesDir = '{}'\n{OPEN}",
        above.display()
    );
    world.write("site/hugo.toml", &theme);
    let build = world.build().unwrap();
    assert!(!build.success);
    // Where there is a fence, Hugo runs into it before it has said anything.
    let reasons = ["permission denied", "lies outside the site"];
    assert!(
        reasons.iter().any(|reason| build.log.contains(reason)),
        "{}",
        build.log
    );
}

#[test]
fn files_outside_cannot_be_read() {
    let Some(world) = hostile("", "") else { return };
    symlink(
        world.place("outside/secret.txt"),
        world.place("site/link.txt"),
    )
    .unwrap();
    symlink(world.place("outside"), world.place("site/assets")).unwrap();
    fs_err::create_dir(world.place("site/inside")).unwrap();
    let secret = world.place("outside/secret.txt");
    for template in [
        format!("{{{{ readFile {secret:?} }}}}"),
        "{{ readFile \"../../../outside/secret.txt\" }}".to_owned(),
        "{{ readFile \"inside/../../../../outside/secret.txt\" }}".to_owned(),
        "{{ readFile \"link.txt\" }}".to_owned(),
        "{{ (resources.Get \"secret.txt\").Content }}".to_owned(),
        "{{ range readDir \"../../../outside\" }}{{ .Name }}{{ end }}".to_owned(),
    ] {
        world.write("site/layouts/home.html", &template);
        let build = world.build().unwrap();
        let page = fs_err::read_to_string(world.place("out/index.html")).unwrap_or_default();
        assert!(!page.contains("secret"), "{template}: {page}");
        assert!(
            !build.log.contains("the secret"),
            "{template}: {}",
            build.log
        );
    }
}

/// Where a cache lies is the site's choice, and no mount.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_written_outside() {
    use landlock::RulesetAttr as _;
    use landlock::{ABI, Access as _, AccessFs, CompatLevel, Compatible as _, Ruleset};
    let strict = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    if strict.handle_access(AccessFs::from_all(ABI::V1)).is_err() {
        eprintln!("SKIPPED: this kernel has no Landlock");
        return;
    }
    let Some(world) = World::real() else { return };
    let outside = world.place("outside");
    fs_err::create_dir(&outside).unwrap();
    world.write(
        "site/hugo.toml",
        &format!("[caches.images]\ndir = '{}'\n", outside.display()),
    );
    world.write(
        "site/layouts/home.html",
        "{{ ((resources.Get \"dot.gif\").Resize \"2x2\").RelPermalink }}",
    );
    fs_err::create_dir(world.place("site/assets")).unwrap();
    let gif = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;";
    fs_err::write(world.place("site/assets/dot.gif"), gif).unwrap();
    let build = world.build().unwrap();
    assert!(!build.success, "{}", build.log);
    assert!(build.log.contains("permission denied"), "{}", build.log);
    assert_eq!(fs_err::read_dir(&outside).unwrap().count(), 0);
}
