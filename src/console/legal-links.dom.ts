// The element <legal-links>: links to the operator's own pages, such as terms and imprint, on pages that are static files.

const PATH = '/site-links.json'

class LegalLinks extends HTMLElement {
  async connectedCallback(): Promise<void> {
    const response = await fetch(PATH).catch(() => null)
    const links: readonly { readonly name: string; readonly href: string }[] = response?.ok
      ? await response.json().catch(() => [])
      : []
    this.replaceChildren(
      ...links.map(({ name, href }) => Object.assign(document.createElement('a'), { textContent: name, href })),
    )
  }
}

customElements.define('legal-links', LegalLinks)
