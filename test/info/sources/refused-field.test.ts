import { expect, it } from 'vitest'
import type { Failure } from '../../../src/core/failure.ts'
import { namingField } from '../../../src/info/sources/refused-field.ts'

const REFUSED: Failure = { kind: 'bad_field', issues: [{ path: '', message: 'is not accepted' }] }

it.each([
  [{ type: 'meta', dex: 'nope' }, 'dex'],
  [{ type: 'x', coin: 'NOPE', dex: 'nope' }, 'dex'],
  [{ type: 'meta', dex: undefined }, ''],
  [{ type: 'fundingHistory', coin: 'NOPE' }, 'coin'],
  [{ type: 'candleSnapshot', req: { coin: 'NOPE' } }, 'req.coin'],
  [{ type: 'marginTable', id: 9 }, 'id'],
  [{ type: 'outcomeDeployerLimits', venue: 'no' }, 'venue'],
  [{ type: 'tokenDetails', tokenId: '0x' }, 'tokenId'],
  [{ type: 'settledOutcome', outcome: 0 }, 'outcome'],
  [{ type: 'userRole', user: '0x' }, ''],
  [{ type: 'x', req: null }, ''],
])('of %j the likeliest field is %j', (request, path) => {
  expect(namingField(REFUSED, request)).toMatchObject({ kind: 'bad_field', issues: [{ path }] })
})

it('leaves what has a path, and other failures, alone', () => {
  const named: Failure = { kind: 'bad_field', issues: [{ path: 'user', message: 'is required' }] }
  expect(namingField(named, { dex: 'nope' })).toBe(named)
  const other: Failure = { kind: 'upstream_failed', source: 'node' }
  expect(namingField(other, { dex: 'nope' })).toBe(other)
})
