// The API explorer: the form in the address, and what the form says in each language.

import { expect, it } from 'vitest'
import { inputsOf, listedTypes, withType, withValue } from '../../../src/console/explorer/form-address.dom.ts'
import { callSamples, postSamples } from '../../../src/console/requests/code-samples.ts'
import { type RequestField, requestBody, sampleBody } from '../../../src/console/requests/request-form.ts'
import { infoRequests } from '../../../src/http/docs/site/definition-pages.ts'
import { CATALOGUE } from '../../../src/info/queries/catalogue.ts'

const field = (name: string, more: Partial<RequestField>): RequestField => {
  return {
    name,
    place: 'body',
    kind: 'text',
    choices: [],
    isRequired: true,
    value: '',
    agoMs: null,
    description: '',
    ...more,
  }
}
const TYPE = {
  type: 'candles',
  group: 'Market data',
  summary: 'Candles',
  price: '1',
  fields: [field('req.coin', { value: 'BTC' }), field('req.startTime', { kind: 'number', agoMs: 3_600_000 })],
}
const NOW = 1_800_000_000_000
const request = (query: URLSearchParams) => {
  const inputs = inputsOf(TYPE, query, NOW)
  return [
    requestBody({ type: 'candles' }, inputs),
    postSamples('/info', sampleBody({ type: 'candles' }, inputs)),
  ] as const
}

it('keeps fields that differ from the sample, empty ones too, and times only if they were changed', () => {
  const first = new URLSearchParams('page=explorer&type=candles')
  const [body, samples] = request(first)
  expect(body).toEqual({ type: 'candles', req: { coin: 'BTC', startTime: NOW - 3_600_000 } })
  expect(samples.ts).toContain("{ coin: 'BTC', startTime: Date.now() - 3_600_000 }")
  const other = withValue(TYPE, first, 'req.coin', 'ETH & co')
  expect(String(other)).toBe('page=explorer&type=candles&f.req.coin=ETH+%26+co')
  expect(request(other)[1].python).toContain('"coin": "ETH & co", "startTime": int(time.time() * 1000) - 3_600_000')
  const fixed = withValue(TYPE, other, 'req.startTime', '5')
  expect(request(fixed)).toMatchObject([{ req: { startTime: 5 } }, { bash: expect.stringContaining('"startTime":5}') }])
  expect(String(withValue(TYPE, other, 'req.coin', 'BTC'))).toBe(String(first))
  expect(request(withValue(TYPE, first, 'req.coin', ''))[0]).toMatchObject({ req: { coin: '' } })
  expect(String(withValue(TYPE, first, 'req.coin', 'x'.repeat(2_000)))).toBe(String(first))
  expect(String(withType(fixed, 'meta'))).toBe('page=explorer&type=meta')
})

it('lists every type in a group, or those that were found', () => {
  const types = infoRequests(CATALOGUE)
  expect(types.map(({ type }) => type).sort()).toEqual(CATALOGUE.map(({ type }) => type).sort())
  expect(listedTypes(types, null).flatMap(([, listed]) => listed)).toEqual(types)
  expect(listedTypes(types, ['l2Book', 'nope'])).toMatchObject([['Market data', [{ type: 'l2Book' }]]])
  expect(listedTypes(types, [])).toEqual([])
})

it('builds requests that the gateway accepts from the samples of all types', () => {
  for (const type of infoRequests(CATALOGUE)) {
    const body = requestBody({ type: type.type }, inputsOf(type, new URLSearchParams(), NOW))
    const query = CATALOGUE.find((each) => each.type === type.type)!
    expect([type.type, query.request.safeParse(body).error]).toEqual([type.type, undefined])
  }
})

it('quotes texts in each language', () => {
  const { bash, ts, python } = postSamples('/info', { coin: `it's "x"` })
  expect(bash).toContain(`-d '{"coin":"it'"'"'s \\"x\\""}'`)
  expect(ts).toContain(String.raw`{ coin: 'it\'s "x"' }`)
  expect(python).toContain(String.raw`{"coin": "it's \"x\""}`)
  expect(callSamples('GET', '/v1/x?day=1', undefined, 'WEIR_KEY').bash).toBe(
    'curl -s "$WEIR_URL/v1/x?day=1" \\\n  -H "Authorization: Bearer $WEIR_KEY"',
  )
})
