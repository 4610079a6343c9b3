// The software bill of materials: what it says of a small lock file, and that the one of this repository is valid.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { bomText, type LockedPackages, type PublishedFile } from '../../../scripts/sbom.ts'
import { missingIn, placeOf } from '../../installed.ts'
import { ROOT } from '../../kit/program.ts'

interface Bom {
  readonly serialNumber: string
  readonly components: readonly { readonly 'bom-ref': string; readonly [field: string]: unknown }[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

const FILE: PublishedFile = {
  file: 'weir-1.2.3.tgz',
  sha256: 'a'.repeat(64),
  kind: 'application',
  name: 'weir',
  registry: 'npm',
  packages: ['@a/one'],
  requirements: ['httpx>=0.23'],
}
const LOCK: LockedPackages = {
  '': { version: '1.2.3' },
  'node_modules/@a/one': {
    version: '1.0.0',
    license: 'MIT',
    integrity: `sha512-${createHash('sha512').update('one').digest('base64')}`,
    dependencies: { two: '^2.0.0' },
    optionalDependencies: { 'only-on-windows': '1.0.0' },
    peerDependencies: { three: '*', missing: '*' },
  },
  'node_modules/@a/one/node_modules/two': {
    version: '2.0.0',
    license: 'SEE LICENSE IN FILE',
    dependencies: { three: '3' },
  },
  'node_modules/two': { version: '1.0.0', license: 'MIT' },
  'node_modules/three': { version: '3.0.0', license: '(MIT OR Apache-2.0)', dependencies: { '@a/one': '1', two: '1' } },
}
const release = { version: '1.2.3', license: 'MIT', time: '2026-01-02T03:04:05.000Z', tools: { node: '24.0.0' } }
const bomOf = (files: readonly PublishedFile[], lock: LockedPackages) =>
  JSON.parse(bomText({ ...release, files, lock })) as Bom

it('lists what a file needs, in the versions that Node finds, with the edges between them', () => {
  const { components, dependencies } = bomOf([FILE], LOCK)
  expect(Object.fromEntries(dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]))).toEqual({
    'weir-release-1.2.3': ['weir-1.2.3.tgz'],
    'weir-1.2.3.tgz': ['pkg:npm/%40a/one@1.0.0', 'pkg:pypi/httpx'],
    'pkg:npm/%40a/one@1.0.0': ['pkg:npm/three@3.0.0', 'pkg:npm/two@2.0.0'],
    'pkg:npm/two@2.0.0': ['pkg:npm/three@3.0.0'],
    'pkg:npm/two@1.0.0': [],
    'pkg:npm/three@3.0.0': ['pkg:npm/%40a/one@1.0.0', 'pkg:npm/two@1.0.0'],
    'pkg:pypi/httpx': [],
  })
  const byRef = Object.fromEntries(components.map((component) => [component['bom-ref'], component]))
  expect(byRef['pkg:npm/%40a/one@1.0.0']).toMatchObject({
    hashes: [{ alg: 'SHA-512', content: createHash('sha512').update('one').digest('hex') }],
    licenses: [{ expression: 'MIT' }],
  })
  expect(byRef['pkg:npm/two@2.0.0']).toMatchObject({ licenses: [{ license: { name: 'SEE LICENSE IN FILE' } }] })
  expect(byRef['pkg:npm/three@3.0.0']).toMatchObject({ licenses: [{ expression: '(MIT OR Apache-2.0)' }] })
  expect(byRef['weir-1.2.3.tgz']).toMatchObject({ hashes: [{ alg: 'SHA-256', content: FILE.sha256 }] })
})

it('has equal bytes for equal input, and another serial number for other input', () => {
  expect(bomText({ ...release, files: [FILE], lock: LOCK })).toBe(bomText({ ...release, files: [FILE], lock: LOCK }))
  const other = bomOf([{ ...FILE, sha256: 'b'.repeat(64) }], LOCK)
  expect(other.serialNumber).not.toBe(bomOf([FILE], LOCK).serialNumber)
})

it('refuses a package that is not in the lock file', () => {
  expect(() => bomOf([{ ...FILE, packages: ['absent'] }], LOCK)).toThrow('package-lock.json lacks absent')
})

it('of this repository conforms to CycloneDX 1.6', { timeout: 300_000 }, async ({ skip }) => {
  const place = placeOf('release')
  const missing = missingIn(place, join(ROOT, 'test/release'))
  if (missing !== null) {
    console.error(`SKIPPED: the schema of the SBOM: ${missing}`)
    return skip()
  }
  const library = join(place, 'node_modules/@cyclonedx/cyclonedx-library/dist.node/index.node.js')
  const { Spec, Validation } = (await import(pathToFileURL(library).href)) as {
    Spec: { Version: { v1dot6: string } }
    Validation: { JsonStrictValidator: new (version: string) => { validate: (text: string) => Promise<unknown> } }
  }
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6)
  const { dependencies = {} } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<string, object>
  const { packages: lock } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: LockedPackages
  }
  const files = [{ ...FILE, packages: Object.keys(dependencies) }]
  const text = bomText({ ...release, files, lock })
  expect(await validator.validate(text)).toBeNull()
  expect(await validator.validate(text.replace('"specVersion": "1.6"', '"specVersion": 16'))).not.toBeNull()
  const { components } = JSON.parse(text) as Bom
  expect(components.length).toBeGreaterThan(Object.keys(dependencies).length)
  const unhashed = components.filter(({ hashes }) => hashes === undefined).map((component) => component['bom-ref'])
  expect(unhashed).toEqual(['pkg:pypi/httpx'])
})
