//! Which rule of a load balancer's listener takes a request: the first by priority whose
//! conditions all hold.

use windlass_stack_config::model::network::{ListenerAction, ListenerProtocol, RedirectStatus};

use super::request::Incoming;
use crate::routes::BalancerRule;

/// A listener and its rules, by priority.
#[derive(Clone, Debug)]
pub(crate) struct Listener {
    pub balancer: String,
    pub rules: Vec<BalancerRule>,
    pub default_action: Option<ListenerAction>,
}

impl Listener {
    pub fn rule(&self, incoming: &Incoming) -> Option<&BalancerRule> {
        self.rules.iter().find(|rule| holds(rule, incoming))
    }

    /// Status and address of the redirect that is the default action.
    pub fn redirect(&self, incoming: &Incoming) -> Option<(u16, String)> {
        let ListenerAction::Redirect(redirect) = self.default_action.as_ref()?;
        let host = incoming.header("host").unwrap_or("localhost");
        let (name, port) = host.split_once(':').unwrap_or((host, ""));
        let fill = |text: &str| {
            text.replace("#{host}", name)
                .replace("#{port}", port)
                .replace("#{path}", incoming.path.trim_start_matches('/'))
                .replace("#{query}", &incoming.query)
                .replace("#{protocol}", "http")
        };
        let target_host = redirect
            .host
            .as_deref()
            .map_or_else(|| name.to_owned(), fill);
        let target_port = redirect
            .port
            .map_or_else(|| port.to_owned(), |port| port.to_string());
        let scheme = match redirect.protocol {
            Some(ListenerProtocol::Https) => "https",
            Some(ListenerProtocol::Http) | None => "http",
        };
        let path = redirect
            .path
            .as_deref()
            .map_or_else(|| incoming.path.clone(), fill);
        let query = redirect
            .query
            .as_deref()
            .map_or_else(|| incoming.query.clone(), fill);
        let colon = if target_port.is_empty() { "" } else { ":" };
        let mark = if query.is_empty() { "" } else { "?" };
        let status = match redirect.status_code {
            RedirectStatus::MovedPermanently => 301,
            RedirectStatus::Found => 302,
        };
        Some((
            status,
            format!("{scheme}://{target_host}{colon}{target_port}{path}{mark}{query}"),
        ))
    }
}

fn holds(rule: &BalancerRule, incoming: &Incoming) -> bool {
    let any = |patterns: &[String], text: &str| {
        patterns.is_empty() || patterns.iter().any(|pattern| like(pattern, text))
    };
    let host = incoming.header("host").unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default();
    any(&rule.paths, &incoming.path)
        && (rule.methods.is_empty()
            || rule.methods.iter().any(|method| {
                method == "*" || method.eq_ignore_ascii_case(incoming.method.as_str())
            }))
        && any(&rule.hosts, &host.to_ascii_lowercase())
        && rule.headers.iter().all(|condition| {
            let values = incoming
                .headers
                .get_all(condition.header_name.to_ascii_lowercase());
            values
                .iter()
                .filter_map(|value| value.to_str().ok())
                .any(|value| any(&condition.values, value))
        })
        && rule.query.iter().all(|condition| {
            let query = incoming.query_values();
            query
                .iter()
                .filter(|(name, _)| *name == condition.param_name)
                .flat_map(|(_, values)| values)
                .any(|value| any(&condition.values, value))
        })
        && (rule.source_ips.is_empty()
            || rule
                .source_ips
                .iter()
                .any(|range| contains(range, &incoming.source_ip)))
}

/// `*` for any run of characters, `?` for one.
fn like(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut from, mut star, mut resume) = (0, 0, None, 0);
    while from < text.len() {
        if at < pattern.len()
            && (pattern[at] == '?' || (pattern[at] != '*' && pattern[at] == text[from]))
        {
            at += 1;
            from += 1;
        } else if at < pattern.len() && pattern[at] == '*' {
            star = Some(at);
            resume = from;
            at += 1;
        } else if let Some(star) = star {
            at = star + 1;
            resume += 1;
            from = resume;
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|character| *character == '*')
}

/// Whether an address is in a range such as `10.0.0.0/8`.
fn contains(range: &str, address: &str) -> bool {
    let (network, bits) = range.split_once('/').unwrap_or((range, "32"));
    let (Ok(network), Ok(address), Ok(bits)) = (
        network.parse::<std::net::Ipv4Addr>(),
        address.parse::<std::net::Ipv4Addr>(),
        bits.parse::<u32>(),
    ) else {
        return false;
    };
    let mask = u32::MAX
        .checked_shl(32_u32.saturating_sub(bits))
        .unwrap_or(0);
    network.to_bits() & mask == address.to_bits() & mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("/api/*", "/api/a/b", true),
            ("/api/*", "/api", false),
            ("*.example.com", "a.example.com", true),
            ("/a?c", "/abc", true),
            ("/a?c", "/ac", false),
            ("*a*b", "xxaxxb", true),
            ("", "", true),
            ("*", "", true),
        ] {
            assert_eq!(like(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn ranges_of_addresses() {
        for (range, expected) in [
            ("127.0.0.0/8", true),
            ("0.0.0.0/0", true),
            ("10.0.0.0/8", false),
            ("127.0.0.1", true),
            ("x", false),
        ] {
            assert_eq!(contains(range, "127.0.0.1"), expected, "{range}");
        }
    }
}
