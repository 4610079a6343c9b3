import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DialQueue, MAX_DIALS, PATIENCE_MS } from '../../src/block-log/dial-queue.ts'

/** Dials that end when the test ends them. */
function switchboard() {
  const clock = { nowMs: 0 }
  const queue = new DialQueue<string>(() => clock.nowMs)
  const begun: string[] = []
  const underWay: { name: string; end: () => void }[] = []
  const came: string[] = []
  const ask = (name: string, isUrgent = false) => {
    const dial = () =>
      new Promise<string>((resolve, reject) => {
        begun.push(name)
        underWay.push({ name, end: () => (name.startsWith('hangs') ? reject(new Error('hangs')) : resolve(name)) })
      })
    queue.enqueue(name, isUrgent, dial).then(
      (link) => came.push(link),
      (error: Error) => came.push(error.message),
    )
  }
  /** Ends the oldest dial. */
  const end = async () => {
    underWay.shift()?.end()
    await new Promise((resolve) => setTimeout(resolve))
  }
  return { clock, ask, end, begun, underWay, came }
}
const names = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `r${from + i}`)

test('200 concurrent requests are dialed six at a time, in order', async () => {
  const { ask, end, begun, underWay, came } = switchboard()
  for (const name of names(200)) ask(name)
  expect(begun).toEqual(names(MAX_DIALS))
  while (underWay.length > 0) {
    expect(underWay.length).toBeLessThanOrEqual(MAX_DIALS)
    await end()
  }
  expect(begun).toEqual(names(200))
  expect(came).toEqual(names(200))
})

test('a repeated or expired request is not dialed', async () => {
  const { clock, ask, end, begun, came } = switchboard()
  for (const name of names(MAX_DIALS)) ask(name)
  ask('again')
  ask('gone')
  clock.nowMs = PATIENCE_MS - 1
  ask('again')
  clock.nowMs = PATIENCE_MS
  await end()
  expect(begun).toEqual([...names(MAX_DIALS), 'again'])
  expect(came).toEqual([expect.stringMatching(/^again /), expect.stringMatching(/^gone /), 'r0'])
})

test('urgent requests come first', async () => {
  const { ask, end, begun } = switchboard()
  for (const name of names(MAX_DIALS + 2)) ask(name)
  ask('hub 0', true)
  ask('hub 1', true)
  for (let i = 0; i < 4; i++) await end()
  expect(begun.slice(MAX_DIALS)).toEqual(['hub 0', 'hub 1', 'r6', 'r7'])
})

test('the queue is bounded: it rejects the oldest request', async () => {
  const { ask, came, end } = switchboard()
  for (const name of names(MAX_DIALS + 1001)) ask(name)
  await end()
  expect(came).toEqual([expect.stringContaining('too many'), 'r0'])
})

test('invariant: at most six are active, and each request has one outcome', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(fc.constantFrom('end', 'wait'), fc.integer({ min: 0, max: 12 })), { maxLength: 80 }),
      async (steps) => {
        const { clock, ask, end, underWay, came } = switchboard()
        for (const step of steps) {
          if (step === 'end') await end()
          else if (step === 'wait') clock.nowMs += PATIENCE_MS / 2
          else ask(`${Number(step) % 5 === 0 ? 'hangs' : 'r'}${step}`, step === 3)
          expect(underWay.length).toBeLessThanOrEqual(MAX_DIALS)
        }
        while (underWay.length > 0) await end()
        expect(came).toHaveLength(steps.filter((step) => typeof step === 'number').length)
      },
    ),
    { numRuns: 50 },
  )
})
