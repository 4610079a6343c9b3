// Lines of replica_cmds: entries that keep everything the node wrote, and name everything that is left out.

import { existsSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { EVENT_MAX_UNITS } from '../../src/feeder/extra-lines.ts'
import {
  REPLICA_LINE_MAX_BYTES,
  type ReplicaLine,
  ReplicaLineSplitter,
  readReplicaLine,
} from '../../src/feeder/replica-lines.ts'

const SAMPLE = '../shared/wire/samples/hyperliquid-db-rs/replica_cmds.edited.jsonl'

/** Entries of a line, and the reasons for what is left out. */
function read(text: string | null, height = 7) {
  const refused: string[] = []
  return { entries: readReplicaLine({ height, text }, (reason) => refused.push(reason)), refused }
}
const line = (bundles: unknown[], more: object = {}) =>
  JSON.stringify({ abci_block: { time: 't', signed_action_bundles: bundles, round: 3 }, ...more })
const bundle = (...actions: unknown[]) => ['0xb', { signed_actions: actions, broadcaster: '0x1' }]
const USER = `0x${'a1'.repeat(20)}`

it('keeps every field of a line, its bundles and its actions, and exact integers', () => {
  const text = line([bundle({ nonce: 1 }, { action: { type: 'x', wei: 0 } })], {
    height: 9,
    later: true,
    resps: {
      Full: [
        [
          '0xb',
          [
            { user: USER.toUpperCase().replace('X', 'x'), res: 1 },
            { user: null, res: 2 },
          ],
        ],
      ],
    },
  }).replace('"wei":0', '"wei":12345678901234567890')
  expect(read(text)).toEqual({
    refused: [],
    entries: [
      { line: { height: 9, block: { time: 't', round: 3 }, other: { later: true } } },
      { bundle: { hash: '0xb', broadcaster: '0x1' } },
      { action: { nonce: 1 }, index: 0, user: USER, response: 1 },
      { action: { action: { type: 'x', wei: '12345678901234567890' } }, index: 1, user: null, response: 2 },
    ],
  })
})

it.each([
  ['no responses', {}, 0],
  ['fewer responses than actions', { resps: { Full: [['0xb', []]] } }, 1],
  ['responses to another bundle', { resps: { Full: [['0xc', [{ user: USER, res: 1 }]]] } }, 1],
  ['responses of another form', { resps: { Hashes: [] } }, 1],
])('names no user with %s', (_, more, notes) => {
  const { entries, refused } = read(line([bundle({ nonce: 1 })], more))
  expect(entries[2]).toEqual({ action: { nonce: 1 }, index: 0 })
  expect([refused.length, entries.length]).toEqual([notes, 3 + notes])
})

it.each([
  [null, 'the line of height 7 in replica_cmds has more than 2097152 bytes'],
  ['{"abci_block":', 'is not JSON with abci_block.signed_action_bundles'],
  [line([]).replace('"t"', `${'['.repeat(70)}${']'.repeat(70)}`), 'nests deeper than 64 levels'],
  [line([], { big: 'x'.repeat(EVENT_MAX_UNITS) }), 'has fields of more than 163840 characters'],
])('replaces an unusable line with its height and the reason (%#)', (text, reason) => {
  const { entries, refused } = read(text)
  expect(entries).toEqual([{ line: { height: 7 } }, { lost: expect.stringContaining(reason) }])
  expect(refused).toEqual([expect.stringContaining(reason)])
})

it('leaves out oversized actions, and says how many', () => {
  const big = { text: 'x'.repeat(EVENT_MAX_UNITS) }
  const { entries, refused } = read(line([bundle(big, { nonce: 1 }, big)]))
  const reason = 'the line of height 7 in replica_cmds lacks 2 actions of more than 163840 characters here'
  expect(entries.slice(2)).toEqual([{ action: { nonce: 1 }, index: 1 }, { lost: reason }])
  expect(refused).toEqual([reason])
})

it.skipIf(!existsSync(SAMPLE))('reads the published sample', () => {
  const [first = '', second = ''] = readFileSync(SAMPLE, 'utf8').split('\n')
  const { entries, refused } = read(first)
  const actions = entries.flatMap((entry) => ('action' in entry ? [entry] : []))
  expect(actions.map(({ action }) => (action as { action: { type: string } }).action.type)).toEqual([
    ...['multiSig', 'SetGlobalAction', 'VoteEthDepositAction', 'voteAppHash', 'userOutcome', 'borrowLend'],
  ])
  expect(actions[0]).toMatchObject({ user: '0x1234567890545d1df9ee64b35fdd16966e08acec', response: { status: 'ok' } })
  expect([refused, read(second).entries.length]).toEqual([[], 1])
})

it('splits bytes into the same lines, however they are cut, and counts lines that are too long', () => {
  const long = 'é'.repeat(REPLICA_LINE_MAX_BYTES / 2 + 1)
  const written = ['skipped', 'a', long, 'bé', '', 'c']
  const bytes = Buffer.from(`${written.join('\n')}\nrest`)
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(bytes.length), { maxLength: 8 }), (cuts) => {
      const splitter = new ReplicaLineSplitter(10, 11)
      const at = [0, ...cuts.toSorted((one, other) => one - other), bytes.length]
      const lines = at.flatMap((from, n): ReplicaLine[] => splitter.push(bytes.subarray(from, at[n + 1])))
      expect(lines).toEqual(['a', null, 'bé', '', 'c'].map((text, n) => ({ height: 11 + n, text })))
    }),
    { numRuns: 30 },
  )
})
