import { expect, it } from 'vitest'
import { parseSources, sourcesFor } from '../../src/upstream/sources.ts'

const text = JSON.stringify([
  { name: 'node', url: 'http://127.0.0.1:3001/info', types: ['meta', 'openOrders'] },
  { name: 'public', url: 'https://example.com/info', budget: 1200 },
])

it('routes a type to the sources that serve it, in order', () => {
  const sources = parseSources(text)
  if (!sources.ok) throw new Error(sources.error)
  const names = (type: string) => sourcesFor(sources.value, type).map(({ name }) => name)
  expect(names('meta')).toEqual(['node', 'public'])
  expect(names('userFees')).toEqual(['public'])
})

it.each([
  ['nonsense', /not JSON/],
  ['{}', /UPSTREAMS value/],
  ['[{"name":"a"}]', /UPSTREAMS 0\.url/],
  ['[{"name":"a","url":"ftp://x"}]', /UPSTREAMS 0\.url/],
  ['[{"name":"a","url":"http://x","type":["meta"]}]', /UPSTREAMS 0/],
  ['[{"name":"a","url":"http://x/1"},{"name":"a","url":"http://x/2"}]', /two sources/],
])('refuses %s', (value, message) => {
  const sources = parseSources(value)
  expect(sources.ok ? '' : sources.error).toMatch(message)
})
