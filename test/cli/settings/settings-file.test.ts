// weir.toml: what it may contain, and that a command adds to it without changing the rest.

import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { addSetting, parseSettings, readSettings, withAdded } from '../../../src/cli/settings/settings-file.node.ts'
import type { SettingPath } from '../../../src/cli/settings/toml-edit.ts'
import { hasArchive, nameOf, unknownVariables } from '../../../src/cli/settings/weir-settings.ts'
import { scratch } from '../../kit/program.ts'
import { templates } from '../deploy/facts.ts'

const { path: folder, remove } = scratch()
afterAll(remove)

const faultOf = (text: string) => {
  const parsed = parseSettings(text)
  return parsed.ok ? null : parsed.error
}
const settingsOf = (text: string) => {
  const parsed = parseSettings(text)
  if (!parsed.ok) throw new Error(parsed.error)
  return parsed.value
}

describe('settings', () => {
  it('are those of this version without a file', () => {
    const settings = readSettings(join(folder, 'nowhere'))
    expect(settings).toMatchObject({ ok: true, value: { jobs: true, vars: {}, ids: {}, hyperdrive: [] } })
    expect(settings.ok && [nameOf(settings.value), hasArchive(settings.value)]).toEqual(['weir', true])
    expect([hasArchive(settingsOf('jobs = false')), hasArchive(settingsOf('archive = false'))]).toEqual([false, false])
  })

  it.each([
    ['nam = "acme"', /^weir\.toml: nam unknown field; did you mean "name"/],
    ['name = "Acme"', /^weir\.toml: name must be 1 to 40 lower-case letters/],
    ['location = "tokyo"', /^weir\.toml: location must be one of wnam, /],
    ['jobs = false\narchive = true', /^weir\.toml: archive must be false, or absent, while jobs is false/],
    [
      '[ids]\naccounts = "weir-accounts"',
      /^weir\.toml: ids\.accounts must be the UUID of a D1 database\. Remove the line/,
    ],
    ['[ids]\nkeys = "x"', /^weir\.toml: ids\.keys must be 32 hexadecimal digits/],
    ['routes = [{ custom_domain = true }]', /^weir\.toml: routes\.0 must be a pattern/],
    ['workers_dev = "no"', /^weir\.toml: workers_dev must be true or false/],
    ['jobs = yes', /^weir\.toml is not valid TOML: .*\n\n1: {2}jobs = yes/],
  ])('are refused with the key and the fix: %j', (text, words) => {
    expect(faultOf(text)).toMatch(words)
  })

  it('name the variable that was probably meant', () => {
    const variables = Object.values(templates).map(({ vars }) => vars)
    const settings = settingsOf('[vars]\nFEED_REGON = "weur"\nXYZ = "1"\nPATH_KEYS = "on"')
    expect(unknownVariables(settings, variables)).toEqual([
      'weir.toml: vars.FEED_REGON is not a variable of Weir. Did you mean FEED_REGION?',
      expect.stringMatching(/^weir\.toml: vars\.XYZ .*settings\.md/),
    ])
  })
})

const OWN = `# Ours.
name = "acme"  # the desk

# Sources.
[vars]
UPSTREAMS = '''
[
{"name":"node"}]
'''

# Stores.
[ids]
# Tokyo.
accounts = "0a1b2c3d-0a1b-4a1b-8a1b-0a1b2c3d4e5f"
`

describe('an addition', () => {
  it.each<[SettingPath, string]>([
    [['workers_dev'], 'name = "acme"  # the desk\nworkers_dev = true\n\n# Sources.'],
    [['vars', 'FEED_REGION'], "'''\nFEED_REGION = true\n\n# Stores."],
    [['ids', 'usage'], '4e5f"\nusage = true\n'],
    [['other', 'key'], '4e5f"\n\n[other]\nkey = true\n'],
  ])('of %j keeps comments, order and spacing', (path, part) => {
    const added = withAdded(OWN, path, 'true')
    expect(added).toMatchObject({ ok: true, value: expect.stringContaining(part) })
    const lines = added.ok ? added.value.split('\n') : []
    expect(OWN.split('\n').filter((line) => !lines.includes(line))).toEqual([])
  })

  it.each([
    ['name = "acme"', ['name']],
    ['ids = { accounts = "0a1b2c3d-0a1b-4a1b-8a1b-0a1b2c3d4e5f" }', ['ids', 'usage']],
    ['[vars]\nX = """\n[ids]\n"""', ['ids', 'usage']],
  ] as const)('that would change %j is left to the operator', (text, path) => {
    const added = withAdded(text, path as SettingPath, '"x"')
    expect(added).toEqual({
      ok: false,
      error: `weir.toml could not be edited. Add this to it: ${path.join('.')} = "x"`,
    })
  })

  it('starts the file', () => {
    expect(addSetting(folder, ['vars', 'FEED_REGION'], '"weur"')).toMatchObject({
      value: { vars: { FEED_REGION: 'weur' } },
    })
    expect(addSetting(folder, ['name'], '"acme"')).toMatchObject({ value: { name: 'acme' } })
    expect(readFileSync(join(folder, 'weir.toml'), 'utf8')).toMatch(
      /^# Settings .*\nname = "acme"\n\n\[vars\]\nFEED_REGION = "weur"\n$/,
    )
    writeFileSync(join(folder, 'weir.toml'), 'name = "acme"')
    expect(addSetting(folder, ['jobs'], 'false')).toMatchObject({ value: { name: 'acme', jobs: false } })
    expect(existsSync(join(folder, `weir.toml.${process.pid}.new`))).toBe(false)
  })

  it('keeps the mode of the file, and a link to it', () => {
    const file = join(folder, 'shared.toml')
    const link = join(folder, 'linked/weir.toml')
    writeFileSync(file, 'name = "acme"\n')
    chmodSync(file, 0o640)
    mkdirSync(join(folder, 'linked'))
    symlinkSync(file, link)
    expect(addSetting(join(folder, 'linked'), ['jobs'], 'false')).toMatchObject({ value: { jobs: false } })
    expect([statSync(file).mode & 0o777, lstatSync(link).isSymbolicLink()]).toEqual([0o640, true])
    expect(readFileSync(file, 'utf8')).toBe('name = "acme"\njobs = false\n')
  })
})
