import { expect, test } from 'vitest'
import { typeOfFrames } from '../../src/client/channels.ts'
import { type Entry, newEntry } from '../../src/client/entries.ts'
import { mayBeOf } from '../../src/client/frame-bodies.ts'
import { Hearers } from '../../src/client/hearers.ts'
import type { DataFrame } from '../../src/client/server-frame.ts'
import type { SubscriptionBody } from '../../src/client/subscription.ts'
import { CHANNELS } from '../../src/stream/catalogue.ts'

const silent = { live() {}, lost() {}, frame() {}, refused() {} }
const acked = (body: object): Entry => Object.assign(newEntry(body as SubscriptionBody, silent), { acked: true })
const user = (at: number) => `0x${at.toString(16).padStart(40, '0')}`

test('of every channel those are found whom looking at each would find, until they leave', () => {
  const bodies = CHANNELS.flatMap(({ type, example: { request } }) => [
    { type, ...request },
    { type },
    { type, ...request, later: 'a field of a newer gateway' },
    ...['user', 'coin'].map((field) => ({ type, ...request, [field]: field === 'user' ? user(1) : 'NONE' })),
  ])
  const entries = bodies.map(acked)
  const hearers = new Hearers()
  const expectAll = () => {
    for (const { example } of CHANNELS) {
      const frame = example.frame as unknown as DataFrame
      const found = entries.filter(({ body, want }) => {
        return body.type === typeOfFrames(frame.channel) && (want === null || mayBeOf(frame, want))
      })
      expect(new Set(hearers.of(frame))).toEqual(new Set(found))
    }
  }
  for (const entry of entries) hearers.add(entry)
  expectAll()
  while (entries.length > 0) {
    for (const entry of entries.splice(0, 40)) hearers.remove(entry)
    expectAll()
  }
  expect(CHANNELS.some(({ type }) => hearers.has(type))).toBe(false)
})

test.each<[string, (at: number) => object, object]>([
  ['bbo', (at) => ({ coin: `C${at}` }), { data: { coin: 'C7', time: 1, bbo: [null, null] } }],
  ['trades', (at) => ({ coin: `C${at}` }), { data: [{ coin: 'C7' }, { coin: 'C7' }] }],
  ['userFills', (at) => ({ user: user(at) }), { fills: [], data: { user: user(7), fills: [] } }],
  ['l2BookDiff2', (at) => ({ coin: `C${at}` }), { data: { Updates: { book_diffs: [{ coin: 'C7' }] } } }],
  ['clearinghouseState', (at) => ({ user: user(at) }), { data: { user: user(7), dex: '' } }],
])('a frame of %s looks at those alone that have its name', (type, bodyOf, frame) => {
  let looks = 0
  const hearers = new Hearers()
  for (let at = 0; at < 1_000; at++) {
    const entry = acked({ type, ...bodyOf(at) })
    Object.defineProperty(entry, 'acked', { get: () => ++looks > 0 })
    hearers.add(entry)
  }
  expect(hearers.of({ channel: type, ...frame } as unknown as DataFrame)).toHaveLength(1)
  expect(looks).toBe(1)
})
