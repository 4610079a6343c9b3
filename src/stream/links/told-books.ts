// How far a hub has told its books. Law: a hub that begins anew below what it told must come there again in the same
// epoch, by the blocks that the log held; where its books end before that, what clients hold is not what it goes on from.

import type { Cursor } from '../../feed/log-api.ts'

export class ToldBooks {
  #told: Cursor | null = null
  /** Where the hub has to come again. */
  #owed: Cursor | null = null

  /** The last height and epoch of which books were told. */
  get told(): Cursor | null {
    return this.#told
  }

  /** The hub answers where it stands; `told` is what had been told when it was asked. */
  attached(told: Cursor | null, epoch: string | null, height: number | null): void {
    const isBelow = told !== null && epoch === told.epoch && (height ?? -1) < told.height
    if (isBelow && told === this.#told) this.#owed = told
  }

  /** The hub tells a height, again or anew, `epoch` null where its books are not known. True: what was told is lost. */
  isLost(height: number, epoch: string | null): boolean {
    const isElsewhere = this.#owed !== null && epoch !== this.#owed.epoch
    const isLost = isElsewhere || (epoch === null && height <= (this.#told?.height ?? -1))
    if (isLost) this.clear()
    else if (height >= (this.#owed?.height ?? -1)) this.#owed = null
    return isLost
  }

  /** A new height was told. */
  tell(height: number, epoch: string | null): void {
    if (epoch !== null) this.#told = { height, epoch }
  }

  clear(): void {
    this.#told = null
    this.#owed = null
  }
}
