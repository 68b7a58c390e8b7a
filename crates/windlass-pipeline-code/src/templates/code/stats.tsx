"use client";

import { Card } from "@/components/ui/card";
import { ErrorState } from "@/components/ui/error-state";
import { Skeleton } from "@/components/ui/skeleton";
<% for line in imports %>
{=line=}
<% endfor %>
import { AppLink } from "@/lib/navigation";
import { useResource } from "@/lib/use-resource";

/** Counts of everything that the signed-in user may see. */
async function load() {
  const [<% for stat in stats %>{=stat.variable=}<% if not loop.last %>, <% endif %><% endfor %>] = await Promise.all([<% for stat in stats %>{=stat.list=}()<% if not loop.last %>, <% endif %><% endfor %>]);
  return [
<% for stat in stats %>
    { label: {=stat.label|ts=}, href: {=stat.href=}, count: {=stat.variable=}.length },
<% endfor %>
  ];
}

export function {=name=}() {
  const resource = useResource(load);

  if (resource.status === "loading") {
    return <Skeleton label="Loading numbers" rows={1} />;
  }
  if (resource.status === "error") {
    return <ErrorState error={resource.error} onRetry={resource.reload} />;
  }
  return (
    <ul className="grid grid-cols-[repeat(auto-fill,minmax(11rem,1fr))] gap-4">
      {resource.data.map((stat) => (
        <li key={stat.label}>
          <Card className="gap-1 border-t-4 border-t-secondary">
            <p className="text-sm font-medium text-muted-foreground">
              {stat.href === null ? (
                stat.label
              ) : (
                <AppLink href={stat.href} className="underline-offset-4 hover:underline">
                  {stat.label}
                </AppLink>
              )}
            </p>
            <p className="text-h2 font-bold tabular-nums">{stat.count}</p>
          </Card>
        </li>
      ))}
    </ul>
  );
}
