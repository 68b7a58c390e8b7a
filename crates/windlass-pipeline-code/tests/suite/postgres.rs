//! The migration on a real PostgreSQL: who sees and writes which rows.
//!
//! Needs the folder of PostgreSQL's programs in `WINDLASS_TEST_POSTGRES`; `cargo xtask test` sets it.

use windlass_pipeline_design::model::Preset;
use windlass_testkit::servers::Postgres;

use super::access;
use super::fixture::{Product, file};

const ADA: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const BOB: &str = "bbbbbbbb-0000-4000-8000-000000000002";
const EVE: &str = "eeeeeeee-0000-4000-8000-000000000003";

/// A statement as a signed-in user, undone afterwards unless it is kept.
fn as_user(user: &str, statement: &str, end: &str) -> String {
    format!(
        "begin; set local role authenticated; \
         select set_config('request.jwt.claims', '{{\"sub\":\"{user}\"}}', true); {statement}; {end};"
    )
}

fn as_anon(statement: &str) -> String {
    format!("begin; set local role anon; {statement}; rollback;")
}

/// A database with the quiz platform, Ada as instructor, Bob as learner, Eve as admin.
fn quiz_database(server: &Postgres) {
    let generated = Product::quiz().generate(Preset::ViteReact, &[]).unwrap();
    server
        .run(include_str!("../fixtures/auth_shim.sql"))
        .unwrap();
    server
        .run(file(&generated, "supabase/migrations/0001_init.sql"))
        .unwrap();
    server
        .run(&format!(
            "insert into auth.users (id, email) values ('{ADA}', 'ada'), ('{BOB}', 'bob'), ('{EVE}', 'eve');
             insert into public.user_roles (user_id, role)
               values ('{ADA}', 'instructor'), ('{BOB}', 'learner'), ('{EVE}', 'admin');"
        ))
        .unwrap();
}

#[test]
fn policies_decide_who_sees_and_writes_what() {
    let Some(server) = Postgres::start("quiz") else {
        return;
    };
    quiz_database(&server);
    let keep =
        |user: &str, statement: &str| server.run(&as_user(user, statement, "commit")).unwrap();
    let sees = |user: &str, what: &str| {
        let counted = server.run(&as_user(
            user,
            &format!("select 'rows=' || count(*) from {what}"),
            "rollback",
        ));
        rows(&counted.unwrap())
    };
    let refused = |user: &str, statement: &str| {
        let error = server
            .run(&as_user(user, statement, "rollback"))
            .unwrap_err();
        assert!(
            error.contains("row-level security") || error.contains("permission denied"),
            "{statement}: {error}"
        );
    };
    let untouched = |user: &str, statement: &str| {
        let done = server.run(&as_user(
            user,
            &format!("{statement} returning 'touched'"),
            "rollback",
        ));
        assert!(!done.unwrap().contains("touched"), "{statement}");
    };

    // The owner comes from the session, not from the sender of the row.
    keep(
        ADA,
        "insert into public.quizzes (title) values ('Ada draft')",
    );
    keep(
        ADA,
        "insert into public.quizzes (title, status) values ('Ada open', 'published')",
    );
    refused(
        ADA,
        &format!("insert into public.quizzes (title, owner_id) values ('x', '{BOB}')"),
    );
    refused(
        BOB,
        "insert into public.quizzes (title) values ('not an instructor')",
    );

    assert_eq!(sees(ADA, "public.quizzes"), 2);
    assert_eq!(sees(BOB, "public.quizzes"), 1);
    assert_eq!(sees(EVE, "public.quizzes"), 2);
    assert_eq!(
        rows(
            &server
                .run(&as_anon("select 'rows=' || count(*) from public.quizzes"))
                .unwrap()
        ),
        1
    );

    untouched(BOB, "update public.quizzes set title = 'mine now'");
    untouched(BOB, "delete from public.quizzes");
    refused(
        ADA,
        &format!("update public.quizzes set owner_id = '{BOB}'"),
    );

    // A child follows its parent, both for reading and for writing.
    keep(
        ADA,
        "insert into public.questions (quiz_id, text, points, options) select id, 'q', 1, '[]' from public.quizzes",
    );
    assert_eq!(sees(ADA, "public.questions"), 2);
    assert_eq!(sees(BOB, "public.questions"), 1);
    refused(
        BOB,
        "insert into public.questions (quiz_id, text, points, options) select id, 'q', 1, '[]' from public.quizzes",
    );

    // Own rows only, and an admin sees all.
    keep(
        BOB,
        "insert into public.attempts (quiz_id) select id from public.quizzes",
    );
    assert_eq!(
        (
            sees(BOB, "public.attempts"),
            sees(ADA, "public.attempts"),
            sees(EVE, "public.attempts")
        ),
        (1, 0, 1)
    );
    refused(ADA, "delete from public.attempts");

    // Nobody gives a role to themselves, and nobody reads the roles of others.
    refused(
        BOB,
        &format!("insert into public.user_roles (user_id, role) values ('{BOB}', 'admin')"),
    );
    refused(BOB, "update public.user_roles set role = 'admin'");
    assert_eq!(sees(BOB, "public.user_roles"), 1);

    // Recorded actions belong to who did them.
    keep(
        BOB,
        "insert into public.recorded_actions (subject_table, subject_id, action) select 'quizzes', id, 'share' from public.quizzes",
    );
    assert_eq!(
        (
            sees(BOB, "public.recorded_actions"),
            sees(ADA, "public.recorded_actions")
        ),
        (1, 0)
    );
    refused(
        ADA,
        &format!(
            "insert into public.recorded_actions (subject_table, subject_id, action, owner_id) values ('x', '{ADA}', 'share', '{BOB}')"
        ),
    );

    for table in [
        "questions",
        "attempts",
        "user_roles",
        "quiz_categories",
        "recorded_actions",
    ] {
        let error = server
            .run(&as_anon(&format!("select 1 from public.{table}")))
            .unwrap_err();
        assert!(error.contains("permission denied"), "{table}: {error}");
    }
}

