// Refusals of a coin that the exchange does not know, with the coin that was probably meant, as far as our books tell.

import { CoinNames } from '../../core/coin-names.ts'
import type { After } from '../../core/deadline.ts'
import type { Failure } from '../../core/failure.ts'
import { valueAt } from '../../core/schema-shape.ts'
import type { Books } from '../ports.ts'
import { NOT_KNOWN } from '../query.ts'

/** One per desk. */
export class MeantCoin {
  readonly #names: CoinNames

  constructor(books: Books, nowMs: () => number, after: After) {
    this.#names = new CoinNames({ read: () => coinsOf(books), nowMs, after })
  }

  /** The same failure; one of a coin in this request says which was meant. */
  async named(failure: Failure, request: object): Promise<Failure> {
    if (failure.kind !== 'bad_field') return failure
    const issue = failure.issues.find(({ path, message }) => message === NOT_KNOWN && /(^|\.)coin$/.test(path))
    if (issue === undefined) return failure
    const meant = await this.#names.nearest(String(valueAt(request, issue.path.split('.'))))
    if (meant === undefined) return failure
    const message = `${NOT_KNOWN}; did you mean ${JSON.stringify(meant)}?`
    return { kind: 'bad_field', issues: failure.issues.map((each) => (each === issue ? { ...each, message } : each)) }
  }
}

async function coinsOf(books: Books): Promise<readonly string[]> {
  const answer = await books.tops()
  if (!answer.ok) throw new Error('the books are away')
  return answer.value.tops.map(({ coin }) => coin)
}
