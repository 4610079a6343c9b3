#!/usr/bin/env node
// Runs `weir` in the Node that it is tested with, if this one is older. Its own syntax is for Node 18.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const OLDEST = [24, 2]
const require = createRequire(import.meta.url)
const path = (relative) => fileURLToPath(new URL(relative, import.meta.url))
/** The repository has sources instead of built programs. */
const program = [path('../src/cli/main.node.js'), path('../../../scripts/weir.ts')].find((file) => existsSync(file))
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) {
  process.argv[1] = program
  await import(program)
} else runIn(packagedNode())

function packagedNode() {
  for (const name of [`node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`, 'node']) {
    const folder = require.resolve.paths(name).find((place) => existsSync(`${place}/${name}/bin`))
    const binary = folder && `${folder}/${name}/bin/node${process.platform === 'win32' ? '.exe' : ''}`
    if (binary && existsSync(binary)) return binary
  }
  console.error(`Weir needs Node ${OLDEST.join('.')} or newer, and this is ${process.versions.node}.`)
  return process.exit(1)
}

function runIn(node) {
  const child = spawn(node, [program, ...process.argv.slice(2)], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => (signal ? process.kill(process.pid, 'SIGKILL') : process.exit(code ?? 1)))
}
