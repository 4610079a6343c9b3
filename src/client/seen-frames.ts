// Remembers received events, so that a reconnect requests only the rest and shows nothing twice. Pongs report the
// height up to which everything was sent (WS-60). Later frames are remembered by content and count, up to a limit. A
// restarted gateway may be behind its last height. It sends the difference again, after a pong with a lower height.

/** Enough for more than five minutes of all fills. A gateway reports heights far sooner. */
const MAX_CHARS = 32 * 1024 * 1024

/** A restarted gateway may lack the last few seconds, which were not durable. */
const MAX_BLOCKS_BEHIND = 1_000

interface SeenFrame {
  readonly channel: string
  readonly times: number
}

export class SeenFrames {
  /** All blocks up to here were received; -1 while unknown, when nothing needs to be remembered. */
  #height = -1
  /** Frames since that height, by content. */
  #since = new Map<string, SeenFrame>()
  #chars = 0
  /** Frames that this socket will send again. */
  #repeats = new Map<string, SeenFrame>()
  /** The first height that was reported on this socket; -1 before the first report. */
  #firstHeight = -1

  /** Null while unknown. */
  get height(): number | null {
    return this.#height < 0 ? null : this.#height
  }

  /** A pong confirmed everything up to this height. */
  onHeight(height: number): void {
    this.#height = height
    if (this.#firstHeight < 0) this.#firstHeight = height
    if (height - this.#firstHeight > MAX_BLOCKS_BEHIND) this.#repeats.clear()
    this.#since = new Map(this.#repeats)
    this.#chars = [...this.#since].reduce((sum, [text, { times }]) => sum + times * text.length, 0)
  }

  /** The first height to request on another socket; undefined if it must restart. */
  resume(): number | undefined {
    this.#repeats = new Map(this.#since)
    this.#firstHeight = -1
    return this.#height < 0 ? undefined : this.#height + 1
  }

  /** These channels restart, so their frames count as new. */
  forget(channels: ReadonlySet<string>): void {
    for (const seen of [this.#since, this.#repeats])
      for (const [text, { channel }] of seen) if (channels.has(channel)) seen.delete(text)
  }

  /** False for a repeated frame. */
  isNew(channel: string, text: string): boolean {
    const repeat = this.#repeats.get(text)
    if (repeat === undefined) {
      if (this.#height >= 0) this.#remember(channel, text)
      return true
    }
    if (repeat.times > 1) this.#repeats.set(text, { channel, times: repeat.times - 1 })
    else this.#repeats.delete(text)
    return false
  }

  #remember(channel: string, text: string): void {
    this.#since.set(text, { channel, times: (this.#since.get(text)?.times ?? 0) + 1 })
    this.#chars += text.length
    if (this.#chars <= MAX_CHARS) return
    this.#height = -1
    this.#since.clear()
    this.#chars = 0
  }
}
