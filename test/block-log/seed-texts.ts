// Order books as the frames of one snapshot, for feeders of tests and benches.

import { SnapshotEncoder } from '../../src/feeder/snapshot-encoder.ts'
import type { SnapshotFrame } from '../../src/protocol/feed/protocol.ts'

export function seedTexts(
  head: Pick<SnapshotFrame, 'scope' | 'height' | 'time'>,
  list: SnapshotFrame['books'],
): string[] {
  const books = new Map(list.map(({ coin, levels }) => [coin, levels]))
  const cut = new SnapshotEncoder(head, [...books.keys()], {
    depths: (coin) => [books.get(coin)![0].length, books.get(coin)![1].length],
    side: (coin, side) => books.get(coin)![side],
  })
  const texts: string[] = []
  while (!cut.isDone) texts.push(cut.next()!)
  return texts
}
