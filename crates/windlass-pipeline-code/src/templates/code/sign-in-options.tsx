"use client";

import { <% if link or code %>type FormEvent, useId, <% endif %>useState } from "react";

import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
<% if link or code %>
import { Field } from "@/components/ui/field";
import { Input } from "@/components/ui/input";
<% endif %>
import { {=functions=} } from "@/lib/auth-options";
import { toError } from "@/lib/errors";
<% if link or code %>
import { readText } from "@/lib/form";
<% endif %>
<% if code %>
import { useGoTo } from "@/lib/navigation";
<% endif %>

/** Other ways to sign in. */
export function {=name=}() {
<% if link or code %>
  const formId = useId();
<% endif %>
<% if code %>
  const goTo = useGoTo();
  const [phone, setPhone] = useState<string | null>(null);
<% endif %>
<% if link %>
  const [sent, setSent] = useState(false);
<% endif %>
  const [problem, setProblem] = useState<Error | null>(null);

  async function attempt(work: () => Promise<void>) {
    try {
      setProblem(null);
      await work();
    } catch (thrown) {
      setProblem(toError(thrown));
    }
  }
<% if link %>

  async function askForLink(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const email = readText(new FormData(event.currentTarget), "link-email");
    if (email !== null) {
      await attempt(async () => {
        await sendLink(email);
        setSent(true);
      });
    }
  }
<% endif %>
<% if code %>

  async function askForCode(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const given = readText(new FormData(event.currentTarget), "phone");
    if (given !== null) {
      await attempt(async () => {
        await sendCode(given);
        setPhone(given);
      });
    }
  }

  async function enter(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const given = readText(new FormData(event.currentTarget), "code");
    if (given !== null && phone !== null) {
      await attempt(async () => {
        await checkCode(phone, given);
        goTo({=home|ts=});
      });
    }
  }
<% endif %>

  return (
    <section
      aria-label="Other ways to sign in"
      className="flex flex-col gap-6 rounded-lg border border-border bg-surface p-6 shadow-xs"
    >
      {problem === null ? null : <Alert title={problem.message} />}
<% if code %>
      {phone === null ? (
        <form aria-label="Code by SMS" noValidate onSubmit={askForCode} className="flex flex-col gap-4">
          <Field id={`${formId}-phone`} label="Phone number" required error={undefined}>
            <Input id={`${formId}-phone`} name="phone" type="tel" autoComplete="tel" required />
          </Field>
          <div>
            <Button type="submit">Send a code</Button>
          </div>
        </form>
      ) : (
        <form aria-label="Code" noValidate onSubmit={enter} className="flex flex-col gap-4">
          <Field id={`${formId}-code`} label="Code" required error={undefined}>
            <Input id={`${formId}-code`} name="code" inputMode="numeric" autoComplete="one-time-code" required />
          </Field>
          <div>
            <Button type="submit">Continue</Button>
          </div>
        </form>
      )}
<% endif %>
<% if link %>
      <form aria-label="Link by email" noValidate onSubmit={askForLink} className="flex flex-col gap-4">
        <Field id={`${formId}-link-email`} label="Email for a link" required error={undefined}>
          <Input id={`${formId}-link-email`} name="link-email" type="email" autoComplete="email" required />
        </Field>
        <div>
          <Button type="submit">Send a link</Button>
        </div>
        <p role="status">{sent ? "Check your inbox for the link." : ""}</p>
      </form>
<% endif %>
<% for provider in providers %>
      <Button variant="outline" onClick={() => attempt(() => signInWithProvider("{=provider.id=}"))}>
        Continue with {=provider.label=}
      </Button>
<% endfor %>
    </section>
  );
}
