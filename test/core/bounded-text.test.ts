import { describe, expect, it } from 'vitest'
import { readBoundedText } from '../../src/core/bounded-text.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
async function* pieces(...parts: readonly Uint8Array[]) {
  yield* parts
}

describe('text within bounds', () => {
  it('is joined from its pieces, also inside a character', async () => {
    const whole = bytes('a€b')
    for (let cut = 0; cut <= whole.length; cut++) {
      const read = await readBoundedText(pieces(whole.slice(0, cut), whole.slice(cut)), whole.length)
      expect(read).toEqual({ text: 'a€b' })
    }
    expect(await readBoundedText(null, 0)).toEqual({ text: '' })
  })

  it('ends the stream at the first byte over the limit', async () => {
    let ended = false
    async function* endless() {
      try {
        for (;;) yield new Uint8Array(60)
      } finally {
        ended = true
      }
    }
    expect(await readBoundedText(endless(), 100)).toEqual({ refused: 'too_large' })
    expect(ended).toBe(true)
  })

  it('is not what is no UTF-8, and keeps a byte order mark where bytes come through', async () => {
    expect(await readBoundedText(pieces(new Uint8Array([34, 255, 34])), 9)).toEqual({ refused: 'not_utf8' })
    expect(await readBoundedText(pieces(bytes('\ufeff1')), 9)).toEqual({ text: '1' })
    expect(await readBoundedText(pieces(bytes('\ufeff1')), 9, 'keep')).toEqual({ text: '\ufeff1' })
  })
})
