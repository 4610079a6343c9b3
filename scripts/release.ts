// `npm run release -- 1.2.3` builds a release in a checkout of its own, commits it, and tags it. It pushes and publishes
// nothing. Invariants: the branch and the tag change last, after everything was built and signed; the same parent, version
// and day make the same commit, so a run after a failure continues; a tagged release is only built again and compared.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join, relative, resolve } from 'node:path'
import { commandLine, program } from '../src/core/command-line.node.ts'
import { changelogFault, withReleaseDate } from './changelog.ts'
import { providePackages } from './linked-packages.ts'
import { type Signer, signerOf, verify } from './release-signature.ts'
import { checksumsIn, differingFiles, signatureIn, tagMessage } from './release-tag.ts'
import { VERSIONED_FILES, versionFault, withVersion } from './release-version.ts'

const ROOT = join(import.meta.dirname, '..')
const BRANCH = 'main'
const FILES = join(ROOT, 'dist/release')
/** The checkout that is built. */
const SOURCE = join(FILES, '.source')
const ALLOWED_SIGNERS = '.github/allowed-signers'
const SECONDS_PER_DAY = 86_400

const RELEASE = program('npm run release --', 'builds, commits and tags a release; pushes and publishes nothing', [
  '0.3.0 --key ~/.ssh/id_ed25519',
  '0.3.0 --dry-run',
])
  .argument('<version>', 'the new version, or a tagged one to build it again and compare it')
  .option('--key <file>', 'SSH key of the releaser, which signs the checksums and the tag')
  .option('--dry-run', 'builds all files, and changes nothing in git')
const command = commandLine(RELEASE)
const [version = ''] = command.args
const { key, dryRun: isDryRun = false } = command.opts()
const tag = `v${version}`
const SUBJECT = `chore(release): release ${version}`
const folder = join(FILES, version)

try {
  release()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  removeSource()
}

function release(): void {
  const signer = key === undefined ? null : signerOf(resolve(key), join(ROOT, ALLOWED_SIGNERS))
  removeSource()
  if (git('tag', '--list', tag) !== '') return compareWithTag()
  const commit = isReleased() ? git('rev-parse', 'HEAD') : prepare()
  buildFiles(commit)
  const checksums = readFileSync(join(folder, 'SHA256SUMS'), 'utf8')
  const signature = signer?.sign(join(folder, 'SHA256SUMS')) ?? null
  console.log(`Built ${relative(ROOT, folder)}:\n${checksums}`)
  if (isDryRun) return console.log('Nothing was changed in git (--dry-run).')
  if (git('rev-parse', 'HEAD') !== commit) git('merge', '--ff-only', '--quiet', commit)
  tagCommit(commit, tagMessage({ version, tools: toolsText(), checksums, signature }), signer)
  console.log(`${nextCommands()}\n\nTo undo: git tag -d ${tag} && git reset --keep ${commit.slice(0, 12)}^`)
}

/** True after a run that was interrupted between the commit and the tag. */
function isReleased(): boolean {
  return git('log', '-1', '--format=%s') === SUBJECT && manifestVersion(ROOT) === version
}

/** Creates the commit of the release in `SOURCE`, on no branch. */
function prepare(): string {
  const current = manifestVersion(ROOT)
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')
  const fault =
    versionFault(version, current, lastTag()) ?? changelogFault(changelog, version) ?? (isDryRun ? null : treeFault())
  if (fault !== null) throw new Error(fault)
  checkOut('HEAD')
  const day = Math.floor(Date.now() / 1_000 / SECONDS_PER_DAY) * SECONDS_PER_DAY
  const date = new Date(day * 1_000).toISOString().slice(0, 10)
  for (const path of gitIn(SOURCE, 'ls-files', ...VERSIONED_FILES).split('\n')) {
    const file = join(SOURCE, path)
    const text = readFileSync(file, 'utf8')
    const changed = withVersion(path, text, current, version)
    if (changed !== text) writeFileSync(file, changed)
  }
  const path = join(SOURCE, 'CHANGELOG.md')
  writeFileSync(path, withReleaseDate(readFileSync(path, 'utf8'), version, date))
  const seconds = Math.max(day, Number(gitIn(SOURCE, 'log', '-1', '--format=%ct')))
  const at = { GIT_AUTHOR_DATE: `${seconds} +0000`, GIT_COMMITTER_DATE: `${seconds} +0000` }
  execFileSync('git', ['-c', 'commit.gpgSign=false', 'commit', '--quiet', '--no-verify', '-a', '-m', SUBJECT], {
    cwd: SOURCE,
    env: { ...process.env, ...at },
  })
  return gitIn(SOURCE, 'rev-parse', 'HEAD')
}

