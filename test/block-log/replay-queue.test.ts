import { expect, it } from 'vitest'
import { PAGE_CHARS, ReplayQueue } from '../../src/block-log/pages.ts'

/** How long a relay waits for one page while others request pages continuously, and how many pages each of those got. */
function meanwhile(
  others: number,
  fromMs: number,
  asksEveryMs = 1,
): { readonly waitedMs: number; readonly had: number[] } {
  const turns = new ReplayQueue()
  const nextMs = Array<number>(others + 1).fill(0)
  const had = Array<number>(others + 1).fill(0)
  nextMs[others] = fromMs
  for (let now = 0; now < fromMs + 60_000; now += asksEveryMs) {
    // The relay that needs least always requests last.
    for (const [at, due] of nextMs.entries()) {
      if (due > now) continue
      const waitMs = turns.waitMs(`relay ${at}`, now)
      nextMs[at] = now + waitMs
      if (waitMs > 0) continue
      turns.spend(PAGE_CHARS, now)
      had[at]!++
      if (at === others) return { waitedMs: now - fromMs, had }
    }
  }
  return { waitedMs: Number.POSITIVE_INFINITY, had }
}

it.each([
  [1, 5_500],
  [20, 5_500],
  [20, 5_999],
])('beside %i relays that replay everything, a small replay waits for the next second', (others, fromMs) => {
  expect(meanwhile(others, fromMs).waitedMs).toBeLessThanOrEqual(1_000)
})

it('serves relays in turn if there are more of them than pages per second', () => {
  const { waitedMs, had } = meanwhile(80, 9_500)
  expect(waitedMs).toBeLessThanOrEqual(4_000)
  const counts = had.slice(0, 80)
  expect(Math.max(...counts)).toBeLessThanOrEqual(2 * Math.min(...counts))
})

it('drops relays that do not ask again', () => {
  const turns = new ReplayQueue()
  turns.spend(64 * PAGE_CHARS, 0)
  for (let at = 0; at < 100; at++) expect(turns.waitMs(`gone ${at}`, 100)).toBe(900)
  expect(turns.waitMs('late', 1_000)).toBe(1_000)
  expect(turns.waitMs('late', 2_001)).toBe(0)
})

it('a single relay may use everything', () => {
  const turns = new ReplayQueue()
  let pages = 0
  for (; turns.waitMs('one', 5_000) === 0; pages++) turns.spend(PAGE_CHARS, 5_000)
  expect(pages).toBe(32)
})
