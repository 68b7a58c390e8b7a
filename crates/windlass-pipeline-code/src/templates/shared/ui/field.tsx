import type { ReactNode } from "react";

import { Label } from "@/components/ui/label";

type FieldProps = {
  id: string;
  label: string;
  required: boolean;
  error: string | undefined;
  children: ReactNode;
};

/** A label, its control and what is wrong with the value. The control points to `<id>-error`. */
export function Field({ id, label, required, error, children }: FieldProps) {
  return (
    <div className="flex flex-col gap-2">
      <Label htmlFor={id}>
        {label}
        {required ? null : <span className="font-normal text-muted-foreground"> (optional)</span>}
      </Label>
      {children}
      {error === undefined ? null : (
        <p id={`${id}-error`} className="text-sm text-destructive">
          {error}
        </p>
      )}
    </div>
  );
}
