//! Made-up repositories for the launch benchmark: a product of this many files, and a site.
//!
//! The same size produces the same bytes. A product has documentation, an example, a test and
//! nine source files in Python, Rust and TypeScript for every topic, and each topic has words of its
//! own: text that repeats itself would be cheaper to read than any real one.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, bail};
use fs_err as fs;

/// The product's name.
pub(crate) const PRODUCT: &str = "Harbourmaster";

const KINDS: [&str; 24] = [
    "tidal", "cargo", "pilot", "anchor", "signal", "harbour", "freight", "lantern", "compass",
    "ballast", "rigging", "current", "channel", "mooring", "beacon", "sounding", "fairway",
    "convoy", "customs", "salvage", "weather", "bunker", "dredge", "ferry",
];
const THINGS: [&str; 18] = [
    "ledger",
    "schedule",
    "register",
    "survey",
    "forecast",
    "manifest",
    "journal",
    "atlas",
    "roster",
    "permit",
    "archive",
    "monitor",
    "planner",
    "catalogue",
    "invoice",
    "notice",
    "dispatch",
    "record",
];
const OBJECTS: [&str; 30] = [
    "arrival times",
    "berth numbers",
    "crane shifts",
    "draught limits",
    "engine hours",
    "fuel receipts",
    "gate passes",
    "hull inspections",
    "insurance papers",
    "job tickets",
    "keel depths",
    "lock transits",
    "mast heights",
    "night watches",
    "oil samples",
    "pilot orders",
    "quay rents",
    "rope tensions",
    "stowage plans",
    "tow contracts",
    "unloading rates",
    "vessel names",
    "waste reports",
    "yard slots",
    "buoy positions",
    "chart corrections",
    "deck loads",
    "crew lists",
    "radio calls",
    "wind readings",
];
const VERBS: [&str; 20] = [
    "sorts",
    "merges",
    "filters",
    "groups",
    "counts",
    "stores",
    "exports",
    "compares",
    "schedules",
    "summarises",
    "validates",
    "indexes",
    "converts",
    "archives",
    "publishes",
    "splits",
    "tracks",
    "measures",
    "renames",
    "queues",
];
const FORMATS: [&str; 5] = ["CSV", "JSON", "YAML", "XML", "Parquet"];

/// Files that belong to one topic.
const PER_TOPIC: usize = 12;

/// Numbers that look random and are always the same.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % sides
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.roll(words.len())]
    }
}

/// Writes a product repository of exactly this many files and commits it.
pub(crate) fn product(directory: &Path, files: usize) -> Result<()> {
    let mut written = 0;
    let mut write = |path: &str, text: String| -> Result<()> {
        if written < files {
            let target = directory.join(path);
            fs::create_dir_all(target.parent().context("a file has a folder")?)?;
            fs::write(target, text)?;
            written += 1;
        }
        Ok(())
    };
    write("README.md", readme())?;
    write("LICENSE", LICENSE.to_owned())?;
    write("pyproject.toml", MANIFEST.to_owned())?;
    let topics = files.div_ceil(PER_TOPIC);
    if topics > KINDS.len() * THINGS.len() {
        bail!("there are no names for the topics of {files} files");
    }
    for number in 0..topics {
        let topic = Topic::new(number);
        write(&format!("docs/{}.md", topic.name), topic.document())?;
        write(&format!("examples/{}.py", topic.name), topic.example())?;
        for part in 0..5 {
            let path = format!("src/harbourmaster/{}/part_{part}.py", topic.name);
            write(&path, topic.python(part))?;
        }
        for part in 0..2 {
            write(
                &format!("native/src/{}/part_{part}.rs", topic.name),
                topic.rust(part),
            )?;
            write(
                &format!("web/src/{}/part{part}.ts", topic.name),
                topic.typescript(part),
            )?;
        }
        write(&format!("tests/test_{}.py", topic.name), topic.test())?;
    }
    commit(directory)
}

