export type Call = { method: string; path: string; query: string; body: unknown };

export type Answer = { status: number; body: unknown };

/** Replaces the network: records requests and returns configured answers. */
export function backend(answer: (call: Call) => Answer) {
  const calls: Call[] = [];
  async function fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const address = new URL(input instanceof Request ? input.url : input);
    const call: Call = {
      method: init?.method ?? "GET",
      path: decodeURIComponent(address.pathname),
      query: decodeURIComponent(address.search),
      body: typeof init?.body === "string" ? JSON.parse(init.body) : undefined,
    };
    calls.push(call);
    const { status, body } = answer(call);
    return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
  }
  return { calls, fetch };
}
