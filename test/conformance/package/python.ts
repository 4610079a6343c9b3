// A local Python with the packages that packages/python needs.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { findPython } from '../../../scripts/build-python.ts'

const ROOT = join(import.meta.dirname, '../../..')
const ENV = { ...process.env, PYTHONPATH: join(ROOT, 'packages/python/src'), PYTHONDONTWRITEBYTECODE: '1' }

/** Undefined where Debian's python3-websockets and python3-httpx, or their like, are not installed. */
export const PYTHON: string | undefined = findPython('websockets', 'httpx')

/** Runs Python with the client in reach; `input` is what it reads. Rejects where it fails. */
export function runPython(args: readonly string[], input = '', cwd = ROOT): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(PYTHON!, args, { env: ENV, cwd, stdio: ['pipe', 'pipe', 'pipe'] })
    let out = ''
    let errors = ''
    child.stdout.on('data', (chunk) => (out += chunk))
    child.stderr.on('data', (chunk) => (errors = (errors + chunk).slice(-4_000)))
    child.once('close', (code) => (code === 0 ? resolve(out) : reject(new Error(`python: ${code}: ${errors}`))))
    child.stdin.end(input)
  })
}
