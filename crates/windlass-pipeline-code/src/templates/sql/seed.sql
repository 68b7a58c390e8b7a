-- A few rows of everything, for a development database. Run it as the database's owner, after the
-- migration. The people in it have no password, so nobody can sign in as one of them.

begin;

insert into auth.users (id, email) values
<% for row in users %>
  {=row=}
<% endfor %>
on conflict do nothing;

<% for insert in inserts %>
insert into public.{=insert.table=} ({=insert.columns=}) values
<% for row in insert.rows %>
  {=row=}
<% endfor %>
on conflict do nothing;

<% endfor %>
commit;
