//! DynamoDB operations that read a table.

use crate::guard::{Refusal, Rule};

/// An operation that may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// All items, page by page.
    Scan,
    /// The items of a partition.
    Query,
    /// One item.
    GetItem,
    /// The table itself.
    DescribeTable,
}

impl Read {
    /// The name as AWS spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scan => "Scan",
            Self::Query => "Query",
            Self::GetItem => "GetItem",
            Self::DescribeTable => "DescribeTable",
        }
    }
}

/// Lets an operation through by AWS's name of it.
pub fn check(operation: &str) -> Result<Read, Refusal> {
    [Read::Scan, Read::Query, Read::GetItem, Read::DescribeTable]
        .into_iter()
        .find(|read| read.as_str() == operation)
        .ok_or_else(|| {
            Refusal::new(
                Rule::DynamoDbOperation,
                format!(
                    "{operation} is not among the operations that only read: Scan, Query, GetItem, \
                     DescribeTable"
                ),
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_operations_read() {
        for name in ["Scan", "Query", "GetItem", "DescribeTable"] {
            assert_eq!(check(name).map(Read::as_str), Ok(name));
        }
        for name in [
            "",
            "scan",
            "PutItem",
            "UpdateItem",
            "DeleteItem",
            "BatchWriteItem",
            "BatchGetItem",
            "BatchExecuteStatement",
            "ExecuteStatement",
            "ExecuteTransaction",
            "TransactWriteItems",
            "DeleteTable",
            "UpdateTable",
            "CreateTable",
            "UpdateTimeToLive",
        ] {
            assert_eq!(
                check(name).unwrap_err().rule,
                Rule::DynamoDbOperation,
                "{name}"
            );
        }
    }
}
