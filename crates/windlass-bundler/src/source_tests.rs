//! Against a registry on this machine that serves the package, another one, half of it, or sends
//! somewhere else.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

use tokio::runtime::Runtime;
use windlass_net::{HttpOutbound, OutboundPolicy};
use windlass_testkit::servers::NpmRegistry;

use super::*;
use crate::release::PackedFile;
use crate::tarball::tests::tarball;

const PROGRAM: &[u8] = b"#!/bin/sh\necho bundled\n";

/// Pins for a tarball of this test: leaked, as the real ones are constants.
fn release(tarball: &[u8]) -> Release {
    let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    let package = Package {
        name: "@esbuild/linux-x64",
        version: "1.2.3",
        sha512: leak(STANDARD.encode(Sha512::digest(tarball))),
        file: PackedFile {
            path: "bin/esbuild",
            sha256: leak(
                Sha256::digest(PROGRAM)
                    .iter()
                    .map(|byte| format!("{byte:02x}"))
                    .collect(),
            ),
            is_program: true,
        },
    };
    Release {
        esbuild: Some(package),
        ..Release::of_this_machine()
    }
}

struct Machine {
    home: tempfile::TempDir,
    runtime: Runtime,
    policy: OutboundPolicy,
    refuse_downloads: bool,
    esbuild: Option<PathBuf>,
}

impl Machine {
    fn new() -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
            runtime: Runtime::new().unwrap(),
            policy: OutboundPolicy {
                allow_private: true,
                allow_http: true,
                allowed_hosts: None,
            },
            refuse_downloads: false,
            esbuild: None,
        }
    }

    fn npmrc(&self, text: &str) {
        fs_err::write(self.home.path().join(".npmrc"), text).unwrap();
    }

    /// The bundler of a new process.
    fn bundler(&self, registry: &str, release: Release) -> PinnedBundler {
        let home = self.home.path().display().to_string();
        PinnedBundler::new(BundlerOptions {
            release,
            cache: self.home.path().join("tools"),
            outbound: Arc::new(HttpOutbound::new(self.policy.clone())),
            environment: Environment::from_pairs([
                ("HOME", home.as_str()),
                ("NPM_CONFIG_REGISTRY", registry),
            ]),
            esbuild: self.esbuild.clone(),
            refuse_downloads: self.refuse_downloads,
            runtime: self.runtime.handle().clone(),
        })
    }
}

fn quiet(_: &str) {}

fn packed() -> Vec<u8> {
    tarball(&[("package.json", b"{}"), ("bin/esbuild", PROGRAM)])
}

#[test]
fn it_is_fetched_once_and_checked_by_every_process() {
    let packed = packed();
    let release = release(&packed);
    let double = NpmRegistry::start(move |_| NpmRegistry::ok(&packed));
    let registry = format!("http://{}/npm/", double.address);
    let machine = Machine::new();
    let place = double.address;
    machine.npmrc(&format!("//{place}/npm/:_authToken=t0\n"));
    let said = Mutex::new(Vec::new());
    let bundler = machine.bundler(&registry, release);
    let note = |line: &str| said.lock().unwrap().push(line.to_owned());
    let file = bundler.esbuild(&note).unwrap();
    assert_eq!(fs_err::read(&file).unwrap(), PROGRAM);
    let mode = fs_err::metadata(&file).unwrap().permissions().mode();
    assert_ne!(mode & 0o100, 0, "{mode:o}");
    assert_eq!(bundler.esbuild(&note).unwrap(), file);
    let later = machine.bundler(&registry, release);
    assert_eq!(later.esbuild(&note).unwrap(), file);
    let path = "/npm/@esbuild/linux-x64/-/linux-x64-1.2.3.tgz with Bearer t0";
    assert_eq!(double.heard(), [path]);
    let expected = format!("fetching @esbuild/linux-x64 1.2.3 from {place}, once");
    assert_eq!(*said.lock().unwrap(), [expected]);
    // What was changed since is fetched again, and not run.
    fs_err::write(&file, "#!/bin/sh\nexit 1\n").unwrap();
    let third = machine.bundler(&registry, release);
    assert_eq!(third.esbuild(&quiet).unwrap(), file);
    assert_eq!(fs_err::read(&file).unwrap(), PROGRAM);
    assert_eq!(double.heard().len(), 2);
}

#[test]
fn another_package_is_discarded() {
    let good = packed();
    let pins = release(&good);
    let evil = tarball(&[("bin/esbuild", b"#!/bin/sh\nrm -rf /\n")]);
    let mut flipped = good.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    let half = good[..good.len() / 2].to_vec();
    for (name, body) in [
        ("another package", evil),
        ("one bit", flipped),
        ("half of it", half),
        ("nothing", Vec::new()),
        ("a page", b"<html>sign in</html>".to_vec()),
    ] {
        let double = NpmRegistry::start(move |_| NpmRegistry::ok(&body));
        let machine = Machine::new();
        let registry = double.url();
        let refused = machine
            .bundler(&registry, pins)
            .esbuild(&quiet)
            .unwrap_err();
        assert!(
            refused.cause.contains("is not that package"),
            "{name}: {refused}"
        );
        assert!(
            !refused.is_forbidden && refused.next.len() == 2,
            "{refused:?}"
        );
        assert!(!machine.home.path().join("tools").exists(), "{name}");
    }
}

