/** Returns the width of a text in pixels. */
export function measure(text: string): number {
  return [...text].reduce((width, character) => width + (character > "\u2e7f" ? 16 : 8), 0);
}

function unused(): void {}
