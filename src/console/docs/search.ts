// Which pages a search finds, the best first.

export interface IndexedPage {
  readonly address: string
  readonly title: string
  readonly summary: string
  readonly words: string
}

const RESULTS_MAX = 12
/** Who looks for something wants to use it, and only then to know why it is so. */
const DECISIONS = '/docs/internals/decisions'
const DECISIONS_WEIGHT = 0.2

/** Every word that was typed has to be there; where it stands in the title a page is better. */
export function searchPages(pages: readonly IndexedPage[], typed: string): IndexedPage[] {
  const words = typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  if (words.length === 0) return []
  const rated = pages.map((page) => [page, pageScore(page, words)] as const).filter(([, rating]) => rating > 0)
  return rated
    .sort(([, a], [, b]) => b - a)
    .slice(0, RESULTS_MAX)
    .map(([page]) => page)
}

function pageScore(page: IndexedPage, words: readonly string[]): number {
  const ratings = words.map((word) => wordScore(page, word))
  const sum = ratings.includes(0) ? 0 : ratings.reduce((all, rating) => all + rating, 0)
  return page.address.startsWith(DECISIONS) ? sum * DECISIONS_WEIGHT : sum
}

function wordScore({ title, summary, words }: IndexedPage, word: string): number {
  const name = title.toLowerCase()
  if (name === word) return 100
  if (name.startsWith(word)) return 40
  if (name.includes(word)) return 20
  if (` ${words} `.includes(` ${word} `)) return 10
  if (summary.toLowerCase().includes(word)) return 6
  return words.includes(word) ? 3 : 0
}