#[test]
fn an_answer_that_breaks_off_or_says_no_is_told_with_what_to_do() {
    let good = packed();
    let pins = release(&good);
    let cut = NpmRegistry::ok(&good)[..good.len() / 2].to_vec();
    for (answer, cause, next) in [
        (cut, "no answer", "connect this machine"),
        (
            NpmRegistry::status("401 Unauthorized"),
            "it answered 401",
            "npm login",
        ),
        (
            NpmRegistry::status("404 Not Found"),
            "it answered 404",
            "NPM_CONFIG_REGISTRY",
        ),
        (
            NpmRegistry::redirect(""),
            "more than 5 times",
            "NPM_CONFIG_REGISTRY",
        ),
        (
            NpmRegistry::redirect("file:///etc/passwd"),
            "which is not followed",
            "NPM_CONFIG_REGISTRY",
        ),
        (
            NpmRegistry::redirect("http://169.254.169.254/"),
            "target refused",
            "allow_private_registry",
        ),
    ] {
        let double = NpmRegistry::start(move |_| answer.clone());
        let machine = Machine::new();
        let registry = double.url();
        let refused = machine
            .bundler(&registry, pins)
            .esbuild(&quiet)
            .unwrap_err();
        assert!(refused.cause.contains(cause), "{refused}");
        assert!(refused.next[0].contains(next), "{refused:?}");
        assert!(
            refused.next.last().unwrap().contains("[stack] esbuild"),
            "{refused:?}"
        );
        assert!(!machine.home.path().join("tools").exists(), "{cause}");
    }
    // Nothing listens at a port that was just given back.
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let machine = Machine::new();
    let registry = format!("http://{free}");
    let refused = machine
        .bundler(&registry, pins)
        .esbuild(&quiet)
        .unwrap_err();
    assert!(
        refused.next[0].contains("connect this machine"),
        "{refused:?}"
    );
}

#[test]
fn a_redirect_elsewhere_is_followed_without_the_credentials() {
    let good = packed();
    let pins = release(&good);
    let store = NpmRegistry::start(move |_| NpmRegistry::ok(&good));
    let target = format!("http://{}/blob?signature=1", store.address);
    let double = NpmRegistry::start(move |path| match path.contains("moved") {
        true => NpmRegistry::redirect(&target),
        false => NpmRegistry::redirect("/moved.tgz"),
    });
    let machine = Machine::new();
    machine.npmrc(&format!("//{}/:_authToken=t0\n", double.address));
    let registry = double.url();
    machine.bundler(&registry, pins).esbuild(&quiet).unwrap();
    let own = [
        "/@esbuild/linux-x64/-/linux-x64-1.2.3.tgz with Bearer t0",
        "/moved.tgz with Bearer t0",
    ];
    assert_eq!(double.heard(), own);
    assert_eq!(store.heard(), ["/blob?signature=1"]);
}

#[test]
fn a_registry_on_this_machine_needs_a_setting() {
    let good = packed();
    let pins = release(&good);
    let double = NpmRegistry::start(move |_| NpmRegistry::ok(&good));
    let mut machine = Machine::new();
    machine.policy = OutboundPolicy::default();
    let registry = double.url();
    let refused = machine
        .bundler(&registry, pins)
        .esbuild(&quiet)
        .unwrap_err();
    assert!(
        refused.next[0].contains("allow_private_registry = true"),
        "{refused:?}"
    );
    assert_eq!(double.heard(), Vec::<String>::new());
}

#[test]
fn settings_forbid_it_or_name_another_one() {
    let good = packed();
    let pins = release(&good);
    let double = NpmRegistry::start(move |_| NpmRegistry::ok(&good));
    let registry = double.url();
    let mut machine = Machine::new();
    machine.refuse_downloads = true;
    let refused = machine
        .bundler(&registry, pins)
        .esbuild(&quiet)
        .unwrap_err();
    assert!(refused.is_forbidden, "{refused:?}");
    assert!(
        refused.cause.contains("stack.refuse_downloads"),
        "{refused}"
    );
    // What is there already may be used.
    machine.refuse_downloads = false;
    machine.bundler(&registry, pins).esbuild(&quiet).unwrap();
    machine.refuse_downloads = true;
    machine.bundler(&registry, pins).esbuild(&quiet).unwrap();
    let own = machine.home.path().join("own");
    machine.esbuild = Some(own.clone());
    let named = machine.bundler(&registry, pins);
    let missing = named.esbuild(&quiet).unwrap_err();
    assert!(missing.cause.contains("stack.esbuild"), "{missing}");
    let before = named.identity();
    fs_err::write(&own, "x").unwrap();
    assert_eq!(named.esbuild(&quiet).unwrap(), own);
    assert_ne!(named.identity(), before);
    assert_eq!(double.heard().len(), 1);
}

#[test]
fn a_machine_without_a_pinned_one_is_told() {
    let machine = Machine::new();
    let none = Release {
        esbuild: None,
        ..Release::of_this_machine()
    };
    let refused = machine.bundler("http://127.0.0.1:1", none).esbuild(&quiet);
    let refused = refused.unwrap_err();
    assert!(refused.cause.contains("no pinned esbuild"), "{refused}");
    assert!(
        refused.next[0].starts_with("install esbuild"),
        "{refused:?}"
    );
}
