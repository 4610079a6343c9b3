// Our own history as far as there is one: the fills that the BlockLog still holds, read page by page.
// Law: an answer says since when it is complete; where the log cannot be read to its end it says a later time.

import { type FillHistory, joinStretches } from '../../archive/funding-spans.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { BlockRange, FillScope, HeightAndTime } from '../../protocol/feed/durable-api.ts'
import { type BlockLogApi, LOG_API_VERSION } from '../../protocol/feed/log-api.ts'
import type { EventKind, History } from '../ports.ts'
import { askObject } from './object-call.client.ts'

export interface LogHistoryDeps {
  /** A fresh stub of the log: one that failed stays broken. */
  readonly log: () => Pick<BlockLogApi, 'fills'>
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<void>
}

/** Pages of one read; the replay window of the real exchange takes about seven. */
const PAGES_MAX = 32
/** How often a read waits for one page before it gives up. */
const WAITS_MAX = 3
/** Of one read with all its waits: well below that of a flight. */
const READ_MAX_MS = 8_000
const RETRY_AFTER_MS = 1_000

/** The history of the log of one chain. */
export function logHistory(deps: LogHistoryDeps): History {
  return {
    stored: (scope, kind, downTo) => read(deps, { scope, kind }, { pages: PAGES_MAX, waits: WAITS_MAX, downTo }),
    newest: (scope) => read(deps, { scope }, { pages: 1, waits: 0 }),
  }
}

async function read(
  { log, now, sleep }: LogHistoryDeps,
  { scope, kind = 'fills' }: { readonly scope: FillScope; readonly kind?: EventKind | undefined },
  most: { readonly pages: number; readonly waits: number; readonly downTo?: number | undefined },
): Promise<Result<FillHistory, Failure>> {
  let head: HeightAndTime | null = null
  let before: number | null = null
  const endMs = now() + READ_MAX_MS
  const stretches: BlockRange[] = []
  const asked = kind === 'fills' ? { scope } : { scope, kind }
  for (let pages = 0, waits = 0; pages < most.pages; ) {
    const answer = await askObject(() => log().fills({ v: LOG_API_VERSION, ...asked, before }), LOG_API_VERSION)
    if (!answer) return unavailable('The history of fills cannot be had at the moment')
    if (now() > endMs) return unavailable('The history of fills takes too long to read at the moment')
    if ('retryMs' in answer) {
      if (waits++ === most.waits) return unavailable('The history of fills is asked too much at the moment')
      await sleep(answer.retryMs)
      continue
    }
    head ??= answer.head
    stretches.push(...answer.stretches)
    const first = stretches.at(-1)?.first.height
    if (answer.next === null || (first !== undefined && first <= (most.downTo ?? -1) + 1)) break
    before = answer.next
    pages++
    waits = 0
  }
  const [newest, ...older] = stretches
  if (!head || !newest) return unavailable('No block has come yet')
  return ok(joinStretches(head, [newest, ...older]))
}

function unavailable(what: string): Result<never, Failure> {
  return err({ kind: 'unavailable', what, retryAfterMs: RETRY_AFTER_MS })
}
