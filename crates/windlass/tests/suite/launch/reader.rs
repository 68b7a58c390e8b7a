//! A reader that trusts nobody: it takes a page apart by itself, looks every claim up in the
//! run's artifacts, and reads the cited lines in the product's repository. It shares no code
//! with what wrote the page.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::LazyLock,
};

use regex::Regex;
use serde_json::Value;

use super::place::{git_bytes, repository_root};

static MARKER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r" ?<!-- claim_id: ([0-9a-f]{64}) -->").unwrap());
static WORD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[\p{L}\p{N}_]+(?:[.-][\p{L}\p{N}_]+)*").unwrap());
static CODE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"`([^`]+)`").unwrap());
static COMMENT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r" ?<!-- launch: [a-z_:. -]+ -->").unwrap());
static SOURCE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^`([^`]+):(\d+)-(\d+)`$").unwrap());
static PLACE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^`([^`]+):(\d+)`$").unwrap());

/// What a run says about a product, and the product itself.
pub(crate) struct Reader {
    repository: PathBuf,
    commit: String,
    /// The paths of the repository at the commit, and what was read of them.
    listed: Vec<Vec<u8>>,
    files: RefCell<BTreeMap<String, Option<String>>>,
    product_name: String,
    claims: BTreeMap<String, Value>,
    evidence: Value,
    facts: String,
    phrases: Vec<String>,
}

/// What reading pages came to.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Statements with a marker whose evidence holds.
    pub(crate) sound: usize,
    /// Everything that does not hold.
    pub(crate) wrong: Vec<String>,
}

impl Reader {
    pub(crate) fn new(config: &Value, facts: &Value, evidence: Value) -> Self {
        let text = |key: &str| config[key].as_str().unwrap().to_owned();
        let claims = facts["claims"]
            .as_array()
            .unwrap()
            .iter()
            .map(|claim| {
                (
                    claim["claim_id"].as_str().unwrap().to_owned(),
                    claim.clone(),
                )
            })
            .collect();
        let (repository, commit) = (PathBuf::from(text("github_repo_url")), text("github_ref"));
        Self {
            listed: listed(&repository, &commit),
            files: RefCell::default(),
            repository,
            commit,
            product_name: text("product_name"),
            claims,
            evidence,
            facts: facts.to_string(),
            phrases: phrases(),
        }
    }

    /// Lines of a file of the product at the commit, from one; `None` where there are none.
    fn lines(&self, path: &str, from: u64, to: u64) -> Option<String> {
        if from == 0 || to < from {
            return None;
        }
        let mut files = self.files.borrow_mut();
        let text = files.entry(path.to_owned()).or_insert_with(|| {
            let file = format!("{}:{path}", self.commit);
            let listed = self.listed.iter().any(|name| name == path.as_bytes());
            let bytes = listed.then(|| git_bytes(&self.repository, &["cat-file", "blob", &file]));
            bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        });
        let lines: Vec<&str> = text.as_ref()?.lines().collect();
        let (from, to) = (usize::try_from(from - 1).ok()?, usize::try_from(to).ok()?);
        lines.get(from..to).map(|lines| lines.join("\n"))
    }

    /// Reads a page. Lines that `before` had were not written by the launch.
    pub(crate) fn read(&self, path: &str, page: &str, before: &str, found: &mut Found) {
        let theirs: BTreeSet<&str> = before.lines().collect();
        for (number, line) in body(page) {
            if theirs.contains(line) {
                continue;
            }
            if let Err(reason) = self.line(line, &mut found.sound) {
                found
                    .wrong
                    .push(format!("{path}:{number}: {reason}: {line}"));
            }
        }
    }

    fn line(&self, line: &str, sound: &mut usize) -> Result<(), String> {
        // Marks of the tool's own say nothing to a reader.
        let line = COMMENT.replace_all(line, "");
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') {
            return Ok(());
        }
        if let Some(source) = SOURCE.captures(text) {
            let (from, to) = (source[2].parse().unwrap(), source[3].parse().unwrap());
            let lines = self.lines(&source[1], from, to);
            return lines
                .map(drop)
                .ok_or_else(|| "there are no such lines".to_owned());
        }
        if let Some(row) = text.strip_prefix('|') {
            return self.row(row.trim_end_matches('|'));
        }
        let item = list_item(text);
        let text = item.unwrap_or(text);
        // What is left over once the claims and their sentences are taken off.
        let mut rest = text;
        let mut cited = false;
        while let Some(first) = MARKER.find(rest) {
            let sentence = &rest[..first.start()];
            let mut ids = Vec::new();
            let mut end = first.start();
            while let Some(marker) = MARKER.captures(&rest[end..]) {
                let whole = marker.get(0).unwrap();
                if whole.start() != 0 {
                    break;
                }
                ids.push(marker[1].to_owned());
                end += whole.end();
            }
            for id in ids {
                self.claim(sentence.trim(), &id)?;
                *sound += 1;
            }
            cited = true;
            rest = &rest[end..];
        }
        let rest = rest.trim();
        if rest.is_empty() || rest.ends_with('?') {
            return Ok(());
        }
        if item.is_some() && !cited {
            if is_link(rest) {
                return Ok(());
            }
            if rest.starts_with('`') && rest.ends_with('`') && rest.len() > 2 {
                return self.named(rest.trim_matches('`'));
            }
        }
        self.said_without_evidence(rest)
    }

    /// A value by itself, such as a command or a format: one of the facts.
    fn named(&self, value: &str) -> Result<(), String> {
        let quoted = Value::from(value).to_string();
        let known = self.facts.contains(quoted.trim_matches('"'));
        known
            .then_some(())
            .ok_or_else(|| format!("{value:?} is no fact"))
    }

    /// A row of a table: a symbol is where the row says it is.
    fn row(&self, row: &str) -> Result<(), String> {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let is_head = cells.iter().all(|cell| !cell.contains('`'));
        if is_head {
            return Ok(());
        }
        for pair in cells.windows(2) {
            let Some(place) = PLACE.captures(pair[1]) else {
                continue;
            };
            let line: u64 = place[2].parse().unwrap();
            let text = self
                .lines(&place[1], line, line)
                .ok_or_else(|| format!("{} has no line {line}", &place[1]))?;
            let symbol = pair[0].trim_matches('`');
            let name = symbol.rsplit(['.', ':']).next().unwrap_or(symbol);
            // A module begins at its first line, which need not name it.
            if line != 1 && !text.contains(name) {
                return Err(format!("{symbol} is not in {text:?}"));
            }
        }
        Ok(())
    }

    /// Every phrase that needs no evidence is known; nothing else may be said.
    fn said_without_evidence(&self, text: &str) -> Result<(), String> {
        let mut left = text.to_owned();
        for phrase in &self.phrases {
            left = left.replace(phrase, "");
        }
        if left.trim().is_empty() {
            return Ok(());
        }
        Err(format!("no evidence is given for {left:?}"))
    }

    fn claim(&self, sentence: &str, id: &str) -> Result<(), String> {
        let claim = self.claims.get(id).ok_or("no such claim")?;
        // A value may be shown as code where the claim has it as a word.
        let plain = |text: &str| {
            text.to_lowercase()
                .replace('`', "")
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        };
        let claimed = claim["claim_text"].as_str().unwrap();
        // A claim of two sentences has its marker behind each of them.
        if !plain(claimed).contains(&plain(sentence)) {
            return Err(format!("the claim says {claimed:?}"));
        }
        let citations = self.evidence["claims"][id]["citations"].as_array();
        let citations = citations
            .filter(|all| !all.is_empty())
            .ok_or("no citation")?;
        let mut reasons = Vec::new();
        let mut holds = false;
        for citation in citations {
            match self.citation(sentence, citation) {
                Ok(()) => holds = true,
                Err(reason) => reasons.push(reason),
            }
        }
        holds.then_some(()).ok_or_else(|| reasons.join("; "))
    }

    /// Whether cited lines say what the sentence says: every number and every abbreviation of it,
    /// and most of its words; of a manifest, the value.
    fn citation(&self, sentence: &str, citation: &Value) -> Result<(), String> {
        let path = citation["path"].as_str().unwrap();
        let at = |key: &str| citation[key].as_u64().unwrap();
        let lines = self
            .lines(path, at("start_line"), at("end_line"))
            .ok_or_else(|| format!("{path} has no such lines"))?;
        let lines = lines.to_lowercase();

        let name = self.product_name.to_lowercase();
        let name: Vec<&str> = name.split_whitespace().collect();
        let words: Vec<String> = WORD
            .find_iter(&unqualified(sentence))
            .map(|word| word.as_str().to_lowercase())
            .filter(|word| !name.contains(&word.as_str()))
            .collect();
        let capitals = |word: &str| word.chars().filter(|c| c.is_uppercase()).count() > 1;
        let named = WORD.find_iter(sentence).map(|word| word.as_str());
        let code = CODE.replace_all(sentence, "");
        for name in named.filter(|word| capitals(word) && code.contains(*word)) {
            if citation["source_type"] != "manifest" && !lines.contains(&name.to_lowercase()) {
                return Err(format!("{path} does not say {name}: {lines:?}"));
            }
        }
        for number in words
            .iter()
            .filter(|word| word.contains(|c: char| c.is_ascii_digit()))
        {
            if !lines.contains(number.as_str()) {
                return Err(format!("{path} does not say {number}: {lines:?}"));
            }
        }
        if citation["source_type"] == "manifest" {
            let values = CODE
                .captures_iter(sentence)
                .map(|code| code[1].to_lowercase());
            let mut values: Vec<String> = values
                .flat_map(|code| {
                    code.split_whitespace()
                        .map(str::to_owned)
                        .collect::<Vec<_>>()
                })
                .collect();
            values.extend(words);
            let said = values.iter().any(|value| lines.contains(value.as_str()));
            return said
                .then_some(())
                .ok_or_else(|| format!("{path}: {lines:?}"));
        }
        let long: Vec<&String> = words
            .iter()
            .filter(|word| word.chars().count() > 3)
            .collect();
        // By their stems: a sentence says "formats" where the source says "format".
        let stem = |word: &str| {
            let letters = word.chars().count();
            let kept = letters.saturating_sub(2).max(4);
            word.chars().take(kept).collect::<String>()
        };
        let said = long
            .iter()
            .filter(|word| lines.contains(&stem(word)))
            .count();
        if said * 5 < long.len() * 3 {
            return Err(format!(
                "{path} says only {said} of {} words: {lines:?}",
                long.len()
            ));
        }
        Ok(())
    }
}

