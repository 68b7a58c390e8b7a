import { CircleAlert } from "lucide-react";
import type { ReactNode } from "react";

/** Something that went wrong; read out at once. */
export function Alert({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div role="alert" className="flex gap-3 rounded-lg border border-destructive bg-background p-4 text-foreground">
      <CircleAlert aria-hidden="true" className="mt-0.5 size-5 shrink-0 text-destructive" />
      <div className="flex flex-col items-start gap-3">
        <p className="font-medium">{title}</p>
        {children}
      </div>
    </div>
  );
}
