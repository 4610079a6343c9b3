// The accounts that have something at this relay.

import { Account, type AccountPorts } from './account.ts'

export class Accounts {
  readonly #ports: AccountPorts
  readonly #byName = new Map<string, Account>()

  constructor(ports: AccountPorts) {
    this.#ports = ports
  }

  get size(): number {
    return this.#byName.size
  }

  /** Something that ended was not told yet: only this object's memory has it. */
  get isOwing(): boolean {
    return [...this.#byName.values()].some((account) => account.isOwing)
  }

  of(name: string): Account {
    const known = this.#byName.get(name)
    if (known) return known
    const account = new Account(name, this.#ports)
    this.#byName.set(name, account)
    return account
  }

  /** Pays what is due and forgets who has gone. Accounts do not wait for one another. */
  tick(): void {
    for (const [name, account] of this.#byName) {
      if (account.isIdle) this.#byName.delete(name)
      else account.tick()
    }
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#byName.values()].map((account) => account.settled()))
  }
}
