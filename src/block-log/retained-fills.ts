// Fills that the log still holds, or ledger events of a wallet, as it answers them to whoever asks for one wallet or one
// builder: page after page, newest first, over durable heights alone. Lines that cannot matter are never parsed: a search
// for an address in a segment's text is many times faster.

import type { Block, CoinFunding, LedgerEvent, UserFill } from '../protocol/feed/block.ts'
import type { BlockRange, EventBlock, FillScope, HeightAndTime, LedgerKind } from '../protocol/feed/durable-api.ts'
import { stakingEvents } from '../protocol/feed/staking-events.ts'

/** Text is read and searched this many times faster than it is parsed (measured: 1.6 and 7.8 ms a MiB). */
const SEARCH_SHARE = 4

/** A stored segment of events: lines as encodeBlock makes them. */
export interface EventsSegment {
  readonly last: number
  readonly text: string
}

/** What a segment holds for a scope, and what finding that cost: a search is far cheaper than parsing. */
export function searchSegment(
  { last, text }: EventsSegment,
  scope: FillScope,
  kind?: LedgerKind,
): { readonly stretch: BlockRange; readonly cost: number } {
  const end = text.indexOf('\n')
  const { height, time } = JSON.parse(end < 0 ? text : text.slice(0, end)) as HeightAndTime
  const marks = markersOf(scope, kind)
  const isMarked = (part: string) => marks.some((mark) => part.includes(mark))
  const lines = isMarked(text) ? text.split('\n').filter(isMarked) : []
  const blocks = lines
    .map((line) => matchingEvents(JSON.parse(line) as Block, scope, kind))
    .filter(({ fills, funding, ledger = [] }) => fills.length + funding.length + ledger.length > 0)
  const parsed = lines.reduce((sum, line) => sum + line.length, 0)
  return { stretch: { first: { height, time }, last, blocks }, cost: Math.ceil(text.length / SEARCH_SHARE) + parsed }
}

/** Texts of which a line has one if it holds anything for the scope (and perhaps if not). */
function markersOf(scope: FillScope, kind?: LedgerKind): readonly string[] {
  if (kind === 'staking' && scope.by === 'user') return [`"user":"${scope.address}"`]
  // Payments are beside the lines (held-payments.ts).
  if (kind === 'funding') return []
  if (kind === 'ledger' && scope.by === 'user') return [`"users":["${scope.address}"`, `,"${scope.address}"`]
  if (scope.by === 'coin') return [`"coin":${JSON.stringify(scope.coin)}`]
  return scope.by === 'builder' ? [`"builder":"${scope.address}"`] : [`["${scope.address}",{`, '"funding":[{']
}

function matchingEvents(block: Block, scope: FillScope, kind?: LedgerKind): EventBlock {
  const { height, time, fills, funding } = block
  if (kind) {
    const isTold = ({ users }: LedgerEvent) => scope.by === 'user' && users.includes(scope.address)
    const ledger = kind === 'staking' ? stakingEvents(block.events) : block.ledger
    return { height, time, fills: [], funding: [], ledger: ledger.filter(isTold) }
  }
  const isMine = ([user, fill]: UserFill) => {
    if (scope.by === 'coin') return fill.coin === scope.coin
    return (scope.by === 'user' ? user : fill.builder) === scope.address
  }
  const owed: readonly CoinFunding[] = scope.by === 'user' ? funding : []
  return { height, time, fills: fills.filter(isMine), funding: [...owed] }
}

/** How much text the log parses for such questions in a second: about a tenth of its time, the rest is for blocks. */
const COST_PER_SECOND = 16 * 1024 * 1024

export class ReadBudget {
  #second = 0
  #spent = 0

  /** Milliseconds until something may be read again, 0 if it may now. `kept`: for others, of this second. */
  waitMs(nowMs: number, kept = 0): number {
    const spent = this.#isNewSecond(nowMs) ? 0 : this.#spent
    return spent + kept < COST_PER_SECOND ? 0 : 1000 - (nowMs % 1000)
  }

  spend(cost: number, nowMs: number): void {
    if (this.#isNewSecond(nowMs)) this.#spent = 0
    this.#second = Math.floor(nowMs / 1000)
    this.#spent += cost
  }

  #isNewSecond(nowMs: number): boolean {
    return Math.floor(nowMs / 1000) !== this.#second
  }
}
