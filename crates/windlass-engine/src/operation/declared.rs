//! What domains declare for surfaces besides operations: HTTP routes, the contracts of paths, MCP
//! identities.

use std::collections::HashSet;

use super::CatalogueError;
use crate::{
    Domain,
    contract::{
        Contract,
        http::{Failures, PathContract, Route},
        mcp::McpIdentity,
    },
};

/// The declarations of every domain.
#[derive(Debug, Default)]
pub struct Declared {
    routes: Vec<Route>,
    paths: Vec<PathContract>,
    mcp_identities: Vec<(&'static str, McpIdentity)>,
    on_request: Vec<&'static str>,
}

impl Declared {
    pub(super) fn by(domains: &[Box<dyn Domain>]) -> Result<Self, CatalogueError> {
        let mut declared = Self::default();
        for domain in domains {
            let paths = domain.http_paths();
            declared.routes.extend_from_slice(paths.routes);
            declared.paths.extend_from_slice(paths.contracts);
            declared.mcp_identities.extend(domain.mcp_identity());
            declared
                .on_request
                .extend_from_slice(domain.toolsets_on_request());
        }
        let mut seen = HashSet::new();
        for route in &declared.routes {
            let name = format!("{} {}", route.verb.name(), route.path);
            if !seen.insert(name.clone()) {
                return Err(CatalogueError::DuplicateRoute(name));
            }
        }
        Ok(declared)
    }

    /// The routes of the HTTP API, in the order of the domains.
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// The contract of failures at a path that leads to no operation.
    pub fn contract_of_path(
        &self,
        path: &str,
        failures: Failures,
    ) -> Option<&'static dyn Contract> {
        let fits = |own: &&PathContract| own.failures == failures && own.fits(path);
        self.paths.iter().find(fits).map(|own| own.contract)
    }

    /// Whether MCP clients are offered the toolset only where it was asked for by name.
    pub fn is_on_request(&self, toolset: &str) -> bool {
        self.on_request.contains(&toolset)
    }

    /// How an MCP server with these toolsets introduces itself, where a contract prescribes it.
    pub fn mcp_identity(&self, toolsets: &[String]) -> Option<McpIdentity> {
        let [only] = toolsets else { return None };
        let mut identities = self.mcp_identities.iter();
        let (_, identity) = identities.find(|(toolset, _)| toolset == only)?;
        Some(*identity)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        Engine, WeakEngine,
        contract::{
            Plain,
            http::{HttpPaths, Verb},
        },
        operation::Operation,
        run::RunKind,
    };

    const ROUTES: &[Route] = &[
        Route::new(Verb::Get, "/v1/things", "shop.list", "list_things"),
        Route::new(Verb::Post, "/v1/things", "shop.create", "create_thing"),
    ];
    const PATHS: &[PathContract] = &[PathContract {
        path: "/v1/things/",
        failures: Failures::All,
        contract: &Plain,
    }];

    struct Shop;

    impl Domain for Shop {
        fn kinds(&self, _: &WeakEngine) -> Vec<Arc<dyn RunKind>> {
            Vec::new()
        }

        fn operations(&self, _: &Engine) -> Vec<Arc<dyn Operation>> {
            Vec::new()
        }

        fn http_paths(&self) -> HttpPaths {
            HttpPaths {
                routes: ROUTES,
                contracts: PATHS,
            }
        }

        fn toolsets_on_request(&self) -> &'static [&'static str] {
            &["vault"]
        }

        fn mcp_identity(&self) -> Option<(&'static str, McpIdentity)> {
            let identity = McpIdentity {
                name: "things",
                title: "Things",
                instructions: "Sells things.",
            };
            Some(("shop", identity))
        }
    }

    #[test]
    fn declarations_are_found_by_path_and_toolset() {
        let declared = Declared::by(&[Box::new(Shop)]).unwrap();
        assert_eq!(declared.routes().len(), 2);
        for (path, failures, found) in [
            ("/v1/things/7", Failures::All, true),
            ("/v1/things/7", Failures::RateLimit, false),
            ("/v1/other", Failures::All, false),
        ] {
            let contract = declared.contract_of_path(path, failures);
            assert_eq!(contract.is_some(), found, "{path} {failures:?}");
        }
        assert!(declared.is_on_request("vault") && !declared.is_on_request("shop"));
        for (toolsets, name) in [
            (&["shop"][..], Some("things")),
            (&["shop", "runs"], None),
            (&["runs"], None),
            (&[], None),
        ] {
            let toolsets: Vec<String> = toolsets.iter().copied().map(str::to_owned).collect();
            let identity = declared.mcp_identity(&toolsets);
            assert_eq!(identity.map(|own| own.name), name, "{toolsets:?}");
        }
    }

    #[test]
    fn a_route_declared_twice_is_refused() {
        let twice = Declared::by(&[Box::new(Shop), Box::new(Shop)]);
        assert_eq!(
            twice.err().map(|error| error.to_string()).as_deref(),
            Some("two routes are get /v1/things")
        );
    }
}
