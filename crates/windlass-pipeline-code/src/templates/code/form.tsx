"use client";

import { type FormEvent, {=react_imports=} } from "react";

<% for line in imports %>
{=line=}
<% endfor %>

type {=name=}Props = {
<% if update %>
  /** The one to change<% if create %>; a new one is made without it<% endif %>. */
  initial<% if create %>?<% endif %>: {=type=};
<% endif %>
<% for field in presets %>
  /** Given by the page, so not asked for. */
  {=field.key=}?: string;
<% endfor %>
  onSaved: (saved: {=type=}) => void;
};

/** {=label|comment=}: checked here and again by the server before it is stored. */
export function {=name=}({ <% if update %>initial, <% endif %><% for field in presets %>{=field.column=}, <% endfor %>onSaved }: {=name=}Props) {
  const formId = useId();
  const [errors, setErrors] = useState<FieldErrors>({});
  const [problem, setProblem] = useState<Error | null>(null);
  const [busy, setBusy] = useState(false);
<% for choice in choices %>
  const {=choice.variable=} = useResource({=choice.list=});
<% endfor %>

  async function save(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const element = event.currentTarget;
    const form = new FormData(element);
    const result = {=schema=}.safeParse({
<% for field in fields %>
      {=field.key=}: {=field.read=},
<% endfor %>
    });
    setProblem(null);
    if (!result.success) {
      setErrors(fieldErrors(result.error.issues));
      return;
    }
    setErrors({});
    setBusy(true);
    try {
<% if create and update %>
      const saved = initial === undefined ? await {=create=}(result.data) : await {=update=}({=initial_id=}, result.data);
<% elif update %>
      const saved = await {=update=}({=initial_id=}, result.data);
<% else %>
      const saved = await {=create=}(result.data);
<% endif %>
      element.reset();
      onSaved(saved);
    } catch (thrown) {
      setProblem(toError(thrown));
    } finally {
      setBusy(false);
    }
  }

  return (
    <form aria-label={=label|attr=} noValidate onSubmit={save} className="flex max-w-xl flex-col gap-6 rounded-lg border border-border bg-surface p-6 shadow-xs">
      {problem === null ? null : <Alert title={problem.message} />}
<% for choice in choices %>
      {{=choice.variable=}.status === "error" ? <Alert title={{=choice.variable=}.error.message} /> : null}
<% endfor %>
<% for field in fields %>
<% if field.preset %>
      {{=field.column=} === undefined ? (
        <Field id={`${formId}-{=field.id=}`} label={=field.label|attr=} required={{=field.required=}} error={errors{=field.access=}}>
<% for line in field.control %>
          {=line=}
<% endfor %>
        </Field>
      ) : null}
<% else %>
      <Field id={`${formId}-{=field.id=}`} label={=field.label|attr=} required={{=field.required=}} error={errors{=field.access=}}>
<% for line in field.control %>
        {=line=}
<% endfor %>
      </Field>
<% endif %>
<% endfor %>
      <div>
        <Button type="submit" disabled={busy}>
          {busy ? "Saving…" : "Save"}
        </Button>
      </div>
    </form>
  );
}
<% if edit %>

/** Loads one {=human|comment=} and lets it be changed. */
export function {=edit.name=}({ id, onSaved }: { id: string; onSaved: (saved: {=type=}) => void }) {
  const load = useCallback(() => {=edit.read=}(id), [id]);
  const resource = useResource(load);

  if (resource.status === "loading") {
    return <Skeleton label={=("Loading " ~ human)|attr=} />;
  }
  if (resource.status === "error") {
    return <ErrorState error={resource.error} onRetry={resource.reload} />;
  }
  return <{=name=} initial={resource.data} onSaved={onSaved} />;
}
<% endif %>
