import { Card } from "@/components/ui/card";

const capabilities: { id: string; text: string }[] = [
<% for item in items %>
  { id: {=item.id|ts=}, text: {=item.text|ts=} },
<% endfor %>
];

/** What can be done here, in the words of the product's specification. */
export function {=name=}() {
  return (
    <section aria-label={=label|attr=}>
      <ul className="grid gap-4 sm:grid-cols-2">
        {capabilities.map((capability) => (
          <li key={capability.id}>
            <Card className="h-full">
              <p>{capability.text}</p>
            </Card>
          </li>
        ))}
      </ul>
    </section>
  );
}
