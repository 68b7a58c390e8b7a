//! Signing in to remote servers.
//!
//! The SDK does the steps: discovery from the server's challenge (RFC 9728, 8414), PKCE with S256,
//! the resource indicator (RFC 8707), the check of the issuer (RFC 9207), a client that is known
//! beforehand, described at an address or, last, registered. Here are its requests' way out (the
//! `Outbound` port), where tokens are kept, which rights are asked for and how often.

use std::sync::Arc;

use futures::future::BoxFuture;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationRequest, AuthorizationSession,
    ClientCredentialsConfig, CredentialStore, JwtSigningAlgorithm, StoredCredentials,
};
use serde::{Deserialize, Serialize};
use windlass_ports::{Consent, Outbound, ServerTokens};
use windlass_types::Secret;

use crate::{
    clean,
    config::{ClientCredentials, SignIn},
    environment::{Environment, Spelling},
    http::{HttpDoor, scope_of},
};

/// The name a client registers under.
const CLIENT_NAME: &str = "Windlass";

/// A server that one can sign in to.
#[derive(Clone)]
pub(crate) struct Account {
    pub server: String,
    pub url: String,
    pub sign_in: SignIn,
    pub outbound: Arc<dyn Outbound>,
    pub tokens: Arc<dyn ServerTokens>,
    pub environment: Environment,
}

impl Account {
    /// A manager with the tokens that are kept.
    pub async fn manager(&self) -> Result<AuthorizationManager, AuthError> {
        let mut manager = self.new_manager().await?;
        // Without tokens nothing is asked; the server says whether one has to sign in.
        manager.initialize_from_store().await?;
        Ok(manager)
    }

    async fn new_manager(&self) -> Result<AuthorizationManager, AuthError> {
        let door = Arc::new(HttpDoor(Arc::clone(&self.outbound)));
        let mut manager =
            AuthorizationManager::new_with_oauth_http_client(self.url.as_str(), door).await?;
        manager.set_credential_store(self.keeper());
        Ok(manager)
    }

    fn keeper(&self) -> Keeper {
        Keeper {
            server: self.server.clone(),
            url: self.url.clone(),
            tokens: Arc::clone(&self.tokens),
        }
    }

    /// Whether signing in needs nobody.
    pub fn needs_nobody(&self) -> bool {
        self.sign_in.credentials.is_some()
    }

    /// Signs in without a user.
    pub async fn sign_in_alone(&self, challenge: Option<&str>) -> Result<(), String> {
        let mut manager = self.new_manager().await.map_err(explain)?;
        let resolution = manager.resolve_metadata_from_challenge(challenge).await;
        manager.set_metadata(resolution.map_err(explain)?.metadata);
        let config = self.credentials()?;
        manager
            .validate_client_credentials_metadata(&config)
            .map_err(explain)?;
        manager
            .configure_client_credentials(&config)
            .map_err(explain)?;
        manager
            .exchange_client_credentials(&config)
            .await
            .map_err(explain)?;
        Ok(())
    }

    fn credentials(&self) -> Result<ClientCredentialsConfig, String> {
        let client_id = self.sign_in.client_id.clone().unwrap_or_default();
        let scopes = self.sign_in.scopes.clone();
        let resource = Some(self.url.clone());
        let expand = |text: &str| {
            let expanded = self.environment.expand(text, Spelling::Both);
            expanded.map_err(|error| error.to_string())
        };
        match &self.sign_in.credentials {
            Some(ClientCredentials::PrivateKey { pem, algorithm }) => {
                Ok(ClientCredentialsConfig::PrivateKeyJwt {
                    client_id,
                    signing_key: expand(pem)?.into_bytes(),
                    signing_algorithm: match algorithm.as_str() {
                        "RS256" => JwtSigningAlgorithm::RS256,
                        "RS384" => JwtSigningAlgorithm::RS384,
                        "RS512" => JwtSigningAlgorithm::RS512,
                        "ES256" => JwtSigningAlgorithm::ES256,
                        "ES384" => JwtSigningAlgorithm::ES384,
                        other => return Err(format!("`{other}` is no signature algorithm")),
                    },
                    token_endpoint_audience: None,
                    scopes,
                    resource,
                })
            }
            _ => Ok(ClientCredentialsConfig::ClientSecret {
                client_id,
                client_secret: expand(self.sign_in.client_secret.as_deref().unwrap_or_default())?,
                scopes,
                resource,
            }),
        }
    }

