// Progress on standard error: a bar that is written over on a terminal, else a line now and then. Ctrl-C ends a run after what
// is under way, a second one at once.

import { visible } from '../../core/visible.ts'
import { progressLine } from './progress.ts'
import type { Place } from './window.ts'

const BAR_MS = 200
const LINE_MS = 10_000

export interface ProgressMeter {
  readonly isStopped: boolean
  begin(note: (text: string) => void): void
  told(share: number, blocks: number, at: Place): void
  note(sentence: string): void
  end(): void
}

/** Of this process. */
export function progressMeter(): ProgressMeter {
  const isTerminal = process.stderr.isTTY === true
  let isStopped = false
  let isShown = false
  let firstShare = 0
  let beganMs = 0
  let shownMs = 0
  let say = (_: string) => {}
  const clear = () => {
    if (isShown) process.stderr.write('\r\x1b[K')
    isShown = false
  }
  const stop = () => {
    isStopped = true
    meter.note('Ending after what is under way; Ctrl-C again ends at once.')
  }
  const meter: ProgressMeter = {
    get isStopped() {
      return isStopped
    },
    begin(note) {
      say = note
      beganMs = shownMs = Date.now()
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
    },
    told(share, blocks, at) {
      if (blocks === 1) firstShare = share
      const nowMs = Date.now()
      if (nowMs - shownMs < (isTerminal ? BAR_MS : LINE_MS)) return
      shownMs = nowMs
      const line = progressLine({ share, blocks, at, elapsedMs: nowMs - beganMs }, firstShare, isTerminal)
      if (!isTerminal) return say(line)
      process.stderr.write(`\r${line}\x1b[K`)
      isShown = true
    },
    note(sentence) {
      clear()
      say(visible(sentence))
    },
    end() {
      clear()
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop)
    },
  }
  return meter
}
