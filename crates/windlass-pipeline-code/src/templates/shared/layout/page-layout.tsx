import type { ReactNode } from "react";

import { cn } from "@/lib/utils";

export type Layout = "single-column" | "sidebar-main" | "split" | "grid" | "centered" | "master-detail";

const arrangement: Record<Layout, string> = {
  "single-column": "flex flex-col gap-8",
  "sidebar-main": "grid gap-8 [&>*]:min-w-0 lg:grid-cols-[16rem_minmax(0,1fr)] [&>*:only-child]:lg:col-span-2",
  split: "grid gap-8 [&>*]:min-w-0 lg:grid-cols-2 [&>*:only-child]:lg:col-span-2",
  grid: "grid gap-6 sm:grid-cols-2 lg:grid-cols-3 [&>*]:col-span-full [&>*]:min-w-0",
  centered: "mx-auto flex w-full max-w-xl flex-col gap-8",
  "master-detail": "grid gap-8 [&>*]:min-w-0 lg:grid-cols-[minmax(0,2fr)_minmax(0,3fr)] [&>*:only-child]:lg:col-span-2",
};

type PageLayoutProps = {
  title: string;
  description?: string;
  layout: Layout;
  /** Whether the heading introduces the product and not only the page. */
  hero?: boolean;
  children: ReactNode;
};

/** A page's heading and the arrangement of what is below it. */
export function PageLayout({ title, description, layout, hero = false, children }: PageLayoutProps) {
  return (
    <div className="flex flex-col gap-8">
      <header
        className={cn(
          "flex flex-col gap-2",
          layout === "centered" && "mx-auto w-full max-w-xl",
          hero && "gap-4 rounded-xl bg-primary px-6 py-14 text-primary-foreground sm:px-12 sm:py-20",
        )}
      >
        <h1 className={cn("text-h1 font-bold tracking-tight text-balance break-words", hero && "sm:text-5xl")}>
          {title}
        </h1>
        {description === undefined ? null : (
          <p className={cn("max-w-prose text-pretty", hero ? "text-lg" : "text-muted-foreground")}>{description}</p>
        )}
      </header>
      <div className={arrangement[layout]}>{children}</div>
    </div>
  );
}
