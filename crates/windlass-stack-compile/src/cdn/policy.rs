//! What a distribution caches, and what of a request reaches the origin.

use serde_json::{Value, json};
use windlass_stack_config::model::cdn::{
    CachingOptions, CookieSelection, ForwardedHeaders, ForwardingOptions, HeaderSelection,
    QuerySelection,
};

use super::{ALL_METHODS, methods};
use crate::cf::reference;
use crate::name::{digest, logical};
use crate::stack::Stack;

/// AWS's own policy for files.
const CACHING_OPTIMIZED: &str = "658327ea-f89d-4fab-a63d-7e88639e58f6";
/// AWS's own policy that passes on everything but the host.
const ALL_VIEWER_EXCEPT_HOST: &str = "b689b0a8-53d0-40ab-baf2-68738e2966ac";

impl Stack<'_> {
    #[expect(
        clippy::too_many_arguments,
        reason = "each is one setting of the behaviour"
    )]
    pub(super) fn behavior(
        &mut self,
        name: &str,
        origin: &str,
        is_static: bool,
        reads_only: bool,
        caching: Option<&CachingOptions>,
        forwarding: Option<&ForwardingOptions>,
        rewriting: Option<&Value>,
    ) -> Value {
        let usual: &[&str] = match is_static || reads_only {
            true => &["GET", "HEAD", "OPTIONS"],
            false => &ALL_METHODS,
        };
        let cached = caching.and_then(|it| it.cache_methods.as_deref());
        let cached = match methods(cached, &["GET", "HEAD"]) {
            all if all.len() > 3 => vec!["GET", "HEAD", "OPTIONS"],
            few => few,
        };
        let wanted = forwarding.and_then(|it| it.allowed_methods.as_deref());
        let allowed = match reads_only {
            true => usual.to_vec(),
            false => methods(wanted, usual),
        };
        let cache = self.cache_policy(name, caching, is_static);
        let request = self.request_policy(name, forwarding, is_static);
        let functions = rewriting
            .map(|function| json!([{ "EventType": "viewer-request", "FunctionARN": function }]));
        json!({
            "TargetOriginId": origin,
            "ViewerProtocolPolicy": "redirect-to-https",
            "AllowedMethods": allowed,
            "CachedMethods": cached,
            "Compress": !caching.is_some_and(|it| it.disable_compression),
            "CachePolicyId": cache,
            "OriginRequestPolicyId": request,
            "FunctionAssociations": functions,
        })
    }

    fn cache_policy(
        &mut self,
        name: &str,
        caching: Option<&CachingOptions>,
        is_static: bool,
    ) -> Value {
        if let Some(policy) = caching.and_then(|it| it.cache_policy_id.as_ref()) {
            return self.text(policy);
        }
        let key = caching.and_then(|it| it.cache_key_parameters.as_ref());
        let has_options = caching.is_some_and(|it| {
            it.min_ttl.is_some()
                || it.max_ttl.is_some()
                || it.default_ttl.is_some()
                || it.cache_key_parameters.is_some()
        });
        match (has_options, is_static) {
            (false, true) => return json!(CACHING_OPTIMIZED),
            (false, false) => {
                // Answers of programs are kept only when they say so themselves.
                let policy = cache_config(None, Ttl::default(), false);
                let id = logical(&["Stp", "CDNDefDynamic", "CachePolicy"]);
                let name = self.physical("cdn-dynamic", 128);
                self.share(&id, "AWS::CloudFront::CachePolicy", |_| {
                    named(&name, policy, "CachePolicyConfig")
                });
                return reference(&id);
            }
            (true, _) => {}
        }
        let ttl = Ttl {
            least: caching.and_then(|it| it.min_ttl),
            usual: caching.and_then(|it| it.default_ttl),
            most: caching.and_then(|it| it.max_ttl),
        };
        let selections = key.map(|key| Selections {
            cookies: key.cookies.as_ref(),
            headers: key.headers.as_ref(),
            query: key.query_string.as_ref(),
        });
        let config = cache_config(selections, ttl, is_static);
        let hash = digest(
            &windlass_stack_config::sorted(config.clone()).to_string(),
            8,
        );
        let id = logical(&[name, &format!("CDNCacheBehavior{hash}"), "CachePolicy"]);
        if !self.parts.contains_key(&id) {
            let policy = self.physical(&format!("{name}-{hash}"), 128);
            self.add(
                &id,
                "AWS::CloudFront::CachePolicy",
                named(&policy, config, "CachePolicyConfig"),
            );
        }
        reference(&id)
    }

    fn request_policy(
        &mut self,
        name: &str,
        forwarding: Option<&ForwardingOptions>,
        is_static: bool,
    ) -> Option<Value> {
        if let Some(policy) = forwarding.and_then(|it| it.origin_request_policy_id.as_ref()) {
            return Some(self.text(policy));
        }
        let options = forwarding
            .filter(|it| it.cookies.is_some() || it.headers.is_some() || it.query_string.is_some());
        let Some(options) = options else {
            return (!is_static).then(|| json!(ALL_VIEWER_EXCEPT_HOST));
        };
        let usual = if is_static { "none" } else { "all" };
        let config = json!({
            "CookiesConfig": cookies(options.cookies.as_ref(), usual),
            "HeadersConfig": forwarded(options.headers.as_ref(), is_static),
            "QueryStringsConfig": query(options.query_string.as_ref(), usual),
        });
        let config = crate::cf::without_nulls(config);
        let hash = digest(
            &windlass_stack_config::sorted(config.clone()).to_string(),
            8,
        );
        let id = logical(&[
            name,
            &format!("CDNCacheBehavior{hash}"),
            "OriginRequestPolicy",
        ]);
        if !self.parts.contains_key(&id) {
            let policy = self.physical(&format!("{name}-{hash}"), 128);
            self.add(
                &id,
                "AWS::CloudFront::OriginRequestPolicy",
                named(&policy, config, "OriginRequestPolicyConfig"),
            );
        }
        Some(reference(&id))
    }
}

