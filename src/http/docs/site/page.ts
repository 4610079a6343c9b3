// A docs page is Markdown; its HTML and its `.md` file are generated from that. This file also has helpers for writing
// pages and machine-readable indexes. Addresses begin with `/docs`; links within Markdown use addresses, never file names.

import type { RequestField } from '../../../console/requests/request-form.ts'

/** Sections in menu order. */
export const SECTIONS = {
  start: 'Get started',
  guides: 'How-to guides',
  reference: 'Reference',
  info: 'Info endpoint',
  streams: 'Channels',
  platform: 'Account and keys',
  pipelines: 'Pipelines',
  data: 'History and balances',
  explanation: 'Explanation',
  operator: 'Run your own gateway',
  inside: 'Internals',
  decisions: 'Decisions',
} as const
export type Section = keyof typeof SECTIONS

export interface Page {
  readonly address: string
  readonly title: string
  /** One line; the only Markdown is inline code. */
  readonly summary: string
  readonly section: Section
  /** Starts with the page heading. */
  readonly markdown: string
  /** Names in the page's tables, which count more than its text in the search. */
  readonly keywords?: readonly string[]
  readonly request?: TryRequest
  /** Part of the section in the menu. */
  readonly group?: string
  /** Address of a feed of the page's changes. */
  readonly feed?: string
}

/** The request that the page's form sends. */
export interface TryRequest {
  readonly method: string
  /** May contain parameters in braces. */
  readonly path: string
  /** Fixed part of a JSON body; null: no body. */
  readonly base: Readonly<Record<string, unknown>> | null
  readonly fields: readonly RequestField[]
  /** The environment variable with the key in the code samples, if they follow the form. */
  readonly secret?: string
  /** Works without a key. */
  readonly isPublic?: boolean
  /** Changes something, which the form says. */
  readonly isChange?: boolean
}

interface Heading {
  readonly depth: number
  readonly text: string
  readonly anchor: string
}

/** Headings of a page, except those in code blocks. */
export function headingsOf(markdown: string): readonly Heading[] {
  const anchor = anchors()
  return outsideCode(markdown).flatMap((line) => {
    const [, marks, text = ''] = /^(#{1,6}) (.*)$/.exec(line) ?? []
    return marks === undefined ? [] : [{ depth: marks.length, text, anchor: anchor(text) }]
  })
}

/** Lines outside code blocks. */
export function outsideCode(markdown: string): string[] {
  let fence = ''
  return markdown.split('\n').filter((line) => {
    const mark = /^\s*(```+)/.exec(line)?.[1]
    if (mark === undefined) return fence === ''
    fence = fence === '' ? mark : fence === mark ? '' : fence
    return false
  })
}

/** Applies `rewrite` to every line outside code blocks. */
export function rewriteLines(markdown: string, rewrite: (line: string) => string): string {
  let isCode = false
  return markdown
    .split('\n')
    .map((line) => {
      if (/^\s*```/.test(line)) isCode = !isCode
      return isCode ? line : rewrite(line)
    })
    .join('\n')
}

/** The page as a Markdown file; links within the site point to `.md` files. */
export function markdownFile({ markdown }: Page): string {
  const text = rewriteLines(markdown, (line) =>
    line.replaceAll(/\]\((\/docs[^)\s#]*)(#[^)\s]*)?\)/g, (_, address: string, anchor = '') => {
      return `](${address === '/docs/all' ? address : `${address}.md`}${anchor})`
    }),
  )
  return `${text.trimEnd()}\n`
}

/** Inline code; the text may contain backticks. */
export function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``
}

/** A table row. */
export function cells(row: readonly string[]): string {
  return `| ${row.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
}

/** A table, or '' if there are no rows. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? '' : [head, head.map(() => '---'), ...rows].map(cells).join('\n')
}

/** Properties as a table of one row. */
export const facts = (of: Readonly<Record<string, string>>) => table(Object.keys(of), [Object.values(of)])

export function block(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``
}

/** Width of the column of samples. */
const LINE_CHARS = 64

/** Indented JSON; short values stay on one line. */
export function jsonText(value: unknown, indent = ''): string {
  const flat = JSON.stringify(value)
  if (flat === undefined || flat.length + indent.length <= LINE_CHARS || typeof value !== 'object' || value === null)
    return flat
  const deeper = `${indent}  `
  if (Array.isArray(value))
    return `[\n${value.map((item) => `${deeper}${jsonText(item, deeper)}`).join(',\n')}\n${indent}]`
  const members = Object.entries(value).map(
    ([key, item]) => `${deeper}${JSON.stringify(key)}: ${jsonText(item, deeper)}`,
  )
  return `{\n${members.join(',\n')}\n${indent}}`
}

/** All pages for search engines. The gateway writes its address in place of the marks. */
export function sitemapXml(pages: readonly Page[]): string {
  const addresses = ['/', '/live', '/status', ...pages.map(({ address }) => address)]
  const urls = addresses.map((address) => `<url><loc><!--weir:origin-->${address}</loc></url>`)
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${urls.join('\n')}
</urlset>
`
}

/** Heading anchors of one page as GitHub builds them: repeated names get a number. */
export function anchors(): (heading: string) => string {
  const seen = new Map<string, number>()
  return (heading) => {
    const name = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-')
    const times = seen.get(name) ?? 0
    seen.set(name, times + 1)
    return times === 0 ? name : `${name}-${times}`
  }
}

/** The parts of a page that are not empty. */
export const joinParts = (parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n\n')

/** Notes from comments and documents, as the last part of a page; empty if there are no notes. */
export function notesPart(notes: readonly (string | null | undefined)[]): string {
  const points = notes.filter((note) => note != null).map((text) => `- ${text.replaceAll('\n', '\n  ')}`)
  return points.length === 0 ? '' : `## Notes\n\n${points.join('\n')}`
}

const INTRO = `# Weir

> A metered data API in front of an exchange node: info requests, live order books and events over WebSocket and GraphQL,
> JSON-RPC, history files, and pipelines to databases. One API key for all.

Send the key as \`Authorization: Bearer <key>\`, on \`/ws\` also as \`?key=<key>\`. Every page below is Markdown. The
machine-readable definitions are /openapi.json (OpenAPI 3.1), /asyncapi.json (AsyncAPI 3) and /graphql/schema.graphql.
Agents use the MCP server at /mcp with the same key: /docs/guides/use-from-an-ai-agent.md lists its tools and prices.
`

/** Link lists by section. */
export const linkLists = (pages: readonly Page[], ending: '' | '.md'): string =>
  Object.entries(SECTIONS)
    .map(([section, title]) => {
      const links = pages
        .filter((page) => page.section === section)
        .map(({ address, title: name, summary }) => `- [${name.replaceAll('`', '')}](${address}${ending}): ${summary}`)
      return `## ${title}\n\n${links.join('\n')}`
    })
    .join('\n\n')

/** llms.txt in the llmstxt.org format: heading, summary, link lists. */
export const llmsText = (pages: readonly Page[]): string =>
  `${INTRO}\n${linkLists(
    pages.filter(({ address }) => address !== '/docs/all'),
    '.md',
  )}\n`

/** Everything that callers and operators need, in one file, without the internals. */
export function llmsFullText(pages: readonly Page[]): string {
  const published = pages.filter(({ section, address }) => {
    return !['inside', 'decisions'].includes(section) && address !== '/docs/all'
  })
  return `${INTRO}\n${published.map((page) => `<!-- ${page.address} -->\n\n${markdownFile(page)}`).join('\n')}`
}
