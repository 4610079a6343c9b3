// Reads lines of the node's folder `replica_cmds` within limits. Invariants: no line can make the gateway reject a block;
// everything that is left out is named in an entry.

import * as z from 'zod'
import { fromChunks } from '../core/chunks.ts'
import { isDeeperThan, JSON_MAX_DEPTH } from '../core/json.ts'
import { Address, Height } from '../protocol/feed/block.ts'
import type { ReplicaEntry } from '../protocol/feed/replica-entries.ts'
import { EVENT_MAX_UNITS, parseExactly } from './extra-lines.ts'

/** A longer line is left out. The lines of the exchange have tens of kilobytes. */
export const REPLICA_LINE_MAX_BYTES = 2 * 1024 * 1024
const LINE_FEED = 10

const Bundle = z.tuple([z.unknown(), z.looseObject({ signed_actions: z.array(z.unknown()) })], z.unknown())
const Line = z.looseObject({
  height: Height.optional(),
  abci_block: z.looseObject({ signed_action_bundles: z.array(Bundle) }),
  resps: z.unknown().optional(),
})
const Response = z.looseObject({ user: z.string().nullish(), res: z.unknown().optional() })
const Responses = z.object({ Full: z.array(z.tuple([z.unknown(), z.array(Response)], z.unknown())) })
type Responses = z.infer<typeof Responses>['Full']

/**
 * The entries of a line. `height`: the height that follows from its file, which the line's own height replaces. `text`:
 * null if the line is longer than the maximum. `refuse` is called with the reason for everything that is left out.
 */
export function readReplicaLine(
  { height, text }: { readonly height: number; readonly text: string | null },
  refuse: (reason: string) => void,
): ReplicaEntry[] {
  const lost = (reason: string, at = height): ReplicaEntry[] => {
    const sentence = `the line of height ${at} in replica_cmds ${reason}`
    refuse(sentence)
    return [{ line: { height: at } }, { lost: sentence }]
  }
  if (text === null) return lost(`has more than ${REPLICA_LINE_MAX_BYTES} bytes`)
  if (isDeeperThan(text)) return lost(`nests deeper than ${JSON_MAX_DEPTH} levels`)
  const parsed = Line.safeParse(parseExactly(text))
  if (!parsed.success) return lost('is not JSON with abci_block.signed_action_bundles')
  const { height: own = height, abci_block: abci, resps, ...other } = parsed.data
  const { signed_action_bundles: bundles, ...block } = abci
  const heads: ReplicaEntry[] = [
    { line: { height: own, block, ...(Object.keys(other).length > 0 && { other }) } },
    ...bundles.map(([hash, { signed_actions: _, ...more }]) => ({ bundle: { hash, ...more } })),
  ]
  if (!heads.every(fits)) return lost(`has fields of more than ${EVENT_MAX_UNITS} characters`, own)
  const answers = resps == null ? null : readResponses(resps, bundles)
  const [line, ...bundleHeads] = heads as [ReplicaEntry, ...ReplicaEntry[]]
  const entries = [line]
  const skipped: number[] = []
  let index = 0
  for (const [at, [, { signed_actions: actions }]] of bundles.entries()) {
    entries.push(bundleHeads[at] as ReplicaEntry)
    for (const [position, action] of actions.entries()) {
      const entry = { action, index: index++, ...answers?.[at]?.[position] }
      if (fits(entry)) entries.push(entry)
      else skipped.push(entry.index)
    }
  }
  const notes = [
    skipped.length > 0 && `lacks ${skipped.length} actions of more than ${EVENT_MAX_UNITS} characters here`,
    resps != null && answers === null && 'has responses of an unknown form',
  ]
  for (const note of notes) if (note !== false) entries.push(...lost(note, own).slice(1))
  return entries
}

const fits = (entry: ReplicaEntry) => JSON.stringify(entry).length <= EVENT_MAX_UNITS

/**
 * User and response of each action by bundle. Null if the responses have an unknown form, or do not correspond to the
 * actions one to one.
 */
function readResponses(resps: unknown, bundles: readonly z.infer<typeof Bundle>[]) {
  const parsed = Responses.safeParse(resps)
  if (!parsed.success || !areAligned(parsed.data.Full, bundles)) return null
  return parsed.data.Full.map(([, responses]) =>
    responses.map(({ user, res }) => {
      const address = Address.safeParse(user?.toLowerCase())
      return { user: address.success ? address.data : null, response: res }
    }),
  )
}

function areAligned(full: Responses, bundles: readonly z.infer<typeof Bundle>[]): boolean {
  const isSame = ([hash, responses]: Responses[number], at: number) =>
    bundles[at]?.[0] === hash && bundles[at]?.[1].signed_actions.length === responses.length
  return full.length === bundles.length && full.every(isSame)
}

/** A line with the height that follows from its file. `text`: null if it is too long. */
export interface ReplicaLine {
  readonly height: number
  readonly text: string | null
}

/** Splits the bytes of a file into lines, of which at most one incomplete one is in memory. */
export class ReplicaLineSplitter {
  readonly #from: number
  #height: number
  #partial: Uint8Array[] = []
  #partialBytes = 0

  /** `first`: height of the file's first line. Lines below `from` are skipped. */
  constructor(first: number, from: number) {
    this.#height = first
    this.#from = from
  }

  /** The lines that these bytes complete. */
  push(bytes: Uint8Array): ReplicaLine[] {
    const lines: ReplicaLine[] = []
    let begin = 0
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, begin)) {
      const height = this.#height++
      if (height >= this.#from) lines.push({ height, text: this.#textWith(bytes.subarray(begin, end)) })
      this.#partial = []
      this.#partialBytes = 0
      begin = end + 1
    }
    this.#retain(bytes.subarray(begin))
    return lines
  }

  #textWith(end: Uint8Array): string | null {
    if (this.#partialBytes + end.length > REPLICA_LINE_MAX_BYTES) return null
    return fromChunks([...this.#partial, end])
  }

  #retain(rest: Uint8Array): void {
    this.#partialBytes += rest.length
    if (this.#height < this.#from || this.#partialBytes > REPLICA_LINE_MAX_BYTES) this.#partial = []
    else if (rest.length > 0) this.#partial.push(new Uint8Array(rest))
  }
}
