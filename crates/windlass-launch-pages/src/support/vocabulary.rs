//! The closed word lists of the check: what may be added, dropped, moved or exchanged.
//!
//! A word that is on no list here is content, and content must be in the evidence. The lists are
//! short on purpose: a missing entry costs style, a wrong one lets a lie through.

/// Words without content of their own; they may stand or be missing on either side.
pub(super) const FUNCTION: &[&str] = &[
    "a", "an", "the", "that", "which", "who", "it", "its", "them", "they", "their", "you", "your",
    "of", "to", "there", "do", "does", "will", "this", "these", "those", "either", "version",
    "versions", "please",
];

/// Forms of "be": without content, but they mark a passive.
pub(super) const BE: &[&str] = &["is", "are", "be", "been", "being"];

/// Adverbs that a rewrite may leave out: without them a sentence says less.
pub(super) const FILLER: &[&str] = &[
    "automatically",
    "simply",
    "just",
    "actually",
    "also",
    "easily",
    "very",
    "really",
    "basically",
    "then",
    "extremely",
    "incredibly",
    "seamlessly",
];

/// Words that may stand elsewhere in the clause, but may not be added.
pub(super) const FLOATING: &[&str] = &[
    super::token::BY_DEFAULT,
    "automatically",
    "officially",
    "yet",
    "currently",
];

/// Words that qualify what is said. A part of a sentence with one of them is never left out.
pub(super) const QUALIFYING: &[&str] = &[
    super::token::NOT,
    super::token::BY_DEFAULT,
    "never",
    "without",
    "neither",
    "nor",
    "none",
    "non",
    "unless",
    "except",
    "excepted",
    "excluding",
    "exclud",
    "aside",
    "apart",
    "beside",
    "besides",
    "if",
    "when",
    "while",
    "where",
    "whether",
    "until",
    "unlike",
    "than",
    "instead",
    "instead-of",
    "rather",
    "whereas",
    "although",
    "though",
    "despite",
    "other",
    "another",
    "experimental",
    "deprecated",
    "deprecat~ed",
    "deprecat",
    "beta",
    "alpha",
    "preview",
    "partial",
    "partially",
    "partly",
    "unstable",
    "optional",
    "optionally",
    "planned",
    "plan~ed",
    "mostly",
    "usually",
    "often",
    "sometimes",
    "typically",
    "roughly",
    "about",
    "approximately",
    "nearly",
    "almost",
    "currently",
    "yet",
    "officially",
    "unofficially",
    "unofficial",
    "may",
    "might",
    "could",
    "would",
    "try",
    "attempt",
    "some",
    "most",
    "few",
    "provid~ed",
    "assum",
    "but",
    "however",
    "otherwise",
    "paid",
    "commercial",
    "enterprise",
    "was",
    "were",
    "had",
];

/// A part of a sentence that begins with one of these belongs to what stands before it.
pub(super) const LEADING: &[&str] = &[
    "with", "in", "on", "for", "using", "via", "by", "from", "through", "after", "before", "since",
    "because", "due", "as", "at", "under", "within", "between", "per", "once", "to",
];

/// Words that make every part of their sentence matter: nothing of it is left out.
pub(super) const BINDING: &[&str] = &[
    "requir",
    "must",
    "only",
    "limit",
    "limit~ed",
    "at-least",
    "at-most",
    "both",
    "between",
    "combination",
    "combin",
    "together",
    "except",
    "unless",
    "depend",
    "should",
    "recommend",
    "recommend~ed",
    "exactly",
    "unlike",
    "all",
    "every",
    "any",
    "never",
    "always",
    "not-only",
];

/// Those after which a list that begins with "including" is still one of examples.
pub(super) const LISTING: &[&str] = &["all", "every", "any"];

/// Words that go with a verb when its sentence is turned round.
pub(super) const MODAL: &[&str] = &["can", "may", "might", "could", "would", "should", "must"];

/// Participles that look like their verb.
pub(super) const UNCHANGED: &[&str] = &["read", "set", "put", "run", "cut", "split"];

/// Verbs that a following verb depends on: without them it would say more.
pub(super) const GOVERNING: &[&str] = &[
    "can", "may", "might", "could", "would", "try", "attempt", "help", "aim", "want", "let",
    "allow", "enabl", "prevent", "mak", "caus", "stop", "keep", "avoid", "refus", "fail", "plan",
    "intend", "hop", "expect", "from", "block", "forbid",
];

