//! The rules of the offline generator, one table each.
//! Long because every rule has its table here.

use windlass_pipeline_design::model::{
    Analysis,
    analysis::{Access, SpanClass, VerbKind},
    strategy::Priority,
};
use windlass_pipeline_design::spec::{SpecContext, analyse, requirements};

fn read(spec: &str) -> Analysis {
    analyse(spec, &SpecContext::default())
}

fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap().replace('"', "")
}

#[test]
fn segment_coordinated_verbs_and_objects() {
    for (spec, verbs) in [
        (
            "Teachers can create, edit and delete quizzes.",
            "create quiz, edit quiz, delete quiz",
        ),
        (
            "Managers view and export reports as CSV.",
            "view report, export report",
        ),
        (
            "Admins manage rooms and doctors.",
            "manage room, manage doctor",
        ),
        ("Orders are approved by managers.", "approve order"),
        (
            "- Create quizzes\n- Delete quizzes",
            "create quiz, delete quiz",
        ),
        (
            "The app lets teachers create and share quizzes.",
            "create quiz, share quiz",
        ),
        (
            "As a teacher, I want to edit and delete quizzes so that they stay fresh.",
            "edit quiz, delete quiz",
        ),
        (
            "Teachers can:\n\n- create quizzes\n- delete quizzes",
            "create quiz, delete quiz",
        ),
        ("Users can register and sign in.", "register, sign in"),
    ] {
        let mut got: Vec<String> = read(spec)
            .statements
            .iter()
            .map(|statement| match &statement.object {
                Some(object) => format!("{} {}", statement.verb, object.head),
                None => statement.verb.clone(),
            })
            .collect();
        got.dedup();
        assert_eq!(got.join(", "), verbs, "{spec}");
    }
}

#[test]
fn roles_are_who_acts() {
    for (spec, roles) in [
        ("Teachers can create quizzes.", "teacher"),
        ("A librarian must approve loans.", "librarian"),
        ("As a cook, I want to publish recipes.", "cook"),
        ("Orders are approved by managers.", "manager"),
        (
            "Warehouse clerks pick orders. Clerks can print labels.",
            "warehouse clerk",
        ),
        (
            "Admins can delete posts. Administrators can ban people.",
            "admin",
        ),
        ("## Users\n\n- Patients\n- Doctors\n", "patient, doctor"),
        (
            "| Role | Can |\n|---|---|\n| Auditor | View reports |",
            "auditor",
        ),
        ("The system shall send an email.", ""),
        ("Articles can have many tags.", ""),
        ("The dashboard shows open orders.", ""),
        ("Sign in with Google.", "user"),
        ("Visitors can browse recipes.", "visitor"),
        ("Authors may delete their comments.", ""),
        ("Three clinics still book by telephone.", ""),
    ] {
        let got: Vec<String> = read(spec).roles.into_iter().map(|role| role.name).collect();
        assert_eq!(got.join(", "), roles, "{spec}");
    }
}

#[test]
fn the_first_class_that_fits() {
    for (spec, class) in [
        ("Must use Supabase for the backend.", SpanClass::Constraint),
        ("The app is built with React.", SpanClass::Constraint),
        ("The budget is 20,000 EUR.", SpanClass::Constraint),
        ("The product must comply with GDPR.", SpanClass::Constraint),
        ("The deadline is 1 May.", SpanClass::Constraint),
        ("Pages load in under 2 seconds.", SpanClass::Quality),
        (
            "The platform supports 500 concurrent users.",
            SpanClass::Quality,
        ),
        (
            "The service must be available 99.9% of the time.",
            SpanClass::Quality,
        ),
        ("The interface should be easy to use.", SpanClass::Quality),
        ("All data is encrypted.", SpanClass::Quality),
        ("The background is dark green.", SpanClass::Design),
        ("Use the font Inter.", SpanClass::Design),
        ("Teachers can create quizzes.", SpanClass::Behaviour),
        (
            "Editors can attach files up to 25 MB.",
            SpanClass::Behaviour,
        ),
        (
            "Patients may cancel an appointment if it starts in more than 24 hours.",
            SpanClass::Behaviour,
        ),
        (
            "Managers approve requests within one day.",
            SpanClass::Behaviour,
        ),
        (
            "A quiz has a title and a time limit in minutes.",
            SpanClass::Behaviour,
        ),
        ("An availability has a weekday.", SpanClass::Behaviour),
        ("- Create quizzes", SpanClass::Behaviour),
        ("## Features\n\n- Order tracking", SpanClass::Behaviour),
        ("Quizly is a quiz platform for schools.", SpanClass::Context),
        ("Which languages do we need?", SpanClass::Context),
        ("Our team loses hours every day.", SpanClass::Context),
        (
            "Payment comes in phase 2 for 5 EUR per month.",
            SpanClass::Behaviour,
        ),
    ] {
        let analysis = read(spec);
        let got = analysis.spans.last().unwrap().class;
        assert_eq!(got, class, "{spec}");
    }
}

