// What of events a client has seen, so that after an interruption it asks for the rest alone and shows nothing twice.
// Law: pongs tell up to which height all is there (WS-60); of what came after the last one each frame is known by its
// text, as often as it came, up to a bound. A gateway that begins again may be behind what it told: that comes once more,
// when its feeder has sent it again, and a pong before it tells a height that is lower.

/** More than this is five minutes of everybody's fills; a gateway tells heights far sooner. */
const MAX_CHARS = 32 * 1024 * 1024

/** It is behind by what was not durable: some seconds. */
const MAX_BLOCKS_BEHIND = 1_000

interface SeenFrame {
  readonly channel: string
  readonly times: number
}

export class SeenFrames {
  /** All blocks up to here are seen; -1 while that is not known, and then nothing need be remembered. */
  #height = -1
  /** By text. */
  #since = new Map<string, SeenFrame>()
  #chars = 0
  /** Of those, frames that this socket will bring once more. */
  #repeats = new Map<string, SeenFrame>()
  /** The first height that was told on this socket; -1 before it. */
  #firstHeight = -1

  /** Null while it is not known. */
  get height(): number | null {
    return this.#height < 0 ? null : this.#height
  }

  /** A pong told that everything up to this height was sent before it. */
  onHeight(height: number): void {
    this.#height = height
    if (this.#firstHeight < 0) this.#firstHeight = height
    if (height - this.#firstHeight > MAX_BLOCKS_BEHIND) this.#repeats.clear()
    this.#since = new Map(this.#repeats)
    this.#chars = [...this.#since].reduce((sum, [text, { times }]) => sum + times * text.length, 0)
  }

  /** The height from which blocks have to be told again on another socket; undefined where it can only begin anew. */
  resume(): number | undefined {
    this.#repeats = new Map(this.#since)
    this.#firstHeight = -1
    return this.#height < 0 ? undefined : this.#height + 1
  }

  /** These channels begin anew: whatever comes on them was not seen since. */
  forget(channels: ReadonlySet<string>): void {
    for (const seen of [this.#since, this.#repeats])
      for (const [text, { channel }] of seen) if (channels.has(channel)) seen.delete(text)
  }

  /** False for a frame that came before. */
  isNew(channel: string, text: string): boolean {
    const again = this.#repeats.get(text)
    if (again === undefined) {
      if (this.#height >= 0) this.#remember(channel, text)
      return true
    }
    if (again.times > 1) this.#repeats.set(text, { channel, times: again.times - 1 })
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