#[test]
fn the_migration_is_complete_and_runs_once() {
    let Some(server) = Postgres::start("once") else {
        return;
    };
    let generated = Product::quiz().generate(Preset::NextjsReact, &[]).unwrap();
    let migration = file(&generated, "supabase/migrations/0001_init.sql");
    quiz_database(&server);

    let open = server
        .run("select 'open=' || relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and not (relrowsecurity and relforcerowsecurity)")
        .unwrap();
    assert!(!open.contains("open="), "{open}");
    let bare = server
        .run("select 'bare=' || relname from pg_class c where relnamespace = 'public'::regnamespace and relkind = 'r' and not exists (select 1 from pg_policy p where p.polrelid = c.oid)")
        .unwrap();
    assert!(!bare.contains("bare="), "{bare}");
    let slow = server
        .run(
            "select 'slow=' || c.conrelid::regclass || '.' || a.attname from pg_constraint c \
             join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1] \
             where c.contype = 'f' and c.connamespace = 'public'::regnamespace \
             and not exists (select 1 from pg_index i where i.indrelid = c.conrelid and i.indkey[0] = c.conkey[1])",
        )
        .unwrap();
    assert!(
        !slow.contains("slow="),
        "a reference without an index: {slow}"
    );

    server.run(file(&generated, "supabase/seed.sql")).unwrap();
    let before = server
        .run("select count(*) from pg_class; select count(*) from public.quizzes")
        .unwrap();
    let error = server.run(migration).unwrap_err();
    assert!(error.contains("has run before"), "{error}");
    let after = server
        .run("select count(*) from pg_class; select count(*) from public.quizzes")
        .unwrap();
    assert_eq!(before, after);

    let changed = server
        .run("update public.quizzes set title = 'new' returning 'later=' || (updated_at > created_at)")
        .unwrap();
    assert!(changed.contains("later=true"), "{changed}");
}

/// A database with an example's tables and rows.
fn example_database(server: &Postgres, product: &Product, change: impl Fn(&str) -> String) {
    let generated = product.generate(Preset::NextjsReact, &[]).unwrap();
    server
        .run(include_str!("../fixtures/auth_shim.sql"))
        .unwrap();
    for path in ["supabase/migrations/0001_init.sql", "supabase/seed.sql"] {
        let script = change(file(&generated, path));
        if let Err(error) = server.run(&script) {
            panic!("{}: {path}: {error}", product.name);
        }
    }
}

