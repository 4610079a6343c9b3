import { expect, it, test } from 'vitest'
import { optionsTakenByNpm } from '../../src/core/npm-options.ts'

const KEYS = { npm_lifecycle_event: 'keys', npm_config_json: 'true', npm_config_new_secret: 'true', npm_config_url: '' }
const options = ['json', 'new-secret', 'url', 'account']

test('reports options of this line that npm consumed', () => {
  expect(optionsTakenByNpm('npm run keys --', options, KEYS, 'fund=false\nalso-json=true')).toEqual([
    'json',
    'new-secret',
  ])
  expect(
    optionsTakenByNpm('npm start --', ['reset'], { npm_lifecycle_event: 'start', npm_config_reset: 'true' }, ''),
  ).toEqual(['reset'])
})

it.each([
  ['another script of npm', 'npm run admin --', KEYS, ''],
  ['no script of npm', 'npm run keys --', { npm_config_json: 'true' }, ''],
  ['a program that npm does not start', 'node scripts/x.ts', KEYS, ''],
  ['a setting in a file', 'npm run keys --', KEYS, 'fund=false\n json = true\nnew-secret'],
])('of %s nothing is told', (_, program, env, settings) => {
  expect(optionsTakenByNpm(program, options, env, settings)).toEqual([])
})
