//! Chapter 5: a product spec goes in; requirements, a design and a project that builds come out,
//! every item with its reason in the spec.

use windlass_types::Problem;

use crate::stage::Stage;

/// What a reader may do afterwards.
pub(crate) const NEXT: &str = "windlass pipeline run --spec FILE --out DIR";

const SPEC_FILE: &str = "quizly.md";
const SPEC: &str = include_str!("../../../examples/pipeline/quiz-platform.md");
const PROJECT: &str = "quizly";

pub(crate) fn play(stage: &mut Stage<'_>) -> Result<(), Problem> {
    let failed = |error: std::io::Error| Problem::internal("tour", error);
    fs_err::write(stage.user().join(SPEC_FILE), SPEC).map_err(failed)?;
    stage.enter_home();
    stage.say(
        "A page of prose says what a quiz platform should do. By rules alone, without a model, it\n\
         becomes requirements in its own words.",
    );
    let spec = ["--spec", SPEC_FILE];
    let asked = stage.run(&[&["pipeline", "strategize"], spec.as_slice()].concat(), 0)?;
    stage.expect(
        asked.text.contains("FR-1") && asked.text.contains("NFR-1"),
        "the spec has become requirements",
    )?;

    stage.say("All four phases are one durable job. Kill the program while it works.");
    let run = ["pipeline", "run", "--stack", "vite-react", "--key", "tour"];
    let run = [run.as_slice(), &spec].concat();
    let killed = stage.try_to_kill(&run, |line| line.contains("architecture: begun"))?;
    if killed {
        stage.say("The same command with the same key finds the job and continues it.");
    }
    let out = ["--out", PROJECT];
    stage.run(&[run.as_slice(), &out].concat(), 0)?;

    stage.say("The project has pages, a data layer, tests, and SQL with policies for every table.");
    let sql = stage
        .user()
        .join(PROJECT)
        .join("supabase/migrations/0001_init.sql");
    let sql = fs_err::read_to_string(sql).map_err(failed)?;
    let tables = sql.matches("create table").count();
    let guarded = sql.matches("enable row level security").count();
    stage.show(&format!(
        "{tables} tables, {guarded} with row-level security"
    ));
    stage.expect(
        tables > 0 && tables == guarded,
        "every table has row-level security",
    )?;

    stage.say("Every requirement is traced to pages, endpoints and files.");
    let job = stage.ask(&[run.as_slice(), &["--no-wait"]].concat())?;
    let job = job["job_id"].as_str().unwrap_or_default().to_owned();
    let code = stage.ask(&["pipeline", "artifact", &job, "code"])?;
    let coverage = &code["coverage"];
    let untraced = coverage["untraced"].as_array().map_or(1, Vec::len);
    stage.show(&format!(
        "{} files; {} of {} requirements work; {untraced} items without a reason",
        code["files"].as_array().map_or(0, Vec::len),
        coverage["works"]["works"],
        coverage["works"]["requirements"],
    ));
    let works = coverage["works"]["works"].as_u64().unwrap_or_default();
    stage.expect(
        untraced == 0 && works > 0,
        "the report says what works, and nothing is there without a reason",
    )
}
