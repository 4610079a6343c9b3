// A worker process: named calls over the IPC channel, each with a time limit.

import { type ChildProcess, type ForkOptions, fork } from 'node:child_process'

type Handlers<H> = { readonly [Name in keyof H]: (...args: never[]) => unknown }
interface Call {
  readonly id: number
  readonly name: string
  readonly args: never[]
}

/** In the worker: serves calls of its parent, and exits with it. Results must survive JSON. */
export function serveParent<H extends Handlers<H>>(handlers: H): void {
  process.on('disconnect', () => process.exit(0))
  process.on('message', async ({ id, name, args }: Call) => {
    try {
      const value = await handlers[name as keyof H](...args)
      process.send?.({ id, value: value ?? null })
    } catch (error) {
      process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    }
  })
}

/** In the parent. */
export class WorkerProcess<H extends Handlers<H>> {
  readonly #child: ChildProcess
  readonly #timeoutMs: number
  readonly #waiting = new Map<number, PromiseWithResolvers<never>>()
  #id = 0

  constructor(file: string, timeoutMs: number, options: ForkOptions = {}) {
    this.#timeoutMs = timeoutMs
    this.#child = fork(file, { stdio: ['ignore', 2, 2, 'ipc'], ...options })
    // A busy worker notices late that its parent has exited.
    process.once('exit', () => this.stop())
    this.#child.on('message', ({ id, value, error }: { id: number; value?: unknown; error?: string }) => {
      const waiting = this.#waiting.get(id)
      if (error !== undefined) waiting?.reject(new Error(error))
      else waiting?.resolve(value as never)
    })
    this.#child.on('exit', (code, signal) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`${file} ended with ${code ?? signal}`))
    })
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** Rejects with the error in the worker. */
  async call<Name extends keyof H & string>(
    name: Name,
    ...args: Parameters<H[Name]>
  ): Promise<Awaited<ReturnType<H[Name]>>> {
    const id = ++this.#id
    const waiting = Promise.withResolvers<never>()
    const late = () => waiting.reject(new Error(`${name}: no answer in ${this.#timeoutMs / 1000} s`))
    const timer = setTimeout(late, this.#timeoutMs)
    this.#waiting.set(id, waiting)
    this.#child.send({ id, name, args })
    return waiting.promise.finally(() => {
      clearTimeout(timer)
      this.#waiting.delete(id)
    })
  }

  stop(): void {
    this.#child.kill('SIGKILL')
  }
}
