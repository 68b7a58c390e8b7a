//! Verbs: what they do to their object, and their forms.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use super::{Words, set};
use crate::model::analysis::VerbKind;

/// Which forms of a verb a word can be; several at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forms(u8);

impl Forms {
    /// `create`
    pub const BASE: Self = Self(1);
    /// `creates`
    pub const THIRD: Self = Self(2);
    /// `created`, `written`
    pub const PARTICIPLE: Self = Self(4);
    /// `creating`
    pub const GERUND: Self = Self(8);

    /// Whether it is one of those.
    pub const fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }

    const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A word read as a verb.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerbUse {
    /// `create`
    pub base: String,
    /// Its forms.
    pub forms: Forms,
}

const KINDS: &[(VerbKind, &str)] = &[
    (
        VerbKind::Create,
        "create add write post book submit record make compose enter upload import insert save place \
         reserve schedule propose start prepare generate issue raise order draft define \
         log file open_a request report fill publish_a",
    ),
    (
        VerbKind::Read,
        "view see read open inspect check preview access display show watch look present",
    ),
    (
        VerbKind::List,
        "list browse search find filter sort track explore discover query monitor",
    ),
    (
        VerbKind::Update,
        "edit update change modify rename adjust revise amend set configure customise customize correct",
    ),
    (VerbKind::Delete, "delete remove erase discard"),
    (VerbKind::SignIn, "login authenticate"),
    (
        VerbKind::Keep,
        "have contain include consist belong hold comprise",
    ),
];

/// Every other verb that specs use.
const OTHER: &str = "accept achieve acknowledge activate adapt address aggregate agree alert align allocate allow \
    analyse analyze annotate announce answer appear apply appoint approve archive arrange ask assemble assess \
    assign associate attach attend audit authorise authorize automate avoid award back backup ban begin bid bill \
    block bookmark borrow break bring build buy calculate call cancel capture carry categorise categorize charge \
    chat check choose claim classify clean clear click clone close collaborate collect come comment communicate \
    compare compete complete compute conduct confirm connect consume contact continue contribute control convert \
    copy cost count cover crop deactivate deal decide decline deduct delegate deliver deny deploy describe design \
    detect determine develop disable disconnect dispatch dispute distribute divide document donate download drag \
    draw drive drop duplicate earn email embed employ enable encrypt end enforce engage enrol enroll ensure \
    escalate estimate evaluate exceed exchange execute expect expire export extend extract fail fall favourite \
    favorite feel fetch finish fix flag follow forward gain gather get give go grade grant group guide handle \
    happen help hide hire host identify ignore implement impersonate improve increase inform initiate input \
    integrate invest invite invoice involve issue join judge keep know label launch lead learn leave lend let \
    license like limit link load locate lock look lose maintain manage map mark match measure meet mention \
    merge message migrate mint move mute navigate need nominate note notify observe obtain offer operate \
    organise organize own pack park participate pass pause pay perform permit pick pin plan play poll prefill \
    prevent print prioritise prioritize process produce promote prompt propose protect provide publish purchase push \
    put qualify quote rate reach react rearrange reassign receive recommend reconcile recover redeem redirect \
    reduce refund refuse register reject relate release reload rely remain remember remind renew rent reopen \
    reorder repeat replace reply repeat report repost represent reproduce request require reschedule resend \
    reset resize resolve respond restock restore restrict resubmit retain retrieve return reuse review revoke \
    reward roll rotate route run scale scan score screen select sell send separate serve settle share ship sign \
    simulate skip snooze solve specify split staff star state stay stop store stream structure subscribe summarise \
    summarize supply support suspend swap switch sync synchronise synchronize tag take talk target teach tell \
    terminate test tip toggle track train transfer transform translate transmit travel trigger triage try turn type \
    unlock unsubscribe upgrade upvote use validate verify visit void vote wait walk want warn weigh withdraw \
    work wrap zoom adopt assess bid boost bundle cater celebrate chart check-in check-out clock coach comply \
    consult coordinate curate debit deposit diagnose dial digitise digitize earn endorse examine exercise feed \
    fund govern hand harvest highlight ingest inspect install interact interview investigate lay lease listen \
    negotiate nudge outline oversee own patrol pledge practise practice prescribe price procure quarantine raise rank \
    reconcile recruit refer refill rehearse relocate repair rescue retire reveal ring salute scrape seat secure \
    seed segment set shop shortlist sketch slide source sponsor spot stack stamp steer stock study suggest surface \
    survey tender throttle trade treat unblock undo unfollow unpublish untag vet vouch wash watch water";