    /// Signs in with the user's consent. A challenge says what the server asks for; rights that
    /// were given before are asked for again with it, so that gaining one loses none.
    pub async fn sign_in(
        &self,
        challenge: Option<&str>,
        consent: &dyn Consent,
    ) -> Result<(), String> {
        let granted = self.granted()?;
        let mut manager = self.new_manager().await.map_err(explain)?;
        let resolution = manager.resolve_metadata_from_challenge(challenge).await;
        manager.set_metadata(resolution.map_err(explain)?.metadata);

        let mut request = AuthorizationRequest::new(consent.redirect_address())
            .with_client_name(CLIENT_NAME)
            .with_initial_scope_selection();
        if let Some(id) = &self.sign_in.client_id {
            request = request.with_preregistered_client(id);
        }
        if let Some(secret) = &self.sign_in.client_secret {
            let secret = self.environment.expand(secret, Spelling::Both);
            request = request.with_client_secret(secret.map_err(|error| error.to_string())?);
        }
        if let Some(url) = &self.sign_in.client_metadata_url {
            request = request.with_client_metadata_url(url);
        }
        let asked = challenge.and_then(scope_of);
        request = request.with_scopes(scopes(&self.sign_in.scopes, &granted, asked.as_deref()));

        let session = AuthorizationSession::new(manager, request).await;
        let session = session.map_err(|(_, error)| explain(error))?;
        let callback = consent.ask(session.get_authorization_url()).await?;
        session
            .handle_callback_url(&callback)
            .await
            .map_err(explain)?;
        Ok(())
    }

    /// The rights that were given before.
    fn granted(&self) -> Result<Vec<String>, String> {
        let kept = self.keeper().read()?;
        Ok(kept.map_or_else(Vec::new, |kept| kept.granted_scopes))
    }
}

/// The rights to ask for: those in the settings; otherwise, when some were given before, these and
/// those that the server asks for now; otherwise none, and the SDK chooses by what the server says.
fn scopes(configured: &[String], granted: &[String], asked: Option<&str>) -> Vec<String> {
    let asked = asked.into_iter().flat_map(str::split_whitespace);
    let mut all: Vec<String> = match (configured, granted) {
        ([], []) => return Vec::new(),
        ([], granted) => granted.to_vec(),
        (configured, _) => configured.to_vec(),
    };
    for scope in asked {
        if !all.iter().any(|known| known == scope) {
            all.push(scope.to_owned());
        }
    }
    all
}

fn explain(error: AuthError) -> String {
    clean::line(&error.to_string(), clean::LONGEST_MESSAGE)
}

/// Tokens of one server behind the port. They belong to its address: a server that moves, or
/// settings that were changed, never send them elsewhere.
struct Keeper {
    server: String,
    url: String,
    tokens: Arc<dyn ServerTokens>,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    url: String,
    credentials: StoredCredentials,
}

impl Keeper {
    fn read(&self) -> Result<Option<StoredCredentials>, String> {
        let Some(text) = self.tokens.load(&self.server)? else {
            return Ok(None);
        };
        // What cannot be read is replaced by signing in again.
        let kept = serde_json::from_str::<Kept>(text.expose_secret()).ok();
        Ok(kept
            .filter(|kept| kept.url == self.url)
            .map(|kept| kept.credentials))
    }

    fn write(&self, credentials: StoredCredentials) -> Result<(), String> {
        let kept = Kept {
            url: self.url.clone(),
            credentials,
        };
        let text = serde_json::to_string(&kept).map_err(|error| error.to_string())?;
        self.tokens.save(&self.server, Secret::new(text))
    }
}

// Written without the attribute macro of the SDK's trait; this is what it expands to.
impl CredentialStore for Keeper {
    fn load<'a, 'b>(&'a self) -> BoxFuture<'b, Result<Option<StoredCredentials>, AuthError>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async { self.read().map_err(AuthError::CredentialStoreError) })
    }

    fn save<'a, 'b>(
        &'a self,
        credentials: StoredCredentials,
    ) -> BoxFuture<'b, Result<(), AuthError>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async {
            self.write(credentials)
                .map_err(AuthError::CredentialStoreError)
        })
    }

    fn clear<'a, 'b>(&'a self) -> BoxFuture<'b, Result<(), AuthError>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async {
            let cleared = self.tokens.clear(&self.server);
            cleared.map_err(AuthError::CredentialStoreError)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_add_up() {
        let list = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        for (configured, granted, asked, expected) in [
            (&[][..], &[][..], Some("a"), &[][..]),
            (&[], &["a"], Some("b a"), &["a", "b"]),
            (&[], &["a"], None, &["a"]),
            (&["c"], &["a"], Some("b"), &["c", "b"]),
            (&["c"], &[], None, &["c"]),
        ] {
            let found = scopes(&list(configured), &list(granted), asked);
            assert_eq!(found, expected, "{configured:?} {granted:?} {asked:?}");
        }
    }
}
