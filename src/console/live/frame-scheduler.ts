// One drawing for each frame of the screen, however many changes came. Law: who asked is drawn once after the last asking.

export class FrameScheduler {
  readonly #nextFrame: (run: () => void) => void
  readonly #due = new Set<() => void>()
  #isAsked = false

  constructor(nextFrame: (run: () => void) => void) {
    this.#nextFrame = nextFrame
  }

  ask(draw: () => void): void {
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
