// What is known of a field by its name: first what one type means by it, then what it means in its object, then what all
// mean by it.

import type { Meanings } from '../field-table.ts'
import { ACCOUNT_WORDS } from './accounts.ts'
import { EXCHANGE_WORDS } from './exchange.ts'
import { MARKET_WORDS } from './markets.ts'
import { REQUEST_WORDS } from './requests.ts'

const ANSWER_WORDS: Readonly<Record<string, string>> = { ...EXCHANGE_WORDS, ...ACCOUNT_WORDS, ...MARKET_WORDS }

/** Of the fields that `owner` is asked with: an info type, or `ws.` and a channel. */
export const requestMeanings = (owner: string): Meanings => meanings(owner, REQUEST_WORDS)

/** Of the fields that it answers with. */
export const answerMeanings = (owner: string): Meanings => meanings(owner, ANSWER_WORDS)

function meanings(owner: string, words: Readonly<Record<string, string>>): Meanings {
  return (path, name) => {
    const pair = path.replaceAll('[]', '').split('.').slice(-2).join('.')
    return words[`${owner}:${path}`] ?? words[`${owner}:${name}`] ?? words[pair] ?? words[name]
  }
}
