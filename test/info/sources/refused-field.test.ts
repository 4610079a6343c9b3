import { expect, it } from 'vitest'
import type { Failure } from '../../../src/core/failure.ts'
import { namingField } from '../../../src/info/sources/pass-through.ts'

const REFUSED: Failure = { kind: 'bad_field', issues: [{ path: '', message: 'is not accepted' }] }

const USER = `0x${'a'.repeat(40)}`

it.each([
  [{ type: 'meta', dex: 'nope' }, ['dex']],
  [{ type: 'x', dex: 'nope', coin: 'NOPE' }, ['coin', 'dex']],
  [{ type: 'meta', dex: undefined }, ['']],
  [{ type: 'fundingHistory', coin: 'NOPE', startTime: 5, endTime: 6 }, ['coin']],
  [{ type: 'candleSnapshot', req: { coin: 'NOPE', interval: '1m', startTime: 5 } }, ['req.coin']],
  [{ type: 'marginTable', id: 99, dex: 'xyz' }, ['id', 'dex']],
  [{ type: 'outcomeDeployerLimits', venue: 'zz' }, ['venue']],
  [{ type: 'tokenDetails', tokenId: '0x' }, ['tokenId']],
  [{ type: 'settledOutcome', outcome: 0 }, ['outcome']],
  [{ type: 'userFills', user: USER, aggregateByTime: true }, ['']],
  [{ type: 'x', req: null }, ['']],
])('of %j the fields that can be meant are %j', (request, paths) => {
  expect(namingField(REFUSED, request)).toMatchObject({ kind: 'bad_field', issues: paths.map((path) => ({ path })) })
})

it('names no field that is known to be right', () => {
  expect(namingField(REFUSED, { type: 'marginTable', id: 99, dex: 'xyz' }, ['dex'])).toMatchObject({
    issues: [{ path: 'id' }],
  })
})

it('leaves what has a path, and other failures, alone', () => {
  const named: Failure = { kind: 'bad_field', issues: [{ path: 'user', message: 'is required' }] }
  expect(namingField(named, { dex: 'nope' })).toBe(named)
  const other: Failure = { kind: 'upstream_failed', source: 'node' }
  expect(namingField(other, { dex: 'nope' })).toBe(other)
})
