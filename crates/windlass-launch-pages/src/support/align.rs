//! Whether one sentence says what another says, or a part of it that can stand alone.
//!
//! The evidence is cut into segments at commas, brackets, "and" and "but". A sentence follows when
//! its content words are those of some of the segments, in order and without a gap. Segments may
//! be left out only where nothing that is kept depends on them.

use super::{
    token::{BY_DEFAULT, Kind, NOT, Token},
    vocabulary::{
        BINDING, FILLER, FLOATING, GOVERNING, LEADING, LISTING, MODAL, QUALIFYING, UNCHANGED,
    },
};

/// A sentence in one of the ways to read it.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    /// Without a leading product.
    tokens: Vec<Token>,
    /// Whether the product is what it is about.
    pub(super) product: bool,
    /// Whether a person is ("you can", "users").
    addressed: bool,
    /// Whether it was a passive.
    turned: bool,
}

/// The readings of a sentence: as it stands, with its passive turned, with a command moved.
pub(super) fn readings(tokens: &[Token]) -> Vec<Reading> {
    let mut found = Vec::new();
    for (tokens, addressed) in commands(tokens) {
        let reading = subject(tokens, addressed, false);
        if let Some(turned) = passive(&reading) {
            found.push(turned);
        }
        found.push(reading);
    }
    found
}

/// "To X, run `c`" and "Run `c` to X" as "X with `c`"; "Use `c` to X" also as "`c` X".
fn commands(tokens: &[Token]) -> Vec<(Vec<Token>, bool)> {
    let addressed = tokens
        .first()
        .is_some_and(|first| matches!(first.raw.to_lowercase().as_str(), "you" | "your" | "we"));
    let mut found = vec![(tokens.to_vec(), addressed)];
    let is_run = |token: &Token| {
        matches!(token.raw.to_lowercase().as_str(), "run" | "use" | "execute")
            && token.kind == Kind::Word
    };
    let with = Token {
        kind: Kind::Word,
        text: "with".to_owned(),
        raw: "with".to_owned(),
    };
    match tokens {
        [to, middle @ .., run, code] if to.is("to") && is_run(run) && code.kind == Kind::Exact => {
            let middle: Vec<Token> = match middle {
                [rest @ .., comma] if comma.kind == Kind::Separator => rest.to_vec(),
                all => all.to_vec(),
            };
            let moved = middle.into_iter().chain([with, code.clone()]);
            found.push((moved.collect(), addressed));
        }
        [run, code, to, rest @ ..] if is_run(run) && code.kind == Kind::Exact && to.is("to") => {
            let moved = rest.iter().cloned().chain([with, code.clone()]);
            found.push((moved.collect(), addressed));
            let named = [code.clone()].into_iter().chain(rest.iter().cloned());
            found.push((named.collect(), addressed));
        }
        [usage, name, to, rest @ ..]
            if is_run(usage) && name.kind == Kind::Product && to.is("to") =>
        {
            let named = [name.clone()].into_iter().chain(rest.iter().cloned());
            found.push((named.collect(), addressed));
        }
        _ => {}
    }
    found
}

/// Takes the product off the start, and "with {product}" off start and end.
fn subject(mut tokens: Vec<Token>, addressed: bool, turned: bool) -> Reading {
    let mut product = false;
    let is_adjunct = |pair: &[Token]| {
        matches!(pair, [by, name] if name.kind == Kind::Product
            && matches!(by.text.as_str(), "with" | "in" | "by"))
    };
    // What may stand before the subject: floating words, separators, empty words.
    let start = tokens
        .iter()
        .position(|token| token.is_content() && !FLOATING.contains(&token.text.as_str()))
        .unwrap_or(0);
    if tokens
        .get(start)
        .is_some_and(|token| token.kind == Kind::Product)
    {
        tokens.remove(start);
        product = true;
    } else if tokens.get(start..start + 2).is_some_and(is_adjunct) {
        tokens.drain(start..start + 2);
        product = true;
    }
    let end = tokens
        .iter()
        .rposition(|token| token.is_content() && !FLOATING.contains(&token.text.as_str()));
    if let Some(end) = end.filter(|end| *end > 0)
        && is_adjunct(&tokens[end - 1..=end])
    {
        tokens.drain(end - 1..=end);
        product = true;
    }
    Reading {
        tokens,
        product,
        addressed,
        turned,
    }
}