/// Leaves the rows of a seeded database where the end-to-end stage looks for them, when it asks.
fn keep_rows(server: &Postgres, name: &str) {
    let Some(folder) = std::env::var_os("WINDLASS_TEST_ROWS") else {
        return;
    };
    let rows = server
        .run(
            "create function public.all_rows(wanted text) returns json language plpgsql as $$ \
             declare found json; begin \
               execute format('select coalesce(json_agg(t), ''[]'') from public.%I t', wanted) into found; \
               return found; end $$; \
             select 'rows=' || json_object_agg(relname, public.all_rows(relname)) from pg_class \
             where relnamespace = 'public'::regnamespace and relkind = 'r'; \
             drop function public.all_rows;",
        )
        .unwrap();
    let (_, json) = rows.split_once("rows=").unwrap();
    let end = json.rfind('}').unwrap();
    fs_err::create_dir_all(&folder).unwrap();
    fs_err::write(
        std::path::Path::new(&folder).join(format!("{name}.json")),
        &json[..=end],
    )
    .unwrap();
}

/// Tries every table of an example: what must not be is not, and what is, is as it is written here.
fn tried(name: &str) -> Option<String> {
    let server = Postgres::start(name)?;
    let product = Product::example(name, Preset::NextjsReact);
    example_database(&server, &product, str::to_owned);
    keep_rows(&server, name);
    let tried = access::try_everything(&server);
    assert_eq!(tried.faults, Vec::<String>::new(), "{name}");
    Some(tried.matrix())
}

// The seed has three rows of everything: one of each maker and one of another user. A cell is how
// many of them a person sees, changes and deletes; `-` is refused without looking at rows.