#[test]
fn priority_by_modal_and_section() {
    for (spec, priority, negated) in [
        ("Users must confirm orders.", Priority::Must, false),
        ("Users shall confirm orders.", Priority::Must, false),
        (
            "Users are required to confirm orders.",
            Priority::Must,
            false,
        ),
        ("Users need to confirm orders.", Priority::Must, false),
        ("Users can confirm orders.", Priority::Must, false),
        ("Users confirm orders.", Priority::Must, false),
        ("Users should confirm orders.", Priority::Should, false),
        ("Ideally, users confirm orders.", Priority::Should, false),
        ("Users could confirm orders.", Priority::Could, false),
        ("Users may confirm orders.", Priority::Could, false),
        (
            "Users can optionally confirm orders.",
            Priority::Could,
            false,
        ),
        (
            "It would be nice to have label printing.",
            Priority::Could,
            false,
        ),
        (
            "## Nice to have\n\n- Users confirm orders",
            Priority::Could,
            false,
        ),
        ("Users will not confirm orders.", Priority::Wont, false),
        ("Later, users can confirm orders.", Priority::Wont, false),
        ("Online payment is out of scope.", Priority::Wont, false),
        ("## Out of scope\n\n- Native apps", Priority::Wont, false),
        ("Users must not delete orders.", Priority::Must, true),
        ("Users cannot delete orders.", Priority::Must, true),
        ("Users may not delete orders.", Priority::Must, true),
        (
            "| Feature | Priority |\n|---|---|\n| Users can confirm orders | Should |",
            Priority::Should,
            false,
        ),
    ] {
        let analysis = read(spec);
        let statement = analysis
            .statements
            .last()
            .unwrap_or_else(|| panic!("{spec}"));
        assert_eq!(
            (statement.priority, statement.negated),
            (priority, negated),
            "{spec}"
        );
    }
}

#[test]
fn descriptions_are_the_specs_words_actor_first() {
    for (spec, description) in [
        (
            "Teachers can create and delete their own quizzes.",
            "Teachers can create their own quizzes",
        ),
        (
            "Orders must be approved by managers.",
            "Managers must approve orders",
        ),
        (
            "Orders are approved by the manager.",
            "The manager approves orders",
        ),
        (
            "When a patient cancels, the system notifies the doctor.",
            "The system notifies the doctor when a patient cancels",
        ),
        (
            "Students start an attempt. They submit it.",
            "Students start an attempt",
        ),
        (
            "Users must not rate their own recipes.",
            "Users must not rate their own recipes",
        ),
        (
            "The search should be fast and users can filter products.",
            "Users can filter products",
        ),
    ] {
        let got = requirements(&read(spec));
        assert!(
            got.functional
                .iter()
                .any(|item| item.description == description),
            "{spec}: {:?}",
            got.functional
        );
    }
}

#[test]
fn acceptance_contains_only_what_is_stated() {
    for (spec, acceptance) in [
        (
            "Teachers can create quizzes.",
            "Given a teacher, when the teacher creates quizzes, then quizzes are created",
        ),
        (
            "Teachers can publish a quiz when it has at least 5 questions.",
            "Given that it has at least 5 questions, when the teacher publishes a quiz, then a quiz is published",
        ),
        (
            "Students must not see the answers.",
            "Given a student, when the student tries to see the answers, then it is refused",
        ),
        (
            "The system sends a reminder.",
            "Given the product, when the product sends a reminder, then a reminder is sent",
        ),
        (
            "## Features\n\n- Order tracking for customers",
            "Given the product, when it is used, then it offers order tracking for customers",
        ),
    ] {
        let got = requirements(&read(spec));
        assert_eq!(got.functional[0].acceptance, [acceptance], "{spec}");
    }
}