/// "X can be mapped" as "can map X".
fn passive(reading: &Reading) -> Option<Reading> {
    let tokens = &reading.tokens;
    let be = tokens.iter().position(|token| token.kind == Kind::Be)?;
    let light = |token: &Token| {
        token.is(NOT) || FLOATING.contains(&token.text.as_str()) || token.kind == Kind::Function
    };
    let verb = (be + 1..tokens.len()).find(|at| !light(&tokens[*at]))?;
    let unchanged = || {
        UNCHANGED
            .contains(&tokens[verb].raw.as_str())
            .then(|| tokens[verb].clone())
    };
    let active = tokens[verb].active().or_else(unchanged)?;
    let is_modal = |at: usize| MODAL.contains(&tokens[at].text.as_str());
    // "can not be": both words move.
    let from = match be.checked_sub(1) {
        Some(at) if tokens[at].is(NOT) && at > 0 && is_modal(at - 1) => at - 1,
        Some(at) if is_modal(at) => at,
        _ => be,
    };
    let lead = tokens
        .iter()
        .take_while(|token| {
            FLOATING.contains(&token.text.as_str()) || token.kind == Kind::Separator
        })
        .count();
    let mut moved: Vec<Token> = tokens[..lead].to_vec();
    moved.extend(tokens[from..be].iter().cloned());
    moved.extend(tokens[be + 1..verb].iter().cloned());
    moved.push(active);
    moved.extend(tokens.get(lead..from)?.iter().cloned());
    moved.extend(tokens[verb + 1..].iter().cloned());
    // An object is needed to turn it round.
    (from > lead).then_some(Reading {
        tokens: moved,
        product: reading.product,
        addressed: reading.addressed,
        turned: true,
    })
}

/// A stretch of the evidence.
#[derive(Debug, Default)]
struct Segment {
    tokens: Vec<Token>,
    /// What stands before it.
    before: String,
    /// Whether it stands in brackets.
    bracketed: bool,
}

impl Segment {
    fn has(&self, words: &[&str]) -> bool {
        self.tokens
            .iter()
            .any(|token| token.kind == Kind::Word && words.contains(&token.text.as_str()))
    }

    fn content(&self) -> impl Iterator<Item = &Token> {
        self.tokens.iter().filter(|token| token.is_content())
    }

    fn first_raw(&self) -> &str {
        self.content()
            .find(|token| !FILLER.contains(&token.text.as_str()))
            .map_or("", |token| token.raw.as_str())
    }

    /// Whether it may go: nothing in it limits what the others say. An alternative goes only with
    /// those before it.
    fn may_go(&self, dropped: usize) -> bool {
        let first = self.content().find(|token| !token.is("or"));
        let leads = first.is_some_and(|token| LEADING.contains(&token.text.as_str()));
        let alternative = self.before == "or" || self.has(&["or"]);
        !self.bracketed
            && !matches!(self.before.as_str(), "but" | ":" | "(")
            && !leads
            && !self.has(QUALIFYING)
            && (!alternative || dropped > 0)
    }

    /// Whether it holds nothing but words that may stand anywhere.
    fn floats(&self) -> bool {
        self.content()
            .all(|token| FLOATING.contains(&token.text.as_str()))
    }

    /// Whether it begins as a verb in the third person does.
    fn is_finite(&self) -> bool {
        self.first_raw().ends_with('s') && self.content().count() > 1
    }

    fn is_name(&self) -> bool {
        self.content().all(|token| {
            token.kind == Kind::Exact || token.raw.starts_with(|c: char| c.is_uppercase())
        })
    }
}

fn segments(tokens: &[Token]) -> Vec<Segment> {
    let mut found = vec![Segment::default()];
    let mut depth = 0_usize;
    for token in tokens {
        let splits = token.kind == Kind::Separator || token.is("or");
        if splits {
            match token.text.as_str() {
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                _ => {}
            }
            let last_is_empty = found
                .last()
                .is_none_or(|last| last.content().next().is_none());
            if last_is_empty {
                if let Some(last) = found.last_mut()
                    && last.before != "but"
                {
                    last.before.clone_from(&token.text);
                    last.bracketed = depth > 0;
                }
            } else {
                found.push(Segment {
                    before: token.text.clone(),
                    bracketed: depth > 0,
                    ..Segment::default()
                });
            }
            if !token.is("or") {
                continue;
            }
        }
        if let Some(last) = found.last_mut() {
            last.tokens.push(token.clone());
        }
    }
    found.retain(|segment| segment.content().next().is_some());
    found
}

