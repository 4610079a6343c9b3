import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { announce } from '../../../src/cli/launch/announcement.ts'

const ROOT = join(import.meta.dirname, '../../..')

test('the variables, commands that exist, with the state folder where it is another, and where to read on', () => {
  const text = announce({
    url: 'http://127.0.0.1:1',
    key: 'cqt_K',
    serviceKey: 'cqs_S',
    adminToken: 'T',
    stateOption: " --state 'my weir'",
    dailyCredits: 1_000,
  })
  const commands = text.split('\n').filter((line) => /^ {2}\w/.test(line))
  expect(commands.map((line) => line.trim().split(' ').slice(0, 3).join(' '))).toEqual([
    ...['export WEIR_URL=http://127.0.0.1:1 WEIR_KEY=cqt_K', 'curl -s $WEIR_URL/info'],
    ...['npm run watch', 'npm run keys', 'npm run admin'],
  ])
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object }
  expect(scripts).toMatchObject({ watch: expect.any(String), keys: expect.any(String), admin: expect.any(String) })
  expect(text.match(/ --state 'my weir'/g)).toHaveLength(3)
  for (const path of ['/docs', '/status', '/live', '/console']) expect(text).toContain(`http://127.0.0.1:1${path}`)
  expect(text).toContain('filled up to 1,000 credits each UTC day')
  expect(text.trim().split('\n').length).toBeLessThan(23)
})
