// The pure rules of `weir serve`: versions and clocks of a folder, variables of the Workers, and manifests of backups.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { declaredVariables } from '../../../src/cli/launch/gateway-process.node.ts'
import { parseManifest, restoreFault, SNAPSHOT_NAME, snapshotName } from '../../../src/cli/serve/backup-manifest.ts'
import { compareVersions, markFault } from '../../../src/cli/serve/folder-mark.ts'
import { servedVariables, variableFaults } from '../../../src/cli/serve/variables.ts'
import { ROOT } from '../../kit/program.ts'

const Version = fc.tuple(fc.nat(30), fc.nat(30), fc.nat(30))

test('versions are ordered by their numbers', () => {
  fc.assert(
    fc.property(Version, Version, (a, b) => {
      const order = a[0] - b[0] || a[1] - b[1] || a[2] - b[2]
      expect(Math.sign(compareVersions(a.join('.'), b.join('.')))).toBe(Math.sign(order))
    }),
  )
})

test('a folder is refused by an older version, and by a clock that was set back', () => {
  const mark = { version: '0.3.0', lastMs: 1_000_000 }
  expect(markFault(mark, '0.3.0', 1_000_000)).toBeNull()
  expect(markFault(mark, '1.0.0', 940_000)).toBeNull()
  expect(markFault(mark, '0.3.0', 939_999)).toMatch(/^was used at 1970-01-01T00:16:40\.000Z, and .* says/)
  expect(markFault(mark, '0.2.9', 1_000_000)).toMatch(
    /^was used by Weir 0\.3\.0, and this is 0\.2\.9\. Install 0\.3\.0/,
  )
})

test('variables come from the environment, then weir.toml, then the nodes', () => {
  const declared = ['UPSTREAMS', 'RPC_CHAINS', 'TRUST_PROXY', 'CHECKOUT']
  const of = (settings: Record<string, string>, env: Record<string, string>, nodes: string[] = []) =>
    servedVariables(declared, { settings, env }, nodes)
  expect(of({}, {})).toEqual({ TRUST_PROXY: 'off' })
  expect(of({ TRUST_PROXY: 'on', OTHER: 'x' }, { CHECKOUT: 'manual', PATH: '/bin' })).toEqual({
    TRUST_PROXY: 'on',
    CHECKOUT: 'manual',
  })
  const two = of({}, {}, ['http://10.0.0.5:3001/info', 'http://10.0.0.6:3001/'])
  expect(JSON.parse(two.UPSTREAMS!)).toEqual([
    { name: 'node', url: 'http://10.0.0.5:3001/info' },
    { name: 'node-2', url: 'http://10.0.0.6:3001/info' },
  ])
  expect(JSON.parse(two.RPC_CHAINS!)).toEqual([
    { name: 'hyperliquid', urls: ['http://10.0.0.5:3001/evm', 'http://10.0.0.6:3001/evm'] },
  ])
  expect(of({ UPSTREAMS: '[]' }, {}, ['http://10.0.0.5:3001']).UPSTREAMS).toBe('[]')
})

test('a manifest names only files below the folder, and a newer one is refused', () => {
  const facts = { bytes: 1, sha256: 'a'.repeat(64) }
  const manifest = (path: string) => ({ version: '0.2.0', atMs: 1, files: { [path]: facts }, blobs: {} })
  const ok = parseManifest(manifest('gateway/v3/d1/a.sqlite'))
  expect(ok && restoreFault(ok, '0.2.0')).toBeNull()
  expect(ok && restoreFault(ok, '0.1.9')).toMatch(/^was made by Weir 0\.2\.0/)
  for (const path of ['../secrets.json', '/etc/passwd', 'a/../../b', 'a/..', '', 'a\\b'])
    expect([path, parseManifest(manifest(path))]).toEqual([path, null])
  expect(snapshotName(0)).toMatch(SNAPSHOT_NAME)
})

test('a variable with which a Worker would not start is named, with what it must be', () => {
  const { gateway, objects } = declaredVariables(ROOT)
  expect(variableFaults(gateway, objects)).toEqual([])
  expect(Object.keys(gateway)).not.toContain('KEY_SECRET')
  const faults = variableFaults(
    { ...gateway, CHECKOUT: 'paypal', BOOK_HUBS: '0' },
    { ...objects, BOOK_HUBS: '0', ARCHIVE_KEEP_MB: 'all' },
  )
  expect(faults).toEqual([
    expect.stringMatching(/^BOOK_HUBS must be a whole number from 1 to 64\.$/),
    expect.stringMatching(/^CHECKOUT must be "off", "manual" or "stripe"\.$/),
    expect.stringMatching(/^ARCHIVE_KEEP_MB must be /),
  ])
  expect(variableFaults({ ...gateway, CHECKOUT: 'stripe' }, objects)).toEqual([
    'PUBLIC_URL: required when CHECKOUT is "stripe".',
  ])
})
