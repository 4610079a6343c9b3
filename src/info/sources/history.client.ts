// Reads events from the BlockLog page by page. Invariant: each result states the block from which it is complete; if
// the log cannot be read to its end, that block is later.

import { type FillHistory, joinStretches } from '../../archive/funding-spans.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { BlockRange, FillScope, HeightAndTime } from '../../protocol/feed/durable-api.ts'
import { type BlockLogApi, LOG_API_VERSION } from '../../protocol/feed/log-api.ts'
import type { EventKind, History } from '../ports.ts'
import { askObject } from './object-call.client.ts'

export interface LogHistoryDeps {
  /** A new stub of the log, because a failed stub stays broken. */
  readonly log: () => Pick<BlockLogApi, 'fills'>
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<void>
}

/** Maximum pages per read; the window of the real exchange needs about seven. */
const PAGES_MAX = 32
/** Maximum number of waits for one page. */
const WAITS_MAX = 3
/** Time limit of a read, including all waits; well below FLIGHT_MAX_MS. */
const READ_MAX_MS = 8_000
const RETRY_AFTER_MS = 1_000

/** History in the block log of one chain. */
export function logHistory(deps: LogHistoryDeps): History {
  return {
    stored: (scope, kind, downTo) => read(deps, { scope, kind }, { pages: PAGES_MAX, waits: WAITS_MAX, downTo }),
    newest: (scope) => read(deps, { scope }, { pages: 1, waits: 0 }),
  }
}

async function read(
  { log, now, sleep }: LogHistoryDeps,
  { scope, kind = 'fills' }: { readonly scope: FillScope; readonly kind?: EventKind | undefined },
  max: { readonly pages: number; readonly waits: number; readonly downTo?: number | undefined },
): Promise<Result<FillHistory, Failure>> {
  let head: HeightAndTime | null = null
  let before: number | null = null
  const endMs = now() + READ_MAX_MS
  const stretches: BlockRange[] = []
  const query = kind === 'fills' ? { scope } : { scope, kind }
  for (let pages = 0, waits = 0; pages < max.pages; ) {
    const answer = await askObject(() => log().fills({ v: LOG_API_VERSION, ...query, before }), LOG_API_VERSION)
    if (!answer) return unavailable('The fill history is temporarily unavailable')
    if (now() > endMs) return unavailable('Reading the fill history timed out')
    if ('retryMs' in answer) {
      if (waits++ === max.waits) return unavailable('The fill history has too many readers')
      await sleep(answer.retryMs)
      continue
    }
    head ??= answer.head
    stretches.push(...answer.stretches)
    const first = stretches.at(-1)?.first.height
    if (answer.next === null || (first !== undefined && first <= (max.downTo ?? -1) + 1)) break
    before = answer.next
    pages++
    waits = 0
  }
  const [newest, ...older] = stretches
  if (!head || !newest) return unavailable('No block has arrived yet')
  return ok(joinStretches(head, [newest, ...older]))
}

function unavailable(what: string): Result<never, Failure> {
  return err({ kind: 'unavailable', what, retryAfterMs: RETRY_AFTER_MS })
}
