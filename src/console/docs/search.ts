// The search index of the documentation, and how it is queried. The build creates the index (buildIndex), and the browser
// loads it when the search is first used. Invariant: both sides split and normalize text in the same way.

import MiniSearch, { type Options, type Query, type QueryCombination } from 'minisearch'

/** Groups of results, with their headings. */
export const GROUPS = {
  guides: 'Guides',
  reference: 'Reference',
  errors: 'Errors',
  operators: 'Operators',
  internals: 'Internals',
} as const
export type Group = keyof typeof GROUPS

/** The indexed part of a page, or one error code. */
export interface SearchEntry {
  /** May end with an anchor. */
  readonly address: string
  readonly title: string
  readonly summary: string
  readonly group: Group
  /** Headings that a result may link to. */
  readonly headings: readonly (readonly [text: string, anchor: string])[]
  readonly keywords: string
  /** Text outside code blocks. */
  readonly body: string
}

export interface Hit extends Pick<SearchEntry, 'address' | 'title' | 'summary' | 'group'> {
  /** The part of the page that matches, if the title alone does not; `address` then leads there. */
  readonly heading: string | null
}

type Stored = Pick<SearchEntry, 'address' | 'title' | 'summary' | 'group' | 'headings'>
type Indexed = SearchEntry & { readonly id: number }
export type SearchIndex = MiniSearch<Indexed>

const HITS_MAX = 12
const STOP_WORDS = new Set('a an and are at by can do for from how i in is it of on or the to with you your'.split(' '))

/** Pages for everyday use come first, calls of operators and internals last. The first matching prefix applies. */
const WEIGHTS: readonly (readonly [prefix: string, weight: number])[] = [
  ['/docs/reference/errors#', 0.7],
  ['/docs/reference/', 2],
  ['/docs/guides/', 2],
  ['/docs/get-started', 2],
  ['/docs/info/', 1.3],
  ['/docs/channels/', 1.2],
  ['/docs/rest/', 0.6],
  ['/docs/types', 0.4],
  ['/docs/channels', 0.4],
  ['/docs/rest', 0.4],
  ['/docs/operators', 0.4],
  ['/docs/examples/', 0.4],
  ['/docs/internals/', 0.1],
]

/** Words that people type, with the words or phrases that the pages use. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  allowlist: ['ranges'],
  auth: ['authentication'],
  backfill: ['history files', 'replay'],
  bill: ['invoice', 'pricing'],
  billing: ['invoice', 'pricing'],
  candlestick: ['candle'],
  checksum: ['order book'],
  cost: ['pricing', 'price'],
  cursor: ['pagination'],
  disconnect: ['reconnect', 'missed'],
  error: ['errors'],
  js: ['typescript'],
  javascript: ['typescript'],
  kline: ['candle'],
  library: ['sdk'],
  liquidation: ['liquidated'],
  limit: ['rate limit'],
  login: ['authentication'],
  npm: ['typescript'],
  ohlc: ['candle'],
  openapi: ['generated client'],
  orderbook: ['order book'],
  page: ['pagination'],
  paging: ['pagination'],
  pip: ['python'],
  plan: ['pricing', 'rate limit'],
  postman: ['generated client'],
  price: ['pricing'],
  quickstart: ['get started'],
  quota: ['rate limit'],
  retry: ['errors'],
  sdk: ['client', 'package'],
  subscribe: ['websocket', 'subscription'],
  subscription: ['channel'],
  throttle: ['rate limit'],
  throttling: ['rate limit'],
  trial: ['plan'],
  token: ['key'],
  tutorial: ['get started'],
  ws: ['websocket'],
}

/** Pages that come first for a phrase, although their own words would not rank them first. */
const ALIASES: readonly (readonly [phrase: string, addresses: readonly string[]])[] = [
  ['api key', ['/docs/reference/authentication']],
  ['balance', ['/docs/rest/balances']],
  ['error code', ['/docs/reference/errors']],
  ['mcp', ['/docs/guides/use-from-an-ai-agent']],
  ['order book', ['/docs/guides/order-books', '/docs/info/l2Book', '/docs/channels/l2Book']],
  ['rate limit', ['/docs/reference/rate-limits']],
  ['x402', ['/docs/guides/pay-per-call']],
]

/** `limits` becomes `limit`, but `status` is not shortened. */
const normalized = (word: string) => {
  const lower = word.toLowerCase()
  return lower.length > 3 && /[^su]s$/.test(lower) ? lower.slice(0, -1) : lower
}

const wordsOf = (text: string) => text.split(/[^\p{L}\p{N}_]+/u).filter((word) => word !== '')
/** `userFills` as `user`, `Fills`; `eth_call` as `eth`, `call`. */
const partsOf = (word: string) => word.split(/_+|(?<=[a-z\d])(?=[A-Z])/).filter((part) => part !== '')

/** Words of a text and the parts of compound names. */
function tokensOf(text: string): string[] {
  return wordsOf(text).flatMap((word) => {
    const parts = partsOf(word)
    return parts.length > 1 ? [word, ...parts] : [word]
  })
}

