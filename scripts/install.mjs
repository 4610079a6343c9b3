// Installs what package-lock.json names, once: every command of package.json calls it first.
// Plain JavaScript without dependencies, because it runs under whatever Node the system has.
// Law: one install at a time, and one that was killed half way begins anew.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const OLDEST_NODE = 18
const STAMP = 'node_modules/.weir-installed'
/** Holds the pid of the command that installs. */
const LOCK = 'node_modules/.weir-installing'
const NODE = `node_modules/node/bin/node${process.platform === 'win32' ? '.exe' : ''}`
const WAIT_MS = 250
/** A pid is written within one look: a lock that stays empty for these is of a command that ended before. */
const EMPTY_LOOKS = 8

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const say = (sentence) => process.stderr.write(`${sentence}\n`)
const sleep = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS)

function refuse(sentence) {
  say(sentence)
  process.exit(1)
}

if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE)
  refuse(`Weir starts with Node ${OLDEST_NODE} or newer, and this is ${process.version}: install a newer one.`)

const hash = createHash('sha256')
for (const file of ['package.json', 'package-lock.json']) if (existsSync(file)) hash.update(readFileSync(file))
const want = hash.digest('hex')
const isInstalled = () => existsSync(STAMP) && readFileSync(STAMP, 'utf8') === want

if (!isInstalled()) {
  takeLock()
  if (!isInstalled()) install()
  rmSync(LOCK, { force: true })
}

function takeLock() {
  for (let holder = null, empty = 0; !tryLock(); ) {
    const pid = readHolder()
    empty = pid === 0 ? empty + 1 : 0
    if (empty > EMPTY_LOOKS || (pid !== null && !isAlive(pid))) {
      // Another command may have seen the same: whose pid stands here in a moment has the lock.
      writeFileSync(LOCK, String(process.pid))
      sleep()
      if (readHolder() === process.pid) return clear()
    } else if (pid !== holder && pid) {
      holder = pid
      say(`Another command (process ${pid}) installs the packages: waiting. If it does not, delete ${LOCK}.`)
    }
    sleep()
  }
}

function tryLock() {
  try {
    mkdirSync('node_modules', { recursive: true })
    writeFileSync(LOCK, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code === 'EEXIST' && error.syscall === 'open') return false
    if (error.syscall === 'write') rmSync(LOCK)
    return refuse(`Packages cannot be written into ${join(process.cwd(), 'node_modules')} (${error.code}).`)
  }
}

/** Null where the lock is gone; 0 while it is being written. */
function readHolder() {
  try {
    return Number(readFileSync(LOCK, 'utf8'))
  } catch (error) {
    if (error.code === 'ENOENT') return null
    throw error
  }
}

function isAlive(pid) {
  // Pids are used again, in a container always: whoever wrote ours is gone.
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** What a killed install left: a package may stand there by half, and npm would take it for whole. */
function clear() {
  for (const name of readdirSync('node_modules'))
    if (join('node_modules', name) !== join(LOCK)) rmSync(join('node_modules', name), { recursive: true, force: true })
}

function install() {
  say('Installing packages, once; about half a minute …')
  rmSync(STAMP, { force: true })
  npmInstall(process.execPath)
  if (!existsSync(NODE))
    giveUp('npm ran no install scripts, which bring the right Node: allow them (npm config get ignore-scripts).')
  // Again under the Node that the first pass brought: under Node 18 npm skips native parts it needs.
  npmInstall(NODE)
  writeFileSync(STAMP, want)
}

function npmInstall(node) {
  // Not `npm ci`: npm leaves platform packages it cannot resolve out of the lock file, and `ci` then refuses it.
  // NODE_ENV=production leaves out what Weir is built with.
  const args = ['install', '--include=dev', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']
  const npm = /npm-cli\.c?js$/.test(process.env.npm_execpath || '') ? process.env.npm_execpath : null
  // Without npm around us the one on the PATH, and for it the Node that is first there.
  const PATH = [join(process.cwd(), 'node_modules/.bin'), process.env.PATH].join(delimiter)
  const { status, signal, error } = spawnSync(npm ? node : 'npm', npm ? [npm, ...args] : args, {
    stdio: ['ignore', 'ignore', 2],
    env: { ...process.env, PATH },
  })
  if (error) giveUp(`npm could not be run (${error.code}): install it, it comes with Node.`)
  // The lock stays: the next command begins anew, because this npm has not cleaned up after itself.
  if (signal) refuse(`The packages were not installed: npm was ended by ${signal}. Run the same command again.`)
  if (status !== 0)
    giveUp(
      'The packages were not installed; npm says why above. They come from the npm registry, once: see that this ' +
        'machine reaches it (network, proxy, npm config), then run the same command again.',
    )
}

function giveUp(sentence) {
  rmSync(LOCK, { force: true })
  refuse(sentence)
}
