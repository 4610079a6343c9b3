// `npm run release` in a small repository, in which a program writes two files instead of a build. Git and OpenSSH are real.

import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { ROOT, scratch } from '../../kit/program.ts'

const BUILD = `
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
const [out] = process.argv.slice(2)
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
if (process.env.BUILD_FAILS) throw new Error('the build fails')
mkdirSync(out)
const files = {
  [\`weir-\${version}.tgz\`]: \`\${version} of \${process.env.COMPILER ?? 'one'}\`,
  [\`weir-\${version}.cdx.json\`]: JSON.stringify({ metadata: { tools: { components: [{ name: 'node', version: '24' }] } } }),
}
const sums = Object.entries(files).map(([name, text]) => {
  writeFileSync(\`\${out}/\${name}\`, text)
  return \`\${createHash('sha256').update(text).digest('hex')}  \${name}\\n\`
})
writeFileSync(\`\${out}/SHA256SUMS\`, sums.join(''))
`
const MANIFEST = { name: 'weir', version: '0.2.0', type: 'module' }
const FILES = {
  'package.json': `${JSON.stringify(MANIFEST, null, 2)}\n`,
  'package-lock.json': `${JSON.stringify({ ...MANIFEST, lockfileVersion: 3, packages: { '': MANIFEST } }, null, 2)}\n`,
  'packages/python/pyproject.toml': '[project]\nname = "weir"\nversion = "0.2.0"\n',
  'packages/weir/README.md': 'npm install ./weir-0.2.0.tgz\n',
  'CHANGELOG.md': '# Changelog\n\n## [Unreleased]\n\n- A thing.\n\n## [0.2.0] - 2026-01-02\n\n- The first one.\n',
  'scripts/release-files.ts': BUILD,
  '.gitignore': 'node_modules/\ndist/\n',
}

let folder: string
let key: string

const run = (command: string, ...args: readonly string[]) =>
  execFileSync(command, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
const git = (...args: readonly string[]) => run('git', ...args)
const read = (path: string) => readFileSync(join(folder, path), 'utf8')
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}
const release = (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/release.ts', ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
  return { status, text: stdout + stderr }
}
/** The branch, its newest commit, the tags, the changed files and the checkouts. */
const state = () => [
  git('rev-parse', '--abbrev-ref', 'HEAD'),
  git('rev-parse', 'HEAD'),
  git('tag', '--list'),
  git('status', '--porcelain'),
  git('worktree', 'list').split('\n').length,
  existsSync(join(folder, 'dist/release/.source')),
]

beforeEach(() => {
  const { path, remove } = scratch()
  onTestFinished(remove)
  folder = join(path, 'my weir é')
  key = join(path, 'key')
  for (const part of ['scripts', 'src/core', 'src/cli/serve'])
    cpSync(join(ROOT, part), join(folder, part), { recursive: true })
  for (const [name, text] of Object.entries(FILES)) write(name, text)
  for (const name of ['@commander-js/extra-typings', 'zod']) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), link)
  }
  run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', 'key', '-f', key)
  write(
    '.github/allowed-signers',
    `# Releasers\nreleaser@example.com namespaces="weir-release,git" ${readFileSync(`${key}.pub`, 'utf8')}`,
  )
  git('init', '--quiet', '--initial-branch=main')
  git('config', 'user.name', 'Releaser')
  git('config', 'user.email', 'releaser@example.com')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'feat(all): begin')
})

