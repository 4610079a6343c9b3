// How far a run is, for people: how much of the window, how fast, and how long it will take.

import type { Place } from './window.ts'

const BAR = 20
/** Sooner a rate says little. */
const KNOWN_MS = 2_000
const HOUR_S = 3_600

export interface Progress {
  /** Of the window, from 0 to 1. */
  readonly share: number
  readonly blocks: number
  readonly at: Place
  readonly elapsedMs: number
}

/** One line; with a bar on a terminal. `first`: the share where this run began to read. */
export function progressLine({ share, blocks, at, elapsedMs }: Progress, first: number, isTerminal: boolean): string {
  const full = Math.round(share * BAR)
  const bar = isTerminal ? `[${'='.repeat(full)}${' '.repeat(BAR - full)}] ` : ''
  const where = `block ${at.height} of ${new Date(at.time).toISOString().slice(0, 19)}Z`
  const isKnown = elapsedMs >= KNOWN_MS && share > first
  const rate = isKnown ? `, ${Math.round((blocks * 1_000) / elapsedMs)} blocks/s` : ''
  const leftMs = isKnown ? ((1 - share) * elapsedMs) / (share - first) : null
  return `${bar}${Math.floor(share * 100)} %, ${where}${rate}${leftMs === null ? '' : `, ${durationText(leftMs)} left`}`
}

/** In the two units that matter. */
export function durationText(ms: number): string {
  const seconds = Math.ceil(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < HOUR_S) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return `${Math.floor(seconds / HOUR_S)} h ${Math.floor((seconds % HOUR_S) / 60)} min`
}
