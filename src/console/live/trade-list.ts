// The last trades of a market. Laws: newest first, each once, a bounded number.

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

const KEPT = 60

/** `news` in the order of the wire: oldest first within a frame. */
export function withTrades(held: readonly Trade[], news: readonly WireTrade[]): Trade[] {
  const known = new Set(held.map(({ id }) => id))
  const fresh = news.flatMap(({ px, sz, side, time, tid }) => {
    const id = `${tid} ${time}`
    if (known.has(id)) return []
    known.add(id)
    return [{ id, px: +px, sz: +sz, isBuy: side === 'B', time }]
  })
  return [...fresh.reverse(), ...held].sort((a, b) => b.time - a.time).slice(0, KEPT)
}
