<% for entity in entities %>
import type { {=entity.type=} } from "@/lib/schemas/{=entity.file=}";
<% endfor %>
<% for entity in entities %>

export const {=entity.sample=}: {=entity.type=} = {
<% for field in entity.fields %>
  {=field.key=}: {=field.value=},
<% endfor %>
};
<% endfor %>
