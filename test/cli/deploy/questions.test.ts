// What `weir deploy` asks, and what it does with the answers.

import { describe, expect, it } from 'vitest'
import { contradictions, givenAnswer, questionsFor, tomlOf } from '../../../src/cli/deploy/questions.ts'
import { parseSettings, withAdded } from '../../../src/cli/settings/settings-file.node.ts'
import type { WeirSettings } from '../../../src/cli/settings/weir-settings.ts'

const ONE = [{ id: 'a1', name: 'Ours' }]
const TWO = [...ONE, { id: 'b2', name: 'Theirs' }]

function read(text: string): WeirSettings {
  const parsed = parseSettings(text)
  if (!parsed.ok) throw new Error(parsed.error)
  return parsed.value
}

/** weir.toml after this answer to the question of an option. */
function answered(option: string, answer: string) {
  const question = questionsFor(TWO).find((one) => one.option === option)!
  const settings = question.settings(answer)
  if (!settings.ok) return settings.error
  let text = ''
  for (const [path, value] of settings.value) {
    const added = withAdded(text, path, tomlOf(value))
    if (!added.ok) throw new Error(added.error)
    text = added.value
  }
  return read(text)
}

describe('questions', () => {
  it('are asked until weir.toml has their settings', () => {
    const options = (text: string) =>
      questionsFor(ONE)
        .filter(({ isOpen }) => isOpen(read(text)))
        .map(({ option }) => option)
    expect(options('')).toEqual(['--account', '--name', '--region', '--node', '--domain'])
    expect(options('name = "x"\naccount_id = "a1"\nroutes = ["a.example/*"]')).toEqual(['--region', '--node'])
    expect(options('workers_dev = true\n[vars]\nFEED_REGION = ""\nUPSTREAMS = "[]"')).toEqual(['--account', '--name'])
    expect(questionsFor(null).map(({ option }) => option)).not.toContain('--account')
  })

  it.each<[string, string, object]>([
    ['--account', 'b2', { account_id: 'b2' }],
    ['--name', 'acme', { name: 'acme' }],
    ['--region', 'apac-ne', { vars: { FEED_REGION: 'apac-ne' } }],
    ['--node', 'none', { vars: { UPSTREAMS: [] } }],
    ['--node', "https://n.example/in'fo", { vars: { UPSTREAMS: [{ name: 'node', url: "https://n.example/in'fo" }] } }],
    ['--domain', 'workers.dev', { workers_dev: true }],
    [
      '--domain',
      'api.example.com',
      {
        workers_dev: false,
        routes: [{ pattern: 'api.example.com', custom_domain: true }],
        vars: { PUBLIC_URL: 'https://api.example.com' },
      },
    ],
  ])('%s takes %s', (option, answer, settings) => {
    expect(answered(option, answer)).toMatchObject(settings)
  })

  it.each([
    ['--account', 'c3', /must be the id of an account of this login:\n {2}a1 {2}Ours\n/],
    ['--name', 'A b', /must be 1 to 40 lower-case letters/],
    ['--region', 'tokyo', /must be one of wnam, /],
    ['--node', 'node.example', /must be a URL/],
    ['--domain', 'https://api.example.com', /must be a host name/],
    ['--domain', 'localhost', /must be a host name/],
  ])('%s refuses %s', (option, answer, words) => {
    expect(answered(option, answer)).toMatch(words)
  })

  it('have defaults for --yes, but choose none of several accounts', () => {
    const [account, name] = questionsFor(TWO)
    const [only] = questionsFor(ONE)
    expect(givenAnswer(only!, undefined, false)).toEqual({ ok: true, value: 'a1' })
    const [unlisted] = questionsFor([])
    expect(unlisted!.settings('c3')).toEqual({ ok: true, value: [[['account_id'], 'c3']] })
    expect(givenAnswer(account!, undefined, true)).toEqual({
      ok: false,
      error: expect.stringMatching(/^Pass --account\. /),
    })
    expect(givenAnswer(name!, 'acme', true)).toEqual({ ok: true, value: 'acme' })
    expect(givenAnswer(name!, undefined, false)).toEqual({
      ok: false,
      error: expect.stringMatching(/^Pass --name, or --yes for all defaults \(here weir\)\./),
    })
  })

  it('contradict no setting, and may repeat it', () => {
    const text =
      'account_id = "a1"\nworkers_dev = true\n[vars]\nFEED_REGION = "weur"\nUPSTREAMS = [{ name = "node", url = "https://n.example/info" }]'
    const found = (given: Readonly<Record<string, string>>) => contradictions(read(text), questionsFor(TWO), given)
    const same = {
      '--region': 'weur',
      '--node': 'https://n.example/info',
      '--domain': 'workers.dev',
      '--account': 'a1',
    }
    expect(found({ ...same, '--name': 'any' })).toEqual([])
    expect(found({ '--region': 'enam' })).toEqual([expect.stringMatching(/^--region: weir\.toml decides this already/)])
    const others = { '--node': 'none', '--domain': 'api.example.com', '--account': 'b2' }
    expect(found(others).map((line) => line.split(':')[0])).toEqual(['--account', '--node', '--domain'])
  })
})
