"use client";

<% if react_imports %>
import { {=react_imports=} } from "react";

<% endif %>
<% for line in imports %>
{=line=}
<% endfor %>

/** {=label_plural|comment=}: loading, empty, failed or shown. */
export function {=name=}(<% if filters %>{ <% for field in filters %>{=field.column=}<% if not loop.last %>, <% endif %><% endfor %> }: {=type=}Filter<% endif %>) {
<% if filters %>
  const load = useCallback(() => {=list=}({ <% for field in filters %>{=field.column=}<% if not loop.last %>, <% endif %><% endfor %> }), [<% for field in filters %>{=field.column=}<% if not loop.last %>, <% endif %><% endfor %>]);
  const resource = useResource(load);
<% else %>
  const resource = useResource({=list=});
<% endif %>
<% if search %>
  const [search, setSearch] = useState("");
  const searchId = useId();
<% endif %>
<% if remove %>
  const [problem, setProblem] = useState<Error | null>(null);

  async function remove(id: string) {
    if (!window.confirm({=("Delete this " ~ human ~ "? This cannot be undone.")|ts=})) {
      return;
    }
    try {
      setProblem(null);
      await {=remove=}(id);
      resource.reload();
    } catch (thrown) {
      setProblem(toError(thrown));
    }
  }
<% endif %>

  if (resource.status === "loading") {
    return <Skeleton label={=("Loading " ~ human_plural)|attr=} />;
  }
  if (resource.status === "error") {
    return <ErrorState error={resource.error} onRetry={resource.reload} />;
  }
  if (resource.data.length === 0) {
<% if create_path %>
    return (
      <EmptyState title={=("No " ~ human_plural ~ " yet")|attr=}>
        <Button asChild>
          <AppLink href={=create_path|attr=}>{=("Create " ~ human)|jsx=}</AppLink>
        </Button>
      </EmptyState>
    );
<% else %>
    return <EmptyState title={=("No " ~ human_plural ~ " yet")|attr=} />;
<% endif %>
  }
<% if limit %>
  const items = resource.data.slice(0, {=limit=});
<% elif search %>
  const wanted = search.trim().toLowerCase();
  const items = resource.data.filter((item) =>
    [{=search=}].some((value) => formatValue(value).toLowerCase().includes(wanted)),
  );
<% else %>
  const items = resource.data;
<% endif %>

  return (
    <div className="flex flex-col gap-4">
<% if (search or create_path) and not limit %>
      <div className="flex flex-wrap items-end justify-between gap-4">
<% if search %>
        <div className="flex w-full max-w-sm flex-col gap-2">
          <Label htmlFor={searchId}>{=("Search " ~ human_plural)|jsx=}</Label>
          <Input id={searchId} type="search" value={search} onChange={(event) => setSearch(event.target.value)} />
        </div>
<% endif %>
<% if create_path %>
        <Button asChild className="ml-auto">
          <AppLink href={=create_path|attr=}>{=("Create " ~ human)|jsx=}</AppLink>
        </Button>
<% endif %>
      </div>
<% endif %>
<% if limit %>
      <h2 className="text-h3 font-semibold">{=("Recent " ~ human_plural)|jsx=}</h2>
<% endif %>
<% if remove %>
      {problem === null ? null : <Alert title={problem.message} />}
<% endif %>
      <Table>
        <caption className="sr-only">{=label_plural|jsx=}</caption>
        <thead>
          <tr>
<% for column in columns %>
            <TableHead>{=column.label|jsx=}</TableHead>
<% endfor %>
<% if remove %>
            <TableHead>
              <span className="sr-only">Actions</span>
            </TableHead>
<% endif %>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <TableRow key={{=row_key=}}>
<% for column in columns %>
<% if loop.first and detail_path %>
              <TableCell>
                <AppLink
                  href={{=detail_path=}}
                  className="font-medium underline underline-offset-4 focus-visible:outline-2 focus-visible:outline-ring"
                >
                  {{=column.show=}}
                </AppLink>
              </TableCell>
<% elif column.badge %>
              <TableCell>
                <Badge>{{=column.show=}}</Badge>
              </TableCell>
<% else %>
              <TableCell>{{=column.show=}}</TableCell>
<% endif %>
<% endfor %>
<% if remove %>
              <TableCell className="text-right">
                <Button
                  variant="ghost"
                  className="text-destructive"
                  aria-label={`Delete ${{=columns[0].show=}}`}
                  onClick={() => remove({=item_id=})}
                >
                  Delete
                </Button>
              </TableCell>
<% endif %>
            </TableRow>
          ))}
        </tbody>
      </Table>
<% if search and not limit %>
      <p role="status" className="text-sm text-muted-foreground">
        {items.length} of {resource.data.length} shown
      </p>
<% endif %>
    </div>
  );
}
