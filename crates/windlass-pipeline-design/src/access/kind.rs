//! What kind of thing an entity is as far as rights go: one user's own, shared, or looked after by a few.
//!
//! Decided by what the spec says is done with it, and by its noun only where the spec says too little.
//! Used before there is a data model, so that columns, endpoints and policies agree.

use crate::actor::{self, Actor};
use crate::endpoints::is_manage;
use crate::model::analysis::{Access, AccessRule, Analysis, Statement, VerbKind};
use crate::model::naming;
use crate::model::strategy::Priority;

/// What kind of thing an entity is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// What a user keeps for themselves or asks for: an order, a note, an appointment.
    Personal,
    /// What users make for others to see: a post, a review.
    Shared,
    /// What a few look after and all others only use: a product, a room.
    Catalogue,
    /// Anything else.
    Plain,
}

/// Nouns for what belongs to one user.
const PERSONAL: &str = "answer appeal application appointment attempt basket bill bookmark booking budget cart claim \
     contract conversation diary donation draft enquiry enrolment enrollment entry expense favorite \
     favourite feedback goal habit income inquiry invoice journal loan log measurement medication \
     message mood note notification order payment pledge prescription profile progress purchase \
     registration reminder request reservation response result score setting streak submission \
     subscription task ticket timesheet todo transaction viewing visit watchlist wishlist workout";

/// Nouns for what is made to be seen by others.
const SHARED: &str = "announcement article blog comment discussion event job listing newsletter obituary offer \
     petition poll post question rating recipe reply review ride story talk testimonial thread tip \
     topic tutorial vacancy";

/// Nouns for what is looked after by a few.
const CATALOGUE: &str = "animal author book brand category course department dish exhibit exhibition faq film game genre \
     language lesson location meal menu module movie museum page pet plan product puzzle resource \
     room route school service skill song space species tag template topping treatment vehicle venue";

/// Verbs by which people use what others have made.
const USES: &str = "apply attend bookmark borrow browse buy compare complete copy download enrol enroll favorite \
     favourite follow join like listen order play put rate register rent reserve review rsvp save \
     share star stream study subscribe take tip vote watch";

/// Last words of roles that look after what others use.
const MANAGING: &str = "accountant admin administrator agent assistant auditor board cashier chair clerk coordinator \
     curator desk director dispatcher editor finance foreman hr keeper lead leader librarian \
     maintainer manager management moderator office officer operator owner planner principal \
     receptionist secretary staff superuser supervisor support technician";

/// Last words of roles that anybody gets who signs up.
const END_USERS: &str = "adopter applicant attendee audience borrower buyer candidate citizen client colleague commuter \
     contestant customer diner donor employee fan follower friend guest individual learner listener \
     member neighbor neighbour parent participant passenger patient people person player pupil reader \
     renter resident respondent rider seeker shopper speaker student subscriber tenant traveler \
     traveller user viewer visitor volunteer voter";

fn is_among(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

fn last_word(role: &str) -> &str {
    role.rsplit(' ').next().unwrap_or(role)
}

/// Whether a role looks after what others use: `shop manager`, `moderator`.
pub(crate) fn is_managing(role: &str) -> bool {
    is_among(MANAGING, last_word(role))
}

/// Whether a role is what everyone has who signs up: `customer`, `player`.
pub(crate) fn is_end_user(role: &str) -> bool {
    is_among(END_USERS, last_word(role))
}

/// Whether a verb uses what another has made.
pub(crate) fn is_use(verb: &str) -> bool {
    is_among(USES, verb)
        || verb.starts_with("add to ")
        || verb.starts_with("save to ")
        || verb.starts_with("put in ")
}

/// Whether `everyone` or `anyone` is allowed more than to look: without an account, in so many words.
fn says_without_account(statement: &Statement) -> bool {
    let text = statement.text.to_lowercase();
    [
        "without an account",
        "without account",
        "without signing",
        "without logging",
        "without login",
        "without registering",
        "without registration",
        "anonymously",
        "not signed in",
    ]
    .iter()
    .any(|phrase| text.contains(phrase))
}

/// Words for people who are not signed in, as opposed to `anyone`, which may mean every user.
fn is_outsider(statement: &Statement) -> bool {
    matches!(
        statement.actor.as_deref(),
        Some("visitor" | "guest" | "public" | "website visitor" | "anonymous user")
    )
}

/// Who does what with one entity, as stated.
pub(crate) struct Dealings<'a> {
    analysis: &'a Analysis,
    noun: String,
    statements: Vec<&'a Statement>,
}

