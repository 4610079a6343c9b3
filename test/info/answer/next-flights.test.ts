import { describe, expect, it } from 'vitest'
import type { After } from '../../../src/core/deadline.ts'
import { NextFlights } from '../../../src/info/answer/answers.ts'
import { FLIGHT_MAX_MS } from '../../../src/info/ports.ts'

/** Flights that land when told, in the order of their beginning. */
function harness() {
  let now = 0
  const begun: PromiseWithResolvers<number>[] = []
  const timers: (() => void)[] = []
  const after: After = (ms, run) => {
    timers.push(() => now >= ms && run())
    return () => {}
  }
  const flights = new NextFlights<number>(() => now, after)
  const start = () => {
    const flight = Promise.withResolvers<number>()
    begun.push(flight)
    return flight.promise
  }
  return {
    begun,
    join: () => flights.join('k', start),
    land: async (index: number) => {
      begun[index]!.resolve(index)
      for (let turn = 0; turn < 10; turn++) await Promise.resolve()
    },
    wait: (ms: number) => {
      now += ms
      for (const ring of timers) ring()
    },
  }
}

describe('NextFlights', () => {
  it('answers any number at once with two flights, and each caller with one that began after it came', async () => {
    const { begun, join, land } = harness()
    const first = join()
    const rest = Array.from({ length: 99 }, join)
    expect([first.leads, rest.map(({ leads }) => leads).filter(Boolean).length, begun.length]).toEqual([true, 1, 1])
    await land(0)
    expect(begun.length).toBe(2)
    // The second has begun: who comes now must not share it.
    const late = join()
    await land(1)
    expect(begun.length).toBe(3)
    await land(2)
    expect(await first.result).toBe(0)
    expect(new Set(await Promise.all(rest.map(({ result }) => result)))).toEqual(new Set([1]))
    expect(await late.result).toBe(2)
  })

  it('shares the next between the landing of one and the beginning of the next', async () => {
    const { begun, join, land } = harness()
    const first = join()
    const second = join()
    begun[0]!.resolve(0)
    await first.result
    const between = join()
    expect([between.leads, begun.length]).toEqual([false, 1])
    await land(0)
    expect(begun.length).toBe(2)
    await land(1)
    expect([await second.result, await between.result]).toEqual([1, 1])
  })

  it('does not share one that waits for a flight whose leader is gone', () => {
    const { begun, join, wait } = harness()
    join()
    wait(FLIGHT_MAX_MS / 2)
    join()
    wait(FLIGHT_MAX_MS / 2)
    expect([join().leads, begun.length]).toEqual([true, 2])
  })

  it('begins at once where none is under way', async () => {
    const { begun, join, land } = harness()
    const one = join()
    await land(0)
    const two = join()
    expect(begun.length).toBe(2)
    await land(1)
    expect([await one.result, await two.result]).toEqual([0, 1])
  })

  it('does not wait for a flight whose leader is gone', async () => {
    const { begun, join, land, wait } = harness()
    join()
    join()
    wait(FLIGHT_MAX_MS)
    const late = join()
    expect(begun.length).toBe(2)
    await land(1)
    expect(await late.result).toBe(1)
  })

  it('lets who waits for a flight whose leader is gone begin one, too', async () => {
    const { begun, join, land, wait } = harness()
    join()
    const waiting = join()
    wait(FLIGHT_MAX_MS)
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
    expect(begun.length).toBe(2)
    await land(1)
    expect(await waiting.result).toBe(1)
  })
})
