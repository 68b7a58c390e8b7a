"use client";

import { type FormEvent, useId, useState } from "react";

import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Field } from "@/components/ui/field";
import { Input } from "@/components/ui/input";
import { {=functions=} } from "@/lib/auth";
import { toError } from "@/lib/errors";
import { readText } from "@/lib/form";
import { useGoTo } from "@/lib/navigation";

/** {=about=} */
export function {=name=}() {
  const formId = useId();
  const goTo = useGoTo();
<% if both %>
  const [registering, setRegistering] = useState(false);
<% endif %>
<% if sign_up %>
  const [notice, setNotice] = useState<string | null>(null);
<% endif %>
  const [problem, setProblem] = useState<Error | null>(null);
  const [missing, setMissing] = useState({ email: false, password: false });
  const [busy, setBusy] = useState(false);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const email = readText(form, "email");
    const password = readText(form, "password");
    setMissing({ email: email === null, password: password === null });
    setProblem(null);
    if (email === null || password === null) {
      return;
    }
    setBusy(true);
    try {
<% if both %>
      if (registering) {
        const { confirmationNeeded } = await signUp(email, password);
        if (confirmationNeeded) {
          setNotice("Check your inbox to confirm the address, then sign in.");
          setRegistering(false);
          return;
        }
      } else {
        await signIn(email, password);
      }
<% elif sign_up %>
      const { confirmationNeeded } = await signUp(email, password);
      if (confirmationNeeded) {
        setNotice("Check your inbox to confirm the address, then sign in.");
        return;
      }
<% else %>
      await signIn(email, password);
<% endif %>
      goTo({=home|ts=});
    } catch (thrown) {
      setProblem(toError(thrown));
    } finally {
      setBusy(false);
    }
  }

  return (
    <form aria-label={=label|attr=} noValidate onSubmit={submit} className="flex flex-col gap-6 rounded-lg border border-border bg-surface p-6 shadow-xs">
<% if headed %>
      <h2 className="text-h3 font-semibold">{=label=}</h2>
<% endif %>
      {problem === null ? null : <Alert title={problem.message} />}
<% if sign_up %>
      <p role="status" className="empty:hidden">
        {notice}
      </p>
<% endif %>
      <Field id={`${formId}-email`} label="Email" required error={missing.email ? "Email is required." : undefined}>
        <Input
          id={`${formId}-email`}
          name="email"
          type="email"
          autoComplete="email"
          aria-invalid={missing.email}
          aria-describedby={missing.email ? `${formId}-email-error` : undefined}
        />
      </Field>
      <Field
        id={`${formId}-password`}
        label="Password"
        required
        error={missing.password ? "Password is required." : undefined}
      >
        <Input
          id={`${formId}-password`}
          name="password"
          type="password"
          autoComplete={=autocomplete=}
          aria-invalid={missing.password}
          aria-describedby={missing.password ? `${formId}-password-error` : undefined}
        />
      </Field>
      <div className="flex flex-wrap gap-3">
        <Button type="submit" disabled={busy}>
          {=submit=}
        </Button>
<% if both %>
        <Button variant="outline" onClick={() => setRegistering(!registering)}>
          {registering ? "I have an account" : "Create an account"}
        </Button>
<% endif %>
      </div>
    </form>
  );
}
