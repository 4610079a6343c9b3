// What programs read beside the pages: the index of the search, and llms.txt.

import { headingsOf, markdownFile, type Page, SECTIONS } from './page.ts'

/** A page as the search knows it. */
export interface Found {
  readonly address: string
  readonly title: string
  readonly summary: string
  /** In small letters: headings and fields. */
  readonly words: string
}

export function searchIndex(pages: readonly Page[]): Found[] {
  return pages.map(({ address, title, summary, markdown, keywords = [] }) => {
    const headings = headingsOf(markdown)
      .slice(1)
      .filter(({ depth }) => depth <= 3)
      .map(({ text }) => text)
    const words = [...new Set([...keywords, ...headings].map((word) => word.toLowerCase()))]
    return { address, title: title.replaceAll('`', ''), summary: summary.replaceAll('`', ''), words: words.join(' ') }
  })
}

const INTRO = `# Weir

> A metered data API in front of an exchange node: questions by \`POST /info\`, live books and events on \`/ws\`, the same
> over GraphQL, JSON-RPC of a chain, history as files, pipelines to databases. One key for all.

A key travels as \`Authorization: Bearer <key>\`; on \`/ws\` as \`?key=<key>\`, too. Every page below is Markdown. Programs
read /openapi.json (OpenAPI 3.1), /asyncapi.json (AsyncAPI 3) and /graphql/schema.graphql.
`

/** The form of llmstxt.org: a heading, a sentence, lists of links. */
export function llmsText(pages: readonly Page[]): string {
  const parts = Object.entries(SECTIONS).map(([section, title]) => {
    const links = pages
      .filter((page) => page.section === section && page.address !== '/docs/all')
      .map(({ address, title: name, summary }) => `- [${name.replaceAll('`', '')}](${address}.md): ${summary}`)
    return `## ${title}\n\n${links.join('\n')}`
  })
  return `${INTRO}\n${parts.join('\n\n')}\n`
}

/** All that a caller needs, in one file; how it is made and why is left out. */
export function llmsFullText(pages: readonly Page[]): string {
  const told = pages.filter(({ section, address }) => {
    return !['inside', 'decisions'].includes(section) && address !== '/docs/all'
  })
  return `${INTRO}\n${told.map((page) => `<!-- ${page.address} -->\n\n${markdownFile(page)}`).join('\n')}`
}
