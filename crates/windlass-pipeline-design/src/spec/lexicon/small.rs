//! Small words: articles, prepositions, conjunctions, modals. Each token knows which it is.

use std::{collections::HashMap, sync::LazyLock};

/// What a small word can be; several at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tags(u32);

impl Tags {
    pub const DETERMINER: Self = Self(1);
    pub const PREPOSITION: Self = Self(1 << 1);
    pub const COORDINATOR: Self = Self(1 << 2);
    pub const ADVERB: Self = Self(1 << 3);
    pub const PRONOUN: Self = Self(1 << 4);
    pub const RELATIVE: Self = Self(1 << 5);
    pub const CONDITION: Self = Self(1 << 6);
    pub const MODAL: Self = Self(1 << 7);
    pub const BE: Self = Self(1 << 8);
    pub const POSSESSIVE: Self = Self(1 << 9);
    pub const QUANTIFIER: Self = Self(1 << 10);
    pub const ADJECTIVE: Self = Self(1 << 11);
    pub const NUMBER_WORD: Self = Self(1 << 12);
    pub const NEGATION: Self = Self(1 << 13);
    pub const PURPOSE: Self = Self(1 << 14);

    /// Whether it is one of those.
    pub const fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }

    const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Everything that may stand before a noun without being part of its name.
pub const BEFORE_NOUN: Tags = Tags::DETERMINER
    .with(Tags::POSSESSIVE)
    .with(Tags::QUANTIFIER)
    .with(Tags::ADJECTIVE)
    .with(Tags::NUMBER_WORD);

/// Words that are never a verb or a noun.
pub const FUNCTION_WORD: Tags = Tags::DETERMINER
    .with(Tags::PREPOSITION)
    .with(Tags::COORDINATOR)
    .with(Tags::ADVERB)
    .with(Tags::PRONOUN)
    .with(Tags::RELATIVE)
    .with(Tags::CONDITION)
    .with(Tags::MODAL)
    .with(Tags::BE)
    .with(Tags::POSSESSIVE)
    .with(Tags::QUANTIFIER)
    .with(Tags::NEGATION)
    .with(Tags::PURPOSE);

const TABLE: &[(Tags, &str)] = &[
    (
        Tags::DETERMINER,
        "a an the this that these those such another any each every either neither no",
    ),
    (Tags::POSSESSIVE, "their his her its my our your own whose"),
    (
        Tags::QUANTIFIER,
        "all some many several multiple few more most both various other others first second third \
         last next single same different certain only exactly additional further enough much",
    ),
    (
        Tags::PREPOSITION,
        "about above across after against along among around as at before behind below beneath \
         beside between beyond by despite down during except for from in including inside into like \
         near of off on onto out outside over past per regarding since than through throughout till \
         to toward towards under until up upon using via with within without based excluding",
    ),
    (Tags::COORDINATOR, "and or & and/or plus nor but"),
    (
        Tags::ADVERB,
        "also always automatically currently directly easily either even finally first freely fully \
         generally immediately instantly just later manually maybe mostly never normally often only \
         optionally perhaps possibly privately publicly quickly rather really regularly \
         securely simply simultaneously sometimes soon still then there today too usually very \
         weekly daily monthly yearly hourly together once ideally themselves himself herself itself \
         myself already separately independently temporarily permanently again afterwards instead",
    ),
    (
        Tags::PRONOUN,
        "i you he she it we they them him us me everyone everybody anyone anybody someone somebody \
         nobody no-one none one ones everything anything something nothing what whatever whoever \
         himself herself themselves itself this that these those",
    ),
    (
        Tags::RELATIVE,
        "that which who whom whose where what how why whether",
    ),
    (
        Tags::CONDITION,
        "when if unless until once before after while whenever as_soon_as as_long_as only_if",
    ),
    (Tags::PURPOSE, "because so since"),
    (
        Tags::MODAL,
        "can cannot can't could couldn't may might must mustn't shall shan't should shouldn't will \
         won't would wouldn't need needs",
    ),
    (
        Tags::BE,
        "is are was were be been being isn't aren't am it's they're i'm",
    ),
    (
        Tags::NEGATION,
        "not never cannot can't couldn't mustn't shan't shouldn't won't wouldn't don't doesn't isn't aren't nobody",
    ),
    (
        Tags::NUMBER_WORD,
        "zero one two three four five six seven eight nine ten eleven twelve twenty thirty forty \
         fifty hundred thousand million dozen",
    ),
    (
        Tags::ADJECTIVE,
        "able active actual additional anonymous archived automatic available average basic best big \
         blank brief broken bulk busy central clear closed common complete concurrent confidential \
         correct critical current custom customizable daily default deep dense detailed digital draft \
         due duplicate dynamic early easy elegant empty entire existing expired external extra fast \
         favourite favorite final finished flexible following free frequent fresh friendly full future \
         general global good great group happy hidden high important inactive incoming incorrect \
         individual initial internal invalid large late latest legal light little live local long low \
         main major manual maximum minimum minor missing mobile modern monthly multiple native \
         negative new nearby newest normal occasional official online old older oldest ongoing open \
         optional original outdated outgoing outstanding overdue own paid particular past pending \
         permanent personal physical plain popular possible potential previous primary private proper \
         public quarterly quick random read-only ready real real-time recent recurring regional \
         registered regular related relevant remote repeated responsible rich right sad safe secure \
         sensitive separate short signed similar simple single small smart soft special specific \
         standard static strong subsequent suitable tall temporary top total typical unique unpaid \
         unread unresolved upcoming urgent useful valid valuable verified virtual visible weekly \
         whole wide wrong yearly young individual mandatory required relative respective half-finished \
         interactive personalised personalized unlimited monthly weighted given completed",
    ),
];

static SMALL: LazyLock<HashMap<&'static str, Tags>> = LazyLock::new(|| {
    let mut map: HashMap<&'static str, Tags> = HashMap::new();
    for (tag, words) in TABLE {
        for word in words.split_whitespace() {
            let tags = map.entry(word).or_default();
            *tags = tags.with(*tag);
        }
    }
    map
});

/// What a word can be, by the tables alone.
pub fn tags(lower: &str) -> Tags {
    SMALL.get(lower).copied().unwrap_or_default()
}

/// Endings that make an adjective of almost any word.
const ADJECTIVE_ENDINGS: &[&str] = &["able", "ible", "ful", "less", "ous", "ish", "ly"];

/// Nouns with such an ending.
const NOT_ADJECTIVES: &[&str] = &[
    "table",
    "timetable",
    "assembly",
    "family",
    "supply",
    "reply",
    "variable",
    "anomaly",
    "vegetable",
    "cable",
    "deliverable",
    "wish",
    "dish",
    "fish",
    "handful",
    "collectible",
];

/// Whether a word describes a noun rather than naming a thing.
pub fn is_adjective(lower: &str) -> bool {
    tags(lower).has(Tags::ADJECTIVE)
        || (lower.len() > 5
            && ADJECTIVE_ENDINGS.iter().any(|end| lower.ends_with(end))
            && !NOT_ADJECTIVES.contains(&lower))
}