/// Writes a plain Markdown site of this many pages and commits it.
pub(crate) fn site(directory: &Path, pages: usize) -> Result<()> {
    fs::create_dir_all(directory)?;
    fs::write(
        directory.join("index.md"),
        page(
            "The harbour",
            "Products for harbours, and how to use them.",
            "",
        ),
    )?;
    let sections = ["products", "docs", "reference", "kb", "blog"];
    let mut number = 1;
    for (index, section) in sections.iter().enumerate() {
        let own = (pages - 1 - index).div_ceil(sections.len());
        let folder = directory.join(section);
        fs::create_dir_all(&folder)?;
        let mut list = String::new();
        for entry in 1..own.min(pages - number) {
            let mut dice = Dice(number as u64 * 7919 + entry as u64);
            let name = format!("{}-{}-{entry}", dice.pick(&KINDS), dice.pick(&THINGS));
            let mut body = String::new();
            for part in ["Background", "Details", "Questions"] {
                body.push_str(&format!("\n## {part}\n\n"));
                for _ in 0..6 {
                    body.push_str(&format!(
                        "The {} {} the {} of the {}.\n",
                        dice.pick(&THINGS),
                        dice.pick(&VERBS),
                        dice.pick(&OBJECTS),
                        dice.pick(&KINDS)
                    ));
                }
            }
            fs::write(
                folder.join(format!("{name}.md")),
                page(&name.replace('-', " "), "A page of the harbour.", &body),
            )?;
            list.push_str(&format!("- [{}]({name}.md)\n", name.replace('-', " ")));
        }
        number += own;
        fs::write(
            folder.join("index.md"),
            page(section, "All pages of this section.", &format!("\n{list}")),
        )?;
    }
    commit(directory)
}

fn page(title: &str, description: &str, body: &str) -> String {
    format!("---\ntitle: \"{title}\"\ndescription: \"{description}\"\n---\n\n{description}\n{body}")
}

/// Makes a repository of a folder, with one commit of a fixed time.
fn commit(directory: &Path) -> Result<()> {
    for arguments in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["add", "--all"],
        &[
            "-c",
            "user.name=Bench",
            "-c",
            "user.email=bench@example.org",
            "commit",
            "--quiet",
            "--message=All of it",
        ],
    ] {
        let status = Command::new("git")
            .args(arguments)
            .current_dir(directory)
            .env("GIT_AUTHOR_DATE", "2025-01-01T00:00:00Z")
            .env("GIT_COMMITTER_DATE", "2025-01-01T00:00:00Z")
            .stdin(Stdio::null())
            .status()
            .context("git is needed")?;
        if !status.success() {
            bail!("git {} ended with {status}", arguments.join(" "));
        }
    }
    Ok(())
}

/// One thing the product does, in the words only this topic has.
struct Topic {
    number: usize,
    /// `tidal_ledger`.
    name: String,
    /// `TidalLedger`.
    class: String,
    /// `tidal ledger`.
    words: String,
}

impl Topic {
    fn new(number: usize) -> Self {
        let kind = KINDS[number % KINDS.len()];
        let thing = THINGS[(number / KINDS.len() + number) % THINGS.len()];
        let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
        Self {
            number,
            name: format!("{kind}_{thing}"),
            class: capital(kind) + &capital(thing),
            words: format!("{kind} {thing}"),
        }
    }

    fn dice(&self, salt: u64) -> Dice {
        let mut dice = Dice(self.number as u64 * 1_000_003 + salt * 97);
        dice.roll(2);
        dice
    }

    /// Half of the sentences are about the product, as in most documentation; those become claims.
    fn document(&self) -> String {
        let mut dice = self.dice(1);
        let Self {
            name, class, words, ..
        } = self;
        let format = dice.pick(&FORMATS);
        let mut text = format!("# {class}\n\n{PRODUCT} keeps its {words} on disk.\n\n");
        for part in ["What it does", "Details", "Background"] {
            text.push_str(&format!("## {part}\n\n"));
            for _ in 0..3 {
                text.push_str(&format!(
                    "{PRODUCT} {} {} of the {words} by {}.\nA {words} has {} beside the {}.\n",
                    dice.pick(&VERBS),
                    dice.pick(&OBJECTS),
                    dice.pick(&OBJECTS),
                    dice.pick(&OBJECTS),
                    dice.pick(&OBJECTS)
                ));
            }
            text.push('\n');
        }
        text.push_str(&format!(
            "## How to read the {words}\n\n1. Open a `{class}0` with the path of a {format} file.\n\
             2. Call `load_{name}_0` to read the {}.\n3. Call `save_{name}_0` to write the {} back.\n\n\
             ```python\nfrom harbourmaster.{name}.part_0 import {class}0\n\n\
             store = {class}0(\"{name}.{}\")\nfor entry in store.entries:\n    print(entry)\n```\n\n\
             ## Limitations\n\nA {words} cannot hold more than {} {}.\n",
            dice.pick(&OBJECTS),
            dice.pick(&OBJECTS),
            format.to_lowercase(),
            1000 + dice.roll(9000),
            dice.pick(&OBJECTS),
        ));
        text
    }

