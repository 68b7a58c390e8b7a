//! Words about how well a product works, and words that constrain it.

use super::line::{Phrases, phrases};
use crate::model::strategy::{Category, ConstraintType};

/// Phrases of a quality and its category; the first match counts.
pub static QUALITIES: [(Category, Phrases); 8] = [
    (
        Category::Accessibility,
        phrases!(
            "accessible; accessibility; wcag; screen reader; screen readers; keyboard; colour-blind; \
         color-blind; section 508; en 301 549; a11y; assistive"
        ),
    ),
    (
        Category::Compliance,
        phrases!(
            "gdpr; hipaa; ccpa; pci; soc 2; iso 27001; audit trail; retention; comply; compliant; compliance; \
         data protection"
        ),
    ),
    (
        Category::Security,
        phrases!(
            "secure; security; securely; encrypt; encrypted; encryption; penetration; vulnerability; owasp; \
         two-factor; 2fa; mfa; brute force; hashed; password policy; safe; never stored; confidential; \
         rate limit; rate limiting"
        ),
    ),
    (
        Category::Reliability,
        phrases!(
            "available; availability; uptime; downtime; reliable; reliability; backup; backups; backed up; \
         recover; recovery; fault; failover; resilient; data loss; robust; offline"
        ),
    ),
    (
        Category::Scalability,
        phrases!(
            "scale; scales; scalable; scalability; concurrent; simultaneous; simultaneously; at the same time; \
         grow; growth; peak; throughput; load of; horizontally"
        ),
    ),
    (
        Category::Performance,
        phrases!(
            "fast; quick; performance; performant; response time; load time; load in; loads in; latency; \
         speed; responsive within; instant; instantly; slow; snappy; real time"
        ),
    ),
    (
        Category::Maintainability,
        phrases!(
            "maintainable; maintainability; covered by tests; test coverage; unit tests; documented; modular; \
         clean code; ci/cd; extensible; logging; monitored; monitoring"
        ),
    ),
    (
        Category::Usability,
        phrases!(
            "easy to use; user-friendly; user friendly; usable; usability; intuitive; simple to use; responsive; \
         work on phones; mobile-friendly; works on mobile; phones and tablets; easy; without training; \
         learnable; self-explanatory; localised; localized; multilingual; languages; work on mobile; \
         works on phones; work on tablets; all devices; browsers"
        ),
    ),
];

/// Vague words: a quality without a measure.
pub const VAGUE: &str = "fast easy modern intuitive user-friendly simple quick robust scalable secure \
    reliable beautiful efficient seamless flexible powerful smooth snappy maintainable usable responsive \
    performant convenient quickly easily appropriate adequate";

/// Phrases that bind; the first match counts.
pub static BOUNDS: [(ConstraintType, Phrases); 3] = [
    (
        ConstraintType::Regulatory,
        phrases!(
            "gdpr; hipaa; ccpa; pci dss; pci; soc 2; iso 27001; iso; ferpa; coppa; sox; law; laws; regulation; \
         regulations; regulatory; legal; comply; compliance; compliant; directive; in the eu; \
         data residency; dsgvo"
        ),
    ),
    (
        ConstraintType::Technical,
        phrases!(
            "must use; has to use; have to use; built with; build with; built on; built using; written in; \
         based on; implemented in; implemented with; tech stack; hosted on; hosted in; host all; host in; \
         deploy to; deployed to; deployed on; runs on; must run on; no other backend; self-hosted; \
         on-premise; on premises; company network; open source; no third-party; \
         use supabase; using supabase; use postgres"
        ),
    ),
    (
        ConstraintType::Business,
        phrases!(
            "budget; deadline; go-live; go live; launch; launched; release date; cost; costs; within a budget; \
         live before; live by; ready by; ready before; delivered by; no later than; team of; headcount; \
         time to market; monthly cost; must not exceed; cannot exceed"
        ),
    ),
];

/// Phrases that bind though the sentence has an actor who does something.
pub static STRONG_BOUNDS: Phrases = phrases!(
    "must use; has to use; have to use; built with; built on; built using; written in; \
    must comply; has to comply; have to comply; comply with; budget; deadline; go-live; no other backend; in the eu; \
    company network; live before; live by; monthly cost; use only; using only"
);
