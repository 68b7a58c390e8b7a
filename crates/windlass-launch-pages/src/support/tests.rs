//! Lies and honest rewrites, written and made by machine.

use super::{
    cases::{FREER, HONEST, LIES, UNITS},
    *,
};

fn unit(letter: char) -> (&'static str, &'static str) {
    let found = UNITS.iter().find(|(name, _, _)| *name == letter);
    let (_, product, claim) = found.expect("the letter of a unit");
    (product, claim)
}

fn passes(letter: char, sentence: &str) -> bool {
    let (product, claim) = unit(letter);
    check(sentence, &[claim], product).is_ok()
}

#[test]
fn no_lie_passes() {
    assert!(LIES.len() >= 100);
    let passed: Vec<_> = LIES.iter().filter(|(of, lie)| passes(*of, lie)).collect();
    assert!(
        passed.is_empty(),
        "{} of {}: {passed:#?}",
        passed.len(),
        LIES.len()
    );
}

#[test]
fn most_honest_rewrites_pass() {
    assert!(HONEST.len() >= 60);
    let refused: Vec<_> = HONEST
        .iter()
        .filter(|(of, said)| !passes(*of, said))
        .collect();
    let passed = HONEST.len() - refused.len();
    println!(
        "{passed} of {} honest rewrites pass; refused: {refused:#?}",
        HONEST.len()
    );
    assert!(
        passed * 10 >= HONEST.len() * 8,
        "{passed} of {}: {refused:#?}",
        HONEST.len()
    );
}

#[test]
fn every_claim_follows_from_itself() {
    for (letter, _, claim) in UNITS {
        assert!(passes(*letter, claim), "{claim}");
    }
}

#[test]
fn a_freer_sentence_gives_a_reason() {
    for (letter, said) in FREER {
        let (product, claim) = unit(*letter);
        if let Err(refused) = check(said, &[claim], product) {
            assert!(!refused.to_string().is_empty());
        }
    }
    let (product, claim) = unit('b');
    for (said, expected) in [
        ("Acme encrypts data at rest.", "it leaves out “not”"),
        (
            "Acme does not encrypt data at rest or in PostgreSQL.",
            "“or” is not in the evidence",
        ),
        (
            "Acme does not encrypt rest at data.",
            "it relates the words of the evidence in another way",
        ),
        (
            "Acme d\u{43e}es not encrypt data at rest.",
            "the character 'о' is not in the evidence",
        ),
    ] {
        assert_eq!(
            check(said, &[claim], product).unwrap_err().to_string(),
            expected
        );
    }
}

/// Words removed, swapped, exchanged and added, everywhere.
#[test]
fn no_machine_made_lie_passes() {
    const ADDED: [&str; 16] = [
        "not",
        "never",
        "always",
        "all",
        "only",
        "encrypts",
        "guarantees",
        "every",
        "without",
        "5",
        "must",
        "supports",
        "fastest",
        "`rm -rf`",
        "officially",
        "by default",
    ];
    let mut made = 0;
    let mut passed = Vec::new();
    let mut lie = |letter: char, words: Vec<&str>| {
        let said = words.join(" ");
        made += 1;
        if passes(letter, &said) {
            passed.push((letter, said));
        }
    };
    for (letter, product, claim) in UNITS {
        let (own, own_product) = (token::read(claim, product), product);
        let words: Vec<&str> = claim.split(' ').collect();
        for at in 0..=words.len() {
            for added in ADDED {
                // Another "not" after "not" is the same word twice; "officially" may stand elsewhere.
                if own.iter().any(|token| token.raw == added) || claim.contains(added) {
                    continue;
                }
                let mut longer = words.clone();
                longer.insert(at, added);
                lie(*letter, longer);
            }
        }
        for at in 0..words.len() {
            let tokens = token::read(words[at], own_product);
            let limits = tokens.iter().any(|token| {
                token.is(NOT)
                    || matches!(
                        token.raw.as_str(),
                        "may"
                            | "Only"
                            | "until"
                            | "experimental"
                            | "If"
                            | "when"
                            | "except"
                            | "Up"
                            | "default"
                    )
            });
            if limits {
                let mut shorter = words.clone();
                shorter.remove(at);
                lie(*letter, shorter);
            }
            for other in UNITS
                .iter()
                .filter(|(_, other, _)| other != product)
                .take(4)
            {
                // Not one that says the same: "doesn't" for "not", another case, another comma.
                let says_other = |word: &&str| {
                    let bare = word
                        .trim_matches(|c: char| !c.is_alphanumeric())
                        .to_lowercase();
                    word.len() > 4 && !word.contains("n't") && !claim.to_lowercase().contains(&bare)
                };
                let Some(replaced) = other.2.split(' ').find(says_other) else {
                    continue;
                };
                let content = tokens
                    .first()
                    .is_some_and(|token| token.is_content() && token.kind != Kind::Product);
                let filler = tokens
                    .first()
                    .is_some_and(|token| vocabulary::FILLER.contains(&token.text.as_str()));
                let known = token::read(replaced, own_product);
                if content && !filler && known.iter().any(Token::is_content) {
                    let mut exchanged = words.clone();
                    exchanged[at] = replaced;
                    lie(*letter, exchanged);
                }
            }
        }
    }
    println!("{made} machine-made lies");
    assert!(made >= 5_000, "{made}");
    assert!(passed.is_empty(), "{} of {made}: {passed:#?}", passed.len());
}

#[test]
fn a_sentence_may_state_several_claims() {
    let claims = [
        "Reads DOCX 97.",
        "It does not write.",
        "Django stores sessions.",
    ];
    for (cited, said, expected) in [
        (&claims[..2], "It reads DOCX 97 but does not write.", true),
        (
            &claims[..2],
            "Acme reads DOCX 97, and it does not write.",
            true,
        ),
        (&claims[..2], "Acme reads and writes DOCX 97.", false),
        (
            &claims[..2],
            "Acme does not read DOCX 97 but writes.",
            false,
        ),
        (
            &claims[..2],
            "Acme reads DOCX 97 and stores sessions.",
            false,
        ),
        (&claims[..1], "It reads DOCX 97 but does not write.", false),
        (
            &claims[..],
            "Acme reads DOCX 97 and stores sessions.",
            false,
        ),
        (
            &["Django stores sessions.", "Acme supports Redis."][..],
            "Django stores sessions and supports Redis.",
            false,
        ),
        (
            &["Acme stores sessions.", "Acme supports Redis."][..],
            "Acme stores sessions and supports Redis.",
            true,
        ),
    ] {
        assert_eq!(
            check(said, cited, "Acme").is_ok(),
            expected,
            "{said} {cited:?}"
        );
    }
}

#[test]
fn long_input_is_bounded() {
    let long = "a, ".repeat(20_000);
    assert_eq!(
        check(&long, &["Acme reads."], "Acme"),
        Err(Unsupported::TooMuch)
    );
    let many: Vec<&str> = vec!["Acme reads."; 40];
    assert_eq!(
        check("Acme writes.", &many, "Acme"),
        Err(Unsupported::TooMuch)
    );
    let evidence = "reads, and by default yet officially automatically ".repeat(2_000);
    assert!(check("Acme officially reads yet.", &[&evidence], "Acme").is_err());
}