    fn example(&self) -> String {
        let mut dice = self.dice(2);
        let Self {
            name, class, words, ..
        } = self;
        let mut text = format!(
            "\"\"\"Reads the {words} and prints what is late.\"\"\"\n\nfrom harbourmaster.{name}.part_0 import {class}0\n\n\n\
             def main() -> None:\n    store = {class}0(\"{name}.csv\")\n"
        );
        for step in 0..8 {
            text.push_str(&format!(
                "    late_{step} = [entry for entry in store.entries if entry.age > {}]\n    print(len(late_{step}))\n",
                dice.roll(90)
            ));
        }
        text.push_str("\n\nif __name__ == \"__main__\":\n    main()\n");
        text
    }

    fn python(&self, part: u64) -> String {
        let mut dice = self.dice(10 + part);
        let Self {
            name, class, words, ..
        } = self;
        let mut text = format!(
            "\"\"\"The {words}, part {part}: {} and {}.\"\"\"\n\nfrom __future__ import annotations\n\n\
             from dataclasses import dataclass, field\n\nLIMIT_{part} = {}\n\n\n@dataclass\nclass {class}{part}:\n    \
             \"\"\"Holds the {} of the {words}.\"\"\"\n\n    path: str\n    entries: list = field(default_factory=list)\n",
            dice.pick(&OBJECTS),
            dice.pick(&OBJECTS),
            dice.roll(5000),
            dice.pick(&OBJECTS)
        );
        for method in 0..4 {
            let (verb, object) = (dice.pick(&VERBS), dice.pick(&OBJECTS));
            text.push_str(&format!(
                "\n    def step_{method}(self, limit: int = {}) -> list:\n        \"\"\"{} the {object} of the {words}.\"\"\"\n        \
                 kept = []\n        for entry in self.entries:\n            if entry.age < limit and entry.kind != \"{object}\":\n                \
                 kept.append(entry)\n            elif entry.age == limit:\n                entry.age -= 1\n        \
                 kept.sort(key=lambda entry: (entry.age, entry.name))\n        return kept[:LIMIT_{part}]  # {verb}\n",
                dice.roll(500), capitalised(verb)
            ));
        }
        for function in ["load", "save", "check", "merge"] {
            let object = dice.pick(&OBJECTS);
            text.push_str(&format!(
                "\n\ndef {function}_{name}_{part}(path: str, strict: bool = False) -> list:\n    \
                 \"\"\"Goes through the {object} of the {words} at a path.\"\"\"\n    found = []\n    \
                 with open(path, encoding=\"utf-8\") as lines:\n        for number, line in enumerate(lines):\n            \
                 fields = line.rstrip().split(\",\")\n            if strict and len(fields) < {}:\n                \
                 raise ValueError(f\"line {{number}} of {{path}} is short\")\n            found.append(fields)\n    return found\n",
                2 + dice.roll(9)
            ));
        }
        text
    }