impl<'a> Dealings<'a> {
    pub(crate) fn of(analysis: &'a Analysis, entity: &str) -> Self {
        Self {
            analysis,
            noun: naming::words(entity)
                .last()
                .map(|word| naming::singular(word))
                .unwrap_or_default(),
            statements: analysis
                .statements
                .iter()
                .filter(|statement| {
                    statement.entity.as_deref() == Some(entity)
                        && statement.priority != Priority::Wont
                        && !statement.negated
                        && statement.kind != VerbKind::Keep
                })
                .collect(),
        }
    }

    fn actor(&self, statement: &'a Statement) -> Actor<'a> {
        actor::of_statement(self.analysis, statement)
    }

    /// Those who make rows, the product left out.
    pub(crate) fn creators(&self) -> Vec<Actor<'a>> {
        let mut found = Vec::new();
        for statement in &self.statements {
            let makes = statement.kind == VerbKind::Create
                || statement.kind == VerbKind::Other && is_manage(statement);
            let who = self.actor(statement);
            if makes && who != Actor::Product && !found.contains(&who) {
                found.push(who);
            }
        }
        found
    }

    /// Whether a role makes rows.
    pub(crate) fn creates(&self, role: &str) -> bool {
        self.creators().contains(&Actor::Role(role))
    }

    /// Whether the product makes the rows by itself: `the system receives readings`.
    pub(crate) fn is_made_by_product(&self) -> bool {
        self.creators().is_empty()
            && self.statements.iter().any(|statement| {
                self.actor(statement) == Actor::Product
                    && (statement.kind == VerbKind::Create
                        || matches!(
                            statement.verb.as_str(),
                            "collect" | "generate" | "import" | "receive" | "record" | "calculate"
                        ))
            })
    }

    /// Whether several roles work on the same rows: then each of them sees what the others made.
    pub(crate) fn is_team_work(&self) -> bool {
        let mut roles: Vec<&str> = Vec::new();
        for statement in &self.statements {
            if let Actor::Role(role) = self.actor(statement)
                && !statement.object.as_ref().is_some_and(|object| object.own)
                && !is_end_user(role)
                && !roles.contains(&role)
            {
                roles.push(role);
            }
        }
        roles.len() > 1 && roles.iter().any(|role| self.creates(role))
    }

    /// Whether people who do not make rows look at them or use them.
    fn is_used_by_others(&self) -> bool {
        let creators = self.creators();
        self.statements.iter().any(|statement| {
            let who = self.actor(statement);
            let looks = matches!(statement.kind, VerbKind::Read | VerbKind::List)
                || statement.kind == VerbKind::Other && is_use(&statement.verb);
            looks
                && who != Actor::Product
                && !creators.contains(&who)
                && !statement.object.as_ref().is_some_and(|object| object.own)
        })
    }

    /// Whether a role looks at rows that are not its own.
    fn is_read_by_a_role(&self) -> bool {
        self.statements.iter().any(|statement| {
            matches!(statement.kind, VerbKind::Read | VerbKind::List)
                && matches!(self.actor(statement), Actor::Role(_))
                && !statement.object.as_ref().is_some_and(|object| object.own)
        })
    }

    /// Whether visitors are said to look at it.
    pub(crate) fn is_public(&self) -> bool {
        self.statements.iter().any(|statement| {
            matches!(statement.kind, VerbKind::Read | VerbKind::List)
                && self.actor(statement) == Actor::Anybody
        })
    }

    /// The kind.
    pub(crate) fn kind(&self) -> Kind {
        let mut creators = self.creators();
        // Who is not signed in looks after nothing.
        creators.retain(|who| *who != Actor::Anybody);
        let by_office = !creators.is_empty()
            && creators
                .iter()
                .all(|who| matches!(who, Actor::Role(role) if !is_end_user(role)));
        let noun = self.noun.as_str();
        let is_offered = is_among(CATALOGUE, noun) && (creators.is_empty() || by_office);
        let is_kept_by_office = by_office && self.is_used_by_others();
        let is_only_read = creators.is_empty() && (self.is_public() || self.is_read_by_a_role());
        if is_among(PERSONAL, noun) && !self.is_public() {
            Kind::Personal
        } else if is_among(SHARED, noun) {
            Kind::Shared
        } else if is_offered || is_kept_by_office || is_only_read {
            Kind::Catalogue
        } else if self.is_used_by_others() && self.is_public() {
            Kind::Shared
        } else {
            Kind::Plain
        }
    }

