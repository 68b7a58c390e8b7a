import { PageLayout } from "@/components/layout/page-layout";
import { Button } from "@/components/ui/button";
import { AppLink } from "@/lib/navigation";

export default function NotFound() {
  return (
    <PageLayout title="Page not found" layout="centered">
      <Button asChild>
        <AppLink href="/">Go to the start page</AppLink>
      </Button>
    </PageLayout>
  );
}