/// A sentence in which symbols stand by their own names: `Grid.toSvg` is `toSvg`.
fn unqualified(sentence: &str) -> String {
    static QUALIFIED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"`(?:[A-Za-z_]\w*(?:\.|::))+([A-Za-z_]\w*)`").unwrap());
    QUALIFIED.replace_all(sentence, "`$1`").into_owned()
}

/// The lines of a page with their numbers, without front matter and code.
fn body(page: &str) -> Vec<(usize, &str)> {
    let mut lines = page
        .lines()
        .enumerate()
        .map(|(at, line)| (at + 1, line))
        .peekable();
    let mut body = Vec::new();
    if let Some((_, first)) = lines.peek().copied()
        && ["---", "+++"].contains(&first)
    {
        lines.next();
        for (_, line) in lines.by_ref() {
            if line == first {
                break;
            }
        }
    }
    let mut fence: Option<&str> = None;
    for (number, line) in lines {
        let marks = line.trim_start();
        match fence {
            Some(open) if marks.starts_with(open) => fence = None,
            Some(_) => {}
            None if marks.starts_with("```") => fence = Some("```"),
            None if marks.starts_with("~~~") => fence = Some("~~~"),
            None => body.push((number, line)),
        }
    }
    body
}

/// Every path of a repository at a commit.
fn listed(repository: &Path, commit: &str) -> Vec<Vec<u8>> {
    let names = git_bytes(
        repository,
        &["ls-tree", "-r", "-z", "--full-tree", "--name-only", commit],
    );
    names.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect()
}

