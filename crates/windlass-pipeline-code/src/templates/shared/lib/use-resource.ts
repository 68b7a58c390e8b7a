"use client";

import { useCallback, useEffect, useState } from "react";

import { toError } from "@/lib/errors";

type State<T> = { status: "loading" } | { status: "error"; error: Error } | { status: "ready"; data: T };

export type Resource<T> = State<T> & { reload: () => void };

/** Loads when the component appears and whenever `load` changes; pass a stable function. */
export function useResource<T>(load: () => Promise<T>): Resource<T> {
  const [attempt, setAttempt] = useState(0);
  const [state, setState] = useState<State<T>>({ status: "loading" });

  useEffect(() => {
    let current = true;
    load().then(
      (data) => {
        if (current) {
          setState({ status: "ready", data });
        }
      },
      (thrown: unknown) => {
        if (current) {
          setState({ status: "error", error: toError(thrown) });
        }
      },
    );
    return () => {
      current = false;
    };
  }, [load, attempt]);

  const reload = useCallback(() => {
    setState({ status: "loading" });
    setAttempt((count) => count + 1);
  }, []);

  return { ...state, reload };
}
