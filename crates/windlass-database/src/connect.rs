//! A connection to a server, encrypted and verified unless the server is on this machine.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use windlass_ports::database::{DatabaseAddress, DatabaseFailure, Listening, Tls};

/// A stream of bytes, whatever carries it.
pub trait Io: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Io for T {}

/// A connection.
pub type Wire = Box<dyn Io>;

/// An address as messages show it.
pub fn shown(listening: &Listening) -> String {
    match listening {
        Listening::Tcp { host, port } => format!("{host}:{port}"),
        Listening::Socket(path) => path.display().to_string(),
    }
}

/// Connects, without TLS yet. A server elsewhere is refused if there will be none.
pub async fn open(address: &DatabaseAddress) -> Result<Wire, DatabaseFailure> {
    match &address.listening {
        Listening::Socket(path) => match UnixStream::connect(path).await {
            Ok(stream) => Ok(Box::new(stream)),
            Err(error) => Err(unreachable(&address.listening, error)),
        },
        Listening::Tcp { host, port } => {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host.as_str(), *port))
                .await
                .map_err(|error| unreachable(&address.listening, error))?
                .collect();
            if address.tls == Tls::Off
                && found.iter().any(|candidate| !candidate.ip().is_loopback())
            {
                return Err(DatabaseFailure::Unprotected {
                    message: format!(
                        "{host}:{port} is not on this machine, so the connection needs TLS with a \
                         verified certificate"
                    ),
                });
            }
            let mut last = std::io::Error::from(std::io::ErrorKind::NotFound);
            for candidate in found {
                match TcpStream::connect(candidate).await {
                    Ok(stream) => {
                        // Requests are small and answered at once; waiting to fill packets costs.
                        stream
                            .set_nodelay(true)
                            .map_err(|error| unreachable(&address.listening, error))?;
                        return Ok(Box::new(stream));
                    }
                    Err(error) => last = error,
                }
            }
            Err(unreachable(&address.listening, last))
        }
    }
}

/// Encrypts a connection and verifies who answers; leaves it as it is where TLS is off.
pub async fn secure(wire: Wire, address: &DatabaseAddress) -> Result<Wire, DatabaseFailure> {
    let Tls::Verified { server_name, roots } = &address.tls else {
        return Ok(wire);
    };
    let name = match (server_name, &address.listening) {
        (Some(name), _) => name.clone(),
        (None, Listening::Tcp { host, .. }) => host.clone(),
        (None, Listening::Socket(path)) => {
            return Err(DatabaseFailure::Unprotected {
                message: format!(
                    "the server behind {} has no name to verify; give one",
                    path.display()
                ),
            });
        }
    };
    let name = ServerName::try_from(name.clone()).map_err(|_| DatabaseFailure::Unprotected {
        message: format!("{name:?} is not a name that a certificate can have"),
    })?;
    let config = config(roots.as_deref())?;
    let stream = TlsConnector::from(Arc::new(config))
        .connect(name, wire)
        .await
        .map_err(|error| DatabaseFailure::Unreachable {
            message: format!("{}: TLS: {error}", shown(&address.listening)),
        })?;
    Ok(Box::new(stream))
}

fn config(roots: Option<&Path>) -> Result<ClientConfig, DatabaseFailure> {
    let wrong = |message: String| DatabaseFailure::Unprotected { message };
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(format!("TLS cannot be set up: {error}")))?;
    let Some(path) = roots else {
        return Ok(builder
            .with_platform_verifier()
            .map_err(|error| wrong(format!("the system's certificates cannot be used: {error}")))?
            .with_no_client_auth());
    };
    let pem = fs_err::read(path).map_err(|error| wrong(error.to_string()))?;
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate =
            certificate.map_err(|error| wrong(format!("{}: not PEM: {error}", path.display())))?;
        store
            .add(certificate)
            .map_err(|error| wrong(format!("{}: {error}", path.display())))?;
    }
    if store.is_empty() {
        return Err(wrong(format!("{} holds no certificate", path.display())));
    }
    Ok(builder.with_root_certificates(store).with_no_client_auth())
}

/// A failure of the network.
pub fn unreachable(listening: &Listening, error: std::io::Error) -> DatabaseFailure {
    DatabaseFailure::Unreachable {
        message: format!("{}: {error}", shown(listening)),
    }
}

/// A server that does not keep to its protocol.
pub fn unexpected(message: impl Into<String>) -> DatabaseFailure {
    DatabaseFailure::Answer {
        message: message.into(),
    }
}