#[test]
fn everybody_reaches_their_rows_of_the_clinic() {
    if let Some(matrix) = tried("clinic-appointments") {
        insta::assert_snapshot!(matrix, @"
                          maker 1  maker 2  stranger  patient  doctor  receptionist  clinic manager  nobody
        appointments      1 1 1    1 1 1    0 0 0     0 0 0    0 0 0   3 3 0         0 0 0           - - -
        availabilities    1 1 1    1 1 1    0 0 0     0 0 0    0 0 0   0 0 0         0 0 0           - - -
        doctors           1 1 1    1 1 1    0 0 0     0 0 0    0 0 0   0 0 0         3 3 3           - - -
        opening_hours     1 1 1    1 1 1    0 0 0     0 0 0    0 0 0   0 0 0         3 3 3           - - -
        patients          1 1 1    1 1 1    0 0 0     0 0 0    0 0 0   0 0 0         0 0 0           - - -
        recorded_actions  1 - -    1 - -    0 - -     0 - -    0 - -   0 - -         0 - -           - - -
        rooms             3 1 1    3 1 1    3 0 0     3 0 0    3 0 0   3 0 0         3 3 3           - - -
        user_roles        0 0 0    0 0 0    0 0 0     1 0 0    1 0 0   1 0 0         1 0 0           - - -
        visit_notes       1 1 1    1 1 1    0 0 0     0 0 0    0 0 0   0 0 0         0 0 0           - - -
        ");
    }
}

#[test]
fn everybody_reaches_their_rows_of_the_knowledge_base() {
    if let Some(matrix) = tried("knowledge-base") {
        insta::assert_snapshot!(matrix, @"
                             maker 1  maker 2  stranger  editor  reader  nobody
        article_tags         2 1 1    2 1 1    1 0 0     1 0 0   1 0 0   1 - -
        articles             2 1 1    2 1 1    1 0 0     1 0 0   1 0 0   1 - -
        collection_articles  1 1 1    1 1 1    0 0 0     0 0 0   0 0 0   - - -
        collections          1 1 1    1 1 1    0 0 0     0 0 0   0 0 0   - - -
        comments             3 1 1    3 1 1    3 0 0     3 0 0   3 0 0   3 - -
        companies            1 1 1    1 1 1    0 0 0     0 0 0   0 0 0   - - -
        members              1 1 1    1 1 1    0 0 0     0 0 0   0 0 0   - - -
        recorded_actions     1 - -    1 - -    0 - -     0 - -   0 - -   - - -
        tags                 3 0 0    3 0 0    3 0 0     3 0 0   3 0 0   3 - -
        user_roles           0 0 0    0 0 0    0 0 0     1 0 0   1 0 0   - - -
        versions             0 0 0    0 0 0    0 0 0     3 3 0   0 0 0   - - -
        workspaces           1 1 1    1 1 1    0 0 0     0 0 0   0 0 0   - - -
        ");
    }
}

#[test]
fn everybody_reaches_their_rows_of_the_quiz_platform() {
    if let Some(matrix) = tried("quiz-platform") {
        insta::assert_snapshot!(matrix, @"
                          maker 1  maker 2  stranger  teacher  student  administrator  nobody
        answers           1 1 1    1 1 1    0 0 0     0 0 0    0 0 0    0 0 0          - - -
        attempts          1 1 1    1 1 1    0 0 0     0 0 0    0 0 0    0 0 0          - - -
        questions         1 1 1    1 1 1    0 0 0     0 0 0    1 0 0    0 0 0          - - -
        quizzes           1 1 1    1 1 1    0 0 0     0 0 0    1 0 0    0 0 0          - - -
        recorded_actions  1 - -    1 - -    0 - -     0 - -    0 - -    0 - -          - - -
        user_roles        0 0 0    0 0 0    0 0 0     1 0 0    1 0 0    1 0 0          - - -
        users             0 0 0    0 0 0    0 0 0     0 0 0    0 0 0    3 3 3          - - -
        ");
    }
}

#[test]
fn everybody_reaches_their_rows_of_the_warehouse() {
    if let Some(matrix) = tried("warehouse") {
        insta::assert_snapshot!(matrix, @"
                           maker 1  maker 2  stranger  warehouse clerk  purchasing manager  auditor  administrator  nobody
        location_products  3 1 1    3 1 1    3 0 0     3 0 0            3 0 0               3 0 0    3 0 0          - - -
        locations          3 1 1    3 1 1    3 0 0     3 0 0            3 0 0               3 0 0    3 3 3          - - -
        order_lines        1 1 1    1 1 1    0 0 0     0 0 0            3 0 0               3 0 0    0 0 0          - - -
        products           3 0 0    3 0 0    3 0 0     3 0 0            3 0 0               3 0 0    3 0 0          - - -
        purchase_orders    1 1 1    1 1 1    0 0 0     0 0 0            3 3 0               3 0 0    0 0 0          - - -
        recorded_actions   1 - -    1 - -    0 - -     0 - -            0 - -               0 - -    0 - -          - - -
        stock_movements    1 1 1    1 1 1    0 0 0     0 0 0            0 0 0               3 0 0    0 0 0          - - -
        suppliers          1 1 1    1 1 1    0 0 0     0 0 0            3 3 3               3 0 0    0 0 0          - - -
        user_roles         0 0 0    0 0 0    0 0 0     1 0 0            1 0 0               1 0 0    1 0 0          - - -
        users              1 1 1    1 1 1    0 0 0     0 0 0            0 0 0               3 0 0    3 3 3          - - -
        ");
    }
}

/// A migration with a hole, and the faults that are found in it.
fn faults_of(name: &str, change: impl Fn(&str) -> String) -> Option<Vec<String>> {
    let server = Postgres::start(name)?;
    let product = Product::example("warehouse", Preset::NextjsReact);
    let generated = product.generate(Preset::NextjsReact, &[]).unwrap();
    let migration = file(&generated, "supabase/migrations/0001_init.sql");
    assert_ne!(change(migration), migration, "{name} changes nothing");
    example_database(&server, &product, change);
    Some(access::try_everything(&server).faults)
}

#[test]
fn a_table_without_row_level_security_is_found() {
    let enable = "alter table public.suppliers enable row level security;";
    let force = "alter table public.suppliers force row level security;";
    if let Some(faults) = faults_of("open", |sql| sql.replace(enable, "")) {
        assert!(
            faults.contains(&"suppliers is not closed".to_owned()),
            "{faults:?}"
        );
        assert!(
            faults.contains(&"suppliers: stranger deletes: 3".to_owned()),
            "{faults:?}"
        );
    }
    if let Some(faults) = faults_of("unforced", |sql| sql.replace(force, "")) {
        assert_eq!(faults, ["suppliers is not closed"]);
    }
}

#[test]
fn an_owner_that_can_be_changed_is_found() {
    let found = faults_of("owner", |sql| {
        sql.replace(
            "update (company_name, ",
            "insert (owner_id), update (owner_id, company_name, ",
        )
        .replace(
            "with check (owner_id = (select auth.uid()) and (select public.has_role('purchasing manager')))",
            "with check (true)",
        )
    });
    if let Some(faults) = found {
        for fault in [
            "suppliers: purchasing manager gives: 3",
            "suppliers: purchasing manager takes: 3",
            "suppliers: purchasing manager forges: unfit",
        ] {
            assert!(faults.iter().any(|known| known == fault), "{faults:?}");
        }
    }
}

/// The number behind `rows=`.
fn rows(output: &str) -> usize {
    let (_, rest) = output
        .split_once("rows=")
        .unwrap_or_else(|| panic!("no count in {output}"));
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}
