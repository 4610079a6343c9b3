// What of events a client has seen, so that after an interruption it asks for the rest alone and shows nothing twice.
// Law: pongs tell up to which height all is there (WS-60); of what came after the last one each frame is known by its
// text, as often as it came.

export class SeenFrames {
  /** All blocks up to here are seen; -1 while that is not known. */
  #height = -1
  #since = new Map<string, number>()
  /** Of those, frames that a replay will bring once more. */
  #again = new Map<string, number>()

  /** A pong told that everything up to this height was sent before it. */
  complete(height: number): void {
    this.#height = height
    this.#since.clear()
    this.#again.clear()
  }

  /** The height from which blocks have to be told again on another socket; undefined where it can only begin anew. */
  resume(): number | undefined {
    if (this.#height < 0) this.#since.clear()
    this.#again = new Map(this.#since)
    return this.#height < 0 ? undefined : this.#height + 1
  }

  /** False until a pong has told a height. */
  get isKnown(): boolean {
    return this.#height >= 0
  }

  /** False for a frame that came before. */
  take(text: string): boolean {
    const left = this.#again.get(text) ?? 0
    if (left > 0) this.#again.set(text, left - 1)
    else this.#since.set(text, (this.#since.get(text) ?? 0) + 1)
    return left === 0
  }
}
