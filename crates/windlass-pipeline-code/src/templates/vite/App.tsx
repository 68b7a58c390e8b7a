import { type ReactNode, useEffect } from "react";
import { <% if redirect %>Navigate, <% endif %>Route, Routes<% if parameters %>, useParams<% endif %> } from "react-router-dom";

import { AppShell } from "@/components/layout/app-shell";
import { site } from "@/lib/site";
import { NotFoundPage } from "@/pages/NotFoundPage";
<% for page in pages %>
import { {=page.view=} } from "@/pages/{=page.view=}";
<% endfor %>

/** Sets the document's title while its page is shown. */
function Titled({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · ${site.name}`;
  }, [title]);
  return children;
}
<% for page in pages %>
<% if page.parameter %>

function {=page.view=}Route() {
  const { {=page.parameter=} = "" } = useParams();
  return <{=page.view=} id={{=page.parameter=}} />;
}
<% endif %>
<% endfor %>

export function App() {
  return (
    <AppShell>
      <Routes>
<% if redirect %>
        <Route path="/" element={<Navigate to={=redirect|attr=} replace />} />
<% endif %>
<% for page in pages %>
        <Route path={=page.path|attr=} element={<Titled title={=page.title|attr=}><{=page.view=}<% if page.parameter %>Route<% endif %> /></Titled>} />
<% endfor %>
        <Route path="*" element={<Titled title="Page not found"><NotFoundPage /></Titled>} />
      </Routes>
    </AppShell>
  );
}
