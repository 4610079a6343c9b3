// Opens a source by its name: a folder, a bucket, or a different gateway.

import { err, ok, type Result } from '../../core/result.ts'
import { bookArchiveOf } from './book-files.ts'
import type { BookArchive } from './book-join.ts'
import { blockFiles, isNeeded, type PlannedFile } from './source-files.ts'
import { billText, gatewayFiles, type SourceLists } from './sources.node.ts'
import type { ArchivedRange, Window } from './window.ts'

/** Files in order, and the credits spent on them so far. `books`: null if the source has no order books. */
export interface OpenedSource {
  readonly books: BookArchive | null
  readonly files: AsyncIterable<PlannedFile> | Iterable<PlannedFile>
  readonly credits: () => number
}

export interface SourceOptions {
  /** Accepts the cost of a bucket. */
  readonly yes?: true | undefined
  /** API key of the other gateway; default: WEIR_KEY in the environment. */
  readonly key?: string | undefined
}

interface SourcePorts {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly lists: SourceLists
  note(text: string): void
}

interface Target {
  readonly chain: string
  readonly held: ArchivedRange
}

/** Name of a folder without a name. */
export const UNNAMED_FOLDER = 'folder'
const NAMED = /^([A-Za-z0-9._-]{1,40})=(.+)$/

/** The name of a source and the source, from `NAME=SOURCE` or from the source alone. */
export function sourceName(text: string): readonly [name: string, source: string] {
  const [, name, source] = NAMED.exec(text) ?? []
  if (name !== undefined && source !== undefined) return [name, source]
  if (/^https?:\/\//.test(text)) return [URL.parse(text)?.host ?? 'gateway', text]
  return [text.startsWith('s3://') ? `s3 ${text.split('/')[2]}` : UNNAMED_FOLDER, text]
}

/** Opens the files of a source that may have missing blocks of the window. Nothing of a bucket is fetched without `yes`. */
export async function openSource(
  source: string,
  window: Window,
  { chain, held }: Target,
  options: SourceOptions,
  { env, lists, note }: SourcePorts,
): Promise<Result<OpenedSource, string>> {
  if (/^https?:\/\//.test(source)) return openGateway(source, window, { chain, held }, options.key ?? env.WEIR_KEY)
  if (/^\w+:\/\//.test(source) && !source.startsWith('s3://'))
    return err(`${source} is not a valid source. Pass a folder, s3://BUCKET/PREFIX, or the https:// URL of a gateway.`)
  const listed = await lists.of(source, env)
  if (!listed.ok) return listed
  const planned = blockFiles(source, listed.value.files, chain)
  if (!planned.ok) return planned
  if (!source.startsWith('s3://'))
    return ok({ files: planned.value, books: bookArchiveOf(listed.value.files, chain), credits: () => 0 })
  if ('height' in window.from && planned.value[0]?.form.kind === 'node')
    return err('Files in a bucket are named by hour. Pass --from as a time, such as 2026-11-01.')
  const needed = planned.value.filter(({ form }) => isNeeded(form, window, held))
  const bytes = needed.reduce((sum, file) => sum + file.bytes, 0)
  const bill = billText(needed.length, bytes, listed.value.lists)
  if (needed.length > 0 && options.yes !== true)
    return err(`${bill} Nothing was fetched. Pass --yes to accept the cost.`)
  note(bill)
  return ok({ files: needed, books: null, credits: () => 0 })
}

function openGateway(
  source: string,
  { from, to }: Window,
  { chain, held }: Target,
  key: string | undefined,
): Result<OpenedSource, string> {
  if (!key) return err(`${source} needs an API key of that gateway. Set WEIR_KEY in the environment, or pass --key.`)
  if ('height' in from) return err('Another gateway lists files by time. Pass --from as a time, such as 2026-11-01.')
  let credits = 0
  const toMs = 'timeMs' in to ? Math.min(to.timeMs, held.end.time) : held.end.time
  const url = new URL(source).origin
  const files = gatewayFiles({ url, key, chain }, { fromMs: from.timeMs, toMs }, (cost) => {
    credits += cost
  })
  return ok({ files, books: null, credits: () => credits })
}
