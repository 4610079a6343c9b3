// Installs what package-lock.json names, once: `npm start` and `npm test` call it first.
// Plain JavaScript without dependencies, because it runs under whatever Node the system has.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const stamp = 'node_modules/.weir-installed'
const hash = createHash('sha256')
for (const file of ['package.json', 'package-lock.json']) if (existsSync(file)) hash.update(readFileSync(file))
const want = hash.digest('hex')

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== want) {
  process.stderr.write('Installing packages …\n')
  // Not `npm ci`: npm leaves platform packages it cannot resolve out of the lock file, and `ci` then refuses it.
  const install = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']
  const args = [process.env.npm_execpath, ...install]
  const installedNode = `node_modules/node/bin/node${process.platform === 'win32' ? '.exe' : ''}`
  // The second pass runs under the Node that the first one brought: under Node 18 npm skips native parts it needs.
  for (const node of [process.execPath, installedNode])
    if (spawnSync(node, args, { stdio: ['ignore', 'ignore', 2] }).status !== 0) process.exit(1)
  writeFileSync(stamp, want)
}