#[test]
fn entities_are_what_is_kept() {
    for (spec, entities) in [
        ("Teachers can create quizzes.", "Quiz"),
        ("Students browse courses.", "Course"),
        ("A recipe has a name.", "Recipe"),
        ("Each order belongs to a customer.", "Order, Customer"),
        (
            "Managers can create purchase orders and delete purchase orders.",
            "PurchaseOrder",
        ),
        ("Users add tasks with a title and a due date.", "Task"),
        (
            "## Data\n\n- Vehicle: plate, make\n- Trip (origin, destination)",
            "Vehicle, Trip",
        ),
        (
            "| Thing | What we keep |\n|---|---|\n| Order line | quantity |",
            "OrderLine",
        ),
        ("Users can open the dashboard and see the menu.", ""),
        ("Teachers can view the page.", ""),
        ("Admins can delete users.", "User"),
        ("Doctors see patients.", ""),
        (
            "Doctors have a name and a specialty. Doctors can cancel visits.",
            "Doctor",
        ),
        (
            "A stock movement has a quantity. New movements are recorded by clerks.",
            "StockMovement",
        ),
        (
            "An article has a state (draft, published). Editors can save drafts.",
            "Article",
        ),
        ("A product has a price.", "Product"),
        ("The product must have a nice design.", ""),
        ("Users can change their email.", ""),
        ("An order can be new, paid or shipped.", "Order"),
        ("Organizers create events (name, venue, date).", "Event"),
        ("Buyers can leave a review with a rating.", "Review"),
        ("I want to build an online marketplace for furniture.", ""),
    ] {
        let got: Vec<String> = read(spec)
            .entities
            .into_iter()
            .map(|entity| entity.name)
            .collect();
        assert_eq!(got.join(", "), entities, "{spec}");
    }
}

#[test]
fn relations_by_belonging() {
    for (spec, relation) in [
        (
            "A comment has a text. A comment belongs to a post. A post has a title.",
            "Post one-to-many Comment",
        ),
        (
            "A post has many comments. A comment has a text.",
            "Post one-to-many Comment",
        ),
        (
            "Posts have many tags and tags can have many posts.",
            "Post many-to-many Tag",
        ),
        (
            "Articles are grouped in collections.",
            "Collection many-to-many Article",
        ),
        (
            "Every company has a workspace. A workspace has a name.",
            "Company one-to-one Workspace",
        ),
        (
            "A line refers to one item. An item has a price.",
            "Item one-to-many Line",
        ),
        (
            "A movement is for one item. An item has a price.",
            "Item one-to-many Movement",
        ),
    ] {
        let got: Vec<String> = read(spec)
            .relations
            .iter()
            .map(|relation| format!("{} {} {}", relation.from, json(&relation.kind), relation.to))
            .collect();
        assert_eq!(got, [relation], "{spec}");
    }
}

#[test]
fn people_in_a_relation_become_a_field() {
    let analysis =
        read("A task has a title. Each task belongs to one developer. Developers can close tasks.");
    let task = analysis
        .entities
        .iter()
        .find(|entity| entity.name == "Task")
        .unwrap();
    assert!(
        task.fields.iter().any(|field| field.name == "developer_id"),
        "{task:?}"
    );
}

