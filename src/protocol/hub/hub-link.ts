// Frames from a hub to a relay: one message per block with pre-encoded coins, so that a relay only
// concatenates and never parses levels.
//
//   {"v":1,"epoch":"…","height":9,"time":1}      head, JSON
//   =\tBTC\t8\t[[…],[…]]                          one line per changed coin: mark, coin, prev_seq, levels,
//                                              and the checksum, if requested
//   ~\tBTC\t0 bbo\t[{…},{…}]                      one line per view of a coin: mark, coin, view, text
//
// JSON contains no raw tab or line feed, and the feed rejects coin names with control characters.

import type { Coin } from '../../core/coin.ts'

/**
 * `=` follows `prev_seq`. `+` is the coin's first full book. `!` has no levels. It means that the book is lost, so
 * every copy of it must start over.
 */
export type CoinMark = '=' | '+' | '!'

export interface CoinFragment {
  readonly mark: CoinMark
  readonly coin: Coin
  /** -1 if the mark is `!`. */
  readonly prevSeq: number
  /** JSON string `[changed bids,changed asks]`. */
  readonly levels: string
  /** Checksum of the resulting book (checksum.ts), if requested. */
  readonly checksum?: number
}

export interface HubTick {
  readonly v: number
  /** Null while the hub waits for a seed. */
  readonly epoch: string | null
  readonly height: number
  readonly time: number
}

/** Current view of a coin (view.ts). */
export interface ViewFragment {
  readonly view: string
  readonly coin: Coin
  readonly piece: string
}

/** `seq` of every coin equals the frame's height. */
export interface HubFrameToRelay extends HubTick {
  readonly coins: readonly CoinFragment[]
  readonly views?: readonly ViewFragment[]
}

/** Omits the checksum, which not all relays request. `encodeChecksum` appends it for those that do. */
export function encodeFragment(fragment: CoinFragment): string {
  return `\n${fragment.mark}\t${fragment.coin}\t${fragment.prevSeq}\t${fragment.levels}`
}

export function encodeChecksum(checksum: number): string {
  return `\t${checksum}`
}

export function encodeViewFragment({ view, coin, piece }: ViewFragment): string {
  return `\n~\t${coin}\t${view}\t${piece}`
}

/** `fragments` are the concatenated results of encodeFragment, encodeChecksum and encodeViewFragment. */
export function encodeHubFrame(tick: HubTick, fragments: string): string {
  return JSON.stringify(tick) + fragments
}

/** Inverse of encodeHubFrame. Throws on unreadable frames, because only Weir's own objects send frames. */
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
