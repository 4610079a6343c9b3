// Remembers received events, so that a reconnect requests only missing events and no event is delivered twice. A pong
// reports the height up to which everything was sent (WS-60). Later frames are remembered by content and count, up to a
// limit. A gateway that restarted may be below its last height. It then reports the lower height in a pong and sends
// the blocks above it again.

/**
 * Maximum total length of the remembered frames: more than five minutes of all fills. A gateway reports a height far
 * sooner.
 */
const MAX_CHARS = 32 * 1024 * 1024

/** A gateway that restarted may lack its last few seconds of blocks, because they were not durable. */
const MAX_BLOCKS_BEHIND = 1_000

interface SeenFrame {
  readonly channel: string
  readonly times: number
}

export class SeenFrames {
  /** The height up to which all blocks were received; -1 while unknown. Nothing is remembered before it is known. */
  #height = -1
  /** Frames above that height, by content. */
  #since = new Map<string, SeenFrame>()
  #chars = 0
  /** Frames that this socket will receive again. */
  #repeats = new Map<string, SeenFrame>()
  /** The first height that was reported on this socket; -1 before the first report. */
  #firstHeight = -1

  /** The confirmed height; null while unknown. */
  get height(): number | null {
    return this.#height < 0 ? null : this.#height
  }

  /** Handles a pong, which confirms everything up to this height. */
  onHeight(height: number): void {
    this.#height = height
    if (this.#firstHeight < 0) this.#firstHeight = height
    if (height - this.#firstHeight > MAX_BLOCKS_BEHIND) this.#repeats.clear()
    this.#since = new Map(this.#repeats)
    this.#chars = [...this.#since].reduce((sum, [text, { times }]) => sum + times * text.length, 0)
  }

  /** Prepares for another socket. Returns the first height to request on it; undefined if everything must restart. */
  resume(): number | undefined {
    this.#repeats = new Map(this.#since)
    this.#firstHeight = -1
    return this.#height < 0 ? undefined : this.#height + 1
  }

  /** Forgets the frames of channels that restart, so that their next frames count as new. */
  forget(channels: ReadonlySet<string>): void {
    for (const seen of [this.#since, this.#repeats])
      for (const [text, { channel }] of seen) if (channels.has(channel)) seen.delete(text)
  }

  /** Records a frame. Returns false if the frame is a repetition. */
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
