//! Websites: a bucket that only the distribution in front of it reads.
//!
//! `build`, `dev`, patterns, headers and injected values concern the files, not the template.

use serde_json::json;
use windlass_stack_config::model::cdn::Cdn;
use windlass_stack_config::model::storage::{HostingBucket, HostingContentType};

use crate::cdn::Site;
use crate::compiled::SyncedBucket;
use crate::name::logical;
use crate::stack::Stack;

/// The distribution of a website, as if it stood in the config.
pub(crate) fn own_cdn(it: &HostingBucket) -> Cdn {
    Cdn {
        enabled: true,
        caching_options: None,
        forwarding_options: None,
        route_rewrites: it.route_rewrites.clone(),
        custom_domains: it.custom_domains.clone(),
        cloudfront_price_class: windlass_stack_config::model::cdn::PriceClass::default(),
        default_route_prefix: None,
        error_document: it.error_document.clone(),
        index_document: Some(it.index_document.clone()),
        disable_invalidation_after_deploy: it.disable_invalidation_after_deploy,
        listener_port: None,
        origin_domain_name: None,
    }
}

impl Stack<'_> {
    pub fn hosting_bucket(&mut self, name: &str, it: &HostingBucket) {
        let extra = json!({ "PublicAccessBlockConfiguration": super::bucket::blocked(true) });
        self.plain_bucket(name, extra, false);
        let site = Site {
            normalizes: !it.disable_url_normalization
                && it.hosting_content_type != HostingContentType::SinglePageApp,
            is_single_page: it.hosting_content_type == HostingContentType::SinglePageApp,
            pages_end_in_html: it.hosting_content_type
                == HostingContentType::SveltekitStaticWebsite,
            fallback: it.fallback_origin.as_ref(),
        };
        self.distribution(name, &own_cdn(it), &site);
        self.bucket_policy(name, Vec::new());
        self.synced_buckets.push(SyncedBucket {
            resource: name.to_owned(),
            logical_id: logical(&[name, "Bucket"]),
            bucket: self.bucket_name(name),
            invalidates: (!it.disable_invalidation_after_deploy)
                .then(|| logical(&[name, "CDN", "Distribution0"])),
        });
    }
}
