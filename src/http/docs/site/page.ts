// A page of the documentation: Markdown from which both its HTML and its `.md` are made. Addresses begin with `/docs`; a
// link within Markdown names the address, never a file.

import { anchors } from './markdown-text.ts'

/** Parts of the site in the order of the menu. */
export const SECTIONS = {
  start: 'Begin',
  info: 'Info: questions',
  streams: 'Streams',
  rpc: 'JSON-RPC',
  platform: 'Keys and usage',
  pipelines: 'Pipelines',
  data: 'History and balances',
  operator: 'For operators',
  inside: 'How it is made',
  decisions: 'Decisions',
} as const
export type Section = keyof typeof SECTIONS

export interface Page {
  readonly address: string
  readonly title: string
  /** One line, without Markdown but for code. */
  readonly summary: string
  readonly section: Section
  /** Begins with its heading. */
  readonly markdown: string
  /** What a search finds it by beside title, summary and headings. */
  readonly keywords?: readonly string[]
  readonly request?: TryRequest
}

/** What a signed-in visitor may send from the page. */
export interface TryRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** JSON, of a POST. */
  readonly body: string | null
}

interface Heading {
  readonly depth: number
  readonly text: string
  /** Its place on the page. */
  readonly anchor: string
}

/** The headings of a page, without those that stand in code. */
export function headingsOf(markdown: string): readonly Heading[] {
  const anchor = anchors()
  return outsideCode(markdown).flatMap((line) => {
    const [, marks, text] = /^(#{1,6}) (.*)$/.exec(line) ?? []
    return marks === undefined ? [] : [{ depth: marks.length, text: text!, anchor: anchor(text!) }]
  })
}

/** The lines that are not in blocks of code. */
function outsideCode(markdown: string): string[] {
  let fence = ''
  return markdown.split('\n').filter((line) => {
    const mark = /^\s*(```+)/.exec(line)?.[1]
    if (mark === undefined) return fence === ''
    fence = fence === '' ? mark : fence === mark ? '' : fence
    return false
  })
}

/** The Markdown with every line outside of blocks of code rewritten. */
export function rewritten(markdown: string, rewrite: (line: string) => string): string {
  let isCode = false
  return markdown
    .split('\n')
    .map((line) => {
      if (/^\s*```/.test(line)) isCode = !isCode
      return isCode ? line : rewrite(line)
    })
    .join('\n')
}

/** The same as a file of its own: links within the site lead to files, too. */
export function markdownFile({ markdown }: Page): string {
  const text = rewritten(markdown, (line) =>
    line.replaceAll(/\]\((\/docs[^)\s#]*)(#[^)\s]*)?\)/g, (_, address: string, anchor = '') => {
      return `](${address === '/docs/all' ? address : `${address}.md`}${anchor})`
    }),
  )
  return `${text.trimEnd()}\n`
}
