//! Nouns by what they cannot be: parts of the screen, the product itself, people, attributes.

use super::{Words, set};

/// Parts of a user interface; never kept as data.
static UI: Words = Words::new(|| {
    set(
        "page button form dashboard menu list screen view sidebar header footer tab modal popup link icon table \
         card grid layout widget chart graph banner interface website webpage homepage panel \
         window dialog navigation navbar toolbar section area calendar overview bar field input dropdown checkbox \
         wizard step background color colour font theme style design logo ui ux landing display \
         tooltip breadcrumb carousel slider map portal browser tablet phone laptop keyboard device desktop mobile",
    )
});

/// The product, whatever it is called.
static PRODUCT: Words = Words::new(|| {
    set(
        "system app platform software website portal solution backend frontend api server it interface database",
    )
});

/// The product where the spec mentions the only one: `the product`, but not `a product`.
static PRODUCT_IF_DEFINITE: Words = Words::new(|| {
    set(
        "product application tool service program module project release code site version marketplace",
    )
});

/// Words for people.
static PEOPLE: Words = Words::new(|| {
    set(
        "user admin administrator teacher student instructor pupil parent child customer client buyer seller \
         merchant vendor visitor guest member owner editor author reader writer reviewer approver moderator \
         manager employee staff worker operator agent clerk accountant analyst auditor coach trainer trainee \
         mentor mentee doctor nurse patient receptionist physician therapist pharmacist dentist driver rider \
         courier dispatcher passenger traveller traveler host tenant landlord recruiter candidate applicant \
         interviewer developer engineer designer tester architect scientist researcher librarian borrower \
         subscriber follower creator publisher contributor volunteer donor organiser organizer attendee \
         participant speaker player captain referee fan coordinator supervisor director executive officer \
         secretary assistant technician mechanic plumber electrician contractor supplier partner sponsor \
         investor shareholder citizen resident neighbour neighbor farmer chef cook waiter waitress cashier \
         barista bartender gardener photographer artist musician listener viewer streamer blogger journalist \
         lawyer attorney judge notary broker dealer trader banker advisor adviser consultant freelancer \
         salesperson representative person human individual somebody learner tutor professor lecturer faculty \
         alumnus scholar collaborator maintainer stakeholder superuser root curator picker packer planner \
         scheduler inspector surveyor steward caretaker janitor guard pilot crew captain hotelier housekeeper \
         stylist barber groomer vet veterinarian breeder shopper requester requestor assignee reporter \
         submitter leader lead superadmin principal headteacher counsellor counselor guardian carer caregiver \
         paramedic midwife surgeon handler keeper foreman craftsman buyer broker officer colleague team \
         department company organisation organization business school clinic shop store office \
         desk crew squad group board committee club community association agency",
    )
});

/// People only in some sentences: groups and organisations; a role only where the spec makes it one.
static GROUPS: Words = Words::new(|| {
    set(
        "team department company organisation organization business school clinic shop store office desk crew \
         squad group board committee club community association agency",
    )
});

/// Endings of words for people.
const PERSON_ENDINGS: &[&str] = &["er", "or", "ist", "ian", "ant", "ee", "eer"];

/// Words with such an ending that name no people.
static NOT_PEOPLE: Words = Words::new(|| {
    set(
        "account adapter amount anchor answer badger banner barrier behavior behaviour border browser buffer builder \
         calculator calendar carrier center centre chapter character charter chatter checklist cluster coffee color \
         colour committee computer connector constant container converter cooler corner counter cover cursor decoder \
         degree dinner discount document door drawer element elevator encoder error event expense exterior factor \
         feather fee fiber filter flavor floor folder footer generator grant guarantee harbor header heater humor \
         indicator instant interior labor laser layer leather ledger letter list locker marker matter merger meter \
         mirror monitor motor newsletter number offer order paper parameter pier placeholder plant playlist poster \
         power prayer printer processor quarter radiator refrigerator register reminder restaurant river router \
         scanner sector semester sensor server shortlist shower slider sticker supper sweater tender theatre tier \
         timer tower tracker tractor trailer transfer tree trigger tumor tutorial variant vector voucher waiver \
         warranty water weather whether wishlist wrapper",
    )
});

/// Nouns that name an attribute of something rather than a thing of its own.
static ATTRIBUTES: Words = Words::new(|| {
    set(
        "name title description text body content email password phone number address url link date time day \
         month year status state type price amount cost rate total sum quantity count age size \
         weight height width length color colour score point points grade percentage percent duration limit \
         deadline priority level rank role label slug code sku barcode summary image photo picture \
         avatar logo icon city country zip postcode street currency unit birthday \
         birthdate gender language timezone capacity threshold balance position start end due \
         id key value reason purpose subject bio biography headline caption emoji symbol permission right \
         setting preference choice default minimum maximum range frequency interval floor aisle shelf weekday \
         specialty speciality salary wage tax discount fee \
         visibility format latitude longitude coordinate money username login",
    )
});

