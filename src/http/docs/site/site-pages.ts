// All pages of the documentation, in the order of the menu.

import type { AnyQuery } from '../../../info/query.ts'
import type { AnyChannel } from '../../../relay/channel.ts'
import type { Operation } from '../../operation.ts'
import { channelPages } from './channel-pages.ts'
import { endpointPages } from './endpoint-pages.ts'
import { infoPages } from './info-pages.ts'
import {
  allPage,
  channelList,
  endpointList,
  rpcMethodsPage,
  statusPage,
  typeList,
  webhooksPage,
} from './other-pages.ts'
import type { Page } from './page.ts'
import { type Documents, paragraphsOf, prosePages, rulesOf } from './prose-pages.ts'

export interface SiteSources {
  readonly queries: readonly AnyQuery[]
  readonly channels: readonly AnyChannel[]
  readonly operations: readonly Operation[]
  readonly documents: Documents
  /** What the files of types and of channels say of themselves, by name. */
  readonly queryNotes: ReadonlyMap<string, string>
  readonly channelNotes: ReadonlyMap<string, string>
}

export function sitePages(sources: SiteSources): Page[] {
  const { queries, channels, operations, documents } = sources
  const read = (path: string) => documents.get(path) ?? ''
  const endpoints = endpointPages(operations)
  const sectionOf = new Map(operations.map(({ id }, at) => [id, endpoints[at]!.section]))
  const pages = [
    ...prosePages(documents),
    typeList(queries),
    ...infoPages(queries, { notes: sources.queryNotes, paragraphs: paragraphsOf(read('docs/info.md')) }),
    channelList(channels),
    ...channelPages(channels, { notes: sources.channelNotes, rules: rulesOf(read('docs/ws-protocol.md')) }),
    rpcMethodsPage(),
    webhooksPage(),
    endpointList(operations, sectionOf),
    ...endpoints,
    statusPage(),
  ]
  return [...pages, allPage(pages)]
}

/** What a file says of itself in its first lines, without the name that it begins with. */
export function headNote(code: string): string | null {
  const lines = code.split('\n')
  const head = lines.slice(
    0,
    lines.findIndex((line) => !line.startsWith('//')),
  )
  return shownNote(head.map((line) => line.replace(/^\/\/ ?/, '')).join('\n'))
}

/** The comment above the definition of the type `name`, where a file holds several. */
export function definitionNote(code: string, name: string): string | null {
  const above = code.split(new RegExp(`\\nexport const \\w+ = [^\\n]*\\n  type: '${name}',`))[0] ?? ''
  const [, comment = ''] = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/$/.exec(above) ?? []
  const lines = comment.split('\n').map((line) => line.replace(/^ *\* ?/, '').trim())
  return shownNote(lines.join('\n').trim())
}

/** Without what only who reads the code can use: the name before it, and names of files. */
function shownNote(text: string): string | null {
  const said = text.replace(/^\w+: /, '').replace(/ ?\(\w[\w/-]*\.ts\)/g, '')
  return said === '' ? null : `${said[0]!.toUpperCase()}${said.slice(1)}`
}
