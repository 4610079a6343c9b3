// Gzip members: a normal gzip file that is read one member at a time, and damage in it.

import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { memberBytes, memberLines, packLines, unpackLines } from '../../../src/archive/archive/gzip-members.client.ts'
import { joinedBytes } from '../../../src/core/chunks.ts'

const packed = async (lines: readonly string[]) => joinedBytes(await packLines(lines))

it('return the lines, are a normal gzip file, and are the same bytes each time', async () => {
  const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ' '))
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 20 }), async (lines) => {
      const bytes = await packed(lines)
      expect([...unpackLines(bytes)]).toEqual(lines)
      expect(gunzipSync(bytes).toString()).toBe(`${lines.join('\n')}\n`)
      expect(await packed(lines)).toEqual(bytes)
    }),
  )
})

it('are at most one line longer than their limit', async () => {
  const lines = Array.from({ length: 3_000 }, (_, at) => `${at}`.padEnd(1_000, 'é'))
  const members = await packLines(lines)
  expect(members.length).toBeGreaterThan(10)
  for (const member of members) expect(memberLines(member, 0).join('').length).toBeLessThan(128 * 1024 + 1_000)
  expect([...unpackLines(joinedBytes(members))]).toEqual(lines)
})

it('that are truncated or altered are not read', async () => {
  const bytes = await packed(['{"height":1}', '{"height":2}'])
  for (let length = 1; length < bytes.length; length++)
    expect(() => [...unpackLines(bytes.subarray(0, length))]).toThrow()
  for (const at of [0, 3, 10, 12, bytes.length - 9]) {
    const altered = bytes.slice()
    altered[at]! ^= 1
    expect(() => [...unpackLines(altered)]).toThrow()
  }
  expect(() => memberBytes(bytes, 1)).toThrow('no gzip member at byte 1')
})
