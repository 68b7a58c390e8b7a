"use client";

import type { ReactNode } from "react";

<% if auth %>
import { Button } from "@/components/ui/button";
import { signOut, useSession } from "@/lib/auth";
<% endif %>
import { AppLink, useCurrentPath<% if auth %>, useGoTo<% endif %> } from "@/lib/navigation";
import { site } from "@/lib/site";

/** What every page has: a way past the navigation, the navigation, the page itself. */
export function AppShell({ children }: { children: ReactNode }) {
  const path = useCurrentPath();
<% if auth %>
  const session = useSession();
  const goTo = useGoTo();

  async function leave() {
    await signOut();
    goTo("/");
  }

<% endif %>
  return (
    <div className="flex min-h-screen flex-col bg-background text-foreground">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:absolute focus:z-10 focus:bg-background focus:px-4 focus:py-2 focus:outline-2 focus:outline-ring"
      >
        Skip to content
      </a>
      <header className="border-b border-border bg-surface">
        <div className="mx-auto flex w-full max-w-6xl flex-wrap items-center gap-x-6 gap-y-2 px-4 py-3">
          <AppLink href="/" className="text-lg font-semibold focus-visible:outline-2 focus-visible:outline-ring">
            {site.name}
          </AppLink>
          <nav aria-label="Main" className="flex flex-1 flex-wrap gap-x-4 gap-y-1">
            {site.navigation.map((item) => (
              <AppLink
                key={item.href}
                href={item.href}
                aria-current={path === item.href ? "page" : undefined}
                className="rounded py-1 text-sm underline-offset-4 hover:underline focus-visible:outline-2 focus-visible:outline-ring aria-[current=page]:font-semibold aria-[current=page]:underline"
              >
                {item.label}
              </AppLink>
            ))}
          </nav>
<% if auth %>
          {session === null ? (
            <Button asChild variant="outline">
              <AppLink href={site.signInPath ?? "/"}>Sign in</AppLink>
            </Button>
          ) : (
            <Button variant="outline" onClick={leave}>
              Sign out
            </Button>
          )}
<% endif %>
        </div>
      </header>
      <main id="main" tabIndex={-1} className="mx-auto w-full max-w-6xl flex-1 px-4 py-8">
        {children}
      </main>
    </div>
  );
}
