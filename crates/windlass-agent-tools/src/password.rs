//! `generate_password`: a new secret that the model never sees.

use serde::Deserialize;
use serde_json::Value;
use windlass_policy::ToolClass;
use windlass_ports::{BoxFuture, Entropy, ToolSpec, entropy::random};
use windlass_types::Secret;

use crate::{
    Code, Context, Failure, Look, Outcome, Places, Ran, Tool,
    arguments::read,
    schema::{flag, number, spec},
};

const LENGTH: u64 = 15;
const SETS: [&[u8]; 4] = [
    b"abcdefghijklmnopqrstuvwxyz",
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    b"0123456789",
    b"!#%+-.:=@^_~",
];

pub(crate) struct GeneratePassword(ToolSpec);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    length: Option<u64>,
    #[serde(default)]
    no_symbols: bool,
}

impl Default for GeneratePassword {
    fn default() -> Self {
        let fields = [
            (
                "length",
                number(8, 128, "How many characters; otherwise 15."),
            ),
            ("no_symbols", flag("Only letters and digits.")),
        ];
        Self(spec(
            "generate_password",
            "Generate a random password. Its value is kept as a secret; the result is a marker to \
             use in its place.",
            &fields,
        ))
    }
}

impl Tool for GeneratePassword {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn look(&self, input: &Value, _: &Places) -> Result<Look, Failure> {
        read::<Input>(input)?;
        Ok(Look::new(ToolClass::Secret))
    }

    fn run<'a>(&'a self, input: Value, context: &'a Context) -> BoxFuture<'a, Ran> {
        let make = move || -> Result<Outcome, Failure> {
            let input: Input = read(&input)?;
            let secrets = context.secrets.as_ref().ok_or_else(|| {
                Failure::new(Code::CommandError, "This session has no store for secrets.")
            })?;
            let length = usize::try_from(input.length.unwrap_or(LENGTH)).unwrap_or(usize::MAX);
            let value = password(context.entropy.as_ref(), length.min(128), input.no_symbols);
            let marker = secrets
                .keep("generated-password", value)
                .map_err(|why| Failure::new(Code::CommandError, why))?;
            Ok(Outcome::text(marker))
        };
        Box::pin(async move { Ran::Done(make().into()) })
    }
}

/// A password with at least one character of every kind, each as likely as the others of its kind.
fn password(entropy: &dyn Entropy, length: usize, no_symbols: bool) -> Secret<String> {
    let sets = SETS.get(..if no_symbols { 3 } else { 4 }).unwrap_or(&SETS);
    let all = sets.concat();
    // Drawn again until every kind is there, so that no place is more likely than another.
    loop {
        let drawn: String = (0..length).map(|_| draw(entropy, &all)).collect();
        let drawn = Secret::new(drawn);
        let has = |set: &&[u8]| {
            drawn
                .expose_secret()
                .bytes()
                .any(|byte| set.contains(&byte))
        };
        if sets.iter().all(has) {
            return drawn;
        }
    }
}

fn draw(entropy: &dyn Entropy, letters: &[u8]) -> char {
    let fair = 256 - 256 % letters.len();
    loop {
        let [byte] = random::<1>(entropy);
        // Bytes beyond would favour the first letters.
        if usize::from(byte) < fair {
            let letter = letters.get(usize::from(byte) % letters.len());
            return char::from(letter.copied().unwrap_or(b'x'));
        }
    }
}

#[cfg(test)]
#[path = "password_tests.rs"]
mod tests;
