// One drawing for each frame of the screen, however many changes came. Laws: what was asked for is drawn once after the last
// asking; a page that nobody sees gets no frames, and what waits for one does not grow.

export class FrameScheduler {
  readonly #nextFrame: (run: () => void) => void
  readonly #due = new Set<() => void>()
  #isAsked = false

  constructor(nextFrame: (run: () => void) => void) {
    this.#nextFrame = nextFrame
  }

  /** What asks for this drawing: what it draws is what is known when the frame comes, so that there is one of it. */
  drawing(draw: () => void): () => void {
    return () => {
      this.#due.add(draw)
      if (this.#isAsked) return
      this.#isAsked = true
      this.#nextFrame(() => {
        this.#isAsked = false
        const due = [...this.#due]
        this.#due.clear()
        for (const one of due) one()
      })
    }
  }
}
