// Lines in `replica_cmds/{start}/{YYYYMMDD}/{height}`, like the node's: a new folder for each start of the node and
// whenever it writes heights again, and a new file after some blocks. The last two files are kept.

import { closeSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The node's files have ten times as many. */
const FILE_BLOCKS = 1_000
const KEPT_FILES = 2

export class ReplicaFiles {
  readonly #root: string
  #start = ''
  #next = -1
  #blocks = 0
  #fd = -1
  #paths: string[] = []

  /** `root`: the folder `replica_cmds`. Folders of earlier starts are deleted, except the last one. */
  constructor(root: string) {
    this.#root = root
    mkdirSync(root, { recursive: true })
    const old = readdirSync(root).sort().slice(0, -1)
    for (const start of old) rmSync(join(root, start), { recursive: true })
  }

  /** Appends the line of a block. `nowNs`: current time, which rises. */
  append(height: number, line: string, nowNs: bigint): void {
    const isAgain = height !== this.#next
    const now = new Date(Number(nowNs / 1_000_000n)).toISOString()
    if (isAgain) this.#start = now
    if (isAgain || this.#blocks === FILE_BLOCKS) this.#open(height, now)
    writeSync(this.#fd, `${line}\n`)
    this.#blocks++
    this.#next = height + 1
  }

  close(): void {
    if (this.#fd >= 0) closeSync(this.#fd)
    this.#fd = -1
    this.#next = -1
  }

  #open(height: number, now: string): void {
    this.close()
    const path = join(this.#root, this.#start, now.slice(0, 10).replaceAll('-', ''), String(height))
    mkdirSync(dirname(path), { recursive: true })
    this.#fd = openSync(path, 'w')
    this.#blocks = 0
    this.#paths.push(path)
    for (const old of this.#paths.splice(0, this.#paths.length - KEPT_FILES)) rmSync(old, { force: true })
  }
}
