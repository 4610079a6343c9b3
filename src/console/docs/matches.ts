// Which pages a search finds, the best first.

export interface Indexed {
  readonly address: string
  readonly title: string
  readonly summary: string
  readonly words: string
}

const SHOWN = 12
/** Who looks for something wants to use it, and only then to know why it is so. */
const DECISIONS = '/docs/internals/decisions'
const OF_DECISIONS = 0.2

/** Every word that was typed has to be there; where it stands in the title a page is better. */
export function matches(pages: readonly Indexed[], typed: string): Indexed[] {
  const words = typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  if (words.length === 0) return []
  const rated = pages.map((page) => [page, ratingOf(page, words)] as const).filter(([, rating]) => rating > 0)
  return rated
    .sort(([, a], [, b]) => b - a)
    .slice(0, SHOWN)
    .map(([page]) => page)
}

function ratingOf(page: Indexed, words: readonly string[]): number {
  const ratings = words.map((word) => ratingOfWord(page, word))
  const sum = ratings.includes(0) ? 0 : ratings.reduce((all, rating) => all + rating, 0)
  return page.address.startsWith(DECISIONS) ? sum * OF_DECISIONS : sum
}

function ratingOfWord({ title, summary, words }: Indexed, word: string): number {
  const name = title.toLowerCase()
  if (name === word) return 100
  if (name.startsWith(word)) return 40
  if (name.includes(word)) return 20
  if (` ${words} `.includes(` ${word} `)) return 10
  if (summary.toLowerCase().includes(word)) return 6
  return words.includes(word) ? 3 : 0
}
