import { describe, expect, it } from 'vitest'
import type { After } from '../../src/core/deadline.ts'
import { SingleFlight, SingleFlights } from '../../src/core/single-flight.ts'
import { NextFlights } from '../../src/info/answer/answer-resolver.ts'
import { FLIGHT_MAX_MS } from '../../src/info/ports.ts'

/** Work that settles on request. */
function work() {
  const begun: PromiseWithResolvers<string>[] = []
  const start = () => {
    begun.push(Promise.withResolvers<string>())
    return begun.at(-1)!.promise
  }
  return { begun, start }
}

describe('single flight', () => {
  it('is shared while in progress, and ends before its result is delivered', async () => {
    const { begun, start } = work()
    const flight = new SingleFlight<string>()
    const heard: boolean[] = []
    const results = [flight.join(start), flight.join(start), flight.join(start)]
    for (const result of results) result.then(() => heard.push(flight.isPending))
    expect([begun.length, flight.isPending]).toEqual([1, true])
    begun[0]!.resolve('one')
    expect(await Promise.all(results)).toEqual(['one', 'one', 'one'])
    expect(heard).toEqual([false, false, false])
    flight.join(start)
    expect(begun.length).toBe(2)
  })

  it('rejects for all callers, and the next one starts again', async () => {
    const { begun, start } = work()
    const flight = new SingleFlight<string>()
    const results = [flight.join(start), flight.join(start)]
    begun[0]!.reject(new Error('lost'))
    expect((await Promise.allSettled(results)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(flight.current()).toBe(null)
  })

  it('is not joined beyond its bound, and does not end its successor', async () => {
    const { begun, start } = work()
    const flight = new SingleFlight<string>(1_000)
    const first = flight.join(start, 5)
    expect(flight.current(1_004)).toBe(first)
    expect([flight.current(1_005), flight.isPending]).toEqual([null, true])
    const second = flight.join(start, 1_005)
    begun[0]!.resolve('late')
    await first
    expect(flight.current(1_005)).toBe(second)
  })
})

describe('flights by key', () => {
  it('are shared by key and report the leader', async () => {
    const { begun, start } = work()
    const flights = new SingleFlights<string>(1_000)
    const joined = [flights.join('a', start, 0), flights.join('b', start, 0), flights.join('a', start, 999)]
    expect(joined.map(({ isLeader }) => isLeader)).toEqual([true, true, false])
    expect(flights.join('a', start, 1_000).isLeader).toBe(true)
    begun.forEach(({ resolve }, index) => void resolve(`${index}`))
    expect(await Promise.all(joined.map(({ result }) => result))).toEqual(['0', '1', '0'])
    expect([flights.current('a', 1_000), flights.current('b', 0)]).toEqual([null, null])
  })

  it('can be forgotten, and the oldest is evicted when full', () => {
    const { start } = work()
    const flights = new SingleFlights<string>(1_000, 2)
    for (const key of ['a', 'b', 'c']) flights.join(key, start, 0)
    flights.forget('c')
    expect(['a', 'b', 'c'].map((key) => flights.current(key, 0) !== null)).toEqual([false, true, false])
  })

  it('bound the wait of followers', async () => {
    const flights = new SingleFlights<string>(1_000)
    const bounds: number[] = []
    const at = (ms: number, run: () => void) => {
      bounds.push(ms)
      queueMicrotask(run)
      return () => {}
    }
    const never = new Promise<string>(() => {})
    expect(await flights.result({ result: never, isLeader: false }, 'lost', at)).toBe('lost')
    expect(bounds).toEqual([1_000])
    const patient = () => () => {}
    expect(await flights.result({ result: Promise.resolve('here'), isLeader: false }, 'lost', patient)).toBe('here')
    expect(await flights.result({ result: Promise.resolve('own'), isLeader: true }, 'lost', at)).toBe('own')
    expect(bounds).toEqual([1_000])
  })
})

/** Flights that settle on request, in order of their start. */
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
  it('serves any number of callers with two flights, each with one that started after it arrived', async () => {
    const { begun, join, land } = harness()
    const first = join()
    const rest = Array.from({ length: 99 }, join)
    expect([first.isLeader, rest.map(({ isLeader }) => isLeader).filter(Boolean).length, begun.length]).toEqual([
      true,
      1,
      1,
    ])
    await land(0)
    expect(begun.length).toBe(2)
    // The second flight has started; new callers must not share it.
    const late = join()
    await land(1)
    expect(begun.length).toBe(3)
    await land(2)
    expect(await first.result).toBe(0)
    expect(new Set(await Promise.all(rest.map(({ result }) => result)))).toEqual(new Set([1]))
    expect(await late.result).toBe(2)
  })

  it('shares the next flight between the end of one and the start of the next', async () => {
    const { begun, join, land } = harness()
    const first = join()
    const second = join()
    begun[0]!.resolve(0)
    await first.result
    const between = join()
    expect([between.isLeader, begun.length]).toEqual([false, 1])
    await land(0)
    expect(begun.length).toBe(2)
    await land(1)
    expect([await second.result, await between.result]).toEqual([1, 1])
  })

  it('does not share a flight that waits for a lost leader', () => {
    const { begun, join, wait } = harness()
    join()
    wait(FLIGHT_MAX_MS / 2)
    join()
    wait(FLIGHT_MAX_MS / 2)
    expect([join().isLeader, begun.length]).toEqual([true, 2])
  })

  it('does not wait for a flight with a lost leader', async () => {
    const { begun, join, land, wait } = harness()
    join()
    join()
    wait(FLIGHT_MAX_MS)
    const late = join()
    expect(begun.length).toBe(2)
    await land(1)
    expect(await late.result).toBe(1)
  })

  it('lets a caller that waits for a lost leader start a flight', async () => {
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