/// Words of one meaning, the first for all of them.
pub(super) const SAME: &[(&str, &[&str])] = &[
    ("requir", &["need"]),
    ("requir~ed", &["need~ed"]),
    ("show", &["display", "print"]),
    ("show~ed", &["display~ed", "print~ed"]),
    ("skip", &["ignor"]),
    ("skip~ed", &["ignor~ed"]),
    ("pick", &["choos", "select"]),
    ("pick~ed", &["choos~ed", "select~ed"]),
    ("singl", &["one"]),
    ("directory", &["folder"]),
    ("configuration", &["config"]),
    ("repository", &["repo"]),
    ("application", &["app"]),
    ("documentation", &["docs", "doc"]),
    ("fast", &["quick"]),
    ("larg", &["big"]),
    ("start", &["begin", "launch"]),
    ("via", &["through"]),
    ("us", &["utiliz", "utilis"]),
];

/// Phrases and the words they are read as, longest first.
pub(super) const PHRASES: &[(&[&str], &[&str])] = &[
    (&["makes", "it", "possible", "to"], &["can"]),
    (&["allows", "you", "to"], &["can"]),
    (&["allow", "you", "to"], &["can"]),
    (&["enables", "you", "to"], &["can"]),
    (&["enable", "you", "to"], &["can"]),
    (&["is", "able", "to"], &["can"]),
    (&["are", "able", "to"], &["can"]),
    (&["lets", "you"], &["can"]),
    (&["let", "you"], &["can"]),
    (&["has", "support", "for"], &["supports"]),
    (&["have", "support", "for"], &["support"]),
    (&["provides", "support", "for"], &["supports"]),
    (&["offers", "support", "for"], &["supports"]),
    (&["support", "for"], &["support"]),
    (&["by", "default"], &[super::token::BY_DEFAULT]),
    (&["as", "well", "as"], &["and"]),
    (&["in", "order", "to"], &["to"]),
    (&["in", "addition", "to"], &["and"]),
    (&["comes", "with"], &["includes"]),
    (&["come", "with"], &["include"]),
    (&["ships", "with"], &["includes"]),
    (&["such", "as"], &["including"]),
    (&["because", "of"], &["due"]),
    (&["due", "to"], &["due"]),
    (&["instead", "of"], &["instead-of"]),
    (&["not", "only"], &["not-only"]),
    (&["at", "least"], &["at-least"]),
    (&["at", "most"], &["at-most"]),
    (&["by", "running"], &["with"]),
    (&["by", "using"], &["with"]),
    (&["using"], &["with"]),
    (&["works", "across"], &["works", "with"]),
    (&["work", "across"], &["work", "with"]),
    (&["cannot"], &["can", "not"]),
];

/// What stands after a number for "or newer", and for "or older".
pub(super) const NEWER: &[&str] = &["newer", "later", "above", "higher", "greater", "up"];
pub(super) const OLDER: &[&str] = &["older", "earlier", "below", "lower", "less"];

/// Past forms that do not end in "ed", with their stems.
pub(super) const IRREGULAR: &[(&str, &str)] = &[
    ("written", "writ~ed"),
    ("wrote", "writ~ed"),
    ("built", "build~ed"),
    ("sent", "send~ed"),
    ("kept", "keep~ed"),
    ("shown", "show~ed"),
    ("taken", "tak~ed"),
    ("made", "mak~ed"),
    ("found", "find~ed"),
    ("held", "hold~ed"),
    ("chosen", "choos~ed"),
    ("given", "giv~ed"),
    ("drawn", "draw~ed"),
    ("known", "know~ed"),
    ("hidden", "hidden"),
    ("used", "us~ed"),
    ("using", "us"),
    ("uses", "us"),
    ("use", "us"),
    ("has", "hav"),
    ("need", "need"),
    ("needs", "need"),
    ("speed", "speed"),
    ("embed", "embed"),
    ("embeds", "embed"),
    ("feed", "feed"),
    ("feeds", "feed"),
    ("string", "string"),
    ("strings", "string"),
    ("thing", "thing"),
    ("nothing", "nothing"),
    ("anything", "anything"),
    ("something", "something"),
    ("everything", "everything"),
    ("during", "during"),
    ("process", "process"),
    ("access", "access"),
    ("always", "always"),
    ("is", "is"),
    ("as", "as"),
    ("us", "us!"),
    ("this", "this"),
];
