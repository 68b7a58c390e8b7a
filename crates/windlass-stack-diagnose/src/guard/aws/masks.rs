//! Where the answers of allowed actions may hold secrets.

use crate::guard::mask::Masked;

/// A function's environment.
pub const VARIABLES: &[Masked] = &[Masked::ValuesOf("Variables")];

/// Environments of containers, in the two forms services use.
pub const CONTAINERS: &[Masked] = &[
    Masked::MemberOfItems("environment", "value"),
    Masked::MemberOfItems("env", "value"),
];

/// Headers that a distribution adds towards its origin: often a shared secret.
pub const ORIGIN_HEADERS: &[Masked] = &[Masked::Member("HeaderValue")];

/// Variables of an API's stage.
pub const STAGE_VARIABLES: &[Masked] = &[Masked::ValuesOf("stageVariables")];

/// What a rule sends along to an HTTP target.
pub const TARGET_PARAMETERS: &[Masked] = &[
    Masked::ValuesOf("HeaderParameters"),
    Masked::ValuesOf("QueryStringParameters"),
];

/// The secret of an OpenID client.
pub const CLIENT_SECRET: &[Masked] = &[Masked::Member("ClientSecret")];
