//! The tour: what Windlass does, shown by doing it with the real program in a place of its own.
//!
//! Needs no network, no account and no root. Every chapter is one file that runs real commands
//! and checks what they did; a tour that meets something unexpected ends with a failure, so the
//! tour is also a test. A capability adds its chapter to `CHAPTERS`. Called by the binary, for
//! `windlass tour`.

mod agent_configuration;
mod approval;
mod aws_stack;
mod durable_change;
mod loopback;
mod product_pipeline;
mod sample;
mod sample_launch;
mod sample_pack;
mod screen;
mod site;
mod site_launch;
mod stage;

use serde_json::{Value, json};
use windlass_types::Problem;

pub use screen::{Answer, Screen};

use self::{screen::Tone, stage::Stage};

struct Chapter {
    title: &'static str,
    play: fn(&mut Stage<'_>) -> Result<(), Problem>,
    /// A command to try afterwards.
    next: &'static str,
}

const CHAPTERS: &[Chapter] = &[
    Chapter {
        title: "A durable change",
        play: durable_change::play,
        next: durable_change::NEXT,
    },
    Chapter {
        title: "An approval, and proof of what was done",
        play: approval::play,
        next: approval::NEXT,
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

/// Which part of the tour is played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// The first chapter.
    #[default]
    Beginning,
    /// The chapter of this number, from 1.
    Chapter(usize),
    /// Every chapter.
    All,
}

/// Which part of the tour is played, and how.
pub struct Options<'a> {
    /// Which chapters.
    pub part: Part,
    /// Whether the tour's home and directory stay.
    pub keep: bool,
    /// Where it is shown.
    pub screen: Screen<'a>,
}

/// Plays the chapters that were asked for; what was run, for programs.
pub fn run(options: &Options<'_>) -> Result<Value, Problem> {
    let Options { part, keep, screen } = options;
    let chosen = chosen(*part)?;
    let mut stage = Stage::new(screen, *keep)?;
    let mut played = Vec::new();
    for number in chosen {
        let chapter = &CHAPTERS[number - 1];
        if !played.is_empty() {
            screen.line("");
        }
        stage.begin();
        let heading = format!("Chapter {number}: {}", chapter.title);
        screen.line(&screen.paint(Tone::Strong, &heading));
        let outcome = (chapter.play)(&mut stage);
        if !stage.is_left() {
            outcome?;
        }
        played.push(json!({
            "chapter": number,
            "title": chapter.title,
            "commands": stage.take_commands(),
            "finished": !stage.is_left(),
        }));
        if stage.is_left() {
            break;
        }
    }
    let program = stage.program_name();
    show_chapters(screen, &program, &played);
    if *keep {
        let home = stage.path().join("home");
        screen.line(&format!(
            "Kept: {program} --home {} runs list",
            home.display()
        ));
    }
    let next = next_step(*part, &program);
    screen.line("");
    screen.line(&screen.paint(Tone::Strong, &format!("Next: {next}")));
    Ok(json!({ "chapters": played, "next": next }))
}

/// The numbers of the chapters to play, from 1.
fn chosen(part: Part) -> Result<Vec<usize>, Problem> {
    match part {
        Part::Beginning => Ok(vec![1]),
        Part::All => Ok((1..=CHAPTERS.len()).collect()),
        Part::Chapter(number) if (1..=CHAPTERS.len()).contains(&number) => Ok(vec![number]),
        Part::Chapter(_) => Err(Problem::invalid(
            "chapter",
            "range",
            format!("the tour has chapters 1 to {}", CHAPTERS.len()),
        )),
    }
}

fn show_chapters(screen: &Screen<'_>, program: &str, played: &[Value]) {
    screen.line("");
    screen.line(&screen.paint(Tone::Strong, "Chapters"));
    for (index, chapter) in CHAPTERS.iter().enumerate() {
        let number = index + 1;
        let is_finished =
            |chapter: &Value| chapter["chapter"] == number && chapter["finished"] == true;
        let mark = if played.iter().any(is_finished) {
            "✓"
        } else {
            " "
        };
        screen.line(&format!("  {mark} {number}  {}", chapter.title));
    }
    screen.line(&format!("  {program} tour --chapter NUMBER, or --all"));
}

/// What to do after the tour: one command.
fn next_step(part: Part, program: &str) -> String {
    let try_it = |number: usize| CHAPTERS[number - 1].next.replacen("windlass", program, 1);
    match part {
        Part::Beginning => format!("{program} tour --chapter 2"),
        Part::Chapter(number) => try_it(number),
        Part::All => try_it(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_chapter_is_the_default_and_numbers_have_a_range() {
        assert_eq!(chosen(Part::default()).unwrap(), [1]);
        assert_eq!(chosen(Part::All).unwrap().len(), CHAPTERS.len());
        assert_eq!(chosen(Part::Chapter(2)).unwrap(), [2]);
        for wrong in [0, CHAPTERS.len() + 1, usize::MAX] {
            assert!(chosen(Part::Chapter(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_reader_who_leaves_ends_the_tour_before_the_command() {
        let lines = std::cell::RefCell::new(Vec::new());
        let played = run(&Options {
            part: Part::All,
            keep: false,
            screen: Screen {
                line: &|line| lines.borrow_mut().push(line.to_owned()),
                wait: Some(&|| Answer::Leave),
                colour: false,
            },
        })
        .unwrap();
        assert_eq!(played["chapters"].as_array().unwrap().len(), 1);
        assert_eq!(played["chapters"][0]["commands"], json!([]));
        assert_eq!(played["chapters"][0]["finished"], false);
        let lines = lines.into_inner();
        assert!(
            lines
                .iter()
                .any(|line| line.starts_with("$ windlass demo plan"))
        );
        assert!(!lines.iter().any(|line| line.contains('✓')), "{lines:?}");
        assert!(lines.last().unwrap().starts_with("Next: "));
    }

    #[test]
    fn every_part_ends_with_one_command_of_the_program_at_hand() {
        let parts = (1..=CHAPTERS.len()).map(Part::Chapter);
        for part in parts.chain([Part::Beginning, Part::All]) {
            let next = next_step(part, "target/release/windlass");
            assert!(next.starts_with("target/release/windlass "), "{next}");
            assert!(!next.contains('\n'), "{next}");
        }
    }
}