/// Verbs whose noun is as common: a word of them is a verb only where the sentence needs one.
static ALSO_NOUNS: Words = Words::new(|| {
    set(
        "access address alert answer appeal archive back bid bill block book bookmark break call cancel \
         change charge chart chat check claim click clone code comment contact control copy cost count cover \
         date deal design display document donate download draft drive drop email end estimate exchange exercise \
         export favourite favorite feed file filter finish flag follow fund grade grant group guide help host \
         import increase input invoice issue label lead like limit link list load lock log look map mark match \
         measure message move need note number offer open order outline pack page park pass pause pay pick pin \
         place plan play poll post press price print process produce program project purchase push query \
         question quote rank rate reach record refund release rent repair reply report request research reserve \
         reset result return review reward ring roll route run scale scan schedule score screen search seat \
         select set share ship shop show sign slide sort source spot stack staff stamp star start state stay \
         stock stop store stream study supply support survey switch tag target test text tip total track trade \
         train transfer travel treat trigger trip type update upgrade upload use value view visit void vote wait \
         walk watch water work wrap zoom",
    )
});

/// A verb and the particle that makes another verb of it.
const PARTICLES: &[(&str, &[&str])] = &[
    ("sign", &["in", "up", "out", "off"]),
    ("log", &["in", "out", "on", "off", "into"]),
    ("set", &["up"]),
    ("look", &["at", "for", "up", "through"]),
    ("back", &["up"]),
    ("check", &["in", "out"]),
    ("opt", &["in", "out"]),
    ("fill", &["in", "out"]),
    ("hand", &["in", "out", "over"]),
    ("turn", &["on", "off"]),
    ("switch", &["on", "off"]),
    ("carry", &["out"]),
    ("pick", &["up"]),
    ("drop", &["off"]),
    ("follow", &["up"]),
    ("reach", &["out"]),
    ("roll", &["back", "out"]),
    ("mark", &["up"]),
    ("clean", &["up"]),
    ("break", &["down"]),
    ("go", &["through", "back"]),
    ("get", &["in", "back"]),
    ("shut", &["down"]),
    ("clock", &["in", "out"]),
    ("refer", &["to"]),
];

/// Forms that no rule leads to.
const IRREGULAR: &[(&str, &str)] = &[
    ("begin", "began begun"),
    ("break", "broke broken"),
    ("bring", "brought"),
    ("build", "built"),
    ("buy", "bought"),
    ("choose", "chose chosen"),
    ("come", "came"),
    ("do", "did done"),
    ("draw", "drew drawn"),
    ("drive", "drove driven"),
    ("fall", "fell fallen"),
    ("feed", "fed"),
    ("find", "found"),
    ("get", "got gotten"),
    ("give", "gave given"),
    ("go", "went gone"),
    ("have", "had has"),
    ("hide", "hid hidden"),
    ("hold", "held"),
    ("keep", "kept"),
    ("know", "knew known"),
    ("lay", "laid"),
    ("lead", "led"),
    ("leave", "left"),
    ("lend", "lent"),
    ("lose", "lost"),
    ("make", "made"),
    ("meet", "met"),
    ("pay", "paid"),
    ("ring", "rang rung"),
    ("run", "ran"),
    ("see", "saw seen"),
    ("sell", "sold"),
    ("send", "sent"),
    ("show", "shown"),
    ("take", "took taken"),
    ("teach", "taught"),
    ("tell", "told"),
    ("undo", "undid undone"),
    ("withdraw", "withdrew withdrawn"),
    ("write", "wrote written"),
    ("feel", "felt"),
    ("sign", "signed"),
    ("stay", "stayed"),
    ("oversee", "oversaw overseen"),
];

/// Verbs whose participle is the base form.
const SAME_PARTICIPLE: &[&str] = &[
    "set", "put", "read", "let", "split", "bid", "run", "cost", "reset", "come",
];

/// Verbs that say what something is or how it is, not what a user does.
static STATIVE: Words = Words::new(|| {
    set(
        "have contain include consist belong hold comprise be support handle remain stay cost exceed meet feel \
         need want know appear fall happen relate come scale expire end last own load respond comply work \
         ensure require depend look run begin start_at go",
    )
});

static BASES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    KINDS
        .iter()
        .flat_map(|(_, words)| words.split_whitespace())
        .chain(OTHER.split_whitespace())
        .chain(IRREGULAR.iter().map(|(base, _)| *base))
        .collect()
});

