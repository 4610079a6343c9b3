// Which streams of the node are read: those that it writes, and order statuses, which are most of the volume, while
// somebody wants any.

import type { NodeFiles } from './node-files.node.ts'
import type { FeedSession } from './session.ts'
import type { StreamName } from './streams.ts'

/** So long order statuses are read on when none are wanted any more: whoever wants some again and again opens no files. */
const STATUSES_MS = 60_000

export class StreamsToRead {
  readonly #files: NodeFiles
  readonly #session: FeedSession
  readonly #say: (sentence: string) => void
  /** When order statuses were last wanted. */
  #wantedAt = Number.NEGATIVE_INFINITY
  /** Order statuses are wanted, and there are none to read. */
  #lacksStatuses = false

  constructor(files: NodeFiles, session: FeedSession, say: (sentence: string) => void) {
    this.#files = files
    this.#session = session
    this.#say = say
  }

  async names(nowMs: number): Promise<StreamName[]> {
    const wantsStatuses = this.#session.wanted.size > 0 || this.#session.l4.coins.size > 0
    if (wantsStatuses) this.#wantedAt = nowMs
    const present = await this.#files.present(nowMs - this.#wantedAt < STATUSES_MS)
    const isMissing = wantsStatuses && !present.includes('statuses')
    if (isMissing && !this.#lacksStatuses)
      this.#say('order statuses are wanted, and the node writes none: run it with --write-order-statuses')
    this.#lacksStatuses = isMissing
    return present
  }
}
