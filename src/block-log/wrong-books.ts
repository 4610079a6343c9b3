// Which feeder sent books that were wrong, as the log has found out: a copy of a height that differs from the one that
// was taken, or a book that is not what another feeder, or its own node, says. Pure; in memory, bounded, newest first.

import type { LogStatus } from '../protocol/feed/status-shape.ts'

export type WrongBook = LogStatus['wrongBooks'][number]

/** How many are told of. */
const MOST = 64
/** Coins of which two copies differed and it is open which one was right. */
const DISPUTES_MOST = 1024
/** A feeder that sent wrong books is passed over for this long where another can be followed. */
const DISTRUST_MS = 3_600_000

export class WrongBooks {
  #list: readonly WrongBook[] = []
  /** The feeder whose copy was taken where two differed, by coin. */
  readonly #disputes = new Map<string, string>()

  get list(): readonly WrongBook[] {
    return this.#list
  }

  /** `other` sent another copy of a height than `taken`, with other changes of `coin`. */
  disputed(coin: string, taken: string, other: string, height: number, atMs: number): void {
    this.#note(other, coin, height, atMs, 'other_copy')
    this.#disputes.delete(coin)
    this.#disputes.set(coin, taken)
    if (this.#disputes.size > DISPUTES_MOST) this.#disputes.delete(this.#disputes.keys().next().value!)
  }

  /** The book of `coin` was not the verified one. Whose copy was taken in a dispute is at fault, else who leads. */
  found(coin: string, leader: string | null, height: number, atMs: number): void {
    const fault = this.#disputes.get(coin) ?? leader
    if (fault !== null) this.#note(fault, coin, height, atMs, 'wrong_book')
    this.#disputes.delete(coin)
  }

  clear(): void {
    this.#list = []
    this.#disputes.clear()
  }

  #note(feeder: string, coin: string, height: number, atMs: number, why: WrongBook['why']): void {
    const isSame = (one: WrongBook) => one.feeder === feeder && one.coin === coin && one.why === why
    const count = (this.#list.find(isSame)?.count ?? 0) + 1
    const others = this.#list.filter((one) => !isSame(one))
    this.#list = [{ feeder, coin, height, count, atMs, why }, ...others].slice(0, MOST)
  }

  /** True for a feeder that lately had a wrong book taken of it. */
  distrusts(feeder: string, nowMs: number): boolean {
    return this.#list.some((one) => one.feeder === feeder && one.why === 'wrong_book' && nowMs - one.atMs < DISTRUST_MS)
  }
}
