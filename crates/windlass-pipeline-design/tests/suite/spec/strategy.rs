//! The strategy of an example, and that it says nothing of its own.

use windlass_pipeline_design::spec::{SpecContext, analyse, strategy};

use super::examples::{ALL, CLINIC};

#[test]
fn the_clinic() {
    let context = SpecContext {
        industry: Some("health care".to_owned()),
        ..SpecContext::default()
    };
    let parts = strategy(&analyse(CLINIC, &context), &context);
    insta::assert_snapshot!(parts.summary, @r#"
    # Riverside Care

    ## Goal

    Three small clinics in our group still book appointments by telephone.
    We want a web application, called "Riverside Care", in which patients book, move and cancel their appointments themselves, and in which the front desk keeps control of the calendar.

    Industry: health care

    ## Users

    - Patient: book appointments, move appointments, cancel appointments, register, see appointments
    - Doctor: see appointments, add visit notes, see visit notes, set availabilities
    - Receptionist: create appointments, move appointments, cancel appointments, confirm appointments, confirm requests, decline requests
    - Clinic manager: manage doctors, manage rooms, manage opening hours, view reports
    - Employee: sign in

    ## In scope

    - FR-1 Patients book their appointments themselves
    - FR-2 Patients move their appointments themselves
    - FR-3 Patients cancel their appointments themselves
    - FR-4 Patients register with their phone number and a one-time code
    - FR-5 Employees sign in with a password
    - FR-6 Nobody gets in without signing in
    - FR-7 As a patient, I want to book an appointment with a doctor so that I do not have to call
    - FR-10 Patients may cancel an appointment if it starts in more than 24 hours
    - FR-11 Patients may also move the appointment to another free slot
    - FR-12 Patients see only their own appointments
    - FR-13 Doctors see the appointments of their own patients
    - FR-14 Doctors can add notes to each visit
    - FR-15 Visit notes are visible to doctors only
    - FR-16 Receptionists must not read visit notes
    - FR-17 Receptionists can create appointments for any patient
    - FR-18 Receptionists can move appointments for any patient
    - FR-19 Receptionists can cancel appointments for any patient
    - FR-20 Receptionists confirm requested appointments
    - FR-21 Receptionists confirm requests within one working day
    - FR-22 Receptionists decline requests within one working day
    - FR-23 The system notifies the receptionist by email when a patient cancels
    - FR-24 A reminder is sent by SMS through Twilio 24 hours before the appointment
    - FR-25 Doctors set their weekly availability
    - FR-27 The clinic manager manages doctors
    - FR-28 The clinic manager manages rooms
    - FR-29 The clinic manager manages opening hours
    - FR-30 The clinic manager can view reports on utilisation and no-shows
    - FR-34 The second one gets an error message if two people try to book the same slot
    - FR-35 The second one is offered the next free slot if two people try to book the same slot

    It keeps: appointment, visit note, availability, doctor, room, opening hour, patient.

    ## Out of scope

    - FR-36 We would like video consultations later
    - FR-37 Online payment is out of scope

    ## Requirements

    37 functional (must 33, should 0, could 2, wont 2), 5 non-functional, 4 constraints.

    ## Risks

    - CON-1 (law or standard): We must host all data in the EU
    - CON-2 (law or standard): The system must comply with HIPAA and the GDPR
    - Depends on email (email)
    - Depends on Twilio (other)
    - Depends on SMS (other)
    - EC-1: If two people try to book the same slot
    - 1 quality word without a measure

    ## Open questions

    - OQ-1: Which measure is meant? NFR-5: "fast", "modern" have no measure.
    - OQ-2: What is kept of each visit note? The spec lists nothing.
    - OQ-3: What is kept of each opening hour? The spec lists nothing.
    "#);
    let cases: Vec<String> = parts
        .edge_cases
        .iter()
        .map(|case| {
            format!(
                "{} {}: {} -> {}",
                case.id, case.severity, case.scenario, case.handling
            )
        })
        .collect();
    insta::assert_snapshot!(cases.join("\n"), @"EC-1 high: If two people try to book the same slot -> The second one gets an error message if two people try to book the same slot; The second one is offered the next free slot if two people try to book the same slot");
    let assumptions: Vec<String> = parts
        .assumptions
        .iter()
        .map(|assumption| {
            format!(
                "{} {} {}",
                assumption.id, assumption.description, assumption.risk
            )
        })
        .collect();
    insta::assert_snapshot!(assumptions.join("\n"), @r#"
    ASM-1 FR-27: "manage" means list, create, update and delete. If less is meant, people can do more than they should.
    ASM-2 FR-28: "manage" means list, create, update and delete. If less is meant, people can do more than they should.
    ASM-3 FR-29: "manage" means list, create, update and delete. If less is meant, people can do more than they should.
    "#);
}

#[test]
fn every_part_has_a_trace() {
    for spec in ALL {
        let parts = strategy(
            &analyse(spec, &SpecContext::default()),
            &SpecContext::default(),
        );
        assert!(parts.assumptions.iter().all(|item| !item.trace.is_empty()));
        assert!(parts.edge_cases.iter().all(|item| !item.trace.is_empty()));
        assert!(
            parts
                .open_questions
                .iter()
                .all(|item| !item.trace.is_empty())
        );
        assert!(parts.terminology.iter().all(|item| !item.trace.is_empty()));
        for heading in [
            "Goal",
            "Users",
            "In scope",
            "Out of scope",
            "Requirements",
            "Risks",
            "Open questions",
        ] {
            assert!(
                parts.summary.contains(&format!("## {heading}\n")),
                "{heading}"
            );
        }
    }
}

#[test]
fn a_question_of_the_spec_stays_open_and_silence_blocks() {
    let parts = strategy(
        &analyse(
            "Users can add tasks. Which languages do we need?",
            &SpecContext::default(),
        ),
        &SpecContext::default(),
    );
    assert_eq!(
        parts.open_questions[0].question,
        "Which languages do we need?"
    );
    let parts = strategy(
        &analyse("Пользователи пишут.", &SpecContext::default()),
        &SpecContext::default(),
    );
    assert!(
        parts
            .open_questions
            .iter()
            .any(|question| question.blocking)
    );
}
