// What of events a client has seen, so that after an interruption it asks for the rest alone and shows nothing twice.
// Law: pongs tell up to which height all is there (WS-60); of what came after the last one each frame is known by its
// text, as often as it came, up to a bound.

/** More than this is five minutes of everybody's fills; a gateway tells heights far sooner. */
const MOST_CHARS = 32 * 1024 * 1024

export class SeenFrames {
  /** All blocks up to here are seen; -1 while that is not known, and then nothing need be remembered. */
  #height = -1
  #since = new Map<string, number>()
  #chars = 0
  /** Of those, frames that a replay will bring once more. */
  #again = new Map<string, number>()

  /** A pong told that everything up to this height was sent before it. */
  complete(height: number): void {
    this.#height = height
    this.#since.clear()
    this.#chars = 0
    this.#again.clear()
  }

  /** The height from which blocks have to be told again on another socket; undefined where it can only begin anew. */
  resume(): number | undefined {
    this.#again = new Map(this.#since)
    return this.#height < 0 ? undefined : this.#height + 1
  }

  /** False for a frame that came before. `mayBeAgain`: its body goes on where it was. */
  take(text: string, mayBeAgain: boolean): boolean {
    const left = mayBeAgain ? (this.#again.get(text) ?? 0) : 0
    if (left > 0) this.#again.set(text, left - 1)
    else if (this.#height >= 0) this.#remember(text)
    return left === 0
  }

  #remember(text: string): void {
    this.#since.set(text, (this.#since.get(text) ?? 0) + 1)
    this.#chars += text.length
    if (this.#chars <= MOST_CHARS) return
    this.#height = -1
    this.#since.clear()
    this.#chars = 0
  }
}
