// Figures of the metrics in the SQLite database of the Monitor. Invariant: the number of rows is bounded.

import { Tables } from '../core/tables.store.ts'
import { HISTORY_MS, HISTORY_STEP_MS } from './metric-report.ts'
import type { FiguresAt } from './monitor-api.ts'

export class FigureStore extends Tables {
  #lastMs: number | null = null

  /** Stores figures if the last ones are a step old. `read` is called only then. */
  record(nowMs: number, read: () => FiguresAt['figures']): void {
    this.#lastMs ??= this.one<{ at: number }>('SELECT coalesce(max(at), 0) AS at FROM figures').at
    // The checks are not exactly a minute apart.
    if (nowMs - this.#lastMs < HISTORY_STEP_MS - 5_000) return
    this.#lastMs = nowMs
    this.run('INSERT OR REPLACE INTO figures VALUES (?, ?)', nowMs, JSON.stringify(read()))
    this.run('DELETE FROM figures WHERE at < ? OR at > ?', nowMs - HISTORY_MS, nowMs)
  }

  /** Oldest first. */
  list(): FiguresAt[] {
    const rows = this.all<{ at: number; figures: string }>('SELECT * FROM figures ORDER BY at')
    return rows.map(({ at, figures }) => ({ at, figures: JSON.parse(figures) as FiguresAt['figures'] }))
  }
}
