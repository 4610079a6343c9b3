// Finds pages for a search, best match first.

export interface IndexedPage {
  readonly address: string
  readonly title: string
  readonly summary: string
  readonly words: string
}

const RESULTS_MAX = 12

/** Pages for everyday use come first, calls of operators and internals last. The first matching prefix applies. */
const WEIGHTS: readonly (readonly [prefix: string, weight: number])[] = [
  ['/docs/reference/', 2],
  ['/docs/guides/', 2],
  ['/docs/get-started', 1.5],
  ['/docs/rest/', 0.5],
  ['/docs/operators/', 0.4],
  ['/docs/examples/', 0.4],
  ['/docs/all', 0.1],
  ['/docs/internals/', 0.1],
]

/** Words that people type, keyed by the words that the pages use. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  auth: ['authentication'],
  backfill: ['history files', 'replay'],
  bill: ['invoice', 'pricing'],
  billing: ['invoice', 'pricing'],
  checksum: ['order book'],
  cost: ['pricing', 'price'],
  disconnect: ['reconnect', 'missed'],
  js: ['typescript'],
  javascript: ['typescript'],
  library: ['sdk'],
  liquidation: ['liquidated'],
  login: ['authentication'],
  npm: ['typescript'],
  orderbook: ['order book'],
  paging: ['pagination'],
  plan: ['pricing', 'rate limits'],
  postman: ['generated clients'],
  openapi: ['generated clients'],
  quickstart: ['get started'],
  quota: ['rate limits'],
  subscribe: ['websocket', 'subscription'],
  subscription: ['channel'],
  throttle: ['rate limits'],
  throttling: ['rate limits'],
  token: ['key'],
  tutorial: ['get started'],
  ws: ['websocket'],
}

/** Pages that come first for a phrase, although their own words would not rank them first. */
const ALIASES: readonly (readonly [phrase: string, addresses: readonly string[]])[] = [
  ['api key', ['/docs/reference/authentication']],
  ['balance', ['/docs/rest/balances']],
  ['order book', ['/docs/guides/order-books', '/docs/info/l2Book', '/docs/channels/l2Book']],
]

/** Every word has to match, literally or by a synonym. A match in the title counts most. */
export function searchPages(pages: readonly IndexedPage[], typed: string): IndexedPage[] {
  const words = typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
    .map(singular)
  if (words.length === 0) return []
  const phrase = words.join(' ')
  const aliased = ALIASES.flatMap(([alias, addresses]) => (phrase.includes(alias) ? addresses : []))
  const scoreOf = (page: IndexedPage) => pageScore(page, words) + (aliased.includes(page.address) ? 300 : 0)
  const rated = pages.map((page) => [page, scoreOf(page)] as const).filter(([, rating]) => rating > 0)
  return rated
    .sort(([, a], [, b]) => b - a)
    .slice(0, RESULTS_MAX)
    .map(([page]) => page)
}

/** `limits` also finds `limit`, but `status` is not shortened. */
const singular = (word: string) => (word.length > 3 && /[^su]s$/.test(word) ? word.slice(0, -1) : word)

function pageScore(page: IndexedPage, words: readonly string[]): number {
  const scores = words.map((word) => wordScore(page, word))
  const sum = scores.includes(0) ? 0 : scores.reduce((all, score) => all + score, phraseScore(page, words))
  return sum * (WEIGHTS.find(([prefix]) => page.address.startsWith(prefix))?.[1] ?? 1)
}

/** All words together, such as `user fills` for `userFills`. */
function phraseScore({ title }: IndexedPage, words: readonly string[]): number {
  if (words.length < 2) return 0
  const name = lettersOf(title)
  const phrase = words.map((word) => lettersOf(word)).join('')
  if (singular(name) === phrase) return 200
  return name.includes(phrase) ? 60 : 0
}

const lettersOf = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')

function wordScore(page: IndexedPage, word: string): number {
  const own = literalScore(page, word)
  const others = (SYNONYMS[word] ?? []).map((synonym) => literalScore(page, synonym) * 0.8)
  return Math.max(own, ...others)
}

function literalScore({ title, summary, words }: IndexedPage, word: string): number {
  const name = title.toLowerCase()
  if (name === word) return 100
  if (singular(name) === word) return 90
  if (name.startsWith(word)) return 40
  if (name.includes(word)) return 20
  if (` ${words} `.includes(` ${word} `)) return 10
  if (summary.toLowerCase().includes(word)) return 6
  return words.includes(word) ? 3 : 0
}
