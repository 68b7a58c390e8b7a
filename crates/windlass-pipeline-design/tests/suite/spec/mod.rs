//! One file per subject.

mod any_text;
mod examples;
mod given;
mod rules;
mod shown;
mod speed;
mod strategy;