describe('npm run release', { timeout: 120_000 }, () => {
  it('builds, signs, commits and tags, and every file can be verified as SECURITY.md says', () => {
    const outcome = release(['0.3.0', '--key', key])
    expect(outcome).toEqual({ status: 0, text: expect.stringContaining('git push --atomic origin main v0.3.0') })
    expect(git('log', '--format=%s', '-2')).toBe('chore(release): release 0.3.0\nfeat(all): begin')
    expect(git('status', '--porcelain')).toBe('')
    const files = git('show', '--name-only', '--format=', 'HEAD').split('\n')
    expect(files).toEqual([
      'CHANGELOG.md',
      'package-lock.json',
      'package.json',
      'packages/python/pyproject.toml',
      'packages/weir/README.md',
    ])
    expect(read('CHANGELOG.md')).toMatch(/^# Changelog\n\n## \[0\.3\.0\] - \d{4}-\d\d-\d\d\n\n- A thing\.\n/)
    expect(git('rev-parse', 'v0.3.0^{commit}')).toBe(git('rev-parse', 'HEAD'))
    expect(git('tag', '--list', '--format=%(contents)', 'v0.3.0')).toContain('Built with node 24.')

    const security = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8')
    const blocks = [...security.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block)
    const [verifyFiles = '', verifyTag = ''] = blocks
    cpSync(join(folder, '.github/allowed-signers'), join(folder, 'dist/release/0.3.0/allowed-signers'))
    const sh = (script: string, cwd: string) => {
      const { status, stdout, stderr } = spawnSync('bash', ['-ec', script], {
        cwd: join(folder, cwd),
        encoding: 'utf8',
      })
      return { status, text: stdout + stderr }
    }
    const text = expect.stringMatching(/Good "weir-release" signature for releaser@[\s\S]*weir-0\.3\.0\.tgz: OK/)
    expect(sh(verifyFiles, 'dist/release/0.3.0')).toEqual({ status: 0, text })
    const good = expect.stringContaining('Good "git" signature for releaser@example.com')
    expect(sh(verifyTag.replaceAll('1.2.3', '0.3.0'), '.')).toEqual({ status: 0, text: good })

    write('dist/release/0.3.0/weir-0.3.0.tgz', 'altered')
    expect(sh(verifyFiles, 'dist/release/0.3.0').status).toBe(1)
    write('dist/release/0.3.0/SHA256SUMS', `${read('dist/release/0.3.0/SHA256SUMS')}\n`)
    expect(sh(verifyFiles, 'dist/release/0.3.0').text).toContain('incorrect signature')
  })

  it('changes nothing in git with --dry-run, on any branch and with changed files', () => {
    git('checkout', '--quiet', '-b', 'other')
    write('notes.txt', 'a change')
    const before = state()
    expect(release(['0.3.0', '--dry-run'])).toEqual({ status: 0, text: expect.stringContaining('weir-0.3.0.tgz') })
    expect(state()).toEqual(before)
    expect(read('dist/release/0.3.0/weir-0.3.0.tgz')).toBe('0.3.0 of one')
  })

  it.each([
    ['another branch', 'Releases are made on main', () => git('checkout', '--quiet', '-b', 'other')],
    ['a change', 'Commit or stash', () => write('notes.txt', 'a change')],
    ['an older version', 'not newer than the tag v0.4.0', () => git('tag', 'v0.4.0')],
    [
      'no entries',
      'has no entries',
      () => {
        write('CHANGELOG.md', '# Changelog\n\n## [Unreleased]\n')
        git('commit', '--quiet', '--all', '--message', 'docs(changelog): remove entries')
      },
    ],
  ])('refuses %s', (_, reason, arrange) => {
    arrange()
    const before = state()
    expect(release(['0.3.0'])).toEqual({ status: 1, text: expect.stringContaining(reason) })
    expect(state()).toEqual(before)
  })

  it('refuses a key that the repository does not name', () => {
    const other = `${key}-other`
    run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', other)
    const before = state()
    const text = expect.stringContaining('is not in')
    expect(release(['0.3.0', '--key', other], { BUILD_FAILS: '1' })).toEqual({ status: 1, text })
    expect(release(['0.3.0', '--key', `${key}-absent`])).toEqual({
      status: 1,
      text: expect.stringContaining('could not sign'),
    })
    expect(state()).toEqual(before)
  })

  it('leaves everything as it was if the build fails, and a second run succeeds', () => {
    const before = state()
    expect(release(['0.3.0', '--key', key], { BUILD_FAILS: '1' }).status).toBe(1)
    expect(state()).toEqual(before)
    expect(existsSync(join(folder, 'dist/release/0.3.0'))).toBe(false)
    expect(release(['0.3.0', '--key', key]).status).toBe(0)
  })

  it('continues after an end before the tag or before the commit, with the same commit', () => {
    expect(release(['0.3.0']).status).toBe(0)
    const commit = git('rev-parse', 'HEAD')
    for (const undone of ['HEAD', 'HEAD^']) {
      git('tag', '--delete', 'v0.3.0')
      git('reset', '--keep', '--quiet', undone)
      expect(release(['0.3.0']).status).toBe(0)
      expect([git('rev-parse', 'HEAD'), git('rev-parse', 'v0.3.0^{commit}')]).toEqual([commit, commit])
    }
    expect(release(['0.3.0']).text).toContain('Equal to v0.3.0, which has no signature.')
  })

  it('builds a tagged release again and compares it, also on a later commit', () => {
    expect(release(['0.3.0', '--key', key]).status).toBe(0)
    write('later.txt', 'a later change')
    git('add', '--all')
    git('commit', '--quiet', '--message', 'feat(all): change more')
    rmSync(join(folder, 'dist'), { recursive: true })
    const before = state()
    const text = expect.stringContaining('Equal to v0.3.0, with the signature of releaser@example.com.')
    expect(release(['0.3.0'])).toEqual({ status: 0, text })
    expect(existsSync(join(folder, 'dist/release/0.3.0/SHA256SUMS.sig'))).toBe(true)
    expect(release(['0.3.0'], { COMPILER: 'two' })).toEqual({
      status: 1,
      text: expect.stringContaining('v0.3.0 has other checksums of weir-0.3.0.tgz.'),
    })
    expect(state()).toEqual(before)
  })
})
