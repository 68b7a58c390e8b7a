//! Connections: passwords, certificates, and what is refused before anything is sent.

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use windlass_ports::database::{
    Access, DatabaseAddress, DatabaseFailure, Listening, SqlEngine::Postgres as Engine, Tls,
};
use windlass_testkit::servers::{Postgres, at_socket, reading};
use windlass_types::Secret;

use super::ask::run;

/// A root, and a certificate for `db.example` under it with its key.
fn certificates() -> (String, String, String) {
    let root_key = KeyPair::generate().unwrap();
    let mut root = CertificateParams::new(Vec::new()).unwrap();
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root_certificate = root.self_signed(&root_key).unwrap();
    let issuer = Issuer::new(root, root_key);
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["db.example".to_owned()])
        .unwrap()
        .signed_by(&key, &issuer)
        .unwrap();
    (
        root_certificate.pem(),
        certificate.pem(),
        key.serialize_pem(),
    )
}

#[tokio::test]
async fn server_and_client_are_both_verified() {
    let (root, certificate, key) = certificates();
    let files = [
        ("server.crt", certificate.as_str()),
        ("server.key", key.as_str()),
    ];
    let Some(server) = Postgres::start_with("tls", &files) else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, contents: &str| {
        let path = folder.path().join(name);
        fs_err::write(&path, contents).unwrap();
        Some(path)
    };
    let ours = file("root.pem", &root);
    let other = file("other.pem", &certificates().0);
    let empty = file("empty.pem", "");
    let (user, password) = Postgres::superuser();
    let ask = async |tls: Tls, password: Option<&str>| {
        let address = DatabaseAddress {
            listening: Listening::Tcp {
                host: "127.0.0.1".to_owned(),
                port: server.port(),
            },
            tls,
            user: user.to_owned(),
            password: password.map(|password| Secret::new(password.to_owned())),
            database: "postgres".to_owned(),
        };
        run(&reading(
            Engine,
            &address,
            "select ssl from pg_stat_ssl where pid = pg_backend_pid()",
        ))
        .await
    };
    let verified = |name: Option<&str>, roots: &Option<std::path::PathBuf>| Tls::Verified {
        server_name: name.map(str::to_owned),
        roots: roots.clone(),
    };

    let rows = ask(verified(Some("db.example"), &ours), Some(password))
        .await
        .unwrap();
    assert_eq!(rows.rows[0]["ssl"], true);
    let rows = ask(Tls::Off, Some(password)).await.unwrap();
    assert_eq!(rows.rows[0]["ssl"], false);

    for (tls, why) in [
        (verified(Some("db.example"), &other), "another root"),
        (verified(Some("db.example"), &None), "the system's roots"),
        (verified(Some("other.example"), &ours), "another name"),
        (verified(None, &ours), "the address instead of the name"),
    ] {
        let failure = ask(tls, Some(password)).await.unwrap_err();
        assert!(
            matches!(failure, DatabaseFailure::Unreachable { .. }),
            "{why}: {failure}"
        );
    }
    let failure = ask(verified(Some("db.example"), &empty), Some(password))
        .await
        .unwrap_err();
    assert!(
        matches!(failure, DatabaseFailure::Unprotected { .. }),
        "{failure}"
    );
    for password in [Some("wrong"), None] {
        let failure = ask(Tls::Off, password).await.unwrap_err();
        assert!(matches!(failure, DatabaseFailure::Auth { .. }), "{failure}");
        assert!(!failure.to_string().contains("wrong"));
    }
}

#[tokio::test]
async fn a_server_without_tls_is_refused_when_tls_is_required() {
    let Some(server) = Postgres::start("plain") else {
        return;
    };
    let mut address = at_socket(server.socket(), "postgres", "postgres");
    address.tls = Tls::Verified {
        server_name: Some("db.example".to_owned()),
        roots: None,
    };
    let failure = run(&reading(Engine, &address, "select 1"))
        .await
        .unwrap_err();
    assert!(
        matches!(failure, DatabaseFailure::Unprotected { .. }),
        "{failure}"
    );
}

#[tokio::test]
async fn nothing_leaves_this_machine_unprotected_or_unrestricted() {
    let elsewhere = |tls: Tls| DatabaseAddress {
        listening: Listening::Tcp {
            host: "192.0.2.1".to_owned(),
            port: 5432,
        },
        tls,
        user: "a".to_owned(),
        password: None,
        database: "b".to_owned(),
    };
    let plain = run(&reading(Engine, &elsewhere(Tls::Off), "select 1"))
        .await
        .unwrap_err();
    assert!(
        matches!(plain, DatabaseFailure::Unprotected { .. }),
        "{plain}"
    );
    let mut request = reading(
        Engine,
        &elsewhere(Tls::Verified {
            server_name: None,
            roots: None,
        }),
        "delete from users",
    );
    request.access = Access::LocalUnrestricted;
    let failure = run(&request).await.unwrap_err();
    assert!(
        matches!(failure, DatabaseFailure::Unprotected { .. }),
        "{failure}"
    );

    let gone = tempfile::tempdir().unwrap().path().join("no.sock");
    let failure = run(&reading(Engine, &at_socket(gone, "a", "b"), "select 1"))
        .await
        .unwrap_err();
    assert!(
        matches!(failure, DatabaseFailure::Unreachable { .. }),
        "{failure}"
    );
}
