import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Watch } from '../../src/relay/watch.client.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A relay of five minutes in which frames come every second while `feeds`; when it looked, and each alarm it set. */
async function run(state: 'busy' | 'idle' | 'none', feeds: (second: number) => boolean) {
  const looks: number[] = []
  const alarms: number[] = []
  let due: number | null = null
  const began = Date.now()
  const second = () => Math.round((Date.now() - began) / 1000)
  const storage = {
    getAlarm: async () => due,
    setAlarm: async (at: number) => {
      due = at
      alarms.push(second())
    },
  }
  const watch = new Watch(
    storage,
    () => undefined,
    () => Date.now(),
  )
  await watch.begin(() => state, [() => void looks.push(second())])
  for (let i = 0; i < 300; i++) {
    vi.advanceTimersByTime(1000)
    if (feeds(i)) watch.fed()
    if (due !== null && due <= Date.now()) {
      due = null
      watch.alarm()
    }
  }
  const gaps = looks.map((at, i) => at - (looks[i - 1] ?? 0))
  return { looks, alarms, longest: Math.max(...gaps, 300 - (looks.at(-1) ?? 0)) }
}

test('while frames come, one looks every five seconds and an alarm is written once a minute', async () => {
  const { alarms, longest } = await run('busy', () => true)
  expect(longest).toBeLessThanOrEqual(6)
  expect(alarms.length).toBeLessThanOrEqual(7)
})

test('where frames end, alarms take over, and nothing keeps the relay awake', async () => {
  const { longest } = await run('busy', (second) => second % 100 < 50)
  expect(longest).toBeLessThanOrEqual(10)
  await run('busy', (second) => second < 50)
  expect(vi.getTimerCount()).toBe(0)
})

test('silent sockets are looked after by alarms alone, and a relay with nothing sleeps', async () => {
  const { alarms, longest } = await run('idle', () => false)
  expect([alarms.length, longest]).toEqual([31, 10])
  expect(await run('none', () => false)).toMatchObject({ looks: [], alarms: [] })
})
