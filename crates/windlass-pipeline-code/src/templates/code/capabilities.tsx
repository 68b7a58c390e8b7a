import Check from "lucide-react/icons/check";

import { Card<% if titled %>, CardTitle<% endif %> } from "@/components/ui/card";

const groups: { title: string; items: { id: string; text: string }[] }[] = [
<% for group in groups %>
  {
    title: {=group.title|ts=},
    items: [
<% for item in group.items %>
      { id: {=item.id|ts=}, text: {=item.text|ts=} },
<% endfor %>
    ],
  },
<% endfor %>
];

/** What can be done here, in the words of the product's specification. */
export function {=name=}() {
  return (
    <section
      aria-label={=label|attr=}
      className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,20rem),1fr))] items-start gap-4"
    >
      {groups.map((group) => (
        <Card key={group.title}>
<% if titled %>
          <CardTitle>{group.title}</CardTitle>
<% endif %>
          <ul className="flex flex-col gap-3">
            {group.items.map((item) => (
              <li key={item.id} className="flex gap-3">
                <Check aria-hidden="true" className="mt-1 size-4 shrink-0 text-primary" />
                <span>{item.text}</span>
              </li>
            ))}
          </ul>
        </Card>
      ))}
    </section>
  );
}