/// Whether the sentence, so read, says nothing that the evidence, so read, does not.
pub(super) fn follows(sentence: &Reading, evidence: &Reading) -> bool {
    if !subject_fits(sentence, evidence) {
        return false;
    }
    let evidence_segments = segments(&evidence.tokens);
    let mut orders = vec![sentence.tokens.clone()];
    orders.extend(moved(&sentence.tokens, &evidence.tokens));
    orders.iter().any(|tokens| {
        let kept: Vec<&Token> = tokens.iter().filter(|token| token.is_content()).collect();
        let without_can = can_is_weaker(&kept, evidence).then(|| {
            let mut first = true;
            let mut less = kept.clone();
            less.retain(|token| !(token.is("can") && std::mem::take(&mut first)));
            less
        });
        [Some(kept), without_can]
            .into_iter()
            .flatten()
            .any(|kept| matches(&kept, &evidence_segments, evidence.product, sentence.turned))
    })
}

/// "can read" follows from "reads"; "cannot read" does not follow from "does not read".
fn can_is_weaker(sentence: &[&Token], evidence: &Reading) -> bool {
    let is_modal = |token: &&Token| {
        if token.is("from") {
            return false;
        }
        token.is(NOT)
            || GOVERNING.contains(&token.text.as_str())
            || BINDING.contains(&token.text.as_str())
    };
    sentence.iter().any(|token| token.is("can"))
        && !evidence.tokens.iter().any(|token| is_modal(&token))
}

/// Whether the sentence is about what the evidence is about.
fn subject_fits(sentence: &Reading, evidence: &Reading) -> bool {
    if !sentence.product || evidence.product {
        return true;
    }
    if evidence.addressed
        || evidence
            .tokens
            .iter()
            .any(|token| token.kind == Kind::Product)
    {
        return false;
    }
    // The product is put before a sentence that does not name what it is about: a verb follows, or
    // "is a".
    let mut rest = sentence
        .tokens
        .iter()
        .filter(|token| !FLOATING.contains(&token.text.as_str()));
    let Some(next) = rest.next() else {
        return false;
    };
    let is_verb = next.raw.chars().all(|c| c.is_ascii_lowercase())
        && (next.raw.ends_with('s') || matches!(next.raw.as_str(), "can" | "does" | "do" | "will"));
    match next.kind {
        Kind::Be => rest
            .next()
            .is_some_and(|after| matches!(after.text.as_str(), "a" | "an" | "the")),
        Kind::Word | Kind::Function => is_verb,
        _ => next.is(NOT),
    }
}

/// The sentence with each floating word at every other place it may stand.
fn moved(sentence: &[Token], evidence: &[Token]) -> Vec<Vec<Token>> {
    let floating =
        |token: &Token| token.kind == Kind::Word && FLOATING.contains(&token.text.as_str());
    let leads = evidence.first().is_some_and(|token| token.is(BY_DEFAULT));
    let mut found: Vec<Vec<Token>> = Vec::new();
    let at: Vec<usize> = (0..sentence.len())
        .filter(|at| floating(&sentence[*at]))
        .collect();
    for from in at.iter().copied().take(3) {
        for to in 0..sentence.len() {
            if from == to || !may_move(sentence, from, to, leads) {
                continue;
            }
            let mut tokens = sentence.to_vec();
            let token = tokens.remove(from);
            tokens.insert(to, token);
            found.push(tokens);
        }
    }
    if let [_, second, ..] = at.as_slice() {
        // Two of them: the second in each of the places the first may take.
        let once = found.clone();
        let word = sentence[*second].text.clone();
        for tokens in once.into_iter().take(64) {
            let Some(from) = tokens.iter().rposition(|token| token.text == word) else {
                continue;
            };
            for to in 0..tokens.len() {
                if from != to && may_move(&tokens, from, to, leads) {
                    let mut again = tokens.clone();
                    let token = again.remove(from);
                    again.insert(to, token);
                    found.push(again);
                }
            }
        }
    }
    found
}