    fn rust(&self, part: u64) -> String {
        let mut dice = self.dice(20 + part);
        let Self {
            name, class, words, ..
        } = self;
        let mut text = format!(
            "//! The {words} in compiled code, part {part}.\n\n/// Holds the {} of the {words}.\n#[derive(Clone, Debug, Default)]\n\
             pub struct {class}Index{part} {{\n    entries: Vec<(String, u32)>,\n}}\n\nimpl {class}Index{part} {{\n",
            dice.pick(&OBJECTS)
        );
        for method in 0..5 {
            text.push_str(&format!(
                "    /// {} the {} of an index.\n    pub fn step_{method}(&self, limit: u32) -> Vec<&str> {{\n        \
                 let mut kept: Vec<&str> = self\n            .entries\n            .iter()\n            \
                 .filter(|(_, age)| *age < limit + {})\n            .map(|(name, _)| name.as_str())\n            .collect();\n        \
                 kept.sort_unstable();\n        kept.dedup();\n        kept\n    }}\n\n",
                capitalised(dice.pick(&VERBS)), dice.pick(&OBJECTS), dice.roll(900)
            ));
        }
        text.push_str(&format!(
            "}}\n\n/// Counts the {} of an index.\npub fn count_{name}_{part}(index: &{class}Index{part}) -> usize {{\n    index.entries.len()\n}}\n",
            dice.pick(&OBJECTS)
        ));
        text
    }

    fn typescript(&self, part: u64) -> String {
        let mut dice = self.dice(30 + part);
        let Self { class, words, .. } = self;
        let mut text = format!(
            "/** Shows the {} of the {words}. */\nexport class {class}View{part} {{\n  constructor(private readonly rows: string[][]) {{}}\n",
            dice.pick(&OBJECTS)
        );
        for method in 0..5 {
            text.push_str(&format!(
                "\n  /** {} the {} on screen. */\n  step{method}(limit = {}): string[] {{\n    const kept: string[] = [];\n    \
                 for (const row of this.rows) {{\n      if (row.length > limit) {{\n        kept.push(row.join(\" \"));\n      }}\n    }}\n    \
                 return kept.sort();\n  }}\n",
                capitalised(dice.pick(&VERBS)), dice.pick(&OBJECTS), dice.roll(40)
            ));
        }
        text.push_str("}\n");
        text
    }

    fn test(&self) -> String {
        let mut dice = self.dice(40);
        let Self { name, class, .. } = self;
        let mut text = format!("from harbourmaster.{name}.part_0 import {class}0, load_{name}_0\n");
        for case in 0..6 {
            text.push_str(&format!(
                "\n\ndef test_{name}_{case}(tmp_path):\n    path = tmp_path / \"rows.csv\"\n    \
                 path.write_text(\"a,b,{}\\n\")\n    assert load_{name}_0(str(path)) == [[\"a\", \"b\", \"{case}\"]]\n    \
                 assert {class}0(str(path)).step_0() == []\n",
                dice.roll(999)
            ));
        }
        text
    }
}

fn capitalised(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

fn readme() -> String {
    format!(
        "# {PRODUCT}\n\n{PRODUCT} is a library that keeps the books of a harbour.\n\n## Features\n\n\
         - {PRODUCT} plans berths for ships of any length.\n- {PRODUCT} prints tide tables for a whole year.\n\
         - {PRODUCT} sends notices to pilots and crews.\n- {PRODUCT} reads CSV and JSON files.\n\n## Install\n\n\
         ```console\n$ pip install harbourmaster\n```\n\n{PRODUCT} requires Python 3.10 or newer.\n\n## Quickstart\n\n\
         1. Install the package.\n2. Open a ledger with a path.\n3. Print its entries.\n\n\
         ```python\nfrom harbourmaster.tidal_ledger.part_0 import TidalLedger0\n\nledger = TidalLedger0(\"ledger.csv\")\n\
         for entry in ledger.entries:\n    print(entry)\n```\n\n## Limitations\n\n\
         {PRODUCT} does not talk to radios.\n"
    )
}

const MANIFEST: &str = "[project]\nname = \"harbourmaster\"\nversion = \"2.4.0\"\n\
description = \"Keeps the books of a harbour\"\nrequires-python = \">=3.10\"\nlicense = \"MIT\"\n\
dependencies = [\"attrs>=23\", \"httpx>=0.27\", \"rich>=13\"]\n\n[build-system]\n\
requires = [\"hatchling\"]\nbuild-backend = \"hatchling.build\"\n";

const LICENSE: &str = "MIT License\n\nCopyright (c) 2025 The harbour\n\n\
Permission is hereby granted, free of charge, to any person obtaining a copy of this software.\n";
