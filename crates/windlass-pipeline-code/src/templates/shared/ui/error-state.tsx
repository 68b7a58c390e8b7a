"use client";

import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { needsSetUp, needsSignIn } from "@/lib/errors";
import { AppLink } from "@/lib/navigation";
import { site } from "@/lib/site";

/** Why something could not be loaded, and a way to try again. */
export function ErrorState({ error, onRetry }: { error: Error; onRetry: () => void }) {
  if (needsSetUp(error)) {
    return (
      <Alert tone="warning" title="No database is connected yet">
        <p className="text-sm text-muted-foreground">{error.message}</p>
      </Alert>
    );
  }
  return (
    <Alert title={error.message}>
      <div className="flex flex-wrap gap-3">
        <Button variant="outline" onClick={onRetry}>
          Try again
        </Button>
        {site.signInPath !== null && needsSignIn(error) ? (
          <Button asChild>
            <AppLink href={site.signInPath}>Sign in</AppLink>
          </Button>
        ) : null}
      </div>
    </Alert>
  );
}
