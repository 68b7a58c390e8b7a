//! The HTTP paths of a domain, as data: the server mounts them and documents them.

use super::Contract;

/// Everything a domain has to say about HTTP.
#[derive(Clone, Copy, Debug, Default)]
pub struct HttpPaths {
    /// Its routes.
    pub routes: &'static [Route],
    /// Paths without an operation whose failures follow its contract.
    pub contracts: &'static [PathContract],
}

/// A verb of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// `GET`.
    Get,
    /// `POST`.
    Post,
    /// `PATCH`.
    Patch,
    /// `DELETE`.
    Delete,
}

impl Verb {
    /// The name OpenAPI uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Patch => "patch",
            Self::Delete => "delete",
        }
    }
}

/// Where an operation's input comes from, besides the parameters in the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The query of the address.
    Query,
    /// The body.
    Body,
    /// A body that may also be the bare list that belongs into this field.
    BodyOrList(&'static str),
    /// A body whose `idempotency_key` may be in the `Idempotency-Key` header instead.
    BodyWithKey,
}

/// How the answer is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The operation's answer as JSON.
    Json,
    /// The same, with 201 for the thing created.
    Created,
    /// As JSON; 201 where this field has this value, else 200.
    CreatedWhen {
        /// A field of the answer.
        field: &'static str,
        /// What it says of a thing that was created by this call.
        value: &'static str,
    },
    /// As JSON without the server's time limit: the operation has limits of its own.
    JsonWithoutTimeout,
    /// As JSON with 202 and a `Location`: this text, then the id of the run that was started.
    Accepted {
        /// What precedes the id.
        location: &'static str,
    },
    /// As JSON with an `ETag` of its content, which a caller that has it may name.
    Tagged,
    /// The events of the run that the answer is about, as a stream.
    RunEvents,
    /// As JSON, or as an event stream where the caller accepts one.
    Events,
    /// An artifact's bytes; its name may have several segments.
    Bytes,
    /// The runs that wait for an approval.
    Approvals,
}

/// Who may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admits {
    /// Holders of a key.
    Keys,
    /// Also holders of an address that was signed by this installation, until it expires.
    SignedAddresses,
}

/// One route: a verb and a path that call an operation.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// The verb.
    pub verb: Verb,
    /// The path; a parameter has the name of the input field it fills.
    pub path: &'static str,
    /// The operation.
    pub operation: &'static str,
    /// The name in the OpenAPI document.
    pub id: &'static str,
    /// Where input comes from.
    pub input: Input,
    /// How the answer is given.
    pub output: Output,
    /// Who may use it.
    pub admits: Admits,
}

impl Route {
    /// A route with input from the query (`GET`, `DELETE`) or the body and an answer as JSON.
    pub const fn new(
        verb: Verb,
        path: &'static str,
        operation: &'static str,
        id: &'static str,
    ) -> Self {
        let input = match verb {
            Verb::Get | Verb::Delete => Input::Query,
            Verb::Post | Verb::Patch => Input::Body,
        };
        Self {
            verb,
            path,
            operation,
            id,
            input,
            output: Output::Json,
            admits: Admits::Keys,
        }
    }

    /// Other input.
    #[must_use]
    pub const fn reads(mut self, input: Input) -> Self {
        self.input = input;
        self
    }

    /// Another form of answer.
    #[must_use]
    pub const fn gives(mut self, output: Output) -> Self {
        self.output = output;
        self
    }

    /// Open to holders of signed addresses.
    #[must_use]
    pub const fn admits_signed_addresses(mut self) -> Self {
        self.admits = Admits::SignedAddresses;
        self
    }

    /// Whether a path is one of this route's.
    pub fn fits(&self, path: &str) -> bool {
        let mut given = path.split('/');
        let fits = self.path.split('/').all(|part| {
            given
                .next()
                .is_some_and(|given| part.starts_with('{') || part == given)
        });
        fits && given.next().is_none()
    }
}

/// Which failures of a path follow a contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failures {
    /// Every failure.
    All,
    /// Only that there were too many requests, told inside the protocol of the endpoint there.
    RateLimit,
}

/// A path that leads to no operation and yet belongs to a contract.
#[derive(Clone, Copy, Debug)]
pub struct PathContract {
    /// The path; one that ends in `/` stands for everything below it.
    pub path: &'static str,
    /// Which failures.
    pub failures: Failures,
    /// The contract.
    pub contract: &'static dyn Contract,
}

impl PathContract {
    /// Whether a path is meant.
    pub fn fits(&self, path: &str) -> bool {
        self.path == path || (self.path.ends_with('/') && path.starts_with(self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Plain;

    #[test]
    fn a_route_fits_paths_with_its_segments() {
        let route = Route::new(Verb::Get, "/v1/things/{id}/parts", "things.parts", "parts");
        for (path, expected) in [
            ("/v1/things/7/parts", true),
            ("/v1/things/parts", false),
            ("/v1/things/7/parts/8", false),
            ("/v1/things/7/other", false),
        ] {
            assert_eq!(route.fits(path), expected, "{path}");
        }
    }

    #[test]
    fn a_path_contract_fits_its_path_or_what_is_below() {
        let contract = |path| PathContract {
            path,
            failures: Failures::All,
            contract: &Plain,
        };
        for (own, path, expected) in [
            ("/v1", "/v1", true),
            ("/v1", "/v1/things", false),
            ("/v1/things/", "/v1/things/7", true),
            ("/v1/things/", "/v1/things", false),
        ] {
            assert_eq!(contract(own).fits(path), expected, "{own} {path}");
        }
    }
}
