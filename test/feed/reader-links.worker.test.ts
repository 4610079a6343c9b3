import { expect, it } from 'vitest'
import type { Objects } from '../../src/core/objects.client.ts'
import { OrderWants } from '../../src/feed/order-wants.do.ts'
import { ReaderLinks } from '../../src/feed/reader-links.do.ts'

it('a relay that is behind hears no tick, which would stand for the blocks that it has yet to be sent', async () => {
  const sent: number[] = []
  const socket = Object.assign(new EventTarget(), {
    send: (text: string) => void sent.push((JSON.parse(text) as { height: number }).height),
    close: () => undefined,
  }) as unknown as WebSocket
  const lookUp = (kind: string, height: number) => (kind === 'events' && height <= 3 ? [`{"height":${height}}`] : null)
  const backlog = { lookUp, pending: () => [], gapAt: () => null }
  const wants = new OrderWants(() => undefined, 0)
  const readers = new ReaderLinks({} as Objects, backlog, wants, () => undefined)
  readers.open({ v: 1, name: 'r', reader: { kind: 'relay' }, cursor: null }, 1, socket)
  readers.tick(3, 0, 10_000)
  await new Promise((done) => setTimeout(done, 0))
  await new Promise((done) => setTimeout(done, 0))
  readers.tick(3, 0, 20_000)
  expect(sent).toEqual([1, 2, 3, 3])
})
