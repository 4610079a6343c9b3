import { describe, expect, it } from 'vitest'
import { readJsonBody } from '../../src/core/body.ts'
import { readBoundedText } from '../../src/core/bounded-text.ts'

const encoder = new TextEncoder()
async function* pieces(...parts: readonly (string | Uint8Array)[]) {
  for (const part of parts) yield typeof part === 'string' ? encoder.encode(part) : part
}
const read = (chunks: AsyncIterable<Uint8Array> | null, limit = 100, contentLength: string | null = null) =>
  readJsonBody({ chunks, contentLength }, limit)

describe('reading a body', () => {
  it('stops at the first byte over the limit', async () => {
    let sent = 0
    let ended = false
    async function* endless() {
      try {
        for (;;) {
          sent += 60
          yield new Uint8Array(60)
        }
      } finally {
        ended = true
      }
    }
    expect(await read(endless())).toEqual({ ok: false, error: { kind: 'body_too_large', limitBytes: 100 } })
    expect([sent, ended]).toEqual([120, true])
    expect(await read(pieces('{}'), 100, '101')).toMatchObject({ ok: false, error: { kind: 'body_too_large' } })
    expect(await read(pieces('"', 'x'.repeat(98), '"'))).toEqual({ ok: true, value: 'x'.repeat(98) })
  })

  it.each(['', '{', 'nope', '{"a":1}}'])('rejects %j as invalid JSON', async (text) => {
    expect(await read(pieces(text))).toEqual({ ok: false, error: { kind: 'not_json' } })
  })

  it('uses the default for an empty body', async () => {
    expect(await readJsonBody({ chunks: pieces(''), contentLength: '0' }, 100, {})).toEqual({ ok: true, value: {} })
    expect(await readJsonBody({ chunks: pieces('{'), contentLength: null }, 100, {})).toMatchObject({ ok: false })
  })

  it('distinguishes a missing body from invalid UTF-8', async () => {
    expect(await read(null)).toMatchObject({ ok: false, error: { kind: 'not_json' } })
    expect(await read(pieces(new Uint8Array([34, 255, 34])))).toMatchObject({ ok: false, error: { kind: 'not_json' } })
  })

  it('limits nesting to 64 levels', async () => {
    const nested = (depth: number) => pieces('['.repeat(depth) + ']'.repeat(depth))
    expect(await read(nested(64), 1_000)).toMatchObject({ ok: true })
    expect(await read(nested(65), 1_000)).toMatchObject({ ok: false, error: { kind: 'bad_field' } })
  })
})

describe('bounded text', () => {
  it('joins chunks, even inside a character', async () => {
    const whole = encoder.encode('a€b')
    for (let cut = 0; cut <= whole.length; cut++) {
      const read = await readBoundedText(pieces(whole.slice(0, cut), whole.slice(cut)), whole.length)
      expect(read).toEqual({ text: 'a€b' })
    }
    expect(await readBoundedText(null, 0)).toEqual({ text: '' })
  })

  it('rejects invalid UTF-8 and can keep a byte order mark', async () => {
    expect(await readBoundedText(pieces(new Uint8Array([34, 255, 34])), 9)).toEqual({ refused: 'not_utf8' })
    expect(await readBoundedText(pieces('\ufeff1'), 9)).toEqual({ text: '1' })
    expect(await readBoundedText(pieces('\ufeff1'), 9, 'keep')).toEqual({ text: '\ufeff1' })
  })
})
