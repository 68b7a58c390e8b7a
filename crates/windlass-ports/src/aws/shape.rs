//! Facts about services and actions: what a generic call must know to build a request.
//!
//! All constant data, so that a table of actions costs nothing to hold. The facts of services
//! are in [`super::services`]; the actions that may be called are the caller's tables.

/// How a service takes and gives its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// JSON with `X-Amz-Target`, content type `application/x-amz-json-1.0`.
    Json10,
    /// The same with 1.1.
    Json11,
    /// Form fields in, XML out.
    Query,
    /// EC2's form of it: lists are flattened and have names of their own.
    Ec2Query,
    /// Paths, query strings and headers; JSON bodies.
    RestJson,
    /// Paths, query strings and headers; XML bodies.
    RestXml,
}

/// Where a service answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// In each region: `{prefix}.{region}.amazonaws.com`.
    Regional,
    /// Once per partition: `{prefix}.amazonaws.com`, signed for the partition's main region.
    Global,
}

/// Facts about a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceShape {
    /// The name users say: `logs`, `elbv2`.
    pub name: &'static str,
    /// The first part of its host.
    pub endpoint_prefix: &'static str,
    /// The name signatures are for.
    pub signing_name: &'static str,
    /// The prefix of its permissions.
    pub permission_prefix: &'static str,
    /// The end of `AWS_ENDPOINT_URL_…`: `CLOUDWATCH_LOGS`.
    pub env_suffix: &'static str,
    /// How it takes and gives its data.
    pub protocol: Protocol,
    /// JSON: what precedes the action in `X-Amz-Target`.
    pub target_prefix: &'static str,
    /// Query: the value of `Version`.
    pub api_version: &'static str,
    /// REST with XML: the namespace of request bodies.
    pub xml_namespace: &'static str,
    /// Where it answers.
    pub reach: Reach,
}

/// Where a member of the input goes in a REST request; what is not placed is the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A parameter of the query string.
    Query(&'static str),
    /// A header.
    Header(&'static str),
    /// The whole body.
    Payload,
}

/// What the answer's body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// A document of the protocol.
    Document,
    /// Nothing; the answer is in the headers named by `result_headers`.
    Empty,
    /// Text, given as `{"Body": "…"}`.
    Text,
}

/// One name on our side and the other on the wire.
pub type Word = (&'static str, &'static str);

/// Facts about an action. Only the first three matter for JSON protocols.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActionShape {
    /// The service.
    pub service: &'static ServiceShape,
    /// The action: `DescribeStacks`.
    pub action: &'static str,
    /// REST: the method. `POST` elsewhere.
    pub method: &'static str,
    /// REST: the path with members in braces: `/2015-03-31/functions/{FunctionName}/policy`; a
    /// `+` before the closing brace keeps slashes. A fixed query may follow: `/{Bucket}?versioning`.
    pub path: &'static str,
    /// REST: members that are not in the body, in the order they are written.
    pub places: &'static [(&'static str, Place)],
    /// Query: list member → name of its items (default `member`). EC2: member → name on the
    /// wire (default: the member's own). By the member's own name, at any depth.
    pub list_names: &'static [Word],
    /// XML answers: elements that hold a list whose items are not called `member` or `item`.
    pub lists: &'static [&'static str],
    /// XML answers: elements that stand repeated, without a list around them.
    pub repeated: &'static [&'static str],
    /// XML answers: elements that are numbers.
    pub numbers: &'static [&'static str],
    /// XML answers: elements that are `true` or `false`.
    pub booleans: &'static [&'static str],
    /// Header → member of the answer; `x-amz-meta-*` style families are not known.
    pub result_headers: &'static [Word],
    /// What the answer's body is.
    pub result_body: Body,
}

impl ActionShape {
    /// An action of a JSON or query service; refine with the `with_…` functions.
    pub const fn new(service: &'static ServiceShape, action: &'static str) -> Self {
        Self {
            service,
            action,
            method: "POST",
            path: "/",
            places: &[],
            list_names: &[],
            lists: &[],
            repeated: &[],
            numbers: &[],
            booleans: &[],
            result_headers: &[],
            result_body: Body::Document,
        }
    }

    /// An action of a REST service.
    pub const fn rest(
        service: &'static ServiceShape,
        action: &'static str,
        method: &'static str,
        path: &'static str,
        places: &'static [(&'static str, Place)],
    ) -> Self {
        Self {
            method,
            path,
            places,
            ..Self::new(service, action)
        }
    }

    /// Names of list items in the request.
    pub const fn with_list_names(self, list_names: &'static [Word]) -> Self {
        Self { list_names, ..self }
    }

    /// Lists and repeated elements of an XML answer.
    pub const fn with_lists(
        self,
        lists: &'static [&'static str],
        repeated: &'static [&'static str],
    ) -> Self {
        Self {
            lists,
            repeated,
            ..self
        }
    }

    /// Numbers and booleans of an XML answer.
    pub const fn with_scalars(
        self,
        numbers: &'static [&'static str],
        booleans: &'static [&'static str],
    ) -> Self {
        Self {
            numbers,
            booleans,
            ..self
        }
    }

    /// What the headers of the answer say.
    pub const fn with_result_headers(self, result_headers: &'static [Word], body: Body) -> Self {
        Self {
            result_headers,
            result_body: body,
            ..self
        }
    }

    /// The call as a permission names it.
    pub fn permission(&self) -> String {
        format!("{}:{}", self.service.permission_prefix, self.action)
    }
}
