//! Sentences and the clauses they are read as.

use std::fmt::Write as _;

use super::*;
use crate::token::tokens;

/// One line per clause: subject | modal | verb | object | tail | condition.
fn read(text: &str) -> String {
    let tokens = tokens(text);
    let mut out = String::new();
    for clause in clauses(text, &tokens, &Known::default()) {
        let voice = match clause.voice {
            Voice::Active => "",
            Voice::Passive => "(passive) ",
            Voice::Copula => "(is) ",
        };
        let _ = writeln!(
            out,
            "{} | {} | {voice}{} | {} | {} | {}",
            clause.subject.name,
            clause.modal.text,
            clause.base,
            clause.object_text,
            clause.tail,
            clause.condition.unwrap_or_default(),
        );
    }
    out
}

fn read_all(sentences: &[&str]) -> String {
    let mut out = String::new();
    for sentence in sentences {
        let _ = write!(out, "# {sentence}\n{}", read(sentence));
    }
    out
}

#[test]
fn coordinated_verbs_and_objects_are_clauses() {
    insta::assert_snapshot!(read_all(&[
        "Teachers can create, edit and delete quizzes.",
        "Auditors view and export reports as CSV.",
        "The manager manages doctors, rooms and opening hours, and can view reports on sales and returns.",
        "Readers can rate an article as helpful or not helpful, comment on it and mark it as a favourite.",
        "Receives deliveries, moves stock between locations, picks orders",
        "Teachers and admins can invite students.",
        "Members belong to a workspace and only see the articles of their own workspace.",
        "Interviewers are assigned to applications and leave feedback.",
        "Users can post, comment and vote.",
    ]), @"");
}

#[test]
fn subjects_end_where_verbs_begin() {
    insta::assert_snapshot!(read_all(&[
        "Search results appear in less than 300 ms.",
        "Purchase orders above $5,000 are approved by the purchasing manager.",
        "The dashboard shows stock value, open purchase orders and products below reorder level.",
        "Riders hail cabs.",
        "Three small clinics in our group still book appointments by telephone.",
        "Product reviews need approval.",
        "Build a todo app where users can add tasks.",
        "Must use Supabase for the backend.",
        "AI answers that quote the articles they come from",
        "It records what is on the shelves, what comes in and what goes out.",
    ]), @"");
}

#[test]
fn conditions_purposes_and_stories_are_set_apart() {
    insta::assert_snapshot!(read_all(&[
        "When a patient cancels, the system notifies the receptionist by email.",
        "Teachers can publish a quiz when it has at least 5 questions.",
        "As a teacher, I want to duplicate a quiz so that I can reuse it.",
        "If an article has not been reviewed for 180 days, it is marked as outdated and its author gets a notification.",
        "For each patient we keep the full name, the date of birth and a phone number.",
        "Students can start an attempt and submit it before the time limit ends.",
        "Later we would like video consultations.",
    ]), @"");
}

#[test]
fn negation_and_modals_are_kept() {
    insta::assert_snapshot!(read_all(&[
        "Students must not see the correct answers until they have submitted.",
        "Readers can not edit articles.",
        "We will not build an accounting module.",
        "Clerks must be able to scan a barcode.",
        "Employees are not allowed to delete invoices.",
        "Managers have to approve requests.",
        "Only employees may use the admin area.",
    ]), @"");
}
