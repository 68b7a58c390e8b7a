<% if client %>
"use client";

<% endif %>
<% for line in imports %>
{=line=}
<% endfor %>

export function {=name=}(<% if takes_id %>{ id }: { id: string }<% endif %>) {
<% for line in setup %>
  {=line=}
<% endfor %>
<% if setup %>

<% endif %>
  return (
    <PageLayout title={=title|attr=}<% if description %> description={=description|attr=}<% endif %> layout="{=layout=}"<% if hero %> hero<% endif %>>
<% for line in body %>
      {=line=}
<% endfor %>
    </PageLayout>
  );
}
