//! UX specifications of small analyses, written out.

use insta::assert_snapshot;

use crate::architecture::DesignOptions;
use crate::example::{Example, quizzes};
use crate::model::analysis::VerbKind;
use crate::model::ux::UxSpec;
use crate::model::{Preset, Trace};
use crate::{architecture, architecture_markdown, ux, ux_markdown};

fn design(example: &Example, style: Option<&str>) -> UxSpec {
    let requirements = example.requirements();
    let architecture = architecture(&example.analysis, &requirements, Preset::NextjsReact);
    ux(&example.analysis, &requirements, &architecture, style)
}

fn pages(ux: &UxSpec) -> String {
    ux.pages
        .iter()
        .map(|page| {
            let traces: Vec<&str> = page.trace.iter().map(Trace::as_str).collect();
            format!(
                "{} | {} | {} | {:?} | {} | {}\n",
                page.name,
                page.route,
                page.kind,
                page.layout,
                page.components.join(" "),
                traces.join(" ")
            )
        })
        .collect()
}

#[test]
fn pages_come_from_what_is_stated_and_done() {
    assert_snapshot!(pages(&design(&quizzes(), None)), @"
    Quiz Editor | /quizzes/new | form | Centered | QuizForm | spec:S-16 req:FR-1
    Dashboard | / | dashboard | SidebarMain | QuizSummary AttemptSummary EmailNotice | spec:S-17 req:FR-9
    Quizzes | /quizzes | list | Grid | QuizList NewQuizButton | req:FR-4
    Quiz details | /quizzes/{id} | detail | SingleColumn | QuizDetail QuestionList PublishQuizButton | req:FR-3
    Edit quiz | /quizzes/{id}/edit | form | Centered | QuizForm | req:FR-2
    Attempts | /attempts | list | Grid | AttemptList NewAttemptButton | req:FR-7 req:FR-6
    New attempt | /attempts/new | form | Centered | AttemptForm | req:FR-5
    Sign in | /sign-in | sign-in | Centered | SignInForm | req:FR-8
    ");
}

#[test]
fn flows_go_from_the_first_page_to_success() {
    let flows: String = design(&quizzes(), None)
        .user_flows
        .iter()
        .map(|flow| format!("{}: {}\n", flow.name, flow.steps.join(" > ")))
        .collect();
    assert_snapshot!(flows, @"
    Quiz flow (teacher): Dashboard > Sign in > Quiz Editor: teacher create their quizzes > Edit quiz: teacher edit their quizzes > Quiz details: teacher publish a quiz > Success: teacher publish a quiz
    Quiz flow (student): Dashboard > Sign in > Quizzes: student browse published quizzes > Success: student browse published quizzes
    Attempt flow (student): Dashboard > Sign in > New attempt: student start an attempt > Attempts: not possible: student delete attempts > Success: student start an attempt
    Attempt flow (teacher): Dashboard > Sign in > Attempts: teacher view the attempts on their quizzes > Success: teacher view the attempts on their quizzes
    Sign-in flow: Dashboard > Sign in: sign in > Success: sign in
    ");
}

#[test]
fn names_of_pages_are_read() {
    let example = Example::default()
        .entity("Appointment: reason")
        .entity("Article: title")
        .says("patient", VerbKind::Create, "book", "an appointment")
        .says("reader", VerbKind::List, "search", "articles")
        .page("My Appointments")
        .page("Booking")
        .page("Article Health")
        .page("Landing page")
        .page("Settings")
        .page("Log in")
        .style("a grid of cards");
    assert_snapshot!(pages(&design(&example, None)), @"
    My Appointments | /appointments | list | Grid | AppointmentList NewAppointmentButton | spec:S-5 req:FR-1
    Booking | /appointments/new | form | Centered | AppointmentForm | spec:S-6 req:FR-1
    Article Health | /article-health | custom | Grid | ArticleHealthPanel | spec:S-7
    Landing page | / | landing | SingleColumn | Hero | spec:S-8
    Settings | /settings | custom | Grid | SettingsPanel | spec:S-9
    Log in | /sign-in | sign-in | Centered | SignInForm | spec:S-10 default:system-fields
    Articles | /articles | list | Grid | ArticleList ArticleSearch | req:FR-2
    ");
}

#[test]
fn what_has_no_entity_still_has_a_page() {
    let example = Example::default()
        .says("user", VerbKind::Read, "see", "the leaderboard")
        .says("user", VerbKind::Other, "celebrate", "");
    assert_snapshot!(pages(&design(&example, None)), @"
    Leaderboard | /leaderboard | custom | SingleColumn | LeaderboardPanel SeeLeaderboard | req:FR-1
    Home | / | landing | SingleColumn | Hero UserCelebrate | default:scaffolding req:FR-2
    ");
}

#[test]
fn stated_colours_stay_and_unstated_ones_are_readable() {
    let example = Example::default()
        .colour("navy", "#000080", "background")
        .colour("coral", "#FF7F50", "secondary")
        .colour("crimson", "#DC143C", "error");
    let tokens = design(&example, Some("bold")).design_tokens;
    assert_snapshot!(serde_json::to_string(&tokens.colors).unwrap(), @r##"{"primary":"#FFFFFF","secondary":"#FF7F50","background":"#000080","text":"#FFFFFF","error":"#DC143C","on_primary":"#000080","on_secondary":"#000080"}"##);
    let pairs: String = tokens
        .contrast
        .iter()
        .map(|pair| {
            format!(
                "{} on {} {} >= {} {}\n",
                pair.foreground, pair.background, pair.ratio, pair.required, pair.passes
            )
        })
        .collect();
    assert_snapshot!(pairs, @"
    #FFFFFF on #000080 16 >= 4.5 true
    #000080 on #FFFFFF 16 >= 4.5 true
    #000080 on #FF7F50 6.4 >= 4.5 true
    #FFFFFF on #000080 16 >= 3 true
    #FF7F50 on #000080 6.4 >= 3 true
    ");
}

#[test]
fn a_stated_pair_that_is_hard_to_read_is_kept_and_reported() {
    let example = Example::default()
        .colour("white", "#FFFFFF", "background")
        .colour("silver", "#C0C0C0", "text");
    let tokens = design(&example, None).design_tokens;
    assert_eq!(tokens.colors.text, "#C0C0C0");
    assert!(!tokens.contrast[0].passes);
}

#[test]
fn documents_have_all_their_sections() {
    let example = quizzes();
    let requirements = example.requirements();
    for preset in Preset::ALL {
        let architecture = architecture(&example.analysis, &requirements, preset);
        let text = architecture_markdown(
            &example.analysis,
            &requirements,
            &architecture,
            preset,
            &DesignOptions::default(),
        );
        let sections: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("## "))
            .collect();
        assert_eq!(
            sections,
            [
                "Summary",
                "Platform",
                "Repository",
                "Diagram",
                "Stack",
                "Data model",
                "DDL",
                "API",
                "Components",
                "Authentication",
                "Main flows",
                "Security",
                "Performance budgets",
                "Testing",
                "Local setup",
                "Deployment",
                "Error format",
                "Monitoring",
                "Requirements and components",
            ]
        );
        assert!(text.contains("create table public.quizzes"));
        assert!(text.contains("erDiagram") && text.contains("sequenceDiagram"));
        let design = ux(
            &example.analysis,
            &requirements,
            &architecture,
            Some("neon"),
        );
        let text = ux_markdown(&example.analysis, &requirements, &design, Some("neon"));
        let sections: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("## "))
            .collect();
        assert_eq!(
            sections,
            [
                "Personas",
                "Goals",
                "Sitemap",
                "Navigation",
                "User flows",
                "Pages",
                "Components",
                "Style",
                "Palette",
                "Type scale",
                "Spacing",
                "Accessibility",
                "Breakpoints",
                "Motion",
                "Requirements and pages",
            ]
        );
        assert!(text.contains("neon") && text.contains("dark green") && text.contains("#006400"));
    }
}
