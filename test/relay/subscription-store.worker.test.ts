import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { SubscriptionStore } from '../../src/relay/subscriptions/subscription.store.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('writes at most once a second, without confirmation and within the limits of a call', () => {
  const calls: [method: string, keys: number, options: object][] = []
  const method = (name: string) => async (keys: object, options: object) =>
    void calls.push([name, Object.keys(keys).length, options])
  const storage = { put: method('put'), delete: method('delete') }
  const store = new SubscriptionStore(storage as unknown as DurableObjectStorage)
  for (let id = 0; id < 130; id++) store.remove(`${id}`)
  vi.advanceTimersByTime(999)
  expect(calls).toEqual([])
  vi.advanceTimersByTime(1)
  const options = { allowUnconfirmed: true }
  expect(calls.filter(([name]) => name === 'delete')).toEqual([
    ['delete', 128, options],
    ['delete', 2, options],
  ])
  expect(calls.every(([, , each]) => 'allowUnconfirmed' in each)).toBe(true)
})
