//! Sentences and the clauses they are read as.

use std::fmt::Write as _;

use super::*;
use crate::spec::token::tokens;

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
        let line = format!(
            "{} | {} | {voice}{} | {} | {} | {}",
            clause.subject.name,
            clause.modal.text,
            clause.base,
            clause.object_text,
            clause.tail,
            clause.condition.unwrap_or_default(),
        );
        let _ = writeln!(out, "{}", line.trim());
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
    ]), @"
    # Teachers can create, edit and delete quizzes.
    teacher | can | create | quizzes |  |
    teacher | can | edit | quizzes |  |
    teacher | can | delete | quizzes |  |
    # Auditors view and export reports as CSV.
    auditor |  | view | reports | as CSV |
    auditor |  | export | reports | as CSV |
    # The manager manages doctors, rooms and opening hours, and can view reports on sales and returns.
    manager |  | manage | doctors |  |
    manager |  | manage | rooms |  |
    manager |  | manage | opening hours |  |
    manager | can | view | reports | on sales and returns |
    # Readers can rate an article as helpful or not helpful, comment on it and mark it as a favourite.
    reader | can | rate | an article | as helpful or not helpful |
    reader | can | comment | on it |  |
    reader | can | mark | it | as a favourite |
    # Receives deliveries, moves stock between locations, picks orders
    |  | receive | deliveries |  |
    |  | move | stock | between locations |
    |  | pick | orders |  |
    # Teachers and admins can invite students.
    teacher | can | invite | students |  |
    admin | can | invite | students |  |
    # Members belong to a workspace and only see the articles of their own workspace.
    member |  | belong | to a workspace |  |
    member | only | see | the articles | of their own workspace |
    # Interviewers are assigned to applications and leave feedback.
    interviewer | are | (passive) assign |  | to applications |
    interviewer |  | leave | feedback |  |
    # Users can post, comment and vote.
    user | can | post |  |  |
    user | can | comment |  |  |
    user | can | vote |  |  |
    ");
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
    ]), @"
    # Search results appear in less than 300 ms.
    search result |  | appear |  | in less than 300 ms |
    # Purchase orders above $5,000 are approved by the purchasing manager.
    purchase order | are | (passive) approve |  | by the purchasing manager |
    # The dashboard shows stock value, open purchase orders and products below reorder level.
    dashboard |  | show | stock value |  |
    dashboard |  | show | open purchase orders |  |
    dashboard |  | show | products | below reorder level |
    # Riders hail cabs.
    rider |  | hail | cabs |  |
    # Three small clinics in our group still book appointments by telephone.
    clinic |  | book | appointments | by telephone |
    # Product reviews need approval.
    product review |  | need | approval |  |
    # Build a todo app where users can add tasks.
    |  | build | a todo app |  |
    user | can | add | tasks |  |
    # Must use Supabase for the backend.
    | Must | use | Supabase | for the backend |
    # AI answers that quote the articles they come from
    # It records what is on the shelves, what comes in and what goes out.
    it |  | record |  | what is on the shelves, what comes in and what goes out |
    ");
}

#[test]
fn conditions_purposes_and_stories_are_separated() {
    insta::assert_snapshot!(read_all(&[
        "When a patient cancels, the system notifies the receptionist by email.",
        "Teachers can publish a quiz when it has at least 5 questions.",
        "As a teacher, I want to duplicate a quiz so that I can reuse it.",
        "If an article has not been reviewed for 180 days, it is marked as outdated and its author gets a notification.",
        "For each patient we keep the full name, the date of birth and a phone number.",
        "Students can start an attempt and submit it before the time limit ends.",
        "Later we would like video consultations.",
    ]), @"
    # When a patient cancels, the system notifies the receptionist by email.
    system |  | notify | the receptionist | by email | When a patient cancels
    # Teachers can publish a quiz when it has at least 5 questions.
    teacher | can | publish | a quiz |  | when it has at least 5 questions
    # As a teacher, I want to duplicate a quiz so that I can reuse it.
    teacher | want to | duplicate | a quiz |  |
    # If an article has not been reviewed for 180 days, it is marked as outdated and its author gets a notification.
    it | is | (passive) mark |  | as outdated | If an article has not been reviewed for 180 days
    author |  | get | a notification |  | If an article has not been reviewed for 180 days
    # For each patient we keep the full name, the date of birth and a phone number.
    |  | keep | the full name, the date of birth and a phone number |  |
    # Students can start an attempt and submit it before the time limit ends.
    student | can | start | an attempt |  |
    student | can | submit | it |  | before the time limit ends
    # Later we would like video consultations.
    | would | like | video consultations |  |
    ");
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
    ]), @"
    # Students must not see the correct answers until they have submitted.
    student | must not | see | the correct answers |  | until they have submitted
    # Readers can not edit articles.
    reader | can not | edit | articles |  |
    # We will not build an accounting module.
    | will not | build | an accounting module |  |
    # Clerks must be able to scan a barcode.
    clerk | must be able to | scan | a barcode |  |
    # Employees are not allowed to delete invoices.
    employee | are not allowed to | delete | invoices |  |
    # Managers have to approve requests.
    manager | have to | approve | requests |  |
    # Only employees may use the admin area.
    employee | may | use | the admin area |  |
    ");
}
