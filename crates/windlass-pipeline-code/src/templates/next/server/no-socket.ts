/**
 * A socket that is closed from the start. Server code does not listen for changes, but the Supabase
 * client wants a socket when it is made, and Node 20 has none of its own.
 */
export class NoSocket extends EventTarget {
  readonly CONNECTING = 0;
  readonly OPEN = 1;
  readonly CLOSING = 2;
  readonly CLOSED = 3;
  readonly readyState = 3;
  readonly url = "";
  readonly protocol = "";
  readonly onopen = null;
  readonly onmessage = null;
  readonly onclose = null;
  readonly onerror = null;

  close(): void {}

  send(): void {}
}
