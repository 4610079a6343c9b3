// Signed actions in the log: each line in one block, and every height accounted for.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ReplicaContinuity } from '../../src/block-log/replica-continuity.ts'
import { lineHeight } from '../../src/protocol/feed/replica-entries.ts'

const line = (height: number) => ({ line: { height } })
const action = (height: number) => ({ action: { of: height }, index: 0 })
const lost = (text: string) => ({ lost: `replica_cmds has no lines of heights ${text}` })

it('takes each line once, with its entries, and names missing ones', () => {
  const one = new ReplicaContinuity()
  const taken = (height: number, ...replica: unknown[]) => one.onTaken({ height, replica })
  expect([one.onTaken({ height: 1 }), taken(2), taken(3, { lost: 'x' })]).toEqual([undefined, undefined, undefined])
  expect(taken(4, line(3), action(3), line(4), action(4))).toEqual([line(3), action(3), line(4), action(4)])
  expect(taken(5)).toEqual([])
  expect(taken(6, line(4), action(4), line(5), action(5))).toEqual([line(5), action(5)])
  expect(taken(9, line(8), { lost: 'x' })).toEqual([lost('6 to 7'), line(8), { lost: 'x' }])
  expect([taken(135), taken(136)]).toEqual([[], [lost('above 8 yet')]])
  one.clear()
  expect(taken(2, line(2))).toEqual([line(2)])
})

it('does not name lines of blocks that are known to lack them', () => {
  const one = new ReplicaContinuity()
  one.onTaken({ height: 1, replica: [line(1)] })
  one.onTaken({ height: 2, replica: [] })
  for (const height of [3, 4, 5]) one.onTaken({ height })
  expect(one.onTaken({ height: 7, replica: [line(7)] })).toEqual([lost('2 to 2'), lost('6 to 6'), line(7)])
  for (let height = 8; height < 400; height++) one.onTaken({ height })
  expect(one.onTaken({ height: 400, replica: [line(400)] })).toEqual([line(400)])
})

// PIPE-34
it('accounts for every height, whatever the lag of the feeders and the lines that are lost', () => {
  const step = fc.record({ isAbsent: fc.boolean(), lag: fc.nat(3), again: fc.nat(3), drops: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
      const one = new ReplicaContinuity()
      const taken: number[] = []
      const explained = new Set<number>()
      let sent = 0
      for (const [at, { isAbsent, lag, again, drops }] of steps.entries()) {
        const height = at + 1
        const from = Math.max(1, sent + 1 - again + (drops ? 1 : 0))
        const lines = Array.from({ length: Math.max(0, height - lag - from + 1) }, (_, n) => line(from + n))
        sent = Math.max(sent, height - lag)
        const entries = one.onTaken({ height, ...(!isAbsent && { replica: lines }) })
        if (entries === undefined) explained.add(height)
        for (const entry of entries ?? []) {
          taken.push(...[lineHeight(entry) ?? []].flat())
          const [, first, last] = /heights (\d+) to (\d+)/.exec((entry as { lost?: string }).lost ?? '') ?? []
          for (let missing = Number(first); missing <= Number(last); missing++) explained.add(missing)
        }
      }
      expect(taken).toEqual([...new Set(taken)].sort((a, b) => a - b))
      for (let height = taken[0] ?? 0; height < (taken.at(-1) ?? 0); height++)
        expect(taken.includes(height) || explained.has(height), `height ${height}`).toBe(true)
    }),
  )
})