const OPTIONS: Options<Indexed> = {
  fields: ['title', 'summary', 'headingTexts', 'keywords', 'body'],
  storeFields: ['address', 'title', 'summary', 'group', 'headings'],
  tokenize: tokensOf,
  processTerm: (term) => {
    const word = normalized(term)
    return STOP_WORDS.has(word) ? null : word
  },
  extractField: (entry, field) =>
    field === 'headingTexts' ? entry.headings.map(([text]) => text).join(' ') : entry[field as 'id'],
  searchOptions: {
    boost: { title: 10, keywords: 4, headingTexts: 3, summary: 3 },
    // The terms of a query are normalized already.
    tokenize: (term) => [term],
    processTerm: (term) => term,
    prefix: (term) => term.length > 1,
    fuzzy: (term) => (term.length > 4 && !/\d/.test(term) ? 0.2 : false),
    weights: { fuzzy: 0.2, prefix: 0.5 },
    boostDocument: (_id, _term, stored) => weightOf((stored as unknown as Stored).address),
  },
}

const weightOf = (address: string) => WEIGHTS.find(([prefix]) => address.startsWith(prefix))?.[1] ?? 1

/** The index as JSON text. */
export function buildIndex(entries: readonly SearchEntry[]): string {
  const index = new MiniSearch(OPTIONS)
  index.addAll(entries.map((entry, id) => ({ ...entry, id })))
  return JSON.stringify(index)
}

export const loadIndex = (json: string): SearchIndex => MiniSearch.loadJSON(json, OPTIONS)

/**
 * Best match first, of pages whose address begins with `within`. Every word has to match; if no page has all of them, any
 * word is enough.
 */
export function searchPages(index: SearchIndex, typed: string, within = '/docs'): Hit[] {
  const words = wordsOf(typed).filter((word) => !STOP_WORDS.has(word.toLowerCase()))
  if (words.length === 0) return []
  const queries = words.map(queryOf)
  const filter = (stored: unknown) => (stored as Stored).address.startsWith(within)
  const all = index.search({ combineWith: 'AND', queries }, { filter })
  const found = all.length > 0 ? all : index.search({ combineWith: 'OR', queries }, { filter })
  const phrase = words.map(normalized).join(' ')
  const rated = found.map(({ score, ...result }) => {
    const stored = result as unknown as Stored
    return [score * phraseWeight(stored, phrase), stored] as const
  })
  return rated
    .sort(([a], [b]) => b - a)
    .slice(0, HITS_MAX)
    .map(([, stored]) => hitOf(stored, words))
}

/** A word, the parts of a compound name, or a synonym. */
function queryOf(word: string): Query {
  const term = normalized(word)
  const parts = partsOf(word).map(normalized)
  const phrases = (SYNONYMS[term] ?? []).map((synonym): QueryCombination => {
    return { combineWith: 'AND', boostTerm: () => 0.7, queries: synonym.split(' ').map(normalized) }
  })
  const compound: QueryCombination = { combineWith: 'AND', queries: parts }
  return { combineWith: 'OR', queries: [term, ...(parts.length > 1 ? [compound] : []), ...phrases] }
}

const lettersOf = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')

/**
 * Raises pages whose title is the phrase, such as `userFills` for `user fills`, error codes with this status, and pages
 * with this alias.
 */
function phraseWeight({ address, title }: Stored, phrase: string): number {
  const isAlias = ALIASES.some(([alias, addresses]) => phrase.includes(alias) && addresses.includes(address))
  const name = normalized(lettersOf(title))
  const letters = lettersOf(phrase)
  const ofTitle = name === letters || title.endsWith(`(${phrase})`) ? 4 : name.startsWith(letters) ? 1.5 : 1
  return (isAlias ? 100 : 1) * ofTitle
}

/** Leads to the heading with most of the words, unless the title has as many. */
function hitOf({ address, title, summary, group, headings }: Stored, words: readonly string[]): Hit {
  const terms = words.map(normalized)
  const countIn = (text: string) => {
    const own = new Set(tokensOf(text).map(normalized))
    return terms.filter((term) => own.has(term)).length
  }
  const ofTitle = countIn(title)
  const rated = headings.map((heading) => [countIn(heading[0]), heading] as const)
  const most = Math.max(ofTitle, ...rated.map(([count]) => count))
  const best = most > ofTitle ? rated.find(([count]) => count === most)?.[1] : undefined
  const target = best === undefined ? address : `${address}#${best[1]}`
  return { address: target, title, summary, group, heading: best?.[0] ?? null }
}

/** Groups in the order of their best hits; internals come last. */
export function groupedHits(hits: readonly Hit[]): (readonly [group: Group, hits: readonly Hit[]])[] {
  const groups = [...new Set(hits.map(({ group }) => group))]
  const sorted = [
    ...groups.filter((group) => group !== 'internals'),
    ...groups.filter((group) => group === 'internals'),
  ]
  return sorted.map((group) => [group, hits.filter((hit) => hit.group === group)])
}