/// Over a separator only when it stays with the same clause.
fn may_move(tokens: &[Token], from: usize, to: usize, leads: bool) -> bool {
    let crossed = if from < to {
        &tokens[from + 1..=to]
    } else {
        &tokens[to..from]
    };
    if leads && tokens[from].is(BY_DEFAULT) && to == 0 {
        return true;
    }
    match crossed
        .iter()
        .position(|token| token.kind == Kind::Separator)
    {
        None => true,
        Some(first) => {
            let beyond = if from < to {
                &crossed[..first]
            } else {
                &crossed[first..]
            };
            beyond.iter().filter(|token| token.is_content()).count() <= 2
        }
    }
}

/// Whether the words are those of the evidence's segments, some of which may be left out.
fn matches(sentence: &[&Token], segments: &[Segment], product: bool, turned: bool) -> bool {
    if sentence.is_empty() {
        return false;
    }
    let binds = segments.iter().any(|segment| segment.has(BINDING));
    let binds_names = segments.iter().any(|segment| {
        let mut binding = segment
            .tokens
            .iter()
            .filter(|token| BINDING.contains(&token.text.as_str()));
        binding.any(|token| !LISTING.contains(&token.text.as_str()))
    });
    // For every segment, where in the sentence it may begin, and whether the one before was kept.
    let mut states: Vec<(usize, usize)> = vec![(0, 0)];
    for (index, segment) in segments.iter().enumerate() {
        let mut next: Vec<(usize, usize)> = Vec::new();
        for &(at, dropped) in &states {
            let may_begin =
                dropped == 0 || may_follow(sentence, at, segments, index, dropped, product, turned);
            if may_begin {
                for end in spans(sentence, at, segment) {
                    next.push((end, 0));
                }
            }
            // "All databases, including A, B and C": the list is of examples.
            let example = !binds_names
                && segment.is_name()
                && segments[..index]
                    .iter()
                    .any(|before| before.has(&["includ"]));
            if (!binds || example) && segment.may_go(dropped) {
                next.push((at, dropped + 1));
            }
        }
        next.sort_unstable();
        next.dedup();
        states = next;
    }
    states.iter().any(|(at, _)| *at == sentence.len())
}

/// Whether a segment may be kept when the ones right before it were left out.
fn may_follow(
    sentence: &[&Token],
    at: usize,
    segments: &[Segment],
    index: usize,
    dropped: usize,
    product: bool,
    turned: bool,
) -> bool {
    let gone = &segments[index - dropped..index];
    let segment = &segments[index];
    if segments[..index - dropped].iter().all(Segment::floats) {
        // The start is gone, and with it the subject.
        let governed = gone.iter().any(|segment| segment.has(GOVERNING));
        let has_will = gone
            .iter()
            .any(|segment| segment.tokens.iter().any(|token| token.is("will")));
        let first = sentence
            .get(at..)
            .unwrap_or_default()
            .iter()
            .find(|token| !FILLER.contains(&token.text.as_str()));
        let raw = first.map_or("", |token| token.raw.as_str());
        return product
            && !governed
            && (segment.is_finite() || (has_will && (turned || raw.ends_with('s'))));
    }
    gone.iter()
        .all(|gone| gone.before == "/" || gone.is_name() && segment.is_name())
        || segment.is_finite()
            && gone.iter().all(|gone| {
                gone.is_finite() || gone.content().next().is_some_and(|token| token.is("can"))
            })
}

/// The places in the sentence at which a segment that begins at `at` may end.
fn spans(sentence: &[&Token], at: usize, segment: &Segment) -> Vec<usize> {
    let mut ends = vec![at];
    for token in segment.content() {
        let optional = token.kind == Kind::Word && FILLER.contains(&token.text.as_str());
        let mut next = Vec::new();
        for end in ends {
            if sentence.get(end).is_some_and(|found| found.same(token)) {
                next.push(end + 1);
            }
            if optional {
                next.push(end);
            }
        }
        next.dedup();
        ends = next;
    }
    ends
}