#[test]
fn access_only_as_stated() {
    for (spec, rules) in [
        (
            "Students can only see their own attempts.",
            vec![Access::Owner],
        ),
        ("Visitors can browse recipes.", vec![Access::PublicRead]),
        ("Anyone can view events.", vec![Access::PublicRead]),
        ("Admins can edit and delete events.", vec![]),
        (
            "Admins can edit any event.",
            vec![Access::RoleRead("admin".to_owned())],
        ),
        (
            "Auditors can view invoices.",
            vec![Access::RoleRead("auditor".to_owned())],
        ),
        (
            "A note has a text. Notes are visible to doctors only. Doctors can add notes.",
            vec![Access::RoleRead("doctor".to_owned())],
        ),
        ("A note has a text. Notes are private.", vec![Access::Owner]),
        (
            "Auditors have read-only access to everything.",
            vec![Access::RoleRead("auditor".to_owned())],
        ),
        ("Teachers create quizzes.", vec![]),
        (
            "Readers can not edit articles. An article has a title.",
            vec![],
        ),
        (
            "An attempt belongs to a quiz. Teachers create quizzes. Teachers can view the attempts on their quizzes.",
            vec![Access::ParentOwner("Quiz".to_owned())],
        ),
        (
            "Members belong to a team. Members only see the files of their own team. A file has a name.",
            vec![Access::Members("Team".to_owned())],
        ),
        (
            "Admins manage rooms.",
            vec![Access::RoleAll("admin".to_owned())],
        ),
        (
            "People join a household. Users add expenses. Everyone in the household can see all expenses.",
            vec![Access::Members("Household".to_owned())],
        ),
        (
            "Users add notes. Only the person who added a note can change it.",
            vec![Access::Owner],
        ),
        (
            "Members log workouts. Members can view workouts. Workouts are private.",
            vec![Access::Owner],
        ),
        ("Attendees buy tickets. Staff scan tickets.", vec![]),
        (
            "## Roles\n\n- Owner – full access to everything",
            vec![Access::RoleAll("owner".to_owned())],
        ),
    ] {
        let got: Vec<Access> = read(spec)
            .access
            .into_iter()
            .map(|rule| rule.rule)
            .collect();
        assert_eq!(got, rules, "{spec}");
    }
    let analysis =
        read("An article has a state (draft, published). Published articles are public.");
    let when = analysis.access[0].only_when.as_ref().unwrap();
    assert_eq!(
        (when.field.as_str(), when.value.as_str()),
        ("state", "published")
    );
    let analysis = read(
        "Organizers create events. Attendees buy tickets. Events may be public or private. \
         Private events are only visible to attendees.",
    );
    let rule = &analysis.access[0];
    assert_eq!(rule.rule, Access::RoleRead("attendee".to_owned()));
    assert_eq!(rule.only_when.as_ref().unwrap().value, "private");
}

#[test]
fn pages_by_their_stated_names() {
    for (spec, pages) in [
        (
            "## Pages\n\n- Landing page\n- Dashboard with charts\n- Quiz Editor",
            "Landing page, Dashboard, Quiz Editor",
        ),
        ("There is a \"My Orders\" page.", "My Orders"),
        (
            "Owners see an \"Article Health\" page with outdated articles.",
            "Article Health",
        ),
        ("The dashboard shows sales.", "Dashboard"),
        (
            "## Screens\n\nWe need a booking page, a Day View and a page for reports.",
            "Booking page, Day View, Reports",
        ),
        ("The page background is white.", ""),
        ("Users can view orders.", ""),
        ("Users open the settings page.", "Settings page"),
    ] {
        let got: Vec<String> = read(spec).pages.into_iter().map(|page| page.text).collect();
        assert_eq!(got.join(", "), pages, "{spec}");
    }
}

#[test]
fn colours_with_their_role() {
    for (spec, colours) in [
        (
            "The background is #FFF8E7 and text is dark slate gray.",
            "background #FFF8E7, text #2F4F4F",
        ),
        (
            "Buttons are dark green, the accent colour is coral.",
            "primary #006400, secondary #FF7F50",
        ),
        (
            "Dark blue background, white text.",
            "background #00008B, text #FFFFFF",
        ),
        ("Warnings are shown in rgb(180, 83, 9).", "warning #B45309"),
        (
            "## Design\n\nElegant: almost black text (#1A1A1A), links in hsl(262, 52%, 47%).",
            "text #1A1A1A, primary #673AB6",
        ),
        (
            "## Colours\n\n| Role | Hex |\n|---|---|\n| Background | #fafafa |\n| Accent | #0af |",
            "background #FAFAFA, secondary #00AAFF",
        ),
        (
            "Use a warm beige background with brown buttons.",
            "background #F5F5DC, primary #A52A2A",
        ),
        (
            "Our colours are navy and gold.",
            "primary #000080, secondary #FFD700",
        ),
        ("Customers order orange juice and green tea.", ""),
        ("Gold members get a discount.", ""),
    ] {
        let got: Vec<String> = read(spec)
            .colours
            .iter()
            .map(|colour| format!("{} {}", colour.role, colour.value))
            .collect();
        assert_eq!(got.join(", "), colours, "{spec}");
    }
}

