import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Failure } from '../../../src/core/failure.ts'
import { withCloids } from '../../../src/info/sources/open-cloids.ts'
import { withFieldNames } from '../../../src/info/sources/pass-through.ts'

it.each([
  ['[]', '[]'],
  ['null', 'null'],
  ['[{}]', '[{"cloid":null}]'],
  ['[{"px":1.50,"sz":"2.0"}]', '[{"px":1.50,"sz":"2.0","cloid":null}]'],
  ['[ {"cloid": null}, {"oid":1e2} ]', '[ {"cloid": null}, {"oid":1e2,"cloid":null} ]'],
  ['[{"cloid":"0x01"}]', '[{"cloid":"0x01"}]'],
  ['[{"\\u0063loid":1}]', '[{"\\u0063loid":1}]'],
  ['[{"note":"cloid"}]', '[{"note":"cloid","cloid":null}]'],
  ['[{"note":"a\\"}{,"}]', '[{"note":"a\\"}{,","cloid":null}]'],
  ['[{"builder":{"cloid":1}}]', '[{"builder":{"cloid":1},"cloid":null}]'],
  ['[[{"a":1}],"cloid",{"a":[{}]}]', '[[{"a":1}],"cloid",{"a":[{}],"cloid":null}]'],
  ['{"orders":[{}]}', '{"orders":[{}]}'],
])('%s', (body, expected) => {
  expect(withCloids(body)).toBe(expected)
})

/** After a key `\\`, JSON.parse of V8 13.6 reads the key `\"` of an object of the same shape as `\\`. */
const BACKSLASH_KEY = /\\"\s*:/

it('adds the missing key and changes nothing else in any JSON', () => {
  const key = fc.oneof(fc.constantFrom('cloid', 'oid', '"', '}'), fc.string())
  const order = fc.dictionary(key, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
  const body = fc.oneof(fc.array(fc.oneof(order, fc.jsonValue())), fc.jsonValue())
  fc.assert(
    fc.property(body, fc.constantFrom(0, 1, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      fc.pre(!BACKSLASH_KEY.test(text))
      const read = JSON.parse(text)
      const expected = Array.isArray(read)
        ? read.map((each) =>
            typeof each === 'object' && each !== null && !Array.isArray(each) && !Object.hasOwn(each, 'cloid')
              ? { ...each, cloid: null }
              : each,
          )
        : read
      expect(JSON.stringify(JSON.parse(withCloids(text)))).toBe(JSON.stringify(expected))
      expect(withCloids(withCloids(text))).toBe(withCloids(text))
    }),
  )
})

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
])('possible fields of %j are %j', (request, paths) => {
  expect(withFieldNames(REFUSED, request)).toMatchObject({ kind: 'bad_field', issues: paths.map((path) => ({ path })) })
})

it('does not name fields known to be valid', () => {
  expect(withFieldNames(REFUSED, { type: 'marginTable', id: 99, dex: 'xyz' }, ['dex'])).toMatchObject({
    issues: [{ path: 'id' }],
  })
})

it('leaves failures with a path and other failures unchanged', () => {
  const named: Failure = { kind: 'bad_field', issues: [{ path: 'user', message: 'is required' }] }
  expect(withFieldNames(named, { dex: 'nope' })).toBe(named)
  const other: Failure = { kind: 'upstream_failed', source: 'node' }
  expect(withFieldNames(other, { dex: 'nope' })).toBe(other)
})
