// A local Python with the packages of client-python/weir.py.

import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../../..')
const ENV = { ...process.env, PYTHONPATH: join(ROOT, 'client-python'), PYTHONDONTWRITEBYTECODE: '1' }

/** Undefined where Debian's python3-websockets and python3-httpx, or their like, are not installed. */
export const PYTHON: string | undefined = ['python3', '/usr/bin/python3'].find(
  (name) => spawnSync(name, ['-c', 'import websockets, httpx'], { env: ENV }).status === 0,
)

/** Runs a program with the client in reach; `input` is what it reads. Rejects where it fails. */
export function runPython(file: string, args: readonly string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(PYTHON!, [file, ...args], { env: ENV, stdio: ['pipe', 'pipe', 'pipe'] })
    let out = ''
    let errors = ''
    child.stdout.on('data', (chunk) => (out += chunk))
    child.stderr.on('data', (chunk) => (errors = (errors + chunk).slice(-4_000)))
    child.once('close', (code) => (code === 0 ? resolve(out) : reject(new Error(`python: ${code}: ${errors}`))))
    child.stdin.end(input)
  })
}
