import type { Metadata } from "next";

import { {=view=} } from "@/views/{=view=}";

export const metadata: Metadata = { title: {=title|ts=} };

<% if parameter %>
export default async function Page({ params }: { params: Promise<{ {=parameter=}: string }> }) {
  const { {=parameter=} } = await params;
  return <{=view=} id={{=parameter=}} />;
}
<% else %>
export default function Page() {
  return <{=view=} />;
}
<% endif %>
