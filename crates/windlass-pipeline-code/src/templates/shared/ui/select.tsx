import type { ComponentProps } from "react";

import { cn } from "@/lib/utils";

/** The browser's own select: works with keyboard, touch and assistive technology as it is. */
export function Select({ className, ...props }: ComponentProps<"select">) {
  return (
    <select
      className={cn(
        "min-h-10 w-full rounded-md border border-border-strong bg-background px-3 py-2 text-base text-foreground focus-visible:outline-2 focus-visible:outline-offset-2 focus-visible:outline-ring aria-invalid:border-destructive",
        className,
      )}
      {...props}
    />
  );
}
