// The bench's side of the load process: calls over IPC, each bounded in time.

import { type ChildProcess, fork } from 'node:child_process'
import type { Duties } from './load.node.ts'

const CALL_TIMEOUT_MS = 60_000

export class Loader {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>()
  #id = 0

  constructor() {
    this.#child = fork(new URL('./load.node.ts', import.meta.url), { stdio: ['ignore', 2, 2, 'ipc'] })
    this.#child.on('message', (message) => this.#answered(message as { id: number; value?: unknown; error?: string }))
    this.#child.on('exit', (code) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`the load process ended with ${code}`))
    })
  }

  /** Asks the load process to do something; rejects with what went wrong there. */
  call<D extends keyof Duties>(duty: D, ...args: Parameters<Duties[D]>): Promise<Awaited<ReturnType<Duties[D]>>> {
    const id = ++this.#id
    return new Promise<Awaited<ReturnType<Duties[D]>>>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${duty} took over a minute`)), CALL_TIMEOUT_MS)
      const settled =
        <T>(done: (value: T) => void) =>
        (value: T) => {
          clearTimeout(timer)
          this.#waiting.delete(id)
          done(value)
        }
      this.#waiting.set(id, { resolve: settled(resolve), reject: settled(reject) })
      this.#child.send({ id, duty, args })
    })
  }

  #answered({ id, value, error }: { id: number; value?: unknown; error?: string }): void {
    const waiting = this.#waiting.get(id)
    if (error !== undefined) waiting?.reject(new Error(error))
    else waiting?.resolve(value as never)
  }

  stop(): void {
    this.#child.kill('SIGKILL')
  }
}
