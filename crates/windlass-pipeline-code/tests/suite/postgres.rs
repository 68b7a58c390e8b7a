//! The migration on a real PostgreSQL: who sees and writes which rows.
//!
//! Needs the folder of PostgreSQL's programs in `WINDLASS_TEST_POSTGRES`; `cargo xtask test` sets it.

use windlass_pipeline_model::Preset;
use windlass_testkit::servers::Postgres;

use super::fixture::{EXAMPLES, Product, file};

const ADA: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const BOB: &str = "bbbbbbbb-0000-4000-8000-000000000002";
const EVE: &str = "eeeeeeee-0000-4000-8000-000000000003";

/// A statement as somebody who is signed in, undone afterwards unless it is kept.
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

    // The owner comes from the session, not from whoever sends the row.
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

/// The owner and nobody else, as the design crate writes it.
const OWNER: &str = "owner_id = (select auth.uid())";

#[test]
fn the_examples_keep_people_apart() {
    let Some(server) = Postgres::start("examples") else {
        return;
    };
    server
        .run(include_str!("../fixtures/auth_shim.sql"))
        .unwrap();
    for name in EXAMPLES {
        let product = Product::example(name, Preset::NextjsReact);
        let generated = product.generate(Preset::NextjsReact, &[]).unwrap();
        for path in ["supabase/migrations/0001_init.sql", "supabase/seed.sql"] {
            if let Err(error) = server.run(file(&generated, path)) {
                panic!("{name}: {path}: {error}");
            }
        }
        let open = server
            .run("select 'open=' || relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and not (relrowsecurity and relforcerowsecurity)")
            .unwrap();
        assert!(!open.contains("open="), "{name}: {open}");
        // People without a role; what they may do follows from owning rows alone.
        let roles = server
            .run("select 'there' where to_regclass('public.user_roles') is not null")
            .unwrap();
        if roles.contains("there") {
            server.run("delete from public.user_roles").unwrap();
        }
        let [one, two] = [1, 2].map(|number| format!("00000000-0000-4000-8000-{number:012}"));
        for entity in &product.architecture.data_model.entities {
            let table = windlass_pipeline_model::naming::table_name(&entity.name);
            let policies: Vec<_> = product
                .architecture
                .security
                .policies
                .iter()
                .filter(|policy| policy.table == table)
                .collect();
            let reads: Vec<_> = policies
                .iter()
                .filter(|policy| policy.command == "select")
                .collect();
            if !reads.iter().any(|policy| policy.role == "anon") {
                let error = server
                    .run(&as_anon(&format!("select 1 from public.{table}")))
                    .unwrap_err();
                assert!(
                    error.contains("permission denied"),
                    "{name}: {table}: {error}"
                );
            }
            if !entity.fields.iter().any(|field| field.name == "owner_id") {
                continue;
            }
            let own_only = !reads.is_empty()
                && reads
                    .iter()
                    .all(|policy| policy.using.as_deref() == Some(OWNER));
            if own_only {
                let seen = server.run(&as_user(
                    &one,
                    &format!("select 'rows=' || count(*) from public.{table}"),
                    "rollback",
                ));
                assert_eq!(rows(&seen.unwrap()), 1, "{name}: {table}");
            }
            // Nobody hands a row over to somebody else, nor takes one.
            for statement in [
                format!(
                    "update public.{table} set owner_id = '{two}' where owner_id = '{one}' returning 'touched'"
                ),
                format!(
                    "update public.{table} set owner_id = '{one}' where owner_id = '{two}' returning 'touched'"
                ),
            ] {
                match server.run(&as_user(&one, &statement, "rollback")) {
                    Ok(done) => assert!(!done.contains("touched"), "{name}: {statement}"),
                    Err(error) => assert!(
                        error.contains("row-level security") || error.contains("permission denied"),
                        "{name}: {statement}: {error}"
                    ),
                }
            }
        }
        server.run("drop schema public cascade; create schema public; grant usage on schema public to anon, authenticated, service_role; truncate auth.users").unwrap();
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
