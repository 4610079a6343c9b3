import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { withCloids } from '../../../src/info/sources/open-cloids.ts'

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

it('adds the key where it is missing, and changes nothing else, in any JSON', () => {
  const key = fc.oneof(fc.constantFrom('cloid', 'oid', '"', '}'), fc.string())
  const order = fc.dictionary(key, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
  const body = fc.oneof(fc.array(fc.oneof(order, fc.jsonValue())), fc.jsonValue())
  fc.assert(
    fc.property(body, fc.constantFrom(0, 1, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
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
