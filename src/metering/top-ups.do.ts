// Asks the gateway for automatic top-ups when the balance of a meter is low. Invariants: charging never waits for an answer;
// a question is stored before it is sent, so one that is lost is repeated; an account without a watch costs nothing.

import type { MicroCredits } from '../core/amount.ts'
import { logEvent } from '../core/log.client.ts'
import { Tables } from '../core/tables.store.ts'
import { answered, atBalance, type TopUpGateway, type TopUpWatch, withQuestion } from './top-up-watch.ts'

export class TopUps extends Tables {
  readonly #ctx: DurableObjectState
  readonly #gateway: () => TopUpGateway
  readonly #left: () => MicroCredits
  #watch: TopUpWatch | null

  /** `left`: the balance. */
  constructor(ctx: DurableObjectState, gateway: () => TopUpGateway, left: () => MicroCredits) {
    super(ctx.storage.sql)
    this.#ctx = ctx
    this.#gateway = gateway
    this.#left = left
    this.#watch = this.first<TopUpWatch>('SELECT account, below, next AS nextMs FROM top_up') ?? null
  }

  /** Time of the next question; infinite if there is none. */
  get nextMs(): number {
    return this.#watch?.nextMs ?? Number.POSITIVE_INFINITY
  }

  /** Without `isNew`, an equal watch stays as it is. */
  set(watch: Omit<TopUpWatch, 'nextMs'>, isNew: boolean, nowMs: number): void {
    if (!isNew && this.#watch?.below === watch.below) return
    this.#put(atBalance({ ...watch, nextMs: null }, this.#left(), nowMs))
  }

  /** Runs after every balance change. */
  onBalanceChange(left: MicroCredits, nowMs: number): void {
    if (this.#watch === null) return
    const watch = atBalance(this.#watch, left, nowMs)
    if (watch !== this.#watch) this.#put(watch)
  }

  /** Sends the question that is due without waiting for its answer. */
  ask(nowMs: number): void {
    if (this.#watch === null || nowMs < this.nextMs) return
    const watch = withQuestion(this.#watch, nowMs)
    this.#put(watch)
    this.#ctx.waitUntil(this.#ask(watch))
  }

  /** Never rejects. */
  async #ask(watch: TopUpWatch): Promise<void> {
    try {
      const answer = await this.#gateway().topUp(watch.account, this.#left() < watch.below)
      // A watch that was replaced meanwhile asks for itself.
      if (this.#watch === watch) this.#put(answered(watch, answer, this.#left(), Date.now()))
    } catch (error) {
      logEvent('top_up_failed', { error })
    }
  }

  #put(watch: TopUpWatch | null): void {
    this.#watch = watch
    this.run('DELETE FROM top_up')
    if (watch === null) return
    const { account, below, nextMs } = watch
    this.run('INSERT INTO top_up VALUES (1, ?, ?, ?)', account, below, nextMs)
  }
}
