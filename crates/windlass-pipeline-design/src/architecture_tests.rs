//! Architectures of small analyses, written out.

use std::fmt::Write as _;

use insta::assert_snapshot;

use crate::example::{Example, quizzes};
use crate::model::analysis::{Access, VerbKind};
use crate::model::architecture::{Architecture, RelationType};
use crate::model::{Preset, Requirements, Trace};
use crate::{architecture, sql};

fn design(example: &Example) -> Architecture {
    architecture(
        &example.analysis,
        &example.requirements(),
        Preset::NextjsReact,
    )
}

fn traces(list: &[Trace]) -> String {
    list.iter().map(Trace::as_str).collect::<Vec<_>>().join(" ")
}

fn policies_of(architecture: &Architecture, table: &str) -> String {
    let mut out = String::new();
    for policy in &architecture.security.policies {
        if policy.table == table {
            let text = policy.using.as_ref().or(policy.with_check.as_ref());
            let _ = writeln!(
                out,
                "{} {}: {}",
                policy.command,
                policy.role,
                text.map_or("", String::as_str)
            );
        }
    }
    out
}

fn endpoints(architecture: &Architecture) -> String {
    architecture
        .api_design
        .endpoints
        .iter()
        .map(|one| {
            format!(
                "{} {} [{}] ({}) -> {} | {} | {}\n",
                one.method,
                one.path,
                one.auth,
                one.request.join(" "),
                one.response,
                one.description,
                traces(&one.trace)
            )
        })
        .collect()
}

