import { expect, it } from 'vitest'
import { EXAMPLE_OUTCOME, EXAMPLE_QUESTION } from '../../../src/protocol/info/outcome-shapes.ts'
import { channelOf } from '../../../src/relay/channels/catalogue.ts'
import { World } from '../world.ts'

const outcomeOf = (outcome: number) => ({ ...EXAMPLE_OUTCOME, outcome })
const questionOf = (question: number, named: number[]) => ({ ...EXAMPLE_QUESTION, question, namedOutcomes: named })
const meta = (outcomes: number[], questions: [number, number[]][]) => ({
  outcomes: outcomes.map(outcomeOf),
  questions: questions.map(([question, named]) => questionOf(question, named)),
})

/** So much later a block comes, and all that it made due is done. */
async function blockAfter(world: World, ms: number): Promise<void> {
  world.clock.nowMs += ms
  world.eventBlock({})
  await Promise.all(world.work.splice(0))
}

// WS-107
it('tells what changed in the list of outcome markets, looked at every ten seconds while somebody wants it', async () => {
  const world = new World()
  let asked = 0
  let now: object | null = meta([4, 5], [[2, [4, 5]]])
  world.past = () => {
    asked++
    return now && { body: JSON.stringify(now) }
  }
  await blockAfter(world, 20_000)
  expect(asked).toBe(0)
  await world.subscribe({ type: 'outcomeMetaUpdates' })
  await blockAfter(world, 10_000)
  await blockAfter(world, 9_999)
  expect([asked, world.frames.length]).toEqual([1, 1])
  now = meta(
    [5, 6],
    [
      [2, [4, 5, 6]],
      [3, []],
    ],
  )
  await blockAfter(world, 1)
  const { deployer: _, ...created } = { ...outcomeOf(6), sideSpecs: [{ name: 'Yes' }, { name: 'No' }] }
  const data = [
    { outcomeCreated: created },
    { questionUpdated: questionOf(2, [4, 5, 6]) },
    { questionUpdated: questionOf(3, []) },
    { outcomeSettled: 4 },
  ]
  expect(JSON.stringify(world.frames.at(-1))).toBe(JSON.stringify({ channel: 'outcomeMetaUpdates', data }))
  channelOf('outcomeMetaUpdates')!.frame.parse(world.frames.at(-1))
  // Sources that fail, or answer something else, change nothing.
  for (const odd of [null, {}, { outcomes: 1 }, { outcomes: [null], questions: [] }]) {
    now = odd
    await blockAfter(world, 10_000)
  }
  now = meta([5, 6], [[3, []]])
  await blockAfter(world, 10_000)
  expect(world.frames.at(-1)).toEqual({ channel: 'outcomeMetaUpdates', data: [{ questionSettled: 2 }] })
})
