//! User pools: people who sign up and sign in.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::common::{CustomDomain, DevSettings};
use crate::defaults::{number, yes};
use crate::value::{Data, Text};

/// A Cognito user pool with a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("x-windlass-rejected" = {
    "useFirewall": "it needs web-app-firewall"
}))]
pub struct UserAuthPool {
    /// Only administrators create accounts.
    #[serde(default)]
    pub allow_only_admins_to_create_account: bool,
    /// After how many days an account that was never used expires.
    #[serde(default = "number::<31>")]
    pub unused_account_validity_days: u32,
    /// Ask to prove the e-mail address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require_email_verification: Option<bool>,
    /// Ask to prove the phone number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require_phone_number_verification: Option<bool>,
    /// Have AWS serve pages for signing in.
    #[serde(default)]
    pub enable_hosted_ui: bool,
    /// The first part of those pages' address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosted_ui_domain_prefix: Option<String>,
    /// A style sheet for those pages.
    #[serde(
        rename = "hostedUiCSS",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub hosted_ui_css: Option<String>,
    /// ARNs of functions that take part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<UserPoolHooks>,
    /// Where e-mails come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email_configuration: Option<EmailConfiguration>,
    /// The message for invited users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invite_message_config: Option<InviteMessage>,
    /// How users prove who they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_verification_type: Option<UserVerification>,
    /// The message that users get then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_verification_message_config: Option<VerificationMessage>,
    /// A second factor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mfa_configuration: Option<MfaConfiguration>,
    /// What passwords must look like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_policy: Option<PasswordPolicy>,
    /// Attributes of users.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schema: Vec<UserAttribute>,
    /// Users may sign in with their phone number.
    #[serde(default = "yes")]
    pub allow_phone_number_as_user_name: bool,
    /// Users may sign in with their e-mail address.
    #[serde(default = "yes")]
    pub allow_email_as_user_name: bool,
    /// For how many seconds an access token is valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 300, max = 86_400))]
    pub access_token_validity_seconds: Option<u32>,
    /// For how many seconds an id token is valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 300, max = 86_400))]
    pub id_token_validity_seconds: Option<u32>,
    /// For how many days a refresh token is valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 3650))]
    pub refresh_token_validity_days: Option<u32>,
    /// OAuth flows of the client.
    #[serde(
        rename = "allowedOAuthFlows",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub allowed_oauth_flows: Option<Vec<OAuthFlow>>,
    /// OAuth scopes of the client.
    #[serde(
        rename = "allowedOAuthScopes",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub allowed_oauth_scopes: Option<Vec<String>>,
    /// Addresses users may be sent to after signing in.
    #[serde(
        rename = "callbackURLs",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    pub callback_urls: Vec<Text>,
    /// Addresses users may be sent to after signing out.
    #[serde(rename = "logoutURLs", default, skip_serializing_if = "Vec::is_empty")]
    pub logout_urls: Vec<Text>,
    /// Others that vouch for users.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identity_providers: Vec<IdentityProvider>,
    /// A domain name of the pages for signing in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_domain: Option<CustomDomain>,
    /// Give the client a secret.
    #[serde(default)]
    pub generate_client_secret: bool,
    /// Users sign in through others only.
    #[serde(default)]
    pub allow_only_external_identity_providers: bool,
    /// How it behaves in local development.
    #[serde(default)]
    pub dev: DevSettings,
}

/// ARNs of functions that take part in signing up and in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UserPoolHooks {
    /// Changes a message before it is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_message: Option<Text>,
    /// Runs after a user signed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post_authentication: Option<Text>,
    /// Runs after a user was confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post_confirmation: Option<Text>,
    /// Runs before a user signs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre_authentication: Option<Text>,
    /// Runs before a user signs up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre_sign_up: Option<Text>,
    /// Changes a token before it is issued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre_token_generation: Option<Text>,
    /// Brings a user from elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_migration: Option<Text>,
    /// Creates a challenge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub create_auth_challenge: Option<Text>,
    /// Decides on the next challenge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub define_auth_challenge: Option<Text>,
    /// Checks the answer to a challenge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify_auth_challenge_response: Option<Text>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EmailConfiguration {
    /// A verified identity of SES; Cognito's own sender without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ses_address_arn: Option<Text>,
    /// The sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Text>,
    /// Where answers go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to_email_address: Option<Text>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InviteMessage {
    /// The e-mail, with `{username}` and `{####}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email_message: Option<String>,
    /// The e-mail's subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email_subject: Option<String>,
    /// The text message, with `{username}` and `{####}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sms_message: Option<String>,
}

/// How users prove who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UserVerification {
    EmailCode,
    EmailLink,
    None,
    Sms,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VerificationMessage {
    /// The e-mail with a code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email_message_using_code: Option<String>,
    /// The e-mail with a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email_message_using_link: Option<String>,
    /// The subject of the e-mail with a code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email_subject_using_code: Option<String>,
    /// The subject of the e-mail with a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email_subject_using_link: Option<String>,
    /// The text message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sms_message: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MfaConfiguration {
    /// Whether a second factor is asked for.
    #[serde(default)]
    pub status: MfaStatus,
    /// Which factors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub enabled_types: Vec<MfaType>,
}

/// Whether a second factor is asked for.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum MfaStatus {
    #[default]
    Off,
    On,
    Optional,
}

/// A second factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum MfaType {
    EmailOtp,
    Sms,
    SoftwareToken,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PasswordPolicy {
    /// The least characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 6, max = 99))]
    pub minimum_length: Option<u32>,
    /// A lower-case letter is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require_lowercase: Option<bool>,
    /// A digit is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require_numbers: Option<bool>,
    /// A symbol is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require_symbols: Option<bool>,
    /// An upper-case letter is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require_uppercase: Option<bool>,
    /// For how many days a temporary password is valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 365))]
    pub temporary_password_validity_days: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UserAttribute {
    /// The attribute's name.
    pub name: String,
    /// The attribute's type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribute_data_type: Option<AttributeType>,
    /// Only developers may see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub developer_only_attribute: Option<bool>,
    /// It may change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutable: Option<bool>,
    /// It must be given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// The greatest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number_max_value: Option<f64>,
    /// The least number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number_min_value: Option<f64>,
    /// The most characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub string_max_length: Option<u32>,
    /// The least characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub string_min_length: Option<u32>,
}

/// The type of a user's attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum AttributeType {
    Boolean,
    DateTime,
    Number,
    String,
}

/// An OAuth flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OAuthFlow {
    ClientCredentials,
    Code,
    Implicit,
}

/// Another that vouches for users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IdentityProvider {
    /// Who it is.
    #[serde(rename = "type")]
    pub kind: IdentityProviderType,
    /// Your id there.
    pub client_id: Text,
    /// Your secret there; give it as a secret.
    pub client_secret: Text,
    /// Which of its attributes become which of yours.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attribute_mapping: BTreeMap<String, String>,
    /// What is asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authorize_scopes: Vec<String>,
    /// Further details, as Cognito names them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub provider_details: BTreeMap<String, Data>,
}

/// Who vouches for users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum IdentityProviderType {
    Facebook,
    Google,
    LoginWithAmazon,
    #[serde(rename = "OIDC")]
    Oidc,
    #[serde(rename = "SAML")]
    Saml,
    SignInWithApple,
}
