//! Which route of an HTTP API takes a request: exact before parameters before greedy, and in
//! each a method before any method.

use windlass_stack_config::model::events::RouteMethod;

use crate::routes::HttpRoute;

/// Names and values.
pub(crate) type Parameters = Vec<(String, String)>;

/// A route and what its path parameters are.
#[derive(Debug)]
pub(crate) struct Matched<'a> {
    pub route: &'a HttpRoute,
    pub parameters: Parameters,
}

/// The key that events carry: `GET /notes/{id}`, `ANY /{proxy+}` or `$default`.
pub(crate) fn route_key(route: &HttpRoute) -> String {
    if is_default(&route.path) {
        return "$default".to_owned();
    }
    match route.method {
        RouteMethod::Any => format!("ANY {}", route.path),
        method => format!("{} {}", method.as_str(), route.path),
    }
}

fn is_default(path: &str) -> bool {
    matches!(path, "*" | "/*" | "$default")
}

/// The best route.
pub(crate) fn best<'a>(routes: &'a [HttpRoute], method: &str, path: &str) -> Option<Matched<'a>> {
    routes
        .iter()
        .filter(|route| route.method == RouteMethod::Any || route.method.as_str() == method)
        .filter_map(|route| {
            let (rank, parameters) = fit(&route.path, path)?;
            // The smallest wins: kinds of segments from the left, then the method.
            Some((
                (rank, route.method == RouteMethod::Any),
                Matched { route, parameters },
            ))
        })
        .min_by(|(one, _), (other, _)| one.cmp(other))
        .map(|(_, matched)| matched)
}

/// How well a pattern fits: for each segment 0 exact, 1 parameter, 2 greedy, 3 default.
fn fit(pattern: &str, path: &str) -> Option<(Vec<u8>, Parameters)> {
    if is_default(pattern) {
        return Some((vec![3], Vec::new()));
    }
    let mut wanted = segments(pattern).into_iter();
    let given = segments(path);
    let (mut rank, mut parameters) = (Vec::new(), Vec::new());
    let mut index = 0;
    for segment in wanted.by_ref() {
        if let Some(name) = segment
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix("+}"))
        {
            // A greedy parameter stands for at least one segment.
            let rest = given.get(index..).filter(|rest| !rest.is_empty())?;
            parameters.push((name.to_owned(), decoded(&rest.join("/"))));
            rank.push(2);
            return Some((rank, parameters));
        }
        let value = given.get(index)?;
        match segment
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'))
        {
            Some(_) if value.is_empty() => return None,
            Some(name) => {
                parameters.push((name.to_owned(), decoded(value)));
                rank.push(1);
            }
            None if segment == *value => rank.push(0),
            None => return None,
        }
        index += 1;
    }
    (index == given.len()).then_some((rank, parameters))
}

/// `/a/b/` has the same segments as `/a/b`.
fn segments(path: &str) -> Vec<&str> {
    let trimmed = path.trim_matches('/');
    if trimmed.is_empty() {
        Vec::new()
    } else {
        trimmed.split('/').collect()
    }
}

/// Percent-decoded; `+` is a plain character in a path.
fn decoded(text: &str) -> String {
    let protected = text.replace('+', "%2B");
    url::form_urlencoded::parse(format!("a={protected}").as_bytes())
        .next()
        .map_or_else(|| text.to_owned(), |(_, value)| value.into_owned())
}

#[cfg(test)]
mod tests {
    use windlass_stack_config::model::events::PayloadFormat;

    use super::*;
    use crate::routes::Target;

    fn route(method: RouteMethod, path: &str) -> HttpRoute {
        HttpRoute {
            gateway: "api".to_owned(),
            method,
            path: path.to_owned(),
            payload: PayloadFormat::V2,
            authorizer: None,
            target: Target::Function("f".to_owned()),
        }
    }

    #[test]
    fn the_most_specific_route_wins() {
        let routes = [
            route(RouteMethod::Any, "*"),
            route(RouteMethod::Any, "/{proxy+}"),
            route(RouteMethod::Get, "/notes"),
            route(RouteMethod::Any, "/notes"),
            route(RouteMethod::Get, "/notes/{id}"),
            route(RouteMethod::Get, "/notes/new"),
            route(RouteMethod::Post, "/files/{name}/{rest+}"),
        ];
        for (method, path, key, parameters) in [
            ("GET", "/notes", "GET /notes", ""),
            ("GET", "/notes/", "GET /notes", ""),
            ("DELETE", "/notes", "ANY /notes", ""),
            ("GET", "/notes/new", "GET /notes/new", ""),
            ("GET", "/notes/a%20b", "GET /notes/{id}", "id=a b"),
            ("GET", "/notes/a+b", "GET /notes/{id}", "id=a+b"),
            ("GET", "/notes/1/x", "ANY /{proxy+}", "proxy=notes/1/x"),
            (
                "POST",
                "/files/a/b/c",
                "POST /files/{name}/{rest+}",
                "name=a,rest=b/c",
            ),
            ("GET", "/", "$default", ""),
        ] {
            let matched = best(&routes, method, path).unwrap();
            let shown: Vec<String> = matched
                .parameters
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            assert_eq!(
                (route_key(matched.route).as_str(), shown.join(",").as_str()),
                (key, parameters),
                "{path}"
            );
        }
        assert!(best(&routes[2..3], "POST", "/notes").is_none());
        assert!(best(&routes[2..3], "GET", "/other").is_none());
    }
}
