import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FairQueue, type Ticket } from '../../../src/relay/books/fair-queue.ts'

const SEATS = 6

/** A queue that records every grant. */
class Watched {
  readonly turns = new FairQueue(SEATS)
  readonly waiting: Ticket[] = []
  readonly seated: Ticket[] = []
  readonly called: string[] = []

  async enter(account: string): Promise<void> {
    this.waiting.push(this.turns.enqueue(account))
    await this.note()
  }

  async leave(which: number): Promise<void> {
    const ticket = this.waiting[which % Math.max(1, this.waiting.length)]
    if (ticket) this.turns.cancel(ticket, 'canceled')
    await this.note()
  }

  async done(which: number): Promise<void> {
    const [ticket] = this.seated.splice(which % Math.max(1, this.seated.length), 1)
    if (ticket) this.turns.release(ticket)
    await this.note()
  }

  seatsOf(account: string): number {
    return this.seated.filter((ticket) => ticket.account === account).length
  }

  /** Moves granted tickets out of the waiting ones. */
  async note(): Promise<void> {
    for (const ticket of [...this.waiting]) {
      const turn = await Promise.race([ticket.turn, Promise.resolve(null)])
      if (turn === null) continue
      this.waiting.splice(this.waiting.indexOf(ticket), 1)
      if (turn === 'granted') {
        this.seated.push(ticket)
        this.called.push(ticket.account)
      }
    }
  }
}

test('invariant: never exceeds the slots, or half of them per account, and leaves no usable slot free', async () => {
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant('enter' as const), account: fc.constantFrom('a', 'b', 'c', 'd') }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), which: fc.nat(50) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('done' as const), which: fc.nat(50) }) },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
      const world = new Watched()
      for (const one of steps) {
        if (one.do === 'enter') await world.enter(one.account)
        else await world[one.do](one.which)
        expect(world.seated.length).toBeLessThanOrEqual(SEATS)
        for (const account of 'abcd') expect(world.seatsOf(account)).toBeLessThanOrEqual(SEATS / 2)
        const able = world.waiting.filter(({ account }) => world.seatsOf(account) < SEATS / 2)
        expect(world.seated.length < SEATS && able.length > 0).toBe(false)
      }
      while (world.seated.length > 0) await world.done(0)
      expect(world.waiting).toEqual([])
    }),
  )
})

test('accounts take turns, whatever their number of tickets; each account is first in, first out', async () => {
  const world = new Watched()
  for (let i = 0; i < 100; i++) await world.enter('crowd')
  for (const account of ['x', 'x', 'y']) await world.enter(account)
  expect(world.called).toEqual(['crowd', 'crowd', 'crowd', 'x', 'x', 'y'])
  for (const account of ['x', 'y', 'z']) await world.enter(account)
  world.called.length = 0
  for (let i = 0; i < 6; i++) await world.done(0)
  expect(world.called).toEqual(['crowd', 'x', 'y', 'z', 'crowd', 'crowd'])
})
