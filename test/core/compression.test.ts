import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { COMPRESS_FROM_CHARACTERS, compressedResponse } from '../../src/core/compression.client.ts'

const LONG = JSON.stringify(Array.from({ length: 4_000 }, (_, i) => ({ px: `${60_000 + i}.5`, sz: `${i % 7}.25€` })))
const HEADERS = { 'content-type': 'application/json' }
const ask = (acceptEncoding: string | null, body = LONG, more: object = {}) => {
  const headers = new Headers(acceptEncoding === null ? {} : { 'accept-encoding': acceptEncoding })
  return compressedResponse({ headers, ...more }, body, { headers: HEADERS })
}
const bytes = async (response: Response) => Buffer.from(await response.arrayBuffer())

describe('a long response', () => {
  it.each([
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
  ])('is short in %s, and the same text', async (encoding, read) => {
    for (let i = 0; i < 2; i++) {
      const answer = ask(encoding)
      const { headers } = answer
      expect([headers.get('content-encoding'), headers.get('vary')]).toEqual([encoding, 'accept-encoding'])
      expect(headers.get('content-type')).toBe('application/json')
      const short = await bytes(answer)
      expect(short.length).toBeLessThan(LONG.length / 4)
      expect(read(short).toString()).toBe(LONG)
    }
  })

  it.each([null, 'identity', 'gzip;q=0'])('stays uncompressed for %j, with a Vary header', async (accepted) => {
    const answer = ask(accepted)
    expect([answer.headers.get('content-encoding'), answer.headers.get('vary')]).toEqual([null, 'accept-encoding'])
    expect(await answer.text()).toBe(LONG)
  })

  it('is left to Cloudflare there', async () => {
    const answer = ask('gzip, br', LONG, { cf: { colo: 'AMS' } })
    expect(Object.fromEntries(answer.headers)).toEqual(HEADERS)
    expect(await answer.text()).toBe(LONG)
  })
})

it('a short response gets no Vary header and is not compressed', async () => {
  const short = 'x'.repeat(COMPRESS_FROM_CHARACTERS - 1)
  expect(Object.fromEntries(ask('gzip', short).headers)).toEqual(HEADERS)
  expect(ask('gzip', `${short}x`).headers.get('content-encoding')).toBe('gzip')
})

it('compresses responses beyond its memory correctly', async () => {
  for (let i = 0; i < 12; i++) {
    const text = String(i).repeat(2_000_000)
    expect(gunzipSync(await bytes(ask('gzip', text))).toString()).toBe(text)
  }
})