#[test]
fn actions_that_a_requirement_states_are_endpoints() {
    assert_snapshot!(endpoints(&design(&quizzes())), @"
    POST /api/quizzes [teacher] (title status) -> Quiz | Create a quiz | req:FR-1
    PATCH /api/quizzes/{id} [teacher] (title status) -> Quiz | Update a quiz | req:FR-2
    POST /api/quizzes/{id}/publish [teacher] () -> Quiz | Publish a quiz | req:FR-3
    GET /api/quizzes [authenticated] () -> Quiz[] | List quizzes | req:FR-4
    POST /api/attempts [student] (score quiz_id) -> Attempt | Create an attempt | req:FR-5
    GET /api/attempts [authenticated] () -> Attempt[] | List attempts | req:FR-7
    ");
}

#[test]
fn rows_are_their_owners_unless_something_is_stated() {
    let architecture = design(&quizzes());
    assert_snapshot!(policies_of(&architecture, "quizzes"), @"
    select authenticated: ((select public.has_role('student')) and status = 'published') or owner_id = (select auth.uid())
    insert authenticated: owner_id = (select auth.uid()) and (select public.has_role('teacher'))
    update authenticated: owner_id = (select auth.uid())
    delete authenticated: owner_id = (select auth.uid())
    ");
    assert_snapshot!(policies_of(&architecture, "questions"), @"
    select authenticated: exists (select 1 from public.quizzes p1 where p1.id = questions.quiz_id)
    insert authenticated: owner_id = (select auth.uid()) and exists (select 1 from public.quizzes p1 where p1.id = questions.quiz_id and p1.owner_id = (select auth.uid()))
    update authenticated: owner_id = (select auth.uid()) and exists (select 1 from public.quizzes p1 where p1.id = questions.quiz_id and p1.owner_id = (select auth.uid()))
    delete authenticated: owner_id = (select auth.uid()) and exists (select 1 from public.quizzes p1 where p1.id = questions.quiz_id and p1.owner_id = (select auth.uid()))
    ");
    assert_snapshot!(policies_of(&architecture, "attempts"), @"
    select authenticated: exists (select 1 from public.quizzes p1 where p1.id = attempts.quiz_id and p1.owner_id = (select auth.uid())) or owner_id = (select auth.uid())
    insert authenticated: owner_id = (select auth.uid()) and (select public.has_role('student'))
    update authenticated: owner_id = (select auth.uid())
    delete authenticated: owner_id = (select auth.uid()) and not (select public.has_role('student'))
    ");
    assert_snapshot!(policies_of(&architecture, "user_roles"), @"
    select authenticated: user_id = (select auth.uid())
    insert authenticated: false
    update authenticated: false
    delete authenticated: false
    ");
    assert_snapshot!(architecture.security.rls_policies.join("\n"), @"
    Students can read all quizzes, as far as their status is published.
    Users can read, update and delete their own quizzes.
    Teachers can create quizzes of their own.
    Anyone who can read a quiz can read its questions.
    Users can create, update and delete their own questions of quizzes they may change.
    Teachers can read the attempts of their own quizzes.
    Users can read and update their own attempts.
    Users other than students can delete their own attempts.
    Students can create attempts of their own.
    Users can read their own roles.
    No user can create, update or delete user roles; only the service role can.
    ");
    let functions: Vec<&str> = architecture
        .security
        .functions
        .iter()
        .map(|function| function.body.as_str())
        .collect();
    assert_snapshot!(functions.join("\n"), @"select exists (select 1 from public.user_roles r where r.user_id = (select auth.uid()) and r.role = wanted)");
}

#[test]
fn the_schema_is_written_from_the_model() {
    let example = Example::default()
        .entity("Order: order, status (open, done)")
        .entity("Product: name")
        .relation("Order", "Product", RelationType::ManyToMany)
        .says("user", VerbKind::Create, "create", "orders");
    assert_snapshot!(sql::schema(&design(&example)), @r#"
    create table public.orders (
      id uuid primary key default gen_random_uuid(),
      owner_id uuid not null default auth.uid() references auth.users (id) on delete cascade,
      "order" text not null,
      status text not null default 'open' check (status in ('open', 'done')),
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );

    create table public.products (
      id uuid primary key default gen_random_uuid(),
      owner_id uuid default auth.uid() references auth.users (id) on delete set null,
      name text not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );

    create table public.order_products (
      id uuid primary key default gen_random_uuid(),
      owner_id uuid not null default auth.uid() references auth.users (id) on delete cascade,
      order_id uuid not null references public.orders (id) on delete cascade,
      product_id uuid not null references public.products (id) on delete cascade,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      unique (order_id, product_id)
    );

    create index on public.orders (owner_id);
    create index on public.products (owner_id);
    create index on public.order_products (owner_id);
    create index on public.order_products (order_id);
    create index on public.order_products (product_id);

    alter table public.orders enable row level security;
    alter table public.orders force row level security;
    create policy orders_select_authenticated on public.orders for select to authenticated
      using (owner_id = (select auth.uid()));
    create policy orders_insert_authenticated on public.orders for insert to authenticated
      with check (owner_id = (select auth.uid()));
    create policy orders_update_authenticated on public.orders for update to authenticated
      using (owner_id = (select auth.uid()))
      with check (owner_id = (select auth.uid()));
    create policy orders_delete_authenticated on public.orders for delete to authenticated
      using (owner_id = (select auth.uid()));

    alter table public.products enable row level security;
    alter table public.products force row level security;
    create policy products_select_authenticated on public.products for select to authenticated
      using (true);
    create policy products_insert_authenticated on public.products for insert to authenticated
      with check (false);
    create policy products_update_authenticated on public.products for update to authenticated
      using (false)
      with check (false);
    create policy products_delete_authenticated on public.products for delete to authenticated
      using (false);

    alter table public.order_products enable row level security;
    alter table public.order_products force row level security;
    create policy order_products_select_authenticated on public.order_products for select to authenticated
      using (exists (select 1 from public.orders p1 where p1.id = order_products.order_id));
    create policy order_products_insert_authenticated on public.order_products for insert to authenticated
      with check (owner_id = (select auth.uid()) and exists (select 1 from public.orders p1 where p1.id = order_products.order_id and p1.owner_id = (select auth.uid())));
    create policy order_products_update_authenticated on public.order_products for update to authenticated
      using (owner_id = (select auth.uid()) and exists (select 1 from public.orders p1 where p1.id = order_products.order_id and p1.owner_id = (select auth.uid())))
      with check (owner_id = (select auth.uid()) and exists (select 1 from public.orders p1 where p1.id = order_products.order_id and p1.owner_id = (select auth.uid())));
    create policy order_products_delete_authenticated on public.order_products for delete to authenticated
      using (owner_id = (select auth.uid()) and exists (select 1 from public.orders p1 where p1.id = order_products.order_id and p1.owner_id = (select auth.uid())));
    "#);
}

#[test]
fn members_share_what_is_their_tenants() {
    let example = Example::default()
        .entity("Workspace: name")
        .entity("Article: title, state (draft, published)")
        .rule("Article", Access::Members("Workspace".to_owned()))
        .rule_when("Article", Access::Owner, Some(("state", "draft")))
        .rule_when("Article", Access::PublicRead, Some(("state", "published")))
        .says("editor", VerbKind::Create, "write", "articles")
        .says("editor", VerbKind::Update, "edit", "all articles")
        .says("workspace owner", VerbKind::Delete, "delete", "articles");
    let architecture = design(&example);
    assert_snapshot!(policies_of(&architecture, "articles"), @"
    select authenticated: (public.is_workspace_member(workspace_id) and state is distinct from 'draft') or state = 'published' or ((select public.has_role('editor')) and public.is_workspace_member(workspace_id) and state is distinct from 'draft') or (exists (select 1 from public.workspaces p1 where p1.id = articles.workspace_id and p1.owner_id = (select auth.uid())) and state is distinct from 'draft') or (owner_id = (select auth.uid()) and public.is_workspace_member(workspace_id))
    select anon: state = 'published'
    insert authenticated: owner_id = (select auth.uid()) and (select public.has_role('editor')) and public.is_workspace_member(workspace_id)
    update authenticated: ((select public.has_role('editor')) and public.is_workspace_member(workspace_id)) or (owner_id = (select auth.uid()) and public.is_workspace_member(workspace_id))
    delete authenticated: exists (select 1 from public.workspaces p1 where p1.id = articles.workspace_id and p1.owner_id = (select auth.uid())) or (owner_id = (select auth.uid()) and public.is_workspace_member(workspace_id))
    ");
    assert_snapshot!(policies_of(&architecture, "workspaces"), @"
    select authenticated: owner_id = (select auth.uid()) or public.is_workspace_member(id)
    insert authenticated: owner_id = (select auth.uid())
    update authenticated: owner_id = (select auth.uid())
    delete authenticated: owner_id = (select auth.uid())
    ");
    assert_snapshot!(policies_of(&architecture, "workspace_members"), @"
    select authenticated: user_id = (select auth.uid()) or public.is_workspace_member(workspace_id)
    insert authenticated: exists (select 1 from public.workspaces p1 where p1.id = workspace_members.workspace_id and p1.owner_id = (select auth.uid()))
    update authenticated: exists (select 1 from public.workspaces p1 where p1.id = workspace_members.workspace_id and p1.owner_id = (select auth.uid()))
    delete authenticated: user_id = (select auth.uid()) or exists (select 1 from public.workspaces p1 where p1.id = workspace_members.workspace_id and p1.owner_id = (select auth.uid()))
    ");
    assert_snapshot!(architecture.security.rls_policies.join("\n"), @"
    Users can read, update and delete their own workspaces.
    Users can create workspaces of their own.
    Members of a workspace can read it.
    Members of a workspace can read the articles of that workspace, unless their state is draft.
    Everyone, signed in or not, can read all articles, as far as their state is published.
    Editors can read all articles of their workspace, unless their state is draft.
    Editors can update all articles of their workspace.
    The owner of a workspace can read all articles of it, unless their state is draft.
    The owner of a workspace can delete all articles of it.
    Users can read, update and delete their own articles.
    Editors can create articles of their own.
    Users can read and delete their own membership of a workspace.
    Members of a workspace can read the list of its members.
    The owner of a workspace can create, update and delete the memberships of it.
    Users can read their own roles.
    No user can create, update or delete user roles; only the service role can.
    ");
}

#[test]
fn a_rule_that_cannot_be_kept_is_not_widened() {
    let example = Example::default()
        .entity("Note: title")
        .rule_when("Note", Access::PublicRead, Some(("state", "published")))
        .says("user", VerbKind::Create, "write", "notes");
    let text = policies_of(&design(&example), "notes");
    assert!(!text.contains("anon"), "{text}");
}

#[test]
fn visitors_may_be_allowed_to_read_and_to_leave_something() {
    let example = Example::default()
        .entity("Message: text")
        .entity("Post: title")
        .says("visitor", VerbKind::Create, "send", "a message")
        .says("visitor", VerbKind::List, "read", "posts");
    let architecture = design(&example);
    assert_snapshot!(policies_of(&architecture, "messages"), @"
    select authenticated: owner_id = (select auth.uid())
    insert authenticated: owner_id = (select auth.uid())
    insert anon: owner_id is null
    update authenticated: owner_id = (select auth.uid())
    delete authenticated: owner_id = (select auth.uid())
    ");
    assert_snapshot!(policies_of(&architecture, "posts"), @"
    select authenticated: true
    select anon: true
    insert authenticated: owner_id = (select auth.uid())
    update authenticated: owner_id = (select auth.uid())
    delete authenticated: owner_id = (select auth.uid())
    ");
    assert_eq!(architecture.api_design.endpoints[0].auth, "public");
}

#[test]
fn given_requirements_win() {
    let example = quizzes();
    let mut requirements = example.requirements();
    requirements
        .functional
        .retain(|requirement| requirement.id == "FR-4");
    let made = architecture(&example.analysis, &requirements, Preset::ViteReact);
    assert_snapshot!(endpoints(&made), @"GET /api/quizzes [student] () -> Quiz[] | List quizzes | req:FR-4");
    let none = architecture(
        &example.analysis,
        &Requirements::default(),
        Preset::ViteReact,
    );
    assert!(none.api_design.endpoints.is_empty());
}

#[test]
fn circles_of_keys_have_an_optional_side() {
    let example = Example::default()
        .entity("Team: name")
        .entity("Player: name")
        .relation("Team", "Player", RelationType::OneToMany)
        .relation("Player", "Team", RelationType::OneToOne)
        .relation("Player", "Player", RelationType::OneToMany);
    let architecture = design(&example);
    let keys: String = architecture
        .data_model
        .entities
        .iter()
        .flat_map(|entity| {
            entity
                .fields
                .iter()
                .filter(|field| field.references.is_some() && field.name != "owner_id")
                .map(|field| {
                    format!(
                        "{}.{} nullable={} unique={}\n",
                        entity.name, field.name, field.nullable, field.unique
                    )
                })
        })
        .collect();
    assert_snapshot!(keys, @"
    Team.player_id nullable=true unique=true
    Player.team_id nullable=false unique=false
    Player.parent_player_id nullable=true unique=false
    ");
}
