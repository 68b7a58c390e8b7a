-- The database of {=product=}: tables, references, indexes and row-level security.
-- Runs once, in one transaction; a second run stops with an error and changes nothing.

begin;

do $guard$
begin
  if to_regclass({=("public." ~ witness|name)|sql=}) is not null then
    raise exception 'the migration 0001_init has run before: the table % is there already', {=witness|sql=};
  end if;
end
$guard$;

-- Tables

<% for table in tables %>
-- {=table.about=}
create table public.{=table.name=} (
<% for line in table.lines %>
  {=line=}
<% endfor %>
);

<% endfor %>
<% if foreign_keys %>
-- References

<% for line in foreign_keys %>
{=line=}
<% endfor %>

<% endif %>
<% if indexes %>
-- Indexes for references and policies

<% for line in indexes %>
{=line=}
<% endfor %>

<% endif %>
<% if triggers %>
-- The time of the last change

create function public.set_updated_at() returns trigger
  language plpgsql set search_path = ''
  as $body$
begin
  new.updated_at := now();
  return new;
end
$body$;

<% for table in triggers %>
create trigger set_updated_at before update on public.{=table=}
  for each row execute function public.set_updated_at();
<% endfor %>

<% endif %>
<% if functions %>
-- What policies ask. The functions read past the policies of the tables they look at.

<% for function in functions %>
create function public.{=function.name=}({=function.arguments=}) returns boolean
  language sql stable security definer set search_path = ''
  as $body$ {=function.body=} $body$;
revoke all on function public.{=function.name=} from public;
grant execute on function public.{=function.name=} to {=function.roles=}, service_role;

<% endfor %>
<% endif %>
-- Row-level security: nobody sees or writes anything that a policy does not allow.

<% for part in security %>
alter table public.{=part.table=} enable row level security;
alter table public.{=part.table=} force row level security;
revoke all on public.{=part.table=} from anon, authenticated;
grant all on public.{=part.table=} to service_role;
<% for line in part.grants %>
{=line=}
<% endfor %>
<% for line in part.policies %>
{=line=}
<% endfor %>

<% endfor %>
commit;
