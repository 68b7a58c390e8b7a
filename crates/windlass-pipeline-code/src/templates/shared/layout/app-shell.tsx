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
  function isCurrent(href: string) {
    return path === href || (href !== "/" && path.startsWith(`${href}/`));
  }

  return (
    <div className="flex min-h-screen flex-col bg-background text-foreground<% if sidebar %> lg:flex-row<% endif %>">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:absolute focus:z-20 focus:bg-background focus:px-4 focus:py-2 focus:text-foreground focus:outline-2 focus:outline-ring"
      >
        Skip to content
      </a>
<% if sidebar %>
      <header className="shrink-0 border-b border-border bg-header text-header-foreground lg:sticky lg:top-0 lg:h-screen lg:w-60 lg:overflow-y-auto lg:border-r lg:border-b-0">
        <div className="flex min-h-full flex-col gap-4 p-4">
<% else %>
      <header className="sticky top-0 z-10 border-b border-border bg-header text-header-foreground">
        <div className="mx-auto flex w-full max-w-6xl flex-wrap items-center gap-x-6 gap-y-2 px-4 py-3 sm:px-6">
<% endif %>
          <AppLink
            href="/"
            className="flex items-center gap-2 rounded-md text-lg font-semibold focus-visible:outline-2 focus-visible:outline-current"
          >
            <span
              aria-hidden="true"
              className="grid size-8 place-items-center rounded-md bg-primary font-bold text-primary-foreground"
            >
              {Array.from(site.name)[0]}
            </span>
            {site.name}
          </AppLink>
<% if sidebar %>
          <nav aria-label="Main" className="flex flex-wrap gap-1 lg:flex-1 lg:flex-col lg:flex-nowrap">
<% else %>
          <nav aria-label="Main" className="flex flex-1 flex-wrap gap-1">
<% endif %>
            {site.navigation.map((item) => (
              <AppLink
                key={item.href}
                href={item.href}
                aria-current={isCurrent(item.href) ? "page" : undefined}
                className="rounded-md px-3 py-2 text-sm font-medium hover:bg-header-foreground/10 focus-visible:outline-2 focus-visible:outline-current aria-[current=page]:bg-header-foreground/15 aria-[current=page]:font-semibold"
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
<% if sidebar %>
      <main id="main" tabIndex={-1} className="mx-auto w-full max-w-6xl min-w-0 flex-1 px-4 py-8 sm:px-8">
<% else %>
      <main id="main" tabIndex={-1} className="mx-auto w-full max-w-6xl flex-1 px-4 py-8 sm:px-6 sm:py-10">
<% endif %>
        {children}
      </main>
    </div>
  );
}
