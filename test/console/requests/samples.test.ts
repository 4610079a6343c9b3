// What the pages of /docs do with samples and forms.

import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { type FormInput, requestBody, requestPath, textsOf } from '../../../src/console/requests/request-form.ts'
import { withOrigin } from '../../../src/console/requests/served-origin.ts'

const ORIGIN = 'https://api.example.com'

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: the samples are programs.
it.each([
  ['curl -s "$WEIR_URL/info"', 'curl -s "https://api.example.com/info"'],
  ['wscat -c "${WEIR_URL/http/ws}/ws"', 'wscat -c "wss://api.example.com/ws"'],
  ['wscat -c "ws${WEIR_URL#http}/ws"', 'wscat -c "wss://api.example.com/ws"'],
  [
    'const { WEIR_URL, WEIR_KEY } = process.env\nawait fetch(`${WEIR_URL}/info`)',
    "const WEIR_URL = 'https://api.example.com'\nconst { WEIR_KEY } = process.env\nawait fetch(`${WEIR_URL}/info`)",
  ],
  ['paid(`${process.env.WEIR_URL}/info`)', 'paid(`https://api.example.com/info`)'],
  ['url: process.env.WEIR_URL!,', "url: 'https://api.example.com',"],
  [`os.environ['WEIR_URL'] + "/info"`, `"https://api.example.com/info"`],
  ['weir.Client(os.environ["WEIR_URL"])', 'weir.Client("https://api.example.com")'],
  ['export WEIR_URLS=1', 'export WEIR_URLS=1'],
])('%s has the served address', (sample, wanted) => {
  expect(withOrigin(sample, ORIGIN)).toBe(wanted)
})
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: the samples are programs.

const input = (name: string, kind: string, text: string, place = 'body'): FormInput => {
  return { name, place, kind, text, isRequired: false }
}

it('a body has the fields that are not empty, with their types', () => {
  const inputs = [
    input('req.coin', 'text', ' BTC '),
    input('req.n', 'number', '12'),
    input('aggregate', 'boolean', 'false'),
    input('users', 'list', '0xa, 0xb'),
    input('oid', 'number', '0xff'),
    input('filter', 'json', '{"a":[1]}'),
    input('dex', 'text', '  '),
    input('chain', 'text', 'x', 'path'),
  ]
  expect(requestBody({ type: 't' }, inputs)).toEqual({
    type: 't',
    req: { coin: 'BTC', n: 12 },
    aggregate: false,
    users: ['0xa', '0xb'],
    oid: '0xff',
    filter: { a: [1] },
  })
  expect(requestBody({}, [{ ...input('dex', 'text', ''), isRequired: true }])).toEqual({ dex: '' })
  expect(() => requestBody({}, [input('filter', 'json', '{')])).toThrow('filter is not valid JSON')
})

it('a path is escaped, and empty parameters of the query are left out', () => {
  const inputs = [
    input('key', 'text', 'a/../b?c', 'path'),
    input('day', 'text', '', 'query'),
    input('q', 'text', 'a&b=c', 'query'),
  ]
  expect(requestPath('/platform/keys/{key}', inputs)).toBe('/platform/keys/a%2F..%2Fb%3Fc?q=a%26b%3Dc')
  expect(requestPath('/status', [])).toBe('/status')
})

it('texts of a body give the same body again', () => {
  const word = fc.stringMatching(/^[a-z]\w{0,8}$/)
  const inputs = fc.record({
    name: word,
    inner: word,
    size: fc.integer(),
    flag: fc.boolean(),
    list: fc.array(word, { minLength: 1 }),
  })
  fc.assert(
    fc.property(inputs, ({ name, inner, size, flag, list }) => {
      const body = { type: 't', a: name, req: { b: inner, c: size }, d: flag, e: list, f: { x: [size] } }
      const fields = [
        ['a', 'text'],
        ['req.b', 'text'],
        ['req.c', 'number'],
        ['d', 'boolean'],
        ['e', 'list'],
        ['f', 'json'],
      ].map(([field = '', kind = '']) => input(field, kind, ''))
      const texts = textsOf(body, fields)
      const filled = fields.map((field) => ({ ...field, text: texts.get(field.name)! }))
      expect(requestBody({ type: 't' }, filled)).toEqual(body)
    }),
  )
  // A body of another form is no failure: its fields are empty.
  for (const body of [null, 1, [], { req: 3 }])
    expect(textsOf(body, [input('req.b', 'text', '')]).get('req.b')).toBe('')
})
