import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { rotatingLog } from '../../../src/cli/serve/rotating-log.node.ts'

const folder = mkdtempSync(join(tmpdir(), 'weir-log-'))
beforeEach(() => mkdirSync(folder, { recursive: true }))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('keeps five files of bounded size, and escapes what a terminal would act on', () => {
  const path = join(folder, 'weir.log')
  const log = rotatingLog(path, 1_000)
  for (let i = 0; i < 200; i++) log(`line ${i} \u001b[2J`)
  expect(readdirSync(folder).sort()).toEqual(['weir.log', 'weir.log.1', 'weir.log.2', 'weir.log.3', 'weir.log.4'])
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
  for (const text of texts) expect(text.length).toBeLessThanOrEqual(1_000)
  expect(texts[0]).toMatch(/ line 199 \\u001b\[2J\n$/)
  expect(texts.join('')).not.toContain('\u001b')
})

test('a log that cannot be rotated starts over, and touches no other file', () => {
  const path = join(folder, 'weir.log')
  const log = rotatingLog(path, 1_000)
  log('first')
  // A folder of the next name stops the rotation for every user.
  mkdirSync(`${path}.1/full`, { recursive: true })
  for (let i = 0; i < 50; i++) log(`line ${i}`)
  const other = openSync(join(folder, 'other'), 'a')
  for (let i = 50; i < 200; i++) log(`line ${i}`)
  closeSync(other)
  expect(readFileSync(join(folder, 'other'), 'utf8')).toBe('')
  const text = readFileSync(path, 'utf8')
  expect(text).toMatch(/ line 199\n$/)
  expect(text.length).toBeLessThanOrEqual(1_000)
})
