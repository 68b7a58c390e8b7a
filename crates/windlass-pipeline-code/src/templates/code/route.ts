<% for line in imports %>
{=line=}
<% endfor %>
<% if parameters %>

type Context = { params: Promise<{ <% for name in parameters %>{=name=}: string<% if not loop.last %>; <% endif %><% endfor %> }> };
<% endif %>
<% for method in methods %>

/** {=method.about|comment=} */
export async function {=method.verb=}({=method.arguments=}): Promise<Response> {
  return respond("{=method.access=}", async (client) => {
<% for line in method.lines %>
    {=line=}
<% endfor %>
  });
}
<% endfor %>
