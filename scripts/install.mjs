// Installs the packages of package-lock.json once. npm runs this before every command of package.json, under the system's
// Node. Invariant: one install at a time. A killed install starts over, because npm accepts half-written packages.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'

const OLDEST_NODE = 18
const STAMP = 'node_modules/.weir-installed'
/** A symbolic link to the pid of its holder, because creating a link is atomic. */
const LOCK = 'node_modules/.weir-installing'
const read = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : '')
const want = createHash('sha256').update(read('package.json')).update(read('package-lock.json')).digest('hex')
const end = (sentence) => console.error(sentence) ?? process.exit(1)

function takeLock() {
  try {
    mkdirSync('node_modules', { recursive: true })
    return symlinkSync(`${process.pid}`, LOCK) ?? true
  } catch (error) {
    if (error.syscall !== 'symlink' || error.code !== 'EEXIST') end(`node_modules cannot be written (${error.code}).`)
  }
  try {
    // Pids are reused, especially in containers. If the lock has our own pid, its holder is gone.
    if (Number(readlinkSync(LOCK)) !== process.pid) return !process.kill(Number(readlinkSync(LOCK)), 0)
  } catch (error) {
    if (error.code !== 'ESRCH') return false
  }
  return rmSync('node_modules', { recursive: true, force: true })
}

/** Not `npm ci`, which refuses a lock file without the platform packages that npm leaves out of it. */
function install(node) {
  const args = ['install', '--include=dev', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']
  const { status } = spawnSync(node, [process.env.npm_execpath, ...args], { stdio: ['ignore', 'ignore', 2] })
  if (status === 0) return
  // If npm was killed, the lock stays, so that the next command starts over.
  if (status !== null) rmSync(LOCK)
  end('No packages were installed. npm says why: network, proxy, ignore-scripts? Then run the same command again.')
}

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) end(`Weir needs Node ${OLDEST_NODE} or newer.`)
while (read(STAMP) !== want && !takeLock()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250)
if (read(STAMP) !== want) {
  console.error('Installing packages. This happens once and takes about half a minute …')
  // Installs again under the Node that the first pass installed, because npm under Node 18 skips native parts that are needed.
  for (const node of [process.execPath, 'node_modules/node/bin/node']) install(node)
  writeFileSync(STAMP, want)
  rmSync(LOCK)
}
