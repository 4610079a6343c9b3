// The frames that a hub sends to a relay: one text per block, coins pre-encoded, so that a relay
// concatenates and never parses a level.
//
//   {"v":1,"epoch":"…","height":9,"time":1}      head, JSON
//   =\tBTC\t8\t[[…],[…]]                          one line per changed coin: mark, coin, prev_seq, levels,
//                                              and where that is wanted one more field, its checksum
//   ~\tBTC\t0 bbo\t[{…},{…}]                      one line per view of a coin: mark, coin, view, text
//
// JSON text holds no raw tab or line feed, and coin names with control characters are refused at the feed.

import type { Coin } from '../../core/coin.ts'

/** `=` follows `prev_seq`; `+` the coin's first book, whole; `!` lost: no levels, who holds it begins again. */
export type CoinMark = '=' | '+' | '!'

export interface CoinFragment {
  readonly mark: CoinMark
  readonly coin: Coin
  /** -1 with `!`. */
  readonly prevSeq: number
  /** JSON text `[changed bids,changed asks]`. */
  readonly levels: string
  /** Of the book after this (checksum.ts), where somebody wants it. */
  readonly checksum?: number
}

export interface HubTick {
  readonly v: number
  /** Null while the hub waits for a seed. */
  readonly epoch: string | null
  readonly height: number
  readonly time: number
}

/** A view of a coin (view.ts) as it is now. */
export interface ViewFragment {
  readonly view: string
  readonly coin: Coin
  readonly piece: string
}

/** `seq` of every coin in the frame is the frame's height. */
export interface HubFrameToRelay extends HubTick {
  readonly coins: readonly CoinFragment[]
  readonly views?: readonly ViewFragment[]
}

/** Without its checksum, which not all relays want: `encodeChecksum` follows it for those that do. */
export function encodeFragment(fragment: CoinFragment): string {
  return `\n${fragment.mark}\t${fragment.coin}\t${fragment.prevSeq}\t${fragment.levels}`
}

export function encodeChecksum(checksum: number): string {
  return `\t${checksum}`
}

export function encodeViewFragment({ view, coin, piece }: ViewFragment): string {
  return `\n~\t${coin}\t${view}\t${piece}`
}

/** `fragments` are texts of encodeFragment, encodeChecksum and encodePiece. */
export function encodeHubFrame(tick: HubTick, fragments: string): string {
  return JSON.stringify(tick) + fragments
}

/** Inverse of encodeHubFrame. Throws on a frame that this version cannot read: only our own objects send them. */
export function decodeHubFrame(text: string): HubFrameToRelay {
  const lines = text.split('\n')
  const tick = JSON.parse(lines.shift() ?? '') as HubTick
  const coins: CoinFragment[] = []
  const views: ViewFragment[] = []
  for (const line of lines) {
    const [mark, coin, about, text, checksum] = line.split('\t') as [CoinMark | '~', string, string, string, string?]
    if (mark === '~') views.push({ view: about, coin, piece: text })
    else
      coins.push({
        mark,
        coin,
        prevSeq: Number(about),
        levels: text,
        ...(checksum !== undefined && { checksum: Number(checksum) }),
      })
  }
  return { ...tick, coins, ...(views.length > 0 && { views }) }
}
