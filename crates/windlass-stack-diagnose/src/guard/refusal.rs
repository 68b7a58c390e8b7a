//! A request that is not let through, and the rule that says so.

/// The rules, by the name that refusals carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// Nothing was asked.
    SqlEmpty,
    /// The text is not SQL as its dialect writes it.
    SqlUnreadable,
    /// One statement at a time.
    SqlOneStatement,
    /// Only statements that read.
    SqlStatementKind,
    /// No data changed inside a query.
    SqlNestedWrite,
    /// No result written to a table, a file or a variable.
    SqlInto,
    /// No row locks.
    SqlRowLock,
    /// `EXPLAIN ANALYZE` executes, so only of a query.
    SqlExplainAnalyze,
    /// Only functions that are known to read.
    SqlFunction,
    /// No operator of a user by its schema.
    SqlOperator,
    /// No code in comments.
    SqlExecutableComment,
    /// Only commands that read.
    RedisCommand,
    /// Only sub-commands that read.
    RedisSubcommand,
    /// The command line cannot be split into words.
    RedisUnreadable,
    /// The path is written in a way that hides where it leads.
    OpenSearchPath,
    /// Only requests that read.
    OpenSearchRequest,
    /// No request that keeps something open on the server.
    OpenSearchScroll,
    /// Only parameters that choose what is read.
    OpenSearchParameter,
    /// Only operations that read.
    DynamoDbOperation,
    /// Only services that are listed.
    AwsService,
    /// Only actions that are listed.
    AwsAction,
}

impl Rule {
    /// The name, as it stands in a result.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SqlEmpty => "sql.empty",
            Self::SqlUnreadable => "sql.unreadable",
            Self::SqlOneStatement => "sql.one_statement",
            Self::SqlStatementKind => "sql.statement_kind",
            Self::SqlNestedWrite => "sql.nested_write",
            Self::SqlInto => "sql.into",
            Self::SqlRowLock => "sql.row_lock",
            Self::SqlExplainAnalyze => "sql.explain_analyze",
            Self::SqlFunction => "sql.function",
            Self::SqlOperator => "sql.operator",
            Self::SqlExecutableComment => "sql.executable_comment",
            Self::RedisCommand => "redis.command",
            Self::RedisSubcommand => "redis.subcommand",
            Self::RedisUnreadable => "redis.unreadable",
            Self::OpenSearchPath => "opensearch.path",
            Self::OpenSearchRequest => "opensearch.request",
            Self::OpenSearchScroll => "opensearch.scroll",
            Self::OpenSearchParameter => "opensearch.parameter",
            Self::DynamoDbOperation => "dynamodb.operation",
            Self::AwsService => "aws.service",
            Self::AwsAction => "aws.action",
        }
    }
}

/// Why a request is not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} (rule {})", .rule.as_str())]
pub struct Refusal {
    /// The rule.
    pub rule: Rule,
    /// What was found, and what to do instead.
    pub message: String,
}

impl Refusal {
    /// A refusal by a rule.
    pub fn new(rule: Rule, message: impl Into<String>) -> Self {
        Self {
            rule,
            message: message.into(),
        }
    }
}