/** Why the checkout cannot get the commit. */
function treeFault(): string | null {
  const branch = git('rev-parse', '--abbrev-ref', 'HEAD')
  if (branch !== BRANCH) return `The current branch is ${branch}. Releases are made on ${BRANCH}.`
  return git('status', '--porcelain') === '' ? null : 'The working tree has changes. Commit or stash them first.'
}

/** Builds the commit into `folder`, which is replaced only if everything was built. */
function buildFiles(commit: string): void {
  if (!existsSync(SOURCE)) checkOut(commit)
  providePackages(ROOT, SOURCE)
  const partial = `${folder}.partial`
  rmSync(partial, { recursive: true, force: true })
  const path = `${join(SOURCE, 'node_modules/.bin')}${delimiter}${process.env.PATH}`
  execFileSync(process.execPath, [join(SOURCE, 'scripts/release-files.ts'), partial], {
    cwd: SOURCE,
    env: { ...process.env, PATH: path },
    stdio: 'inherit',
  })
  rmSync(folder, { recursive: true, force: true })
  renameSync(partial, folder)
}

/** Builds a tagged release again, for example on a host that publishes it. Fails if a file differs. */
function compareWithTag(): void {
  const message = git('tag', '--list', '--format=%(contents)', tag)
  buildFiles(git('rev-parse', `${tag}^{commit}`))
  const sums = join(folder, 'SHA256SUMS')
  const differing = differingFiles(checksumsIn(message), readFileSync(sums, 'utf8'))
  if (differing.length > 0)
    throw new Error(
      `${tag} has other checksums of ${differing.join(', ')}. Build with the tools that its message names.`,
    )
  const signature = signatureIn(message)
  if (signature === null) return console.log(`Equal to ${tag}, which has no signature.\n\n${nextCommands()}`)
  writeFileSync(`${sums}.sig`, signature)
  const signedBy = verify(sums, join(ROOT, ALLOWED_SIGNERS))
  console.log(`Equal to ${tag}, with the signature of ${signedBy}.\n\n${nextCommands()}`)
}

function tagCommit(commit: string, message: string, signer: Signer | null): void {
  const sign = signer === null ? [] : ['-c', 'gpg.format=ssh', '-c', `user.signingKey=${signer.key}`]
  const mode = signer === null ? '--annotate' : '--sign'
  execFileSync('git', [...sign, 'tag', mode, '--cleanup=verbatim', '--file=-', tag, commit], {
    cwd: ROOT,
    input: message,
  })
}

/** Equal bytes need equal tools. */
function toolsText(): string {
  const bom = JSON.parse(readFileSync(join(folder, `weir-${version}.cdx.json`), 'utf8')) as {
    readonly metadata: { readonly tools: { readonly components: readonly { name: string; version: string }[] } }
  }
  return bom.metadata.tools.components.map(({ name, version: of }) => `${name} ${of}`).join(', ')
}

function nextCommands(): string {
  const at = relative(ROOT, folder)
  return `Next, on a host without the workflow release.yml:
git push --atomic origin ${BRANCH} ${tag}
for file in ${at}/*.tgz; do npm publish --provenance "$file"; done
twine upload ${at}/*.whl ${at}/weir-${version}.tar.gz
gh release create ${tag} --notes-file ${at}/NOTES.md ${at}/*
With the workflow, the first command is enough.`
}

function lastTag(): string | null {
  const tags = git('tag', '--list', 'v*', '--sort=-version:refname', '--merged', 'HEAD').split('\n')
  return tags.find((name) => /^v\d+\.\d+\.\d+$/.test(name)) ?? null
}

function checkOut(commit: string): void {
  mkdirSync(FILES, { recursive: true })
  git('worktree', 'add', '--quiet', '--detach', SOURCE, commit)
}

function removeSource(): void {
  rmSync(SOURCE, { recursive: true, force: true })
  git('worktree', 'prune')
}

function manifestVersion(root: string): string {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version
}

function git(...args: readonly string[]): string {
  return gitIn(ROOT, ...args)
}

function gitIn(root: string, ...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}
