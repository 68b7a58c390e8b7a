//! Who sees, changes and deletes which rows, tried on every table of a running database.
//!
//! The tables, their owners and their rows are read from the database and not from the generator, so
//! that an unexpected table is tried as well.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use windlass_testkit::servers::Postgres;

/// People of the seed: each has created one row of everything. None of them has a role.
const MAKERS: [&str; 2] = [
    "00000000-0000-4000-8000-000000000001",
    "00000000-0000-4000-8000-000000000002",
];
/// A signed-in user who has created nothing.
const STRANGER: &str = "99999999-0000-4000-8000-000000000000";

/// A user who tries.
struct Person {
    label: String,
    /// The role of the database.
    who: &'static str,
    id: String,
}

/// A table of the product.
struct Table {
    name: String,
    /// A column that may be written, else the first one.
    column: String,
    owned: bool,
}

/// How often something was touched, by table and person.
pub struct Tried {
    /// `(table, person) → sees, changes, deletes`.
    cells: BTreeMap<(String, String), [String; 3]>,
    people: Vec<String>,
    tables: Vec<String>,
    /// What must not be.
    pub faults: Vec<String>,
}

fn lines(output: &str, mark: &str) -> Vec<Vec<String>> {
    output
        .lines()
        .filter_map(|line| line.strip_prefix(mark))
        .map(|line| line.split('|').map(str::to_owned).collect())
        .collect()
}

/// Tables that are open to all, or to none.
pub fn open_tables(server: &Postgres) -> Vec<String> {
    let found = server
        .run(
            "select 'open=' || relname from pg_class c \
             where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') \
             and (not relrowsecurity or not relforcerowsecurity \
               or not exists (select 1 from pg_policy p where p.polrelid = c.oid)) order by 1",
        )
        .unwrap();
    lines(&found, "open=").into_iter().flatten().collect()
}

fn tables(server: &Postgres) -> Vec<Table> {
    let found = server
        .run(
            "select 'table=' || c.relname || '|' || coalesce( \
               (select a.attname from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 \
                  and has_column_privilege('authenticated', c.oid, a.attnum, 'update') order by a.attnum limit 1), \
               (select a.attname from pg_attribute a where a.attrelid = c.oid and a.attnum = 1)) || '|' || \
               (exists (select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'owner_id')) \
             from pg_class c where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1",
        )
        .unwrap();
    lines(&found, "table=")
        .into_iter()
        .map(|parts| Table {
            owned: parts[2] == "true",
            column: parts[1].clone(),
            name: parts[0].clone(),
        })
        .collect()
}

/// The roles that can be given to people.
fn roles(server: &Postgres) -> Vec<String> {
    let found = server
        .run(
            "select 'role=' || found[1] from pg_constraint, \
             regexp_matches(pg_get_constraintdef(oid), '''([^'']+)''', 'g') found \
             where contype = 'c' and conrelid = to_regclass('public.user_roles')",
        )
        .unwrap();
    lines(&found, "role=").into_iter().flatten().collect()
}

/// All users: two makers, a stranger, one with each role, and an anonymous one.
fn people(server: &Postgres) -> Vec<Person> {
    let signed_in = |label: &str, id: &str| Person {
        label: label.to_owned(),
        who: "authenticated",
        id: id.to_owned(),
    };
    let mut people = vec![
        signed_in("maker 1", MAKERS[0]),
        signed_in("maker 2", MAKERS[1]),
        signed_in("stranger", STRANGER),
    ];
    let mut script = format!("insert into auth.users (id) values ('{STRANGER}');");
    for (at, role) in roles(server).iter().enumerate() {
        let id = format!("99999999-0000-4000-8000-{:012}", at + 1);
        let _ = write!(
            script,
            "insert into auth.users (id) values ('{id}'); \
             insert into public.user_roles (user_id, role) values ('{id}', '{role}');"
        );
        people.push(signed_in(role, &id));
    }
    server.run(&script).unwrap();
    people.push(Person {
        label: "nobody".to_owned(),
        who: "anon",
        id: String::new(),
    });
    people
}

