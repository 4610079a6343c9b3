// When a pipeline tells its account's meter what it owes, and what follows from the answer. Laws: what is told is stored, with
// the cursor, so that a kill loses none of it and what is told again changes nothing; a batch is sent only where what is left pays
// for it; nobody sleeps on what is owed; a batch is begun only under a key that worked LOOK_EVERY_MS before.

import { formatCredits, MICRO_PER_CREDIT, type MicroCredits } from '../../core/amount.ts'
import { visible } from '../../core/visible.ts'
import type { Answer, DeliveryRecord, Payer, PayingPorts } from './delivery-state.ts'
import { firstDebt, handedOver, type Owed, owing, toldOf, withRows } from './owed.ts'

/** As often as isolates report; from so much on at once, and where little is left from a small part of that. */
const TELL_EVERY_MS = 10_000
/** The meter is asked so often whether the key still works, also where nothing is owed or rows are free. */
const LOOK_EVERY_MS = 20_000
const TELL_AT: MicroCredits = 10 * MICRO_PER_CREDIT
const AMPLE = 64
/** So much may be owed while the meter does not answer; one batch more may be on its way. */
const OWED_MOST: MicroCredits = TELL_AT
const ASK_AGAIN_MS = 60_000

export class Paying {
  readonly #ports: PayingPorts
  readonly #record: DeliveryRecord
  /** What the meter said last; null: nothing yet, or it did not answer. */
  #answer: (Answer & { readonly of: string }) | null = null
  #askedMs = Number.NEGATIVE_INFINITY
  #isAway = false

  /** The meter did not answer when it was last asked. */
  get isAway(): boolean {
    return this.#isAway
  }

  constructor(ports: PayingPorts, record: DeliveryRecord) {
    this.#ports = ports
    this.#record = record
  }

