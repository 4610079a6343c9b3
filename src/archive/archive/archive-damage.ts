// An object of the archive that is not what its row says. Law: nothing of such an object is used.

export class ArchiveDamage extends Error {
  readonly key: string

  /** `what` is wrong with it. */
  constructor(key: string, what: 'missing' | 'truncated' | 'another one' | 'removed') {
    super(`${key} is ${what}`)
    this.name = 'ArchiveDamage'
    this.key = key
  }
}
