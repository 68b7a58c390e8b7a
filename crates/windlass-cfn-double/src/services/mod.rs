//! The few services beside CloudFormation that a deployment talks to, as small as it needs them.

pub mod json;
pub mod parameters;
pub mod s3;
pub mod s3_calls;
pub mod secrets;
pub mod sts;