  get #owed(): Owed {
    return this.#record.state.owed
  }

  /** What keeps the next batch from being sent. */
  get waitsFor(): 'credits' | 'meter' | 'key' | null {
    const owed = this.#owed
    if (owed.ended) return 'key'
    if (this.#ports.rowMicro === 0) return null
    if (owed.askAtMs !== null) return 'credits'
    return this.#isAway && owing(owed) >= OWED_MOST ? 'meter' : null
  }

  /** Hash of the key that pays for what is begun now. */
  get payer(): string {
    return this.#ports.payer().hash
  }

  /** Whether what is left pays for so many rows, which this key is to owe once they arrive. Asked before they are sent. */
  async affords(countedRows: number, by: string): Promise<boolean> {
    const cost = countedRows * this.#ports.rowMicro
    // While the meter is away it is asked between batches, and so much may be owed.
    if (cost === 0 || this.#isAway) return true
    const { available = 0, of } = this.#answer ?? {}
    if (of === by && by === this.payer && owing(this.#owed) + cost <= available / AMPLE) return true
    await this.#tell(true, cost)
    if (by !== this.payer || this.waitsFor !== null) return false
    return this.#answer === null || this.#answer.available >= cost
  }

  /** Waits until this key can pay for so many rows: the next batch cannot have fewer. */
  waitFor(countedRows: number, by: string): void {
    if (this.waitsFor !== null || by !== this.payer) return
    const owed = this.#owed
    const askAtMs = this.#ports.nowMs() + ASK_AGAIN_MS
    this.#note(owed, { ...owed, needs: countedRows, askAtMs }, false)
  }

  /** With so many rows more, which this key owes. */
  owedWith(countedRows: number, by: string): Owed {
    const owed = this.#owed
    const { rowMicro } = this.#ports
    if (by === this.payer) return withRows(owed, countedRows, rowMicro)
    return handedOver(withRows(handedOver(owed, this.payer), countedRows, rowMicro), by)
  }

  /** The pipeline has another key now: what is owed so far stays with the one before. */
  handOver(before: string): void {
    this.#record.save({ owed: handedOver(this.#owed, before) })
  }

  /** Tells what is due before a batch; answers how long that waits, null: not at all. */
  async beforeBatch(): Promise<number | null> {
    if (this.#isDue()) await this.#tell(true)
    const { askAtMs } = this.#owed
    if (this.waitsFor === null) return null
    return Math.max(0, (askAtMs ?? this.#askedMs + TELL_EVERY_MS) - this.#ports.nowMs())
  }

  /** Tells all before a sleep; answers how long that waits, null: nothing is owed. */
  async beforeSleep(): Promise<number | null> {
    if (owing(this.#owed) > 0) await this.#tell(false)
    return owing(this.#owed) > 0 ? TELL_EVERY_MS : null
  }

  /** The meter is to be asked at once about a key that had no credits or had ended, or where it did not answer. */
  askAnew(): void {
    if (this.#isAway) this.#askedMs = Number.NEGATIVE_INFINITY
    const { ended, needs: _, ...owed } = this.#owed
    if (ended) this.#answer = null
    const askAtMs = owed.askAtMs === null ? null : 0
    if (ended || askAtMs === 0) this.#record.save({ owed: { ...owed, askAtMs } })
  }

  /** Asks for so many rows beside the batches, for which this key pays; the words say why there are to be none. */
  async refusal(by: Payer = this.#ports.payer(), countedRows = 1): Promise<string | null> {
    const { rowMicro } = this.#ports
    if (rowMicro === 0) return null
    await this.#tell(false)
    const isAsked = by.hash !== this.payer && !this.#isAway
    const answer = isAsked
      ? await this.#ports.settle({ rows: 0, spent: 0 }, by.hash, 0).catch(() => null)
      : this.#answer
    if (answer === null) return `${AWAY}: send this again in a moment`
    if (answer.ended) return endedWords(by, answer.ended)
    const cost = countedRows * rowMicro
    return answer.available < cost ? unpaidWords(answer, cost) : null
  }

  #isDue(): boolean {
    const nowMs = this.#ports.nowMs()
    const owed = this.#owed
    const waitMs = (owed.askAtMs ?? 0) - nowMs
    // Of a longer time the clock went back, here and below.
    if (owed.askAtMs !== null) return waitMs <= 0 || waitMs > ASK_AGAIN_MS
    const sinceMs = Math.abs(nowMs - this.#askedMs)
    const isLongAgo = sinceMs >= TELL_EVERY_MS
    if (this.#isAway) return isLongAgo
    if (this.#answer?.of !== this.payer || this.#isShort || owed.debts || sinceMs >= LOOK_EVERY_MS) return true
    return owing(owed) > 0 && (isLongAgo || owing(owed) >= Math.min(TELL_AT, this.#answer.available / AMPLE))
  }

  get #isShort(): boolean {
    return this.#answer !== null && this.#answer.available < this.#leastCost(this.#owed)
  }

  /** The least that the next batch can cost. */
  #leastCost({ needs = 1 }: Owed): MicroCredits {
    return needs * this.#ports.rowMicro
  }

  async #tell(isForBatch: boolean, hold: MicroCredits = 0): Promise<void> {
    const wasAway = this.#isAway
    this.#askedMs = this.#ports.nowMs()
    const { by, rows, spent } = firstDebt(this.#owed, this.payer)
    const answer = await this.#ports.settle({ rows, spent }, by, hold).catch(() => null)
    this.#isAway = answer === null
    const before = this.#owed
    const told = answer === null ? before : toldOf(before, spent)
    // Another key owed that: what the meter says of the pipeline's own is still to be heard.
    if (answer !== null && (by !== this.payer || told.debts)) {
      this.#record.save({ owed: told })
      return this.#tell(isForBatch, hold)
    }
    this.#answer = answer && { ...answer, of: by }
    const isUnpaid = this.#isAway ? before.askAtMs !== null : this.#isShort
    const askAtMs = isUnpaid ? this.#ports.nowMs() + ASK_AGAIN_MS : null
    const { needs: _, ...paid } = told
    const kept = isForBatch ? { ...(isUnpaid ? told : paid), askAtMs } : told
    const ended = answer?.ended && {
      ended: { atMs: this.#ports.nowMs(), words: endedWords(this.#ports.payer(), answer.ended) },
    }
    this.#note(before, { ...kept, ...ended }, this.#isAway && !wasAway)
  }

  #note(before: Owed, owed: Owed, isAwayNow: boolean): void {
    const isUnpaidNow = before.askAtMs === null && owed.askAtMs !== null
    const words = isAwayNow
      ? AWAY
      : isUnpaidNow && this.#answer
        ? unpaidWords(this.#answer, this.#leastCost(owed))
        : null
    const isSame = owed.told === before.told && owed.askAtMs === before.askAtMs && owed.ended === before.ended
    if (owed.ended && !before.ended) this.#ports.log('warn', owed.ended.words, null)
    if (words !== null) this.#ports.log('warn', words, null)
    const isPaidAgain = before.askAtMs !== null && owed.askAtMs === null
    if (isPaidAgain) this.#ports.log('info', 'there are credits: it goes on', null)
    if (words !== null) this.#record.save({ owed, ...this.#record.troubled(words) })
    else if (isPaidAgain) this.#record.save({ owed, ...this.#record.healed() })
    else if (!isSame) this.#record.save({ owed })
  }
}

function unpaidWords({ available, cap }: Answer, cost: MicroCredits): string {
  const [who, remedy] =
    cap === undefined
      ? ['the account has', 'there are some, of a top-up or the next period of its plan']
      : [`the key that it is charged to, whose cap is ${formatCredits(cap)}, has`, 'its owner raises the cap']
  const left =
    available <= 0
      ? 'no credits left'
      : `${formatCredits(available)} credits left, and the next rows cost ${formatCredits(cost)}`
  return `unpaid: ${who} ${left}. Nothing is lost: it goes on within a minute once ${remedy}, or at once when it is set to run then`
}

function endedWords({ hash, name }: Payer, ended: NonNullable<Answer['ended']>): string {
  const key = name === '' ? hash.slice(0, 8) : JSON.stringify(visible(name))
  const what = ended === 'revoked' ? 'was revoked' : 'has expired'
  return `paused: the key ${key}, which it is charged to, ${what}. Set it to run or adopt it with another key of the account`
}

const AWAY = 'the meter of the account did not answer'
