import { describe, expect, it } from 'vitest'
import { Flight, Flights } from '../../src/core/flights.ts'

/** Work that lands when told. */
function work() {
  const begun: PromiseWithResolvers<string>[] = []
  const start = () => {
    begun.push(Promise.withResolvers<string>())
    return begun.at(-1)!.promise
  }
  return { begun, start }
}

describe('a flight', () => {
  it('is shared while it is under way, and over before anybody hears of its result', async () => {
    const { begun, start } = work()
    const flight = new Flight<string>()
    const heard: boolean[] = []
    const results = [flight.join(start), flight.join(start), flight.join(start)]
    for (const result of results) result.then(() => heard.push(flight.isUp))
    expect([begun.length, flight.isUp]).toEqual([1, true])
    begun[0]!.resolve('one')
    expect(await Promise.all(results)).toEqual(['one', 'one', 'one'])
    expect(heard).toEqual([false, false, false])
    flight.join(start)
    expect(begun.length).toBe(2)
  })

  it('that fails fails for all who share it, and the next one begins anew', async () => {
    const { begun, start } = work()
    const flight = new Flight<string>()
    const results = [flight.join(start), flight.join(start)]
    begun[0]!.reject(new Error('lost'))
    expect((await Promise.allSettled(results)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(flight.underWay()).toBe(null)
  })

  it('is not joined beyond its bound, and does not end the one that took its place', async () => {
    const { begun, start } = work()
    const flight = new Flight<string>(1_000)
    const first = flight.join(start, 5)
    expect(flight.underWay(1_004)).toBe(first)
    expect([flight.underWay(1_005), flight.isUp]).toEqual([null, true])
    const second = flight.join(start, 1_005)
    begun[0]!.resolve('late')
    await first
    expect(flight.underWay(1_005)).toBe(second)
  })
})

describe('flights by key', () => {
  it('are shared by key, and tell who leads', async () => {
    const { begun, start } = work()
    const flights = new Flights<string>(1_000)
    const joined = [flights.join('a', start, 0), flights.join('b', start, 0), flights.join('a', start, 999)]
    expect(joined.map(({ leads }) => leads)).toEqual([true, true, false])
    expect(flights.join('a', start, 1_000).leads).toBe(true)
    begun.forEach(({ resolve }, index) => void resolve(`${index}`))
    expect(await Promise.all(joined.map(({ result }) => result))).toEqual(['0', '1', '0'])
    expect([flights.underWay('a', 1_000), flights.underWay('b', 0)]).toEqual([null, null])
  })

  it('are forgotten when told, and the oldest where there are too many', () => {
    const { start } = work()
    const flights = new Flights<string>(1_000, 2)
    for (const key of ['a', 'b', 'c']) flights.join(key, start, 0)
    flights.forget('c')
    expect(['a', 'b', 'c'].map((key) => flights.underWay(key, 0) !== null)).toEqual([false, true, false])
  })

  it('are waited for no longer than their bound by who does not lead', async () => {
    const flights = new Flights<string>(1_000)
    const bounds: number[] = []
    const at = (ms: number, run: () => void) => {
      bounds.push(ms)
      queueMicrotask(run)
      return () => {}
    }
    const never = new Promise<string>(() => {})
    expect(await flights.landed({ result: never, leads: false }, 'lost', at)).toBe('lost')
    expect(bounds).toEqual([1_000])
    const patient = () => () => {}
    expect(await flights.landed({ result: Promise.resolve('here'), leads: false }, 'lost', patient)).toBe('here')
    expect(await flights.landed({ result: Promise.resolve('own'), leads: true }, 'lost', at)).toBe('own')
    expect(bounds).toEqual([1_000])
  })
})
