//! Requests let through, as they are sent, and refused.

use proptest::prelude::*;

use super::*;

#[test]
fn requests_that_read_pass() {
    for (method, target, sent) in [
        ("GET", "orders/_search", "/orders/_search"),
        ("post", "/orders/_search", "/orders/_search"),
        (
            "POST",
            "/orders,users/_search?size=5",
            "/orders,users/_search?size=5",
        ),
        ("GET", "/logs-*/_count", "/logs-*/_count"),
        ("GET", "/_all/_search", "/_all/_search"),
        ("POST", "/orders/_analyze", "/orders/_analyze"),
        ("GET", "/orders/_mapping", "/orders/_mapping"),
        ("GET", "/orders/_settings/", "/orders/_settings"),
        ("GET", "/orders/_doc/17", "/orders/_doc/17"),
        ("GET", "/orders/_doc/a%20b", "/orders/_doc/a%20b"),
        (
            "GET",
            "/orders/_explain/17?q=a:b",
            "/orders/_explain/17?q=a:b",
        ),
        (
            "GET",
            "/_cat/indices?v&format=json",
            "/_cat/indices?v&format=json",
        ),
        ("GET", "/_cat", "/_cat"),
        ("GET", "/_cat/shards/orders?v", "/_cat/shards/orders?v"),
        ("GET", "/_cluster/health", "/_cluster/health"),
        ("GET", "_cluster/stats", "/_cluster/stats"),
        ("HEAD", "/orders", "/orders"),
        ("GET", "/%6Frders/%5Fsearch", "/orders/_search"),
    ] {
        let request = check(method, target).unwrap();
        assert_eq!(request.target, sent, "{method} {target}");
        assert_eq!(request.method, method.to_uppercase());
    }
}

#[test]
fn everything_else_is_refused() {
    for (method, target, rule) in [
        ("PUT", "/orders", Rule::OpenSearchRequest),
        ("DELETE", "/orders", Rule::OpenSearchRequest),
        ("DELETE", "/orders/_doc/1", Rule::OpenSearchRequest),
        ("PUT", "/orders/_doc/1", Rule::OpenSearchRequest),
        ("POST", "/orders/_doc", Rule::OpenSearchRequest),
        ("POST", "/orders/_doc/1", Rule::OpenSearchRequest),
        ("POST", "/orders/_update/1", Rule::OpenSearchRequest),
        ("POST", "/orders/_create/1", Rule::OpenSearchRequest),
        ("POST", "/orders/_delete_by_query", Rule::OpenSearchRequest),
        ("POST", "/orders/_update_by_query", Rule::OpenSearchRequest),
        ("POST", "/_bulk", Rule::OpenSearchRequest),
        ("POST", "/orders/_bulk", Rule::OpenSearchRequest),
        ("POST", "/_reindex", Rule::OpenSearchRequest),
        ("POST", "/_search", Rule::OpenSearchRequest),
        ("GET", "/_search/scroll", Rule::OpenSearchRequest),
        (
            "POST",
            "/orders/_search/point_in_time",
            Rule::OpenSearchRequest,
        ),
        ("GET", "/orders/_search?scroll=1m", Rule::OpenSearchScroll),
        ("GET", "/orders/_search?%73croll=1m", Rule::OpenSearchScroll),
        ("POST", "/orders/_search/template", Rule::OpenSearchRequest),
        ("PUT", "/orders/_mapping", Rule::OpenSearchRequest),
        ("PUT", "/orders/_settings", Rule::OpenSearchRequest),
        ("PUT", "/_cluster/settings", Rule::OpenSearchRequest),
        ("GET", "/_cluster/settings", Rule::OpenSearchRequest),
        ("POST", "/_cluster/reroute", Rule::OpenSearchRequest),
        ("POST", "/_cat/indices", Rule::OpenSearchRequest),
        ("GET", "/_cat/new_thing", Rule::OpenSearchRequest),
        ("GET", "/_cat/indices/a/b", Rule::OpenSearchRequest),
        (
            "GET",
            "/orders/_doc/1?refresh=true",
            Rule::OpenSearchParameter,
        ),
        (
            "GET",
            "/orders/_search?search_pipeline=x",
            Rule::OpenSearchParameter,
        ),
        ("GET", "/orders/_search?Size=1", Rule::OpenSearchParameter),
        (
            "GET",
            "/_cluster/health?wait_for_nodes=9",
            Rule::OpenSearchParameter,
        ),
        ("GET", "/_nodes/stats", Rule::OpenSearchRequest),
        ("POST", "/orders/_close", Rule::OpenSearchRequest),
        ("POST", "/_plugins/_sql", Rule::OpenSearchRequest),
        ("GET", "/_snapshot/x/y", Rule::OpenSearchRequest),
        ("GET", "/orders", Rule::OpenSearchRequest),
        ("GET", "/", Rule::OpenSearchPath),
        ("GET", "/orders/../_cluster/settings", Rule::OpenSearchPath),
        ("GET", "/orders/%2e%2e/_search", Rule::OpenSearchPath),
        ("GET", "/orders/_doc/%2e%2e%2f_search", Rule::OpenSearchPath),
        ("GET", "/orders/_doc/a%252fb", Rule::OpenSearchPath),
        ("GET", "/orders//_search", Rule::OpenSearchPath),
        ("GET", "/orders/_doc/%00", Rule::OpenSearchPath),
        ("GET", "/orders/_doc/%zz", Rule::OpenSearchPath),
        ("GET", "/orders/_doc/%ff", Rule::OpenSearchPath),
        ("GET", "/orders;x/_search", Rule::OpenSearchPath),
        ("POST", "/orders,_bulk/_search", Rule::OpenSearchRequest),
        ("PATCH", "/orders/_search", Rule::OpenSearchRequest),
    ] {
        assert_eq!(
            check(method, target).unwrap_err().rule,
            rule,
            "{method} {target}"
        );
    }
}

proptest! {
    #[test]
    fn what_passes_passes_again_and_stays_the_same(method in "GET|POST|HEAD|PUT", target in "[a-z_/%.0-9?=&*]{0,30}") {
        if let Ok(first) = check(&method, &target) {
            prop_assert_eq!(check(first.method, &first.target), Ok(first.clone()));
        }
    }
}
