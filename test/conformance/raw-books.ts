// Books of `l2BookDiff2` with checksums, kept from the words of the document alone: nothing of the product is in here.

import { crc32 } from 'node:zlib'

type RawLevel = { px: string; sz: string; n: number }
type RawLevels = [RawLevel[], RawLevel[]]
export interface RawSnapshot {
  readonly epoch: string
  readonly height: number
  readonly seq: number
  readonly levels: RawLevels
}
export interface RawBatch {
  readonly epoch: string
  readonly block_height: number
  readonly book_diffs: readonly {
    readonly coin: string
    readonly seq: number
    readonly prev_seq: number
    readonly levels: RawLevels
    readonly checksum?: number
  }[]
}

/** What became of the entries above each coin's snapshot: how many had the right checksum, and what was wrong. */
export function checkBooks(snapshots: ReadonlyMap<string, RawSnapshot>, batches: readonly RawBatch[]) {
  const found = { right: 0, wrong: [] as string[] }
  for (const [coin, { epoch, height, levels, ...snapshot }] of snapshots) {
    let { seq } = snapshot
    const sides = levels.map((side) => new Map(side.map((level) => [level.px, level])))
    for (const batch of batches) {
      const entry = batch.book_diffs.find((one) => one.coin === coin)
      if (!entry || batch.block_height <= height) continue
      if (batch.epoch !== epoch || entry.prev_seq !== seq) found.wrong.push(`${coin} does not follow at ${entry.seq}`)
      seq = entry.seq
      for (const [at, changed] of entry.levels.entries())
        for (const level of changed) {
          if (level.n === 0) sides[at]!.delete(level.px)
          else sides[at]!.set(level.px, level)
        }
      if (checksumOf(sides) === entry.checksum) found.right++
      else found.wrong.push(`${coin} at ${seq}: ${entry.checksum}`)
    }
  }
  return found
}

function checksumOf([bids, asks]: readonly Map<string, RawLevel>[]): number {
  const best = (side: Map<string, RawLevel>, sign: number) =>
    [...side.values()].sort((a, b) => sign * (Number(a.px) - Number(b.px))).slice(0, 10)
  const text = (side: RawLevel[]) => side.map(({ px, sz, n }) => `${px}:${sz}:${n}`).join(':')
  return crc32(`${text(best(bids!, -1))}/${text(best(asks!, 1))}`)
}