/// Nouns too general, or made up on the fly, to be kept unless the spec says what is kept of them.
static WEAK: Words = Words::new(|| {
    set(
        "everything anything something nothing thing stuff data information detail details info overview summary \
         statistics statistic history progress result access time way number amount ability chance need \
         problem hour minute second day week month year slot error notification reminder email \
         report analytics insight metric chart kpi search change control hours world web internet market \
         place part kind sort lot bit case step action activity feature function functionality requirement \
         experience solution support help use usage network business work account \
         password one ones link other others csv pdf json xml sms spreadsheet excel export import telephone \
         utilisation utilization instruction prompt connection trend performance mode content \
         alert confirmation status sign-in login credential session role permission side end \
         total sum average minimum maximum right rest purpose goal percentage risk value \
         interest advantage benefit code test need demand choice option idea fact figure term condition rule \
         mistake quality quantity size level scope",
    )
});

/// Nouns for data made by working something out: an entity only where people make them.
pub fn is_weak(noun: &str) -> bool {
    WEAK.contains(noun)
}

/// A part of the user interface.
pub fn is_ui(noun: &str) -> bool {
    UI.contains(noun)
}

/// Whether a noun phrase, as written, names the product itself.
pub fn is_product(noun: &str, text: &str) -> bool {
    let first = text.split(' ').next().unwrap_or_default().to_lowercase();
    PRODUCT.contains(noun)
        || (PRODUCT_IF_DEFINITE.contains(noun) && matches!(first.as_str(), "the" | "our" | "this"))
}

/// Whether a noun names a product whatever stands before it.
pub fn is_always_product(noun: &str) -> bool {
    PRODUCT.contains(noun)
}

/// An attribute of something.
pub fn is_attribute(noun: &str) -> bool {
    ATTRIBUTES.contains(noun)
}

/// A group or organisation.
pub fn is_group(noun: &str) -> bool {
    GROUPS.contains(noun)
}

/// Whether a singular noun names people, by the table or by its ending.
pub fn is_person(noun: &str) -> bool {
    if GROUPS.contains(noun) {
        return false;
    }
    PEOPLE.contains(noun)
        || (noun.len() > 5
            && PERSON_ENDINGS.iter().any(|end| noun.ends_with(end))
            && !NOT_PEOPLE.contains(noun)
            && !UI.contains(noun)
            && !ATTRIBUTES.contains(noun)
            && !WEAK.contains(noun)
            && !super::small::tags(noun).has(super::small::FUNCTION_WORD))
}

/// Whether the tables, not only the ending, call it a person.
pub fn is_known_person(noun: &str) -> bool {
    PEOPLE.contains(noun) && !GROUPS.contains(noun)
}

/// Who made something: a relation to it, not a role of its own.
pub fn is_maker(noun: &str) -> bool {
    matches!(
        noun,
        "author" | "creator" | "uploader" | "poster" | "submitter" | "requester"
    )
}

/// Different words for the same role.
pub fn same_role(noun: &str) -> &str {
    match noun {
        "administrator" | "admin user" | "system administrator" | "site admin" => "admin",
        other => other,
    }
}

/// Actions as nouns and the verb each stands for: `order tracking`, `user management`.
const NOMINALS: &[(&str, &str)] = &[
    ("management", "manage"),
    ("administration", "manage"),
    ("tracking", "track"),
    ("search", "search"),
    ("registration", "register"),
    ("signup", "sign up"),
    ("sign-up", "sign up"),
    ("login", "sign in"),
    ("sign-in", "sign in"),
    ("authentication", "sign in"),
    ("creation", "create"),
    ("deletion", "delete"),
    ("editing", "edit"),
    ("export", "export"),
    ("import", "import"),
    ("upload", "upload"),
    ("download", "download"),
    ("booking", "book"),
    ("scheduling", "schedule"),
    ("approval", "approve"),
    ("cancellation", "cancel"),
    ("filtering", "filter"),
    ("sorting", "sort"),
    ("sharing", "share"),
    ("listing", "list"),
    ("printing", "print"),
    ("planning", "plan"),
    ("monitoring", "monitor"),
    ("verification", "verify"),
    ("review", "review"),
    ("rating", "rate"),
    ("invitation", "invite"),
    ("notification", "notify"),
    ("reporting", "report"),
    ("publishing", "publish"),
    ("moderation", "moderate"),
    ("assignment", "assign"),
    ("archiving", "archive"),
    ("checkout", "check out"),
    ("payment", "pay"),
    ("messaging", "message"),
    ("chat", "chat"),
    ("forecasting", "forecast"),
];

/// The verb an action noun stands for.
pub fn nominal_verb(noun: &str) -> Option<&'static str> {
    NOMINALS
        .iter()
        .find(|(name, _)| *name == noun)
        .map(|(_, verb)| *verb)
}
