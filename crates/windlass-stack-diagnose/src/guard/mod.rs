//! What may be asked of a live stack without changing it: SQL, Redis, OpenSearch, DynamoDB and
//! AWS actions, each by rules that allow what is known to read and refuse the rest.
//!
//! Pure: text and data in, a verdict out. A refusal names its rule. These rules are the first
//! net; the second is the database's own, a transaction that cannot write (windlass-database).
//! Not here: sending anything (the questions). Also here: how a secret may be shown.

pub mod aws;
pub mod dynamodb;
pub mod mask;
pub mod opensearch;
pub mod redis;
mod refusal;
pub mod sql;

pub use refusal::{Refusal, Rule};
