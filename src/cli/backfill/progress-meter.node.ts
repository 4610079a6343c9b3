// Progress on standard error: an updating bar on a terminal, otherwise a line every ten seconds. The first Ctrl-C stops the run
// after the current batch, the second one immediately.

import { visible } from '../../core/visible.ts'
import type { BlockPosition } from './window.ts'

const BAR = 20
/** A rate measured over less time is meaningless. */
const KNOWN_MS = 2_000
const HOUR_S = 3_600
const BAR_MS = 200
const LINE_MS = 10_000

export interface ProgressMeter {
  readonly isStopped: boolean
  start(note: (text: string) => void): void
  update(share: number, blocks: number, at: BlockPosition): void
  note(message: string): void
  end(): void
}

export function progressMeter(): ProgressMeter {
  const isTerminal = process.stderr.isTTY === true
  let isStopped = false
  let isShown = false
  let firstShare = 0
  let startedMs = 0
  let shownMs = 0
  let print = (_: string) => {}
  const clear = () => {
    if (isShown) process.stderr.write('\r\x1b[K')
    isShown = false
  }
  const stop = () => {
    isStopped = true
    meter.note('Stopping after the current batch. Press Ctrl-C again to stop immediately.')
  }
  const meter: ProgressMeter = {
    get isStopped() {
      return isStopped
    },
    start(note) {
      print = note
      startedMs = shownMs = Date.now()
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
    },
    update(share, blocks, at) {
      if (blocks === 1) firstShare = share
      const nowMs = Date.now()
      if (nowMs - shownMs < (isTerminal ? BAR_MS : LINE_MS)) return
      shownMs = nowMs
      const line = progressLine({ share, blocks, at, elapsedMs: nowMs - startedMs }, firstShare, isTerminal)
      if (!isTerminal) return print(line)
      process.stderr.write(`\r${line}\x1b[K`)
      isShown = true
    },
    note(message) {
      clear()
      print(visible(message))
    },
    end() {
      clear()
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop)
    },
  }
  return meter
}

interface Progress {
  /** Share of the window, from 0 to 1. */
  readonly share: number
  readonly blocks: number
  readonly at: BlockPosition
  readonly elapsedMs: number
}

/** One line, with a bar on a terminal. `first`: the share at which this run started. */
export function progressLine({ share, blocks, at, elapsedMs }: Progress, first: number, isTerminal: boolean): string {
  const full = Math.round(share * BAR)
  const bar = isTerminal ? `[${'='.repeat(full)}${' '.repeat(BAR - full)}] ` : ''
  const where = `block ${at.height} of ${new Date(at.time).toISOString().slice(0, 19)}Z`
  const isKnown = elapsedMs >= KNOWN_MS && share > first
  const rate = isKnown ? `, ${Math.round((blocks * 1_000) / elapsedMs)} blocks/s` : ''
  const leftMs = isKnown ? ((1 - share) * elapsedMs) / (share - first) : null
  return `${bar}${Math.floor(share * 100)} %, ${where}${rate}${leftMs === null ? '' : `, ${durationText(leftMs)} left`}`
}

/** A duration in its two largest units. */
export function durationText(ms: number): string {
  const seconds = Math.ceil(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < HOUR_S) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return `${Math.floor(seconds / HOUR_S)} h ${Math.floor((seconds % HOUR_S) / 60)} min`
}