#[test]
fn numbers_names_and_fonts_stay_as_they_are() {
    let analysis = read(
        "The app is called \"Riverside Care\". Use the font \"Nunito\". It costs $5,000 until 31 March 2027. \
         Search takes less than 300 ms. We need 500 concurrent users and 99.9% uptime. Alerts go to Slack.",
    );
    let texts = |items: &[windlass_pipeline_design::model::analysis::Stated]| {
        items
            .iter()
            .map(|item| item.text.clone())
            .collect::<Vec<_>>()
            .join(" | ")
    };
    assert_eq!(analysis.product.as_ref().unwrap().text, "Riverside Care");
    assert_eq!(texts(&analysis.fonts), "Nunito");
    assert_eq!(
        texts(&analysis.numbers),
        "$5,000 | 31 March 2027 | 300 ms | 500 concurrent users | 99.9% uptime"
    );
    assert_eq!(texts(&analysis.names), "Riverside Care | Nunito | Slack");
    assert_eq!(analysis.integrations[0].text, "Slack");
}

#[test]
fn the_product_is_named_or_not() {
    for (spec, name) in [
        ("# Quizly\n\nA quiz.", Some("Quizly")),
        ("# StockPilot: inventory\n\nText.", Some("StockPilot")),
        (
            "# Clinic appointment booking\n\nText.",
            Some("Clinic appointment booking"),
        ),
        ("# Requirements\n\nText.", None),
        ("# Product Requirements Document (PRD)\n\nText.", None),
        ("# PRD: Handshake CRM\n\nText.", Some("Handshake CRM")),
        (
            "# Product Requirements Document\n\nProject Name: Nutrily\n\nText.",
            Some("Nutrily"),
        ),
        (
            "build me a habit tracker with streaks",
            Some("habit tracker"),
        ),
        ("Product: FleetTrack", Some("FleetTrack")),
        ("Lorekeeper is a knowledge base.", Some("Lorekeeper")),
        ("Users can do things.", None),
    ] {
        assert_eq!(
            read(spec).product.map(|product| product.text).as_deref(),
            name,
            "{spec}"
        );
    }
}

#[test]
fn manage_is_four_actions_of_one_requirement() {
    let analysis = read("Admins manage rooms.");
    let kinds: Vec<VerbKind> = analysis
        .statements
        .iter()
        .map(|statement| statement.kind)
        .collect();
    assert_eq!(
        kinds,
        [
            VerbKind::List,
            VerbKind::Create,
            VerbKind::Update,
            VerbKind::Delete
        ]
    );
    assert!(
        analysis
            .statements
            .iter()
            .all(|statement| statement.requirement == "FR-1")
    );
    assert_eq!(requirements(&analysis).functional.len(), 1);
}

#[test]
fn weak_points_of_a_spec_are_reported() {
    for (spec, check) in [
        ("The app should be fast.", "no_metric"),
        ("Users can upload quickly.", "no_metric"),
        ("Users can search.", "verb_without_object"),
        (
            "Users can edit posts.\n\nUsers can edit posts.",
            "duplicate",
        ),
        (
            "Users can edit posts. Users must not edit posts.",
            "contradiction",
        ),
        ("Users can export reports, invoices etc.", "vague"),
    ] {
        let analysis = read(spec);
        assert!(
            analysis
                .weaknesses
                .iter()
                .any(|weakness| weakness.check == check),
            "{spec}: {:?}",
            analysis.weaknesses
        );
    }
    assert!(read("Search answers within 300 ms.").weaknesses.is_empty());
}

#[test]
fn the_context_adds_no_requirement() {
    let context = SpecContext {
        industry: Some("Teachers can create quizzes.".to_owned()),
        target_audience: Some("Admins must delete users.".to_owned()),
        budget_tier: Some("enterprise".to_owned()),
    };
    assert_eq!(
        analyse("Users can add tasks.", &context),
        read("Users can add tasks.")
    );
}
