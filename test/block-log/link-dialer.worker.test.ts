// Where Durable Objects are created (the first caller decides, so every caller passes the location), and readers
// that do not answer.

import { afterEach, expect, it, vi } from 'vitest'
import { MAX_DIALS } from '../../src/block-log/dial-queue.ts'
import { DIAL_MS, LinkDialer } from '../../src/block-log/link-dialer.client.ts'
import { Objects } from '../../src/core/objects.client.ts'

function asked(region: 'apac-ne' | null, ask: (objects: Objects) => unknown) {
  const calls: unknown[] = []
  const namespace = (binding: string) => ({
    getByName: (name: string, { locationHint = 'anywhere' } = {}) => void calls.push([binding, name, locationHint]),
  })
  const bindings = ['BLOCK_LOG', 'BOOK_HUB', 'RELAY', 'SOURCE_BUDGET'].map((name) => [name, namespace(name)])
  ask(new Objects(Object.fromEntries(bindings) as never, { CHAIN: 'c', FEED_REGION: region }))
  return calls
}

const EVERY_WAY = (objects: Objects) => {
  objects.log()
  objects.hub(3)
  objects.reader('hub', 'c/3')
}

it('log and hubs are always addressed in FEED_REGION', () => {
  const names = [
    ['BLOCK_LOG', 'c'],
    ['BOOK_HUB', 'c/3'],
    ['BOOK_HUB', 'c/3'],
  ]
  expect(asked('apac-ne', EVERY_WAY)).toEqual(names.map((name) => [...name, 'apac-ne']))
  expect(asked(null, EVERY_WAY)).toEqual(names.map((name) => [...name, 'anywhere']))
})

it('a relay is in the region of its name, whatever addresses it', () => {
  const relays = (objects: Objects) => {
    objects.relay('weur', 2)
    objects.reader('relay', 'c/weur/2')
    objects.relay('apac-ne', 3)
    objects.relay('local', 0)
    objects.reader('relay', 'without a region')
  }
  expect(asked('apac-ne', relays)).toEqual([
    ['RELAY', 'c/weur/2', 'weur'],
    ['RELAY', 'c/weur/2', 'weur'],
    ['RELAY', 'c/apac-ne/3', 'apac-ne'],
    ['RELAY', 'c/local/0', 'anywhere'],
    ['RELAY', 'without a region', 'anywhere'],
  ])
})

afterEach(() => vi.useRealTimers())

function dialsTo(answers: (name: string) => Promise<unknown>) {
  const dialled: string[] = []
  const signals: AbortSignal[] = []
  const reader = (_: unknown, name: string) => ({
    fetch: (_url: string, { signal }: { signal: AbortSignal }) => {
      dialled.push(name)
      signals.push(signal)
      return answers(name)
    },
  })
  const dials = new LinkDialer({ reader } as never, { v: 1, from: 'log', index: 0 })
  return { dials, dialled, signals }
}
const taken = { webSocket: { accept: () => undefined } }

it('hanging readers are dropped after three seconds and do not delay others longer', async () => {
  vi.useFakeTimers()
  const { dials, dialled, signals } = dialsTo((name) =>
    name.startsWith('hangs') ? new Promise(() => undefined) : Promise.resolve(taken),
  )
  const hung = Array.from({ length: MAX_DIALS }, (_, i) => dials.dial('relay', `hangs ${i}`))
  const failed = Promise.all(hung.map((one) => expect(one).rejects.toThrow('hangs')))
  const well = dials.dial('relay', 'well')
  await vi.advanceTimersByTimeAsync(DIAL_MS - 1)
  expect(dialled).not.toContain('well')
  await vi.advanceTimersByTimeAsync(1)
  await failed
  expect(signals.filter(({ aborted }) => aborted)).toHaveLength(MAX_DIALS)
  expect(await well).toBe(taken.webSocket)
  expect(signals.at(-1)?.aborted).toBe(false)
})

it('a reader that rejects the link is an error', async () => {
  const { dials } = dialsTo(() => Promise.resolve({ webSocket: null }))
  await expect(dials.dial('hub', 'c/9')).rejects.toThrow('hub c/9')
})
