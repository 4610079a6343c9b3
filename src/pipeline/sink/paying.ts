// When a pipeline tells its account's meter what it owes, and what follows from the answer. Laws: what is told is stored, with
// the cursor, so that a kill loses none of it and what is told again changes nothing; who cannot pay for a row is brought no
// further batch; nobody sleeps on what is owed; where rows are free nobody is asked.

import { formatCredits, MICRO_PER_CREDIT, type MicroCredits } from '../../credit/amount.ts'
import type { PipelineAnswer } from '../../credit/pipeline-report.ts'
import type { SinkLogLine } from '../sink-api.ts'
import { type Owed, owing, withRows } from './owed.ts'

/** As often as isolates report; from so much on at once, and where little is left from a small part of that. */
const TELL_EVERY_MS = 10_000
const TELL_AT: MicroCredits = 10 * MICRO_PER_CREDIT
const AMPLE = 64
/** So much may be owed while the meter does not answer; one batch more may be on its way. */
const OWED_MOST: MicroCredits = TELL_AT
const ASK_AGAIN_MS = 60_000

type Answer = Pick<PipelineAnswer, 'available' | 'cap'>

export interface PayingPorts {
  nowMs(): number
  /** The price of a row; 0: it is free. */
  readonly rowMicro: MicroCredits
  /** Tells the meter of sums, once they are stored. Rejects where it does not answer. */
  settle(sums: Pick<Owed, 'rows' | 'spent'>): Promise<Answer>
  log(level: SinkLogLine['level'], words: string, batch: null): void
}

interface Keeper {
  owed(): Owed
  /** `trouble`: what goes wrong from now on; null: that is over. */
  save(change: { readonly owed: Owed; readonly trouble?: string | null }): void
}

export class Paying {
  readonly #ports: PayingPorts
  readonly #keeper: Keeper
  /** What the meter said last; null: nothing yet, or it did not answer. */
  #answer: Answer | null = null
  #askedMs = Number.NEGATIVE_INFINITY
  #isAway = false

  /** The meter did not answer when it was last asked. */
  get isAway(): boolean {
    return this.#isAway
  }

  constructor(ports: PayingPorts, keeper: Keeper) {
    this.#ports = ports
    this.#keeper = keeper
  }

  /** What keeps the next batch from being sent. */
  get waitsFor(): 'credits' | 'meter' | null {
    const owed = this.#keeper.owed()
    if (this.#ports.rowMicro === 0) return null
    if (owed.askAtMs !== null) return 'credits'
    return this.#isAway && owing(owed) >= OWED_MOST ? 'meter' : null
  }

  /** With so many rows more. */
  owedWith(countedRows: number): Owed {
    return withRows(this.#keeper.owed(), countedRows, this.#ports.rowMicro)
  }

  /** Tells what is due before a batch; answers how long that waits, null: not at all. */
  async beforeBatch(): Promise<number | null> {
    if (this.#isDue()) await this.#tell(true)
    const { askAtMs } = this.#keeper.owed()
    if (this.waitsFor === null) return null
    return Math.max(0, (askAtMs ?? this.#askedMs + TELL_EVERY_MS) - this.#ports.nowMs())
  }

  /** Tells all before a sleep; answers how long that waits, null: nothing is owed. */
  async beforeSleep(): Promise<number | null> {
    if (owing(this.#keeper.owed()) > 0) await this.#tell(false)
    return owing(this.#keeper.owed()) > 0 ? TELL_EVERY_MS : null
  }

  /** The meter is to be asked at once about who had no credits, or where it did not answer. */
  askAnew(): void {
    if (this.#isAway) this.#askedMs = Number.NEGATIVE_INFINITY
    const owed = this.#keeper.owed()
    if (owed.askAtMs !== null) this.#keeper.save({ owed: { ...owed, askAtMs: 0 } })
  }

  /** Asks for one batch beside the others; the words say why there is to be none. */
  async refusal(): Promise<string | null> {
    if (this.#ports.rowMicro === 0) return null
    await this.#tell(false)
    if (this.#isAway) return `${AWAY}: send this again in a moment`
    return this.#isShort ? this.#words : null
  }

  #isDue(): boolean {
    const { rowMicro, nowMs } = this.#ports
    const owed = this.#keeper.owed()
    const waitMs = (owed.askAtMs ?? 0) - nowMs()
    // Of a longer time the clock went back, here and below.
    if (owed.askAtMs !== null) return waitMs <= 0 || waitMs > ASK_AGAIN_MS
    if (rowMicro === 0 && owing(owed) === 0) return false
    const isLongAgo = Math.abs(nowMs() - this.#askedMs) >= TELL_EVERY_MS
    if (this.#isAway) return isLongAgo
    if (this.#answer === null || this.#isShort) return true
    return owing(owed) > 0 && (isLongAgo || owing(owed) >= Math.min(TELL_AT, this.#answer.available / AMPLE))
  }

  get #isShort(): boolean {
    return this.#answer !== null && this.#answer.available < this.#ports.rowMicro
  }

  async #tell(isForBatch: boolean): Promise<void> {
    const { rows, spent } = this.#keeper.owed()
    const wasAway = this.#isAway
    this.#askedMs = this.#ports.nowMs()
    this.#answer = await this.#ports.settle({ rows, spent }).catch(() => null)
    this.#isAway = this.#answer === null
    const before = this.#keeper.owed()
    const isUnpaid = this.#isAway ? before.askAtMs !== null : this.#isShort
    const askAtMs = isUnpaid ? this.#ports.nowMs() + ASK_AGAIN_MS : null
    const owed = {
      ...before,
      ...(!this.#isAway && { told: Math.max(before.told, spent) }),
      ...(isForBatch && { askAtMs }),
    }
    this.#note(before, owed, this.#isAway && !wasAway)
  }

  #note(before: Owed, owed: Owed, isAwayNow: boolean): void {
    const { log } = this.#ports
    const isUnpaidNow = before.askAtMs === null && owed.askAtMs !== null
    const words = isAwayNow ? AWAY : isUnpaidNow ? this.#words : null
    const isSame = owed.told === before.told && owed.askAtMs === before.askAtMs
    if (words !== null) log('warn', words, null)
    const isPaidAgain = before.askAtMs !== null && owed.askAtMs === null
    if (isPaidAgain) log('info', 'there are credits: it goes on', null)
    if (words !== null) this.#keeper.save({ owed, trouble: words })
    else if (isPaidAgain) this.#keeper.save({ owed, trouble: null })
    else if (!isSame) this.#keeper.save({ owed })
  }

  get #words(): string {
    const { cap } = this.#answer ?? {}
    const [who, remedy] =
      cap === undefined
        ? ['the account has', 'there are some, of a top-up or the next period of its plan']
        : [`the key that made it, whose cap is ${formatCredits(cap)}, has`, 'the operator raises the cap']
    return `unpaid: ${who} no credits left. Nothing is lost: it goes on within a minute once ${remedy}, or at once when it is set to run then`
  }
}

const AWAY = 'the meter of the account did not answer'
