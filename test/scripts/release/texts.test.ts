// The texts of a release: versions, changelog and the message of the tag.

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { changelogFault, releaseNotes, withReleaseDate } from '../../../scripts/changelog.ts'
import { checksumsIn, differingFiles, signatureIn, tagMessage } from '../../../scripts/release-tag.ts'
import { VERSIONED_FILES, versionFault, withVersion } from '../../../scripts/release-version.ts'
import { ROOT } from '../../kit/program.ts'

const changelog = (top: string) => `# Changelog\n\nA text.\n\n${top}\n\n## [0.1.0] - 2026-01-02\n\n- The first one.\n`

describe('the changelog', () => {
  it.each([
    ['## [Unreleased]\n\n### Added\n\n- A thing.', '0.2.0'],
    ['## [0.2.0]\n\n- A thing.', '0.2.0'],
    ['## [0.2.0] - 2026-01-30\n\n- A thing.', '0.2.0'],
  ])('has its newest section named and dated: %j', (top, version) => {
    const text = changelog(top)
    expect(changelogFault(text, version)).toBeNull()
    const dated = withReleaseDate(text, version, '2026-02-03')
    expect(dated).toBe(changelog(top.replace(/^.*/, '## [0.2.0] - 2026-02-03')))
    expect(releaseNotes(dated, version)).toBe(`${top.replace(/^.*\n\n/, '')}\n`)
    expect(releaseNotes(dated, '0.1.0')).toBe('- The first one.\n')
  })

  it.each([
    ['## [Unreleased]', '0.2.0', 'has no entries'],
    ['## [0.3.0]\n\n- A thing.', '0.2.0', 'must be [Unreleased] or [0.2.0]'],
    ['## [Unreleased]\n\n- A thing.', '0.1.0', 'already has an older section [0.1.0]'],
  ])('must describe the version: %j as %s', (top, version, fault) => {
    expect(changelogFault(changelog(top), version)).toContain(fault)
  })

  it('must have a section', () => {
    expect(changelogFault('# Changelog\n', '0.2.0')).toContain('must be [Unreleased]')
    expect(() => releaseNotes('# Changelog\n', '0.2.0')).toThrow('has no section [0.2.0]')
  })
})

describe('the version', () => {
  it.each([
    ['0.3.0', '0.2.0', null],
    ['0.2.0', '0.2.0', null],
    ['0.10.0', '0.9.9', 'v0.9.9'],
    ['1.0.0', '0.2.0', 'v0.2.0'],
  ])('may be %s after %s and the tag %s', (version, current, tag) => {
    expect(versionFault(version, current, tag)).toBeNull()
  })

  it.each([
    ['0.3', '0.2.0', null, 'not a version'],
    ['v0.3.0', '0.2.0', null, 'not a version'],
    ['0.03.0', '0.2.0', null, 'not a version'],
    ['0.3.0-rc.1', '0.2.0', null, 'not a version'],
    ['0.2.0', '0.2.0', 'v0.2.0', 'not newer than the tag v0.2.0'],
    ['0.1.9', '0.2.0', null, 'not newer than package.json'],
    ['0.2.1', '0.3.0', 'v0.2.0', 'older than 0.3.0'],
  ])('may not be %s after %s and the tag %s', (version, current, tag, fault) => {
    expect(versionFault(version, current, tag)).toContain(fault)
  })

  it('is replaced in every file of this repository that has it, and nowhere else', () => {
    const from = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version
    const to = '98.76.54'
    const paths = execFileSync('git', ['ls-files', ...VERSIONED_FILES], { cwd: ROOT, encoding: 'utf8' })
    const changed = paths
      .trim()
      .split('\n')
      .flatMap((path) => {
        const text = readFileSync(join(ROOT, path), 'utf8')
        const after = withVersion(path, text, from, to)
        // The way back shows that nothing else changed.
        expect(withVersion(path, after, to, from)).toBe(text)
        return after === text ? [] : [path]
      })
    expect(changed).toEqual(
      expect.arrayContaining([
        'package.json',
        'package-lock.json',
        'packages/python/pyproject.toml',
        'packages/weir/README.md',
        'packages/feeder/README.md',
        'packages/client/README.md',
        'docs/reference/sdks.md',
      ]),
    )
    const names = execFileSync(
      'git',
      ['grep', '-l', '-E', `weir(-client|-feeder)?[-:]${from.replaceAll('.', '[.]')}`],
      {
        cwd: ROOT,
        encoding: 'utf8',
      },
    )
    const others = names
      .trim()
      .split('\n')
      .filter((path) => !changed.includes(path) && !path.startsWith('test/'))
    expect(others).toEqual([])
  })

  it('is not that of another package', () => {
    const other = 'other-0.2.0.tgz weir-0.2.0.1 weir-0.2.01 "weir": "0.2.0" version = "0.2.0"'
    expect(withVersion('a.md', other, '0.2.0', '0.3.0')).toBe(other)
    const image = 'ARG VERSION=0.2.0\ndocker build -t weir:0.2.0 and weir-0.2.0.tgz and weir-0.2.0.'
    expect(withVersion('Dockerfile', image, '0.2.0', '0.3.0')).toBe(image.replaceAll('0.2.0', '0.3.0'))
  })
})

describe('the message of the tag', () => {
  const checksums = `${'a'.repeat(64)}  one.tgz\n${'b'.repeat(64)}  two.whl\n`
  const signature = '-----BEGIN SSH SIGNATURE-----\nU1NI\n-----END SSH SIGNATURE-----\n'
  const content = { version: '0.3.0', tools: 'node 24.0.0, npm 11.0.0', checksums }

  it('contains checksums and signature', () => {
    const message = tagMessage({ ...content, signature })
    expect(message).toMatch(/^Weir 0\.3\.0\n\nBuilt with node 24\.0\.0, npm 11\.0\.0\.\n/)
    expect([checksumsIn(message), signatureIn(message)]).toEqual([checksums, signature])
    // Git takes such a line for the beginning of the tag's own signature.
    expect(message).not.toMatch(/^-----BEGIN/m)
  })

  it('may have no signature', () => {
    const message = tagMessage({ ...content, signature: null })
    expect([checksumsIn(message), signatureIn(message)]).toEqual([checksums, null])
    expect(checksumsIn('Another tag\n')).toBe('')
  })

  it('names the files that differ', () => {
    expect(differingFiles(checksums, checksums)).toEqual([])
    expect(differingFiles(checksums, checksums.replace('b', 'c'))).toEqual(['two.whl'])
    expect(differingFiles('', checksums)).toEqual(['one.tgz', 'two.whl'])
    expect(differingFiles(checksums, '')).toEqual(['one.tgz', 'two.whl'])
  })
})
