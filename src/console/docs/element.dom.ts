// An element with what is in it.

export function element(tag: string, ...children: (Node | string)[]): HTMLElement {
  const made = document.createElement(tag)
  made.append(...children)
  return made
}
