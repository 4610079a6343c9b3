// The soak's side of the process of clients: calls over IPC, each bounded in time.

import { type ChildProcess, fork } from 'node:child_process'
import type { Duties } from './clients.node.ts'
import { giveWay } from './machine.node.ts'

const CALL_TIMEOUT_MS = 180_000

export class Crew {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>()
  #id = 0

  constructor() {
    this.#child = fork(new URL('./clients.node.ts', import.meta.url), {
      stdio: ['ignore', 2, 2, 'ipc'],
      execArgv: ['--max-old-space-size=6000'],
      // A Ctrl-C is for the parent, who asks for what there is so far.
      detached: true,
    })
    giveWay(this.pid)
    // Busy as it is, it would notice late.
    process.once('exit', () => this.stop())
    this.#child.on('message', (message) => this.#answered(message as { id: number; value?: unknown; error?: string }))
    this.#child.on('exit', (code, signal) => {
      for (const { reject } of this.#waiting.values())
        reject(new Error(`the process of clients ended with ${code ?? signal}`))
    })
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** Rejects with what went wrong there. */
  call<D extends keyof Duties>(duty: D, ...args: Parameters<Duties[D]>): Promise<Awaited<ReturnType<Duties[D]>>> {
    const id = ++this.#id
    const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<Duties[D]>>>()
    const timer = setTimeout(
      () => reject(new Error(`${duty}: no answer in ${CALL_TIMEOUT_MS / 1000} s`)),
      CALL_TIMEOUT_MS,
    )
    this.#waiting.set(id, { resolve, reject })
    this.#child.send({ id, duty, args })
    return promise.finally(() => {
      clearTimeout(timer)
      this.#waiting.delete(id)
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
