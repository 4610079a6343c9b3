// Dead letters that are sent once more. Laws: oldest first, between two batches; one that arrived is written down, with what is
// owed for it, before it is taken away; behind one that failed live rows come before the next.

import type { Failed } from '../batch.ts'
import type { ArrivedLetter, DeliveryPorts, DeliveryState } from './delivery-state.ts'
import { wordsOfError } from './error-words.ts'
import type { Paying } from './paying.ts'

type Ports = Pick<DeliveryPorts, 'unbury' | 'removeLetter' | 'count' | 'log'>

type Pays = Pick<Paying, 'owedWith' | 'payer' | 'affords' | 'waitFor'>

interface Keeper {
  state(): DeliveryState
  save(change: Partial<DeliveryState>): void
  failed(words: string): void
  /** What changes where the destination takes what it is sent. */
  healed(): Partial<DeliveryState>
}

export class Redelivery {
  readonly #ports: Ports
  readonly #paying: Pays
  readonly #keeper: Keeper
  /** Key of the last one that did not arrive. */
  #failedKey: string | null = null
  #isLiveNext = false

  constructor(ports: Ports, paying: Pays, keeper: Keeper) {
    this.#ports = ports
    this.#paying = paying
    this.#keeper = keeper
  }

  begin(): void {
    this.#failedKey = null
    this.#keeper.save({ isRedelivering: true })
  }

  /** Takes away what arrived, before another one is put there under its name. */
  async tidied(): Promise<void> {
    const { arrivedLetter } = this.#keeper.state()
    if (arrivedLetter === null) return
    await this.#ports.removeLetter(arrivedLetter)
    this.#keeper.save({ arrivedLetter: null })
  }

  /** Whether one comes before what is read next. To ask is to take the turn. */
  takesTurn(): boolean {
    const { isRedelivering, flight, isFailed, isFinished } = this.#keeper.state()
    const isLiveNext = this.#isLiveNext && !isFailed && !isFinished
    this.#isLiveNext = false
    return isRedelivering && (flight === null || isFailed) && !isLiveNext
  }

  /** Answers after how long the next turn is due. */
  async sent(): Promise<number> {
    const { payer } = this.#paying
    // Where they cannot be read, that ends it.
    const unread = (error: unknown): Failed & { readonly key: null } => ({
      ok: false,
      words: wordsOfError(error),
      key: null,
    })
    const affords = (rows: number) => this.#paying.affords(rows, payer)
    const outcome = await this.#ports.unbury(this.#failedKey, affords).catch(unread)
    if (outcome?.ok) {
      this.#arrived(outcome, payer)
      return 0
    }
    if (outcome?.isUntried) {
      if (outcome.unpaidRows !== undefined) this.#paying.waitFor(outcome.unpaidRows, payer)
      this.#isLiveNext = true
      return outcome.retryAfterMs ?? 0
    }
    if (outcome) this.#keeper.failed(`a dead letter did not arrive: ${outcome.words}`)
    if (outcome?.key) {
      this.#failedKey = outcome.key
      this.#isLiveNext = true
      return 0
    }
    const isNoneLeft = outcome === null && this.#failedKey === null
    this.#keeper.save({ isRedelivering: false, ...(isNoneLeft && { deadLetters: 0 }) })
    return 0
  }

  #arrived(letter: ArrivedLetter, payer: string): void {
    const { rows, bytes, batches, deadLetters, isFailed } = this.#keeper.state()
    this.#ports.log('info', `a dead letter arrived: ${letter.rows} rows`, letter)
    this.#ports.count({ rows: letter.rows, bytes: letter.bytes, batches: 1 })
    this.#keeper.save({
      rows: rows + letter.rows,
      bytes: bytes + letter.bytes,
      batches: batches + 1,
      deadLetters: Math.max(0, deadLetters - 1),
      arrivedLetter: letter.key,
      owed: this.#paying.owedWith(letter.countedRows, payer),
      // Another batch that failed waits on.
      ...(!isFailed && this.#keeper.healed()),
    })
  }
}