/// Tries everything. The database has the migration and the seed; the people of the seed lose their roles.
pub fn try_everything(server: &Postgres) -> Tried {
    let roleless = "do $$ begin if to_regclass('public.user_roles') is not null then \
                    delete from public.user_roles; end if; end $$;";
    server.run(roleless).unwrap();
    // Actions are recorded by people who act; none have so far.
    let acted = MAKERS.map(|id| {
        format!(
            "insert into public.recorded_actions (owner_id, subject_table, subject_id, action) \
             values ('{id}', 'x', '{id}', 'share');"
        )
    });
    server
        .run(&format!(
            "do $$ begin if to_regclass('public.recorded_actions') is not null then {} end if; end $$;",
            acted.concat()
        ))
        .unwrap();
    let people = people(server);
    let tables = tables(server);
    server.run(include_str!("../fixtures/attempt.sql")).unwrap();
    let mut script = String::new();
    for table in &tables {
        let name = format!("public.\"{}\"", table.name);
        for person in &people {
            let mut attempt = |what: &str, statement: &str| {
                let _ = writeln!(
                    script,
                    "select 'tried={}|{}|{what}|' || public.attempt('{}', '{}', $try${statement}$try$);",
                    table.name, person.label, person.who, person.id
                );
            };
            attempt("sees", &format!("select 1 from {name}"));
            let column = &table.column;
            attempt(
                "changes",
                &format!("update {name} set \"{column}\" = \"{column}\""),
            );
            attempt("deletes", &format!("delete from {name}"));
            if table.owned {
                for (what, id) in [("takes", person.id.as_str()), ("gives", MAKERS[1])] {
                    if !id.is_empty() {
                        attempt(what, &format!("update {name} set owner_id = '{id}'"));
                    }
                }
                let other = MAKERS.iter().find(|id| **id != person.id).unwrap();
                attempt(
                    "forges",
                    &format!("insert into {name} (owner_id) values ('{other}')"),
                );
                // A user without a role may change nothing that others have created.
                attempt(
                    "changes of others",
                    &format!(
                        "update {name} set \"{column}\" = \"{column}\" where owner_id is distinct from auth.uid()"
                    ),
                );
                attempt(
                    "deletes of others",
                    &format!("delete from {name} where owner_id is distinct from auth.uid()"),
                );
            }
        }
    }
    let output = server.run(&script).unwrap();
    let mut tried = Tried {
        cells: BTreeMap::new(),
        people: people.iter().map(|person| person.label.clone()).collect(),
        tables: tables.iter().map(|table| table.name.clone()).collect(),
        faults: open_tables(server)
            .into_iter()
            .map(|table| format!("{table} is not closed"))
            .collect(),
    };
    // A table without rows would pass whatever its policies say.
    for table in &tables {
        let counted = server
            .run(&format!(
                "select 'empty=' where not exists (select 1 from public.\"{}\")",
                table.name
            ))
            .unwrap();
        if counted.contains("empty=") {
            tried.faults.push(format!("{} has no rows", table.name));
        }
    }
    let answers = lines(&output, "tried=");
    assert!(answers.len() >= tables.len() * people.len() * 3);
    for answer in answers {
        tried.note(&answer[0], &answer[1], &answer[2], &answer[3]);
    }
    tried
}

impl Tried {
    fn note(&mut self, table: &str, person: &str, what: &str, outcome: &str) {
        let nothing = matches!(outcome, "refused" | "0");
        let roleless = matches!(person, "maker 1" | "maker 2" | "stranger" | "nobody");
        let must_not = match what {
            "takes" | "gives" | "forges" => true,
            "changes of others" | "deletes of others" => roleless,
            "changes" | "deletes" => matches!(person, "stranger" | "nobody"),
            _ => false,
        };
        if must_not && !nothing {
            self.faults
                .push(format!("{table}: {person} {what}: {outcome}"));
        }
        if let Some(at) = ["sees", "changes", "deletes"]
            .iter()
            .position(|known| *known == what)
        {
            let shown = if outcome == "refused" { "-" } else { outcome };
            self.cells
                .entry((table.to_owned(), person.to_owned()))
                .or_default()[at] = shown.to_owned();
        }
    }

    /// A row per table, a column per person: how many rows are seen, changed, deleted.
    pub fn matrix(&self) -> String {
        let width = self.tables.iter().map(String::len).max().unwrap_or(0);
        let mut text = format!("{:width$}", "");
        for person in &self.people {
            let _ = write!(text, "  {person}");
        }
        for table in &self.tables {
            let _ = write!(text, "\n{table:width$}");
            for person in &self.people {
                let cell = &self.cells[&(table.clone(), person.clone())];
                let _ = write!(text, "  {:w$}", cell.join(" "), w = person.len());
            }
        }
        text.lines()
            .map(str::trim_end)
            .collect::<Vec<_>>()
            .join("\n")
    }
}
