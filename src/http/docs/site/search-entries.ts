// Makes the entries of the search: one for each page, and one for each error code.

import type { Group, SearchEntry } from '../../../console/docs/search.ts'
import { headingsOf, outsideCode, type Page, type Section } from './page.ts'

const ERRORS = '/docs/reference/errors'
/** It names every page, so it would match every word. */
const ALL = '/docs/all'
/** Pages that are generated from one definition. They share their headings, and their tables of errors. */
const DEFINITION = /^\/docs\/(info|channels|rest|rpc)\/./
const SHARED_PARTS = /^## (Code|Errors)\n[\s\S]*?(?=^## |(?![\s\S]))/gm

const GROUP_OF_SECTION: Readonly<Record<Section, Group>> = {
  start: 'guides',
  guides: 'guides',
  explanation: 'guides',
  reference: 'reference',
  info: 'reference',
  streams: 'reference',
  platform: 'reference',
  pipelines: 'reference',
  data: 'reference',
  operator: 'operators',
  inside: 'internals',
  decisions: 'internals',
}

export function searchEntries(pages: readonly Page[]): SearchEntry[] {
  const errors = pages.find(({ address }) => address === ERRORS)
  return [
    ...pages.filter(({ address }) => address !== ALL).map(pageEntry),
    ...(errors === undefined ? [] : errorEntries(errors.markdown)),
  ]
}

function pageEntry({ address, title, summary, section, markdown, keywords = [] }: Page): SearchEntry {
  const isDefinition = DEFINITION.test(address)
  const headings = headingsOf(markdown).filter(({ depth }) => depth === 2 || depth === 3)
  return {
    address,
    title: plainText(title),
    summary: plainText(summary),
    group: address === ERRORS ? 'errors' : GROUP_OF_SECTION[section],
    headings: isDefinition ? [] : headings.map(({ text, anchor }) => [plainText(text), anchor]),
    keywords: keywords.join(' '),
    body: plainText(outsideCode(isDefinition ? markdown.replaceAll(SHARED_PARTS, '') : markdown).join('\n')),
  }
}

/** An entry for each row of each table of codes, such as `rate_limited` with its statuses. */
function errorEntries(markdown: string): SearchEntry[] {
  let anchor = ''
  let head: string[] = []
  const entries: SearchEntry[] = []
  const anchors = new Map(headingsOf(markdown).map(({ text, anchor: name }) => [text, name]))
  for (const line of outsideCode(markdown)) {
    const heading = /^## (.*)$/.exec(line)?.[1]
    if (heading !== undefined) anchor = anchors.get(heading) ?? ''
    if (!line.startsWith('|')) head = []
    const cells = line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map(plainText)
    if (!line.startsWith('|') || /^\|[-|]+\|$/.test(line)) continue
    const cause = head.indexOf('Cause')
    if (head.length === 0) head = cells
    else if (cause > 0 && /code/i.test(head[0] ?? '') && !cells[0]?.includes(' '))
      entries.push(errorEntry(cells, cause, `${ERRORS}#${anchor}`))
  }
  return entries
}

function errorEntry(cells: readonly string[], cause: number, address: string): SearchEntry {
  const [code = '', ...more] = cells
  // A number of JSON-RPC is found by itself, and a status by the code that REST sends with it.
  const statuses = /\d/.test(code)
    ? []
    : [...new Set(more.slice(0, cause - 1).flatMap((cell) => cell.match(/[-−]?\d+/g) ?? []))]
  const [status] = statuses
  return {
    address,
    title: status === undefined ? code : `${code} (${status})`,
    summary: cells[cause] ?? '',
    group: 'errors',
    headings: [],
    keywords: [code, ...statuses].join(' '),
    body: cells.slice(cause).join(' '),
  }
}

/** Text without the marks of Markdown and the targets of links. */
function plainText(text: string): string {
  return text
    .replaceAll(/\]\([^)\s]*\)/g, ']')
    .replaceAll(/[`*[\]]/g, '')
    .replaceAll(/[|#]/g, ' ')
    .replaceAll(/[ \n]+/g, ' ')
    .trim()
}
