// The latest trades and activity entries. Invariants: newest first and bounded; a repeated entry is counted, not listed again.

export interface WireTrade {
  readonly px: string
  readonly sz: string
  readonly side: string
  readonly time: number
  readonly tid: number
}

export interface Trade {
  readonly id: string
  readonly px: number
  readonly sz: number
  readonly isBuy: boolean
  readonly time: number
}

const TRADES_MAX = 60

/** `received` is in wire order: oldest first within a frame. */
export function addTrades(shown: readonly Trade[], received: readonly WireTrade[]): Trade[] {
  const known = new Set(shown.map(({ id }) => id))
  const fresh = received.flatMap(({ px, sz, side, time, tid }) => {
    const id = `${tid} ${time}`
    if (known.has(id)) return []
    known.add(id)
    return [{ id, px: +px, sz: +sz, isBuy: side === 'B', time }]
  })
  return [...fresh.reverse(), ...shown].sort((a, b) => b.time - a.time).slice(0, TRADES_MAX)
}

export interface ActivityEntry {
  readonly id: number
  readonly atMs: number
  readonly kind: 'good' | 'wait' | 'bad'
  readonly text: string
  readonly times: number
}

const ACTIVITY_MAX = 40

export function addActivity(
  list: readonly ActivityEntry[],
  { atMs, kind, text }: Pick<ActivityEntry, 'atMs' | 'kind' | 'text'>,
): ActivityEntry[] {
  const last = list[0]
  if (last?.text === text) return [{ ...last, atMs, times: last.times + 1 }, ...list.slice(1)]
  return [{ id: (last?.id ?? 0) + 1, atMs, kind, text, times: 1 }, ...list].slice(0, ACTIVITY_MAX)
}
