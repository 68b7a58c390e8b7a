import CircleAlert from "lucide-react/icons/circle-alert";
import type { ReactNode } from "react";

import { cn } from "@/lib/utils";

type AlertProps = { title: string; tone?: "error" | "warning"; children?: ReactNode };

/** Something that went wrong or is still to be done; read out at once. */
export function Alert({ title, tone = "error", children }: AlertProps) {
  const warns = tone === "warning";
  return (
    <div
      role="alert"
      className={cn(
        "flex gap-3 rounded-lg border border-l-4 bg-surface p-4 text-foreground",
        warns ? "border-warning" : "border-destructive",
      )}
    >
      <CircleAlert
        aria-hidden="true"
        className={cn("mt-0.5 size-5 shrink-0", warns ? "text-warning" : "text-destructive")}
      />
      <div className="flex flex-col items-start gap-3">
        <p className="font-medium">{title}</p>
        {children}
      </div>
    </div>
  );
}
