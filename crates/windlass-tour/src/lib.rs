//! The tour: what Windlass does, shown by doing it with the real program in a place of its own.
//!
//! Needs no network, no account and no root. Every chapter is one file that runs real commands
//! and checks what they did; a tour that meets something unexpected ends with a failure, so the
//! tour is also a test. A capability adds its chapter to `CHAPTERS`. Called by the binary, for
//! `windlass tour`.

mod agent_configuration;
mod aws_stack;
mod durable_change;
mod loopback;
mod product_pipeline;
mod sample;
mod sample_launch;
mod sample_pack;
mod screen;
mod site_launch;
mod stage;

use serde_json::{Value, json};
use windlass_types::Problem;

pub use screen::Screen;

use self::{screen::Tone, stage::Stage};

struct Chapter {
    title: &'static str,
    play: fn(&mut Stage<'_>) -> Result<(), Problem>,
    next: &'static [&'static str],
}

const CHAPTERS: &[Chapter] = &[
    Chapter {
        title: "A durable change",
        play: durable_change::play,
        next: durable_change::NEXT,
    },
    Chapter {
        title: "Agent configuration",
        play: agent_configuration::play,
        next: agent_configuration::NEXT,
    },
    Chapter {
        title: "A site launch",
        play: site_launch::play,
        next: site_launch::NEXT,
    },
    Chapter {
        title: "A product pipeline",
        play: product_pipeline::play,
        next: product_pipeline::NEXT,
    },
    Chapter {
        title: "An AWS stack",
        play: aws_stack::play,
        next: aws_stack::NEXT,
    },
];

/// Which part of the tour is played, and how.
pub struct Options<'a> {
    /// Only the chapter of this number.
    pub chapter: Option<usize>,
    /// Whether the tour's home and directory stay.
    pub keep: bool,
    /// Where it is shown.
    pub screen: Screen<'a>,
}

/// Plays every chapter, or the one of that number; what was run, for programs.
pub fn run(options: &Options<'_>) -> Result<Value, Problem> {
    let Options {
        chapter,
        keep,
        screen,
    } = options;
    let chosen: Vec<(usize, &Chapter)> = CHAPTERS
        .iter()
        .enumerate()
        .map(|(index, played)| (index + 1, played))
        .filter(|(number, _)| chapter.is_none_or(|wanted| wanted == *number))
        .collect();
    if chosen.is_empty() {
        return Err(Problem::invalid(
            "chapter",
            "range",
            format!("the tour has chapters 1 to {}", CHAPTERS.len()),
        ));
    }
    let mut stage = Stage::new(screen, *keep)?;
    let mut played = Vec::new();
    for (number, chapter) in &chosen {
        if !played.is_empty() {
            screen.line("");
        }
        stage.begin();
        let heading = format!("Chapter {number}: {}", chapter.title);
        screen.line(&screen.paint(Tone::Strong, &heading));
        (chapter.play)(&mut stage)?;
        played.push(
            json!({ "chapter": number, "title": chapter.title, "commands": stage.take_commands() }),
        );
    }
    screen.line("");
    screen.line(&screen.paint(Tone::Strong, "Try next"));
    for line in chosen.iter().flat_map(|(_, chapter)| chapter.next) {
        screen.line(&format!("  {line}"));
    }
    if *keep {
        let home = stage.path().join("home");
        screen.line(&format!(
            "  WINDLASS_HOME={} windlass runs list",
            home.display()
        ));
    }
    Ok(json!({ "chapters": played }))
}