    /// Whether everyone may read it though no sentence says so: its noun is a thing that is offered to
    /// all, or visitors are said to see it.
    pub(crate) fn is_open_by_default(&self) -> bool {
        let noun = self.noun.as_str();
        match self.kind() {
            Kind::Shared => true,
            Kind::Catalogue => is_among(CATALOGUE, noun) || self.is_public(),
            Kind::Personal | Kind::Plain => false,
        }
    }

    /// Whether those who are not signed in make rows: only where a sentence says so, and never in
    /// what others look after.
    pub(crate) fn visitors_create(&self) -> bool {
        self.kind() != Kind::Catalogue
            && self.statements.iter().any(|statement| {
                statement.kind == VerbKind::Create
                    && (is_outsider(statement)
                        || says_without_account(statement)
                            && matches!(self.actor(statement), Actor::Anybody | Actor::SignedIn))
            })
    }

    /// The statement by which visitors make rows.
    pub(crate) fn visitors_statement(&self) -> Option<&'a Statement> {
        if !self.visitors_create() {
            return None;
        }
        self.statements
            .iter()
            .find(|statement| {
                statement.kind == VerbKind::Create
                    && (is_outsider(statement) || says_without_account(statement))
            })
            .copied()
    }
}

/// Whether the product has people who look in from outside.
pub(crate) fn knows_visitors(analysis: &Analysis) -> bool {
    let public = |rule: &AccessRule| rule.rule == Access::PublicRead;
    analysis.access.iter().any(public)
        || analysis.statements.iter().any(|statement| {
            statement.priority != Priority::Wont
                && !statement.negated
                && actor::of_statement(analysis, statement) == Actor::Anybody
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Example;

    fn kind(example: &Example, entity: &str) -> Kind {
        Dealings::of(&example.analysis, entity).kind()
    }

    #[test]
    fn what_is_done_with_it_decides_before_its_noun() {
        let example = Example::default()
            .entity("Product: name")
            .entity("Machine: name")
            .entity("Order: name")
            .entity("Post: title")
            .entity("Rating: stars")
            .says("shop manager", VerbKind::Create, "add", "products")
            .says("visitor", VerbKind::List, "browse", "products")
            .says("caretaker", VerbKind::Create, "add", "machines")
            .says("student", VerbKind::List, "browse", "machines")
            .says("customer", VerbKind::Create, "place", "orders")
            .says("user", VerbKind::Create, "write", "posts")
            .says("user", VerbKind::Create, "give", "ratings")
            .says("visitor", VerbKind::Read, "read", "ratings");
        for (entity, expected) in [
            ("Product", Kind::Catalogue),
            ("Machine", Kind::Catalogue),
            ("Order", Kind::Personal),
            ("Post", Kind::Shared),
            ("Rating", Kind::Shared),
            ("Nothing", Kind::Plain),
        ] {
            assert_eq!(kind(&example, entity), expected, "{entity}");
        }
    }

    #[test]
    fn visitors_make_rows_only_where_a_sentence_says_so() {
        let example = Example::default()
            .entity("Product: name")
            .entity("Enquiry: text")
            .entity("Comment: text")
            .says("shop manager", VerbKind::Create, "add", "products")
            .says("visitor", VerbKind::Create, "add", "products")
            .says("visitor", VerbKind::Create, "send", "an enquiry")
            .says("everyone", VerbKind::Create, "write", "comments");
        let may = |entity: &str| Dealings::of(&example.analysis, entity).visitors_create();
        assert!(!may("Product"), "a catalogue is its manager's");
        assert!(may("Enquiry"));
        assert!(!may("Comment"), "everyone may mean every user");
    }

    #[test]
    fn roles_are_told_apart_by_their_last_word() {
        for (role, managing, end_user) in [
            ("shop manager", true, false),
            ("moderator", true, false),
            ("job seeker", false, true),
            ("player", false, true),
            ("landlord", false, false),
        ] {
            assert_eq!(
                (is_managing(role), is_end_user(role)),
                (managing, end_user),
                "{role}"
            );
        }
    }
}
