// What happened to the link and the book, for a visitor to see. Laws: newest first, a bounded number; the same again is
// counted, not listed.

export interface Happening {
  readonly id: number
  readonly atMs: number
  readonly kind: 'good' | 'wait' | 'bad'
  readonly text: string
  readonly times: number
}

const KEPT = 40

export function withHappening(
  list: readonly Happening[],
  { atMs, kind, text }: Pick<Happening, 'atMs' | 'kind' | 'text'>,
): Happening[] {
  const last = list[0]
  if (last?.text === text) return [{ ...last, atMs, times: last.times + 1 }, ...list.slice(1)]
  return [{ id: (last?.id ?? 0) + 1, atMs, kind, text, times: 1 }, ...list].slice(0, KEPT)
}
