import { expect, it } from 'vitest'
import { OrderInterests } from '../../src/block-log/order-interests.do.ts'
import { ReaderLinks } from '../../src/block-log/reader-links.do.ts'
import { SEGMENT_CHARS } from '../../src/block-log/segment.ts'
import type { Objects } from '../../src/core/objects.client.ts'
import { YIELD_MS } from '../../src/core/time.ts'
import { sleep } from '../../src/core/timers.client.ts'

/**
 * A log of three segments with one block each. `chars`: length of each. Returns the heights that a new reader receives.
 */
function opened(chars: number) {
  const sent: number[] = []
  const socket = Object.assign(new EventTarget(), {
    send: (text: string) => void sent.push((JSON.parse(text) as { height: number }).height),
    close: () => undefined,
  }) as unknown as WebSocket
  const lookUp = (kind: string, height: number) =>
    kind === 'events' && height <= 3 ? [`{"height":${height}}`.padEnd(chars)] : null
  const backlog = { lookUp, pending: () => [], gapAt: () => null }
  const wants = new OrderInterests(() => undefined, 0)
  const readers = new ReaderLinks({} as Objects, backlog, wants, () => undefined)
  readers.open({ v: 1, name: 'r', reader: { kind: 'relay' }, cursor: null }, 1, socket)
  return { readers, sent }
}

const turn = () => sleep(YIELD_MS)

it('a relay that is behind gets no tick, which would replace blocks it has yet to get', async () => {
  const { readers, sent } = opened(SEGMENT_CHARS)
  readers.tick(3, 0, 10_000)
  await turn()
  await turn()
  readers.tick(3, 0, 20_000)
  expect(sent).toEqual([1, 2, 3, 3])
})

it('a reader that is behind gets up to one maximal segment per turn', async () => {
  expect(opened(1_000).sent).toEqual([1, 2, 3])
  const { sent } = opened(SEGMENT_CHARS / 2)
  expect(sent).toEqual([1, 2])
  await turn()
  expect(sent).toEqual([1, 2, 3])
})
