//! The few services besides CloudFormation that a deployment calls, as small as it needs them.

pub mod json;
pub mod parameters;
pub mod s3;
pub mod s3_calls;
pub mod secrets;
pub mod sts;