#[derive(Default)]
struct Ttl {
    least: Option<u32>,
    usual: Option<u32>,
    most: Option<u32>,
}

struct Selections<'a> {
    cookies: Option<&'a CookieSelection>,
    headers: Option<&'a HeaderSelection>,
    query: Option<&'a QuerySelection>,
}

fn named(name: &str, mut config: Value, key: &str) -> Value {
    config["Name"] = json!(name);
    json!({ key: config })
}

fn cache_config(selections: Option<Selections<'_>>, ttl: Ttl, is_static: bool) -> Value {
    let least = ttl.least.unwrap_or(0);
    let usual = ttl
        .usual
        .unwrap_or(if is_static { 86_400 } else { 0 })
        .max(least);
    let most = ttl.most.unwrap_or(31_536_000);
    let usual = usual.min(most);
    let all = if is_static { "none" } else { "all" };
    let cookies = self::cookies(selections.as_ref().and_then(|it| it.cookies), all);
    let query = self::query(selections.as_ref().and_then(|it| it.query), all);
    let headers = match selections.as_ref().and_then(|it| it.headers) {
        Some(it) if it.none => None,
        Some(it) => it.whitelist.clone(),
        // Otherwise one caller could get another's answer.
        None => (!is_static).then(|| vec!["Authorization".to_owned()]),
    };
    let headers = match headers {
        Some(names) => json!({ "HeaderBehavior": "whitelist", "Headers": names }),
        None => json!({ "HeaderBehavior": "none" }),
    };
    crate::cf::without_nulls(json!({
        "MinTTL": least,
        "DefaultTTL": usual,
        "MaxTTL": most,
        "ParametersInCacheKeyAndForwardedToOrigin": {
            "EnableAcceptEncodingGzip": true,
            "EnableAcceptEncodingBrotli": true,
            "CookiesConfig": cookies,
            "HeadersConfig": headers,
            "QueryStringsConfig": query,
        },
    }))
}

fn cookies(selection: Option<&CookieSelection>, usual: &str) -> Value {
    let (behavior, names) = match selection {
        Some(it) => pick(
            it.none,
            it.all,
            it.whitelist.as_ref(),
            it.all_except.as_ref(),
            usual,
        ),
        None => (usual.to_owned(), None),
    };
    json!({ "CookieBehavior": behavior, "Cookies": names })
}

fn query(selection: Option<&QuerySelection>, usual: &str) -> Value {
    let (behavior, names) = match selection {
        Some(it) => pick(
            it.none,
            it.all,
            it.whitelist.as_ref(),
            it.all_except.as_ref(),
            usual,
        ),
        None => (usual.to_owned(), None),
    };
    json!({ "QueryStringBehavior": behavior, "QueryStrings": names })
}

fn pick(
    none: bool,
    all: bool,
    only: Option<&Vec<String>>,
    except: Option<&Vec<String>>,
    usual: &str,
) -> (String, Option<Vec<String>>) {
    match (none, all, only, except) {
        (true, ..) => ("none".to_owned(), None),
        (_, true, ..) => ("all".to_owned(), None),
        (_, _, Some(names), _) => ("whitelist".to_owned(), Some(names.clone())),
        (_, _, _, Some(names)) => ("allExcept".to_owned(), Some(names.clone())),
        _ => (usual.to_owned(), None),
    }
}

fn forwarded(headers: Option<&ForwardedHeaders>, is_static: bool) -> Value {
    let (behavior, names): (&str, Option<Vec<String>>) = match headers {
        Some(it) if it.none => ("none", None),
        Some(it) if it.all_viewer => ("allViewer", None),
        Some(it) => match (
            &it.whitelist,
            &it.all_viewer_and_whitelist_cloud_front,
            &it.all_except,
        ) {
            (Some(names), _, _) => ("whitelist", Some(names.clone())),
            (_, Some(names), _) => ("allViewerAndWhitelistCloudFront", Some(names.clone())),
            (_, _, Some(names)) => ("allExcept", Some(names.clone())),
            _ => ("none", None),
        },
        None if is_static => ("none", None),
        None => ("allExcept", Some(vec!["host".to_owned()])),
    };
    json!({ "HeaderBehavior": behavior, "Headers": names })
}
