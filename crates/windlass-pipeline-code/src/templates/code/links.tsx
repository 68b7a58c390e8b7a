import { Button } from "@/components/ui/button";
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
      <ul className="flex flex-wrap gap-3">
        {links.map((link, index) => (
          <li key={link.href}>
            <Button asChild variant={index === 0 ? "default" : "outline"}>
              <AppLink href={link.href}>{link.label}</AppLink>
            </Button>
          </li>
        ))}
      </ul>
    </nav>
  );
}
