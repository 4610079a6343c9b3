import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { BoundedMap } from '../../src/core/bounded-map.ts'

type Entry = readonly [key: string, value: number]

/** Reference model, oldest first. */
class Model {
  entries: Entry[] = []
  readonly #most: number
  constructor(most: number) {
    this.#most = most
  }
  set(key: string, value: number) {
    this.delete(key)
    if (value > this.#most) return
    this.entries.push([key, value])
    while (this.entries.reduce((sum, [, weight]) => sum + weight, 0) > this.#most) this.entries.shift()
  }
  delete(key: string) {
    this.entries = this.entries.filter(([known]) => known !== key)
  }
}

const keys = ['a', 'b', 'c', 'd', 'e']
const step = fc.tuple(
  fc.constantFrom('set', 'set', 'set', 'get', 'delete', 'drop'),
  fc.constantFrom(...keys),
  fc.nat(12),
)

it('equals a list that drops its front, after any calls', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const map = new BoundedMap<string, number>(10, (value) => value)
      const model = new Model(10)
      for (const [what, key, value] of steps) {
        if (what === 'set') {
          map.set(key, value)
          model.set(key, value)
        } else if (what === 'get') map.get(key)
        else if (what === 'delete') {
          map.delete(key)
          model.delete(key)
        } else {
          map.dropOldest()
          model.entries.shift()
        }
        const known = keys.flatMap((each) => (map.has(each) ? [[each, map.get(each)]] : [])).sort()
        expect(known).toEqual(model.entries.toSorted())
        expect(map.size).toBe(model.entries.length)
      }
    }),
  )
})

it('counts entries by default, and setting refreshes an entry', () => {
  const map = new BoundedMap<string, number>(3)
  for (const key of ['a', 'b', 'c', 'a', 'd', 'e']) map.set(key, 100)
  expect(keys.filter((key) => map.has(key))).toEqual(['a', 'd', 'e'])
})

it('evicts in constant time, however many entries were evicted before', () => {
  const map = new BoundedMap<number, null>(20_000)
  const begun = performance.now()
  for (let i = 0; i < 400_000; i++) map.set(i, null)
  expect(map.size).toBe(20_000)
  // Starting at the front each time would take billions of steps.
  expect(performance.now() - begun).toBeLessThan(5_000)
})

it('releases memory of removed entries, whether full or not', () => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const heldAfter = (churn: (map: BoundedMap<number, number>, n: number) => void) => {
    const map = new BoundedMap<number, number>(100)
    collect()
    const before = process.memoryUsage().heapUsed
    for (let n = 0; n < 200_000; n++) churn(map, n)
    collect()
    expect(map.size).toBeLessThanOrEqual(100)
    return process.memoryUsage().heapUsed - before
  }
  // A stale iterator would retain 30 MB here.
  const MOST = 5_000_000
  const comeAndGo = (map: BoundedMap<number, number>, n: number) => {
    map.set(n, n)
    map.delete(n)
  }
  expect(heldAfter(comeAndGo)).toBeLessThan(MOST)
  expect(heldAfter((map, n) => map.set(n, n))).toBeLessThan(MOST)
  expect(heldAfter((map, n) => (n < 1_000 ? map.set(n, n) : comeAndGo(map, n)))).toBeLessThan(MOST)
})
