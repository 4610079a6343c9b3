import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { rotatingLog } from '../../../src/cli/serve/rotating-log.node.ts'

const folder = mkdtempSync(join(tmpdir(), 'weir-log-'))
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
