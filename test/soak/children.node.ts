// The programs of a soak under the launcher's supervisor, which restarts them when they end. Their logs are in the folder
// `log` of its state.

import { join } from 'node:path'
import type { CommandName } from '../../src/cli/commands.ts'
import { SupervisedChild } from '../../src/cli/launch/launch.node.ts'
import { SECRETS } from '../kit/gateway.ts'
import { MAIN, ROOT } from '../kit/program.ts'
import { giveWay } from './machine.node.ts'

const HEAP = '--max-old-space-size=1500'

export class Children {
  readonly #state: string
  readonly #say: (line: string) => void
  readonly #children = new Map<string, SupervisedChild>()
  readonly #pids = new Map<string, number>()

  constructor(state: string, say: (line: string) => void) {
    this.#state = state
    this.#say = say
  }

  /** Starts `weir <command>`, or the gateway's process. */
  run(name: string, command: CommandName | 'gateway', args: readonly string[]): void {
    const program = command === 'gateway' ? [join(ROOT, 'src/cli/launch/gateway.node.ts')] : [MAIN, command]
    const log = join(this.#state, 'log', `${name.replaceAll(' ', '-')}.log`)
    const child = new SupervisedChild(
      { name, args: [HEAP, ...program, ...args], env: SECRETS, log },
      {
        onStart: (_, pid) => {
          this.#pids.set(name, pid)
          if (name === 'devnet') giveWay(pid)
        },
        onExit: (_, how) => this.#say(`${name} ended: ${how}`),
      },
    )
    this.#children.set(name, child)
    child.start()
  }

  /** By name. */
  get pids(): Record<string, number> {
    return Object.fromEntries(this.#pids)
  }

  /** False if it did not run. */
  async stop(name: string): Promise<boolean> {
    const child = this.#children.get(name)
    this.#children.delete(name)
    this.#pids.delete(name)
    await child?.stop()
    return child !== undefined
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#children.keys()].map((name) => this.stop(name)))
  }
}
