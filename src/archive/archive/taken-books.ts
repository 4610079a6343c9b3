// All books of a chain out of its hubs, as the lines of a checkpoint. Law: books of one epoch or none; each says the height
// after which it is true, since hubs go on while they are asked.

import type { HubBooks } from '../../protocol/hub/hub-api.ts'

/** Characters of all books: an object has the memory for them and not for several times as many. */
const CHARS_MOST = 40 * 1024 * 1024

export interface TakenBooks {
  readonly epoch: string
  /** The least height of a book, and the highest. */
  readonly height: number
  readonly through: number
  readonly time: number
  readonly coins: number
  /** Books that were not sure, and are not among them. */
  readonly left: number
  readonly lines: readonly string[]
}

/** Null where the books of `epoch` are not known to every hub; `ask` is for a page of one. */
export async function takeBooks(
  hubs: number,
  epoch: string,
  ask: (hub: number, after: string | null) => Promise<HubBooks>,
): Promise<TakenBooks | null> {
  const lines: string[] = []
  const taken = { height: Number.POSITIVE_INFINITY, through: -1, time: Number.POSITIVE_INFINITY, left: 0, chars: 0 }
  for (let hub = 0; hub < hubs; hub++) {
    for (let after: string | null = null; ; ) {
      const page: HubBooks = await ask(hub, after)
      if (page.epoch !== epoch) return null
      for (const { coin, height, seq, levels } of page.books) {
        lines.push(`{"coin":${JSON.stringify(coin)},"height":${height},"seq":${seq},"levels":${levels}}`)
        taken.height = Math.min(taken.height, height)
        taken.through = Math.max(taken.through, height)
        taken.chars += levels.length
      }
      if (page.books.length > 0) taken.time = Math.min(taken.time, page.time)
      taken.left += page.left
      if (taken.chars > CHARS_MOST) throw new Error(`all books have more than ${CHARS_MOST} characters`)
      if (page.next === null) break
      after = page.next
    }
  }
  if (lines.length === 0) return null
  const { height, through, time, left } = taken
  const head = JSON.stringify({ epoch, height, time, coins: lines.length })
  return { epoch, height, through, time, left, coins: lines.length, lines: [head, ...lines] }
}