static BY_FORM: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    IRREGULAR
        .iter()
        .flat_map(|(base, forms)| forms.split_whitespace().map(move |form| (form, *base)))
        .collect()
});

static KIND_OF: LazyLock<HashMap<&'static str, VerbKind>> = LazyLock::new(|| {
    KINDS
        .iter()
        .flat_map(|(kind, words)| words.split_whitespace().map(move |word| (word, *kind)))
        .collect()
});

/// Reads a word as a known verb.
pub fn verb(lower: &str) -> Option<VerbUse> {
    let mut found: Option<VerbUse> = None;
    let mut add = |base: &str, form: Forms| match &mut found {
        Some(verb) if verb.base == base => verb.forms = verb.forms.with(form),
        Some(_) => {}
        None => {
            found = Some(VerbUse {
                base: base.to_owned(),
                forms: form,
            });
        }
    };
    if BASES.contains(lower) {
        add(lower, Forms::BASE);
        if SAME_PARTICIPLE.contains(&lower) {
            add(lower, Forms::PARTICIPLE);
        }
    }
    if let Some(base) = BY_FORM.get(lower) {
        let form = if lower == "has" {
            Forms::THIRD
        } else {
            Forms::PARTICIPLE
        };
        add(base, form);
    }
    for (ending, form) in [
        ("s", Forms::THIRD),
        ("ed", Forms::PARTICIPLE),
        ("ing", Forms::GERUND),
    ] {
        if let Some(stem) = lower.strip_suffix(ending)
            && let Some(base) = base_of_stem(stem, form)
        {
            add(&base, form);
        }
    }
    found
}

fn base_of_stem(stem: &str, form: Forms) -> Option<String> {
    let known = |base: &str| BASES.contains(base).then(|| base.to_owned());
    if form == Forms::THIRD {
        return known(stem)
            .or_else(|| stem.strip_suffix('e').and_then(known))
            .or_else(|| {
                stem.strip_suffix("ie")
                    .and_then(|stem| known(&format!("{stem}y")))
            });
    }
    known(stem)
        .or_else(|| known(&format!("{stem}e")))
        .or_else(|| {
            stem.strip_suffix('i')
                .and_then(|stem| known(&format!("{stem}y")))
        })
        .or_else(|| {
            // `submitted`, `planning`
            let last = stem.chars().last()?;
            let short = stem.strip_suffix(last)?;
            short.ends_with(last).then(|| known(short)).flatten()
        })
}

/// Whether the verb's word is as often a noun.
pub fn is_also_noun(base: &str) -> bool {
    ALSO_NOUNS.contains(base)
}

/// Whether it says how something is rather than what a user does.
pub fn is_stative(base: &str) -> bool {
    STATIVE.contains(base)
}

/// Verbs that give another actor the action: `lets teachers create quizzes`.
pub fn gives(base: &str) -> bool {
    matches!(base, "allow" | "let" | "enable" | "permit" | "help")
}

/// Whether `particle` after the verb makes one verb of both.
pub fn takes_particle(base: &str, particle: &str) -> bool {
    PARTICLES
        .iter()
        .any(|(verb, particles)| *verb == base && particles.contains(&particle))
}

/// What a verb, with its particle, does to an object.
pub fn kind(verb: &str, has_object: bool) -> VerbKind {
    match verb {
        "sign in" | "log in" | "log on" | "log into" => VerbKind::SignIn,
        "sign up" => VerbKind::SignUp,
        "register" | "enrol" | "enroll" if !has_object => VerbKind::SignUp,
        "register" => VerbKind::Create,
        "look at" => VerbKind::Read,
        "look for" | "look up" | "look through" => VerbKind::List,
        "fill in" | "fill out" | "hand in" => VerbKind::Create,
        "set up" => VerbKind::Create,
        "refer to" => VerbKind::Keep,
        _ => KIND_OF.get(verb).copied().unwrap_or(VerbKind::Other),
    }
}

/// `create` → `creates`; the particle stays: `sign in` → `signs in`.
pub fn third_person(verb: &str) -> String {
    on_first_word(verb, |base| {
        if base == "have" {
            return "has".to_owned();
        }
        let before_y = base.strip_suffix('y').and_then(|stem| stem.chars().last());
        if before_y.is_some_and(|c| !"aeiou".contains(c)) {
            return format!("{}ies", &base[..base.len() - 1]);
        }
        let hissing = ["s", "x", "z", "ch", "sh", "o"]
            .iter()
            .any(|end| base.ends_with(end));
        format!("{base}{}", if hissing { "es" } else { "s" })
    })
}

