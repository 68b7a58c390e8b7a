import ArrowRight from "lucide-react/icons/arrow-right";

import { AppLink } from "@/lib/navigation";

const links: { href: string; label: string }[] = [
<% for link in links %>
  { href: {=link.href|ts=}, label: {=link.label|ts=} },
<% endfor %>
];

/** Where to go from here. */
export function {=name=}() {
  return (
    <nav aria-label={=label|attr=}>
      <ul className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,18rem),1fr))] gap-3">
        {links.map((link) => (
          <li key={link.href}>
            <AppLink
              href={link.href}
              className="flex h-full items-center justify-between gap-3 rounded-lg border border-border bg-surface px-4 py-3 font-medium shadow-xs hover:border-primary focus-visible:outline-2 focus-visible:outline-offset-2 focus-visible:outline-ring"
            >
              {link.label}
              <ArrowRight aria-hidden="true" className="size-4 shrink-0 text-muted-foreground" />
            </AppLink>
          </li>
        ))}
      </ul>
    </nav>
  );
}
