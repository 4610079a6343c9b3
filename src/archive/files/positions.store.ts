// Positions of all wallets in a coin at a height: those of the last snapshot at or below it, then all later changes.
// Invariant: a snapshot only saves reads, so any snapshot gives the same positions.

import type { Coin } from '../../core/coin.ts'
import type { ArchiveStorage } from '../archive/archive-writer.store.ts'
import { PositionFold } from '../positions.ts'
import { positionsKey } from './file-keys.ts'
import { linesOfPage, pagesOfRange, readLines } from './key-lines.store.ts'
import type { FileSpan } from './levels.ts'
import type { RangeStorage } from './object-range.store.ts'
import { addLine, positionKey, rangesOfChanges } from './position-lines.ts'

type Snapshot = Omit<FileSpan, 'lastMs'> & {
  readonly number: number
  readonly offset: number
  readonly bytes: number
  readonly etag: string
}

/** More bytes than the caller allows. */
class TooMuch extends Error {}

/** Null if it takes more bytes of pages than `maxBytes`. */
export async function positionsAt(
  storage: ArchiveStorage & RangeStorage,
  coin: Coin,
  upTo: number,
  maxBytes: number,
): Promise<PositionFold | null> {
  const fold = new PositionFold()
  let left = maxBytes
  const onBytes = (bytes: number) => {
    left -= bytes
    if (left < 0) throw new TooMuch()
  }
  try {
    const snapshot = await lastSnapshot(storage, coin, upTo)
    if (snapshot) {
      onBytes(snapshot.bytes)
      await addSnapshot(storage, fold, coin, snapshot)
    }
    for (const range of rangesOfChanges(coin, (snapshot?.last ?? -1) + 1, upTo))
      await readLines(storage, range, (line) => addLine(fold, line), onBytes)
    return fold
  } catch (error) {
    if (error instanceof TooMuch) return null
    throw error
  }
}

async function lastSnapshot({ chain, db }: ArchiveStorage, coin: Coin, upTo: number): Promise<Snapshot | null> {
  return db
    .prepare(`SELECT d.first, d.last, d.first_ms AS firstMs, s.number, s.offset, s.bytes, s.etag FROM position_snapshots s
      JOIN position_days d ON d.chain = s.chain AND d.last = s.height
      WHERE s.chain = ? AND s.coin = ? AND s.height <= ? ORDER BY s.height DESC LIMIT 1`)
    .bind(chain, coin, upTo)
    .first<Snapshot>()
}

async function addSnapshot(
  storage: ArchiveStorage & RangeStorage,
  fold: PositionFold,
  coin: Coin,
  { number, offset, bytes, etag, ...day }: Snapshot,
): Promise<void> {
  if (bytes === 0) return
  const object = { key: positionsKey(storage.chain, day, number), etag }
  for (const page of await pagesOfRange(storage, positionKey(coin), { object, offset, bytes }))
    for (const line of await linesOfPage(page)) addLine(fold, line)
}