fn list_item(text: &str) -> Option<&str> {
    static ITEM: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^(?:[-*+]|\d+\.) +").unwrap());
    let start = ITEM.find(text)?;
    Some(&text[start.end()..])
}

fn is_link(text: &str) -> bool {
    static LINK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\[[^\]]+\]\([^)]+\)$").unwrap());
    LINK.is_match(text)
}

/// The sentences that templates may say without evidence, longest first.
fn phrases() -> Vec<String> {
    let file = "crates/windlass-launch-pages/src/templates/phrases.toml";
    let text = fs_err::read_to_string(repository_root().join(Path::new(file))).unwrap();
    let line = Regex::new(r#"(?m)^[a-z_0-9]+ = "(.*)"$"#).unwrap();
    let mut phrases: Vec<String> = line
        .captures_iter(&text)
        .map(|found| found[1].replace("\\\"", "\""))
        .collect();
    assert!(phrases.len() > 20, "{} phrases", phrases.len());
    phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.len()));
    phrases
}

/// The reader notices what it is there for.
#[test]
fn a_page_that_claims_too_much_is_noticed() {
    let reader = |claim: &str| Reader {
        listed: listed(&repository_root(), "HEAD"),
        files: RefCell::default(),
        repository: repository_root(),
        commit: "HEAD".to_owned(),
        product_name: "Windlass".to_owned(),
        claims: BTreeMap::from([("a".repeat(64), serde_json::json!({ "claim_text": claim }))]),
        evidence: serde_json::json!({ "claims": { "a".repeat(64): { "citations": [{
            "path": "Cargo.toml", "start_line": 1, "end_line": 1, "source_type": "readme",
        }] } } }),
        facts: "{\"license\":\"MIT\"}".to_owned(),
        phrases: phrases(),
    };
    let marker = format!("<!-- claim_id: {} -->", "a".repeat(64));
    let claim = "Windlass has a workspace.";
    for (page, wrong) in [
        (format!("# A\n\n{claim} {marker}\n"), None),
        (format!("- {claim} {marker}\n"), None),
        (
            "- `MIT`\n- [a](/b/)\n\n```sh\nanything\n```\n".to_owned(),
            None,
        ),
        (format!("{claim}\n"), Some("no evidence")),
        (format!("{claim} {marker} It flies.\n"), Some("no evidence")),
        (format!("It flies. {marker}\n"), Some("the claim says")),
        (
            format!("{claim} <!-- claim_id: {} -->\n", "b".repeat(64)),
            Some("no such claim"),
        ),
        ("- `GPL`\n".to_owned(), Some("is no fact")),
        (
            "| `main` | `Cargo.toml:99999` |\n".to_owned(),
            Some("has no line"),
        ),
        (
            "| `main` | `Cargo.toml:2` |\n".to_owned(),
            Some("is not in"),
        ),
    ] {
        let mut found = Found::default();
        reader(claim).read("page.md", &page, "", &mut found);
        match wrong {
            None => assert_eq!(found.wrong, [""; 0], "{page}"),
            Some(wrong) => {
                assert_eq!(found.wrong.len(), 1, "{page}: {:?}", found.wrong);
                assert!(found.wrong[0].contains(wrong), "{:?}", found.wrong);
            }
        }
    }
    // Evidence that does not say it is none.
    let mut found = Found::default();
    let page = format!("Windlass has 7 elephants. {marker}\n");
    reader("Windlass has 7 elephants.").read("page.md", &page, "", &mut found);
    assert!(
        found.wrong[0].contains("does not say 7"),
        "{:?}",
        found.wrong
    );
}
