// Signatures of a release by OpenSSH, which every host has. A file of allowed signers in the repository names the
// releasers: https://man.openbsd.org/ssh-keygen#ALLOWED_SIGNERS

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const NAMESPACE = 'weir-release'

export interface Signer {
  /** Path of the key. */
  readonly key: string
  /** Writes `FILE.sig` and returns its text. */
  readonly sign: (file: string) => string
}

/** Signs a test file, so that a release by somebody else fails before it is built. */
export function signerOf(key: string, allowedSigners: string): Signer {
  const sign = (file: string) => {
    rmSync(`${file}.sig`, { force: true })
    const { status, stderr } = spawnSync('ssh-keygen', ['-Y', 'sign', '-n', NAMESPACE, '-f', key, file], {
      encoding: 'utf8',
      stdio: ['inherit', 'ignore', 'pipe'],
    })
    if (status !== 0) throw new Error(`ssh-keygen could not sign with ${key}: ${stderr.trim()}`)
    return readFileSync(`${file}.sig`, 'utf8')
  }
  const folder = mkdtempSync(join(tmpdir(), 'weir-sign-'))
  try {
    const file = join(folder, 'test')
    writeFileSync(file, 'test\n')
    sign(file)
    verify(file, allowedSigners)
  } finally {
    rmSync(folder, { recursive: true })
  }
  return { key, sign }
}

/** Returns the name of the signer of `FILE.sig`. Throws if the file is not signed by an allowed signer. */
export function verify(file: string, allowedSigners: string): string {
  const run = (...args: readonly string[]) =>
    spawnSync('ssh-keygen', ['-Y', ...args, '-f', allowedSigners, '-s', `${file}.sig`], {
      encoding: 'utf8',
      input: readFileSync(file),
    })
  const [signer = ''] = run('find-principals').stdout.split('\n')
  if (signer === '')
    throw new Error(`The key is not in ${allowedSigners}. Commit it there: NAME namespaces="${NAMESPACE},git" TYPE KEY`)
  const { status, stdout, stderr } = run('verify', '-n', NAMESPACE, '-I', signer)
  if (status !== 0) throw new Error(`The signature of ${file} is wrong: ${stdout}${stderr}`)
  return signer
}
