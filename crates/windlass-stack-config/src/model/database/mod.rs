//! Databases and search: relational, DynamoDB, Redis, OpenSearch.

mod dynamo;
mod redis;
mod relational;
mod search;

pub use dynamo::*;
pub use redis::*;
pub use relational::*;
pub use search::*;