/// Verbs that double their last letter though more than one syllable long, or do not.
const DOUBLED: &[&str] = &[
    "submit", "refer", "prefer", "commit", "permit", "admit", "enrol", "cancel", "model", "label",
    "travel", "control", "begin", "transfer", "allot",
];

/// `create` → `created`, `write` → `written`.
pub fn participle(verb: &str) -> String {
    on_first_word(verb, |base| {
        if SAME_PARTICIPLE.contains(&base) {
            return base.to_owned();
        }
        if let Some((_, forms)) = IRREGULAR.iter().find(|(known, _)| *known == base)
            && let Some(last) = forms.split_whitespace().rfind(|form| *form != "has")
        {
            return last.to_owned();
        }
        if base.ends_with('e') {
            return format!("{base}d");
        }
        let before_y = base.strip_suffix('y').and_then(|stem| stem.chars().last());
        if before_y.is_some_and(|c| !"aeiou".contains(c)) {
            return format!("{}ied", &base[..base.len() - 1]);
        }
        if doubles(base) {
            let last = base.chars().last().map(String::from).unwrap_or_default();
            return format!("{base}{last}ed");
        }
        format!("{base}ed")
    })
}

fn doubles(base: &str) -> bool {
    let vowel = |c: char| "aeiou".contains(c);
    let letters: Vec<char> = base.chars().collect();
    let short = match letters.as_slice() {
        [.., a, b, c] => !vowel(*a) && vowel(*b) && !vowel(*c) && !"wxy".contains(*c),
        _ => false,
    };
    let syllables = letters
        .iter()
        .zip(letters.iter().skip(1))
        .filter(|(a, b)| vowel(**a) && !vowel(**b))
        .count();
    short && (syllables == 1 || DOUBLED.contains(&base))
}

fn on_first_word(verb: &str, change: impl FnOnce(&str) -> String) -> String {
    match verb.split_once(' ') {
        Some((first, rest)) => format!("{} {rest}", change(first)),
        None => change(verb),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_map_to_the_base() {
        for (word, base, form) in [
            ("create", "create", Forms::BASE),
            ("creates", "create", Forms::THIRD),
            ("created", "create", Forms::PARTICIPLE),
            ("creating", "create", Forms::GERUND),
            ("submitted", "submit", Forms::PARTICIPLE),
            ("planning", "plan", Forms::GERUND),
            ("notifies", "notify", Forms::THIRD),
            ("approved", "approve", Forms::PARTICIPLE),
            ("written", "write", Forms::PARTICIPLE),
            ("kept", "keep", Forms::PARTICIPLE),
            ("has", "have", Forms::THIRD),
            ("searches", "search", Forms::THIRD),
            ("set", "set", Forms::PARTICIPLE),
        ] {
            let verb = verb(word).unwrap_or_else(|| panic!("{word}"));
            assert_eq!(verb.base, base);
            assert!(verb.forms.has(form), "{word}");
        }
        assert!(verb("quiz").is_none() && verb("").is_none() && verb("this").is_none());
    }

    #[test]
    fn kinds_of_verbs() {
        for (word, has_object, expected) in [
            ("create", true, VerbKind::Create),
            ("view", true, VerbKind::Read),
            ("browse", true, VerbKind::List),
            ("edit", true, VerbKind::Update),
            ("remove", true, VerbKind::Delete),
            ("sign in", false, VerbKind::SignIn),
            ("register", false, VerbKind::SignUp),
            ("register", true, VerbKind::Create),
            ("look at", true, VerbKind::Read),
            ("have", true, VerbKind::Keep),
            ("publish", true, VerbKind::Other),
        ] {
            assert_eq!(kind(word, has_object), expected, "{word}");
        }
    }

    #[test]
    fn forms_are_derived() {
        for (base, third, done) in [
            ("create", "creates", "created"),
            ("submit", "submits", "submitted"),
            ("notify", "notifies", "notified"),
            ("write", "writes", "written"),
            ("edit", "edits", "edited"),
            ("plan", "plans", "planned"),
            ("sign in", "signs in", "signed in"),
            ("publish", "publishes", "published"),
            ("set", "sets", "set"),
            ("play", "plays", "played"),
            ("view", "views", "viewed"),
            ("visit", "visits", "visited"),
        ] {
            assert_eq!(third_person(base), third);
            assert_eq!(participle(base), done);
        }
    }
}
