// Text as a file on the visitor's device.

/** Asks the browser to save it under this name. */
export function saveText(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  // The browser has taken it when the click is over.
  setTimeout(() => URL.revokeObjectURL(url))
}
