"use client";

import { {=react_imports=} } from "react";

<% for line in imports %>
{=line=}
<% endfor %>

/** One {=human|comment=}: loading, failed or shown. */
export function {=name=}({ id }: { id: string }) {
  const load = useCallback(() => {=read=}(id), [id]);
  const resource = useResource(load);
<% if acts %>
  const [problem, setProblem] = useState<Error | null>(null);
<% endif %>
<% if actions %>
  const [done, setDone] = useState<string | null>(null);
<% endif %>
<% if inline_edit %>
  const [editing, setEditing] = useState(false);
<% endif %>
<% if remove %>
  const goTo = useGoTo();
<% endif %>
<% if actions %>

  async function act(label: string, action: (id: string) => Promise<unknown>) {
    try {
      setProblem(null);
      await action(id);
      setDone(label);
      resource.reload();
    } catch (thrown) {
      setProblem(toError(thrown));
    }
  }
<% endif %>
<% if remove %>

  async function remove() {
    if (!window.confirm({=("Delete this " ~ human ~ "? This cannot be undone.")|ts=})) {
      return;
    }
    try {
      setProblem(null);
      await {=remove=}(id);
      goTo({=after_delete|ts=});
    } catch (thrown) {
      setProblem(toError(thrown));
    }
  }
<% endif %>

  if (resource.status === "loading") {
    return <Skeleton label={=("Loading " ~ human)|attr=} />;
  }
  if (resource.status === "error") {
    return <ErrorState error={resource.error} onRetry={resource.reload} />;
  }
  const item = resource.data;
<% if inline_edit %>
  if (editing) {
    return (
      <{=inline_edit=}
        initial={item}
        onSaved={() => {
          setEditing(false);
          resource.reload();
        }}
      />
    );
  }
<% endif %>

  return (
    <div className="flex flex-col gap-8">
      <Card>
        <CardTitle>{{=title=}}</CardTitle>
        <dl className="grid gap-4 sm:grid-cols-2">
<% for field in fields %>
          <div>
            <dt className="text-sm text-muted-foreground">{=field.label|jsx=}</dt>
            <dd className="break-words whitespace-pre-wrap">{{=field.show=}}</dd>
          </div>
<% endfor %>
        </dl>
<% if acts %>
        {problem === null ? null : <Alert title={problem.message} />}
<% endif %>
<% if actions %>
        <p role="status" className="text-sm text-muted-foreground">
          {done === null ? "" : `Done: ${done}`}
        </p>
<% endif %>
<% if actions or inline_edit or edit_path or remove or below %>
        <div className="flex flex-wrap gap-3">
<% for action in actions %>
          <Button<% if not loop.first %> variant="outline"<% endif %> onClick={() => act({=action.label|ts=}, {=action.name=})}>{=action.label|jsx=}</Button>
<% endfor %>
<% for page in below %>
          <Button asChild variant="outline">
            <AppLink href={{=page.address=}}>{=page.label|jsx=}</AppLink>
          </Button>
<% endfor %>
<% if edit_path %>
          <Button asChild variant="outline">
            <AppLink href={{=edit_path=}}>Edit</AppLink>
          </Button>
<% elif inline_edit %>
          <Button variant="outline" onClick={() => setEditing(true)}>
            Edit
          </Button>
<% endif %>
<% if remove %>
          <Button variant="destructive" onClick={remove}>
            Delete
          </Button>
<% endif %>
        </div>
<% endif %>
      </Card>
<% for form in forms %>
      <section aria-label={=form.label|attr=} className="flex flex-col gap-4">
        <h2 className="text-h2 font-semibold">{=form.label|jsx=}</h2>
        <{=form.component=} initial={item} onSaved={resource.reload} />
      </section>
<% endfor %>
<% for list in related %>
      <section aria-label={=list.label|attr=} className="flex flex-col gap-4">
        <h2 className="text-h2 font-semibold">{=list.label|jsx=}</h2>
        <{=list.component=} {=list.filter=}={id} />
      </section>
<% endfor %>
    </div>
  );
}
